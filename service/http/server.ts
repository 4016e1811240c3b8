import { createServer, IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { CallLimits } from "../settings/call-limits";
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

/** How often it is looked whether a client takes too long (ms). */
const look = 1_000;

/** @param limits how many connections there may be, and how long a client may take for headers; a request may take twice as long */
export function createHttpServer(tls: TlsOptions | undefined, { connections, time }: CallLimits): Server {
  const slowest = { headersTimeout: time, requestTimeout: 2 * time, connectionsCheckingInterval: look };
  const options = { ...slowest, keepAliveTimeout: 72_000, IncomingMessage: Request };
  const server = tls ? createSecureServer({ ...options, handshakeTimeout: time, ...tls }) : createServer(options);
  limit(server, tls ? "secureConnection" : "connection", connections);
  server.maxConnections = 2 * connections; // those, too, that have not agreed on TLS yet
  return server;
}

/** Closes, for a connection that is one too many, the one that has asked nothing for the longest time. */
function limit(server: Server, opened: "connection" | "secureConnection", most: number): void {
  /** Those that are asking nothing now, the latest last. */
  const idle = new Set<Socket>();
  let all = 0;
  server.on(opened, (socket: Socket) => {
    all++;
    idle.add(socket);
    socket.once("close", () => {
      all--;
      idle.delete(socket);
    });
    if (all > most) (idle.values().next().value ?? socket).destroy();
  });
  server.on("request", ({ socket }, response) => {
    idle.delete(socket);
    response.once("close", () => socket.destroyed || idle.add(socket));
  });
  server.on("upgrade", ({ socket }) => idle.delete(socket));
}
