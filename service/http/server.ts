import { createServer, IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { TlsOptions } from "../settings/options";

/**
 * A request that asks for another protocol only if that is a WebSocket to a node. All else that a client offers, such as HTTP/2
 * (Java's HttpClient and curl do, also with a body), it gets in HTTP/1.1, as HTTP allows.
 */
class Request extends IncomingMessage {
  /** What Node's parser has found. It is set before the class's own fields would be there. */
  declare private offered: unknown;

  set upgrade(offered: unknown) {
    this.offered = offered;
  }

  get upgrade(): unknown {
    if (this.method === "CONNECT" || !this.offered) return this.offered;
    const { upgrade = "" } = this.headers;
    return this.method === "GET" && upgrade.toLowerCase() === "websocket" && this.url!.startsWith("/runtime/");
  }
}

export const asksUpgrade = (request: IncomingMessage) => request instanceof Request && request.upgrade === true;

export function createHttpServer(tls: TlsOptions | undefined): Server {
  const options = { keepAliveTimeout: 72_000, IncomingMessage: Request };
  return tls ? createSecureServer({ ...options, ...tls }) : createServer(options);
}
