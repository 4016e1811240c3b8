import type { WebSocket } from "ws";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "./chains";
import { Unfit } from "./failures";
import { newName } from "./feeds";
import { Excess, type RpcCall } from "./rpc";

/** The close code that says that the chain ended. */
const chainEnded = 4006;

/** Sends a message in parts, which others may share. Cuts off a client that does not read. */
export function deliver(member: WebSocket, limits: CallLimits, ...parts: readonly (string | Buffer)[]): void {
  if (member.readyState !== member.OPEN) return;
  if (member.bufferedAmount > limits.answer) return member.terminate();
  const late = setTimeout(() => member.terminate(), limits.time);
  parts.forEach((part, at) => {
    const fin = at === parts.length - 1;
    member.send(part, { binary: false, fin }, fin ? () => clearTimeout(late) : undefined);
  });
}

export class Subscriptions {
  readonly #made = new Map<string, () => void>();
  #closed = false;

  constructor(
    private readonly member: WebSocket,
    private readonly limits: CallLimits,
  ) {
    member.once("close", () => {
      this.#closed = true;
      for (const leave of this.#made.values()) leave();
    });
  }

  concerns = (method: string) => method === "eth_subscribe" || method === "eth_unsubscribe";

  /** @param sent callbacks to run after the answer: before it, the client does not know the subscription's id */
  ask({ method, params }: RpcCall, chain: Chain, sent: (() => void)[]): unknown {
    if (this.#closed) throw new Excess("late"); // nobody hears of it
    return method === "eth_subscribe" ? this.#subscribe(params, chain, sent) : this.#end(params[0] as string);
  }

  #subscribe(params: unknown[], chain: Chain, sent: (() => void)[]): string {
    const name = newName();
    let held: Buffer[] | undefined = [];
    const hear = (_: unknown, text: () => Buffer) => (held ? void held.push(text()) : this.#notify(name, text()));
    this.#made.set(name, chain.subscribe(params, { hear, end: () => this.member.close(chainEnded) }));
    sent.push(() => {
      for (const result of held ?? []) this.#notify(name, result);
      held = undefined;
    });
    return name;
  }

  #notify(subscription: string, result: Buffer): void {
    const head = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${subscription}","result":`;
    deliver(this.member, this.limits, head, result);
  }

  #end(name: string): true {
    const leave = this.#made.get(name);
    if (!leave) throw new Unfit("subscription not found");
    leave();
    return this.#made.delete(name) as true;
  }
}
