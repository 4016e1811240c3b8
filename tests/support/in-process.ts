import { Server as HttpServer } from "node:http";
import { type DispatchFunc, inject, type InjectOptions } from "light-my-request";
import { type WireAnswer, type WireRequest } from "../../provider/api/transport";
import { TransportError } from "../../provider/api/api-error";
import { type Service } from "../../service/index";

/*
 * Calls of the provider to a service of the same process, without sockets. Faults mean the same: a reset or a cut answer is lost. A call
 * that hangs takes its time limit in virtual time, while a socket takes real seconds.
 */

/** A service, and the server that has its routes. */
export interface Server {
  server: HttpServer;
  service: Pick<Service, "calls">;
}

/** Starts a service, and notes its server. */
export async function noting<S extends { service: Service }>(start: () => Promise<S>): Promise<[S, Server]> {
  const opened: HttpServer[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const { listen } = HttpServer.prototype;
  HttpServer.prototype.listen = function (this: HttpServer, ...args: unknown[]) {
    opened.push(this);
    return listen.apply(this, args as never);
  } as typeof listen;
  try {
    const started = await start();
    return [started, { server: opened[0]!, service: started.service }];
  } finally {
    HttpServer.prototype.listen = listen;
  }
}

interface Socket {
  resetAndDestroy?: () => void;
  destroySoon?: () => void;
}

/** Until a service that answers nothing has done what it does: it keeps its objects in memory. */
async function acted(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
}

/** Sends one request. @param hung called if the service will never answer: settles when the caller gives up */
export async function call({ server, service }: Server, request: WireRequest, hung: () => Promise<void>) {
  const { method, url, headers, body, timeoutMs } = request;
  const { pathname, search, host } = new URL(url);
  return new Promise<WireAnswer>((resolve, reject) => {
    const lost = (why: string, late = false): void => reject(new TransportError("lost", why, undefined, late));
    const dispatch: DispatchFunc = (incoming, outgoing) => {
      const reset = (): void => lost("the connection was reset before an answer arrived");
      const cut = (): void => lost("the connection was closed before the answer was complete");
      for (const socket of [incoming.socket, outgoing.socket] as (Socket | null)[])
        Object.assign(socket ?? {}, { resetAndDestroy: reset, destroySoon: cut });
      const before = service.calls.length;
      server.emit("request", incoming, outgoing);
      const fault = service.calls[before]?.fault;
      const late = (): void => lost(`no answer arrived within ${timeoutMs / 1000} s`, true);
      if (fault === "hang") void acted().then(hung).then(late);
    };
    const options = { method, url: pathname + search, headers: { ...headers, host }, payload: body };
    inject(dispatch, options as InjectOptions, (error, answer) => {
      if (error || !answer) return reject(new TransportError("lost", String(error), error));
      resolve({ status: answer.statusCode, headers: answer.headers as WireAnswer["headers"], text: answer.payload });
    });
  });
}
