import { type Environment } from "../provider/api/environment";
import { sendSpans } from "../provider/api/trace";
import { listen, type Served } from "./server";

/* The provider of many stacks in one process, for a fleet. Each stack has its own port, environment and sessions. */

/** The fleet's messages. */
export type Order =
  | { serve: string; environment: Environment }
  /** `whole`: the engine has ended as it should, so all that the stack has made is in its state. */
  | { end: string; whole: boolean };

/** Without a port, the stack is served no more. */
export interface Answer {
  served: string;
  port?: number;
}

/** Serves stacks until the fleet is gone. From then on, nothing is sent. @param left called then */
export function serveShared(left: () => void): void {
  const served = new Map<string, Promise<Served>>();
  process.on("disconnect", () => {
    left();
    for (const one of served.values()) void one.then((stack) => stack.end());
    void Promise.resolve(sendSpans()).then(() => process.exit(1));
  });
  process.on("message", (order: Order) => {
    if ("end" in order) {
      void Promise.resolve(served.get(order.end)).then((one) => {
        if (order.whole) one?.left();
        one?.end();
        process.send!({ served: order.end } satisfies Answer);
      });
      return void served.delete(order.end);
    }
    const { serve: stack, environment } = order;
    const one = listen({ environment });
    served.set(stack, one);
    void one.then(({ port }) => process.send!({ served: stack, port } satisfies Answer));
  });
  // Ctrl-C is for the fleet: it tells the engines, and they tell the provider.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
}
