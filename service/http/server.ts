import { createServer, IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { CallLimits } from "../settings/settings";
import type { ResolvedOptions, TlsOptions } from "../settings/options";
import { ServiceError } from "../errors";

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

/** The listening socket, which can be taken away for a while. */
export class Listener {
  #reopening = new AbortController();

  port: number;

  /** @param dropWebSockets which the server no longer knows of */
  constructor(
    private readonly server: Server,
    private readonly options: Pick<ResolvedOptions, "host" | "port" | "tls">,
    private readonly dropWebSockets: () => void,
  ) {
    this.port = options.port;
  }

  /**
   * `http://HOST:PORT` (or https). Where the service listens on all addresses, that is the one that a caller has used, or else one that
   * works on this machine.
   */
  origin(asked?: string): string {
    const everywhere = { "0.0.0.0": "127.0.0.1", "::": "::1" }[this.options.host];
    const host = everywhere ?? this.options.host;
    const place = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${this.port}`;
    return `${this.options.tls ? "https" : "http"}://${(everywhere && asked) ?? place}`;
  }

  open(): Promise<void> {
    return new Promise((done, fail) => {
      const failed = (error: NodeJS.ErrnoException) => fail(new ServiceError(this.#why(error), { cause: error }));
      this.server.once("error", failed);
      this.server.listen(this.port, this.options.host, () => {
        this.server.off("error", failed);
        this.port = (this.server.address() as AddressInfo).port;
        done();
      });
    });
  }

  /** Refuses connections for some ms and drops those there are; then listens on the same port again. */
  refuse(ms: number): void {
    this.#reopening.abort();
    this.#shut();
    const { signal } = (this.#reopening = new AbortController());
    const reopen = () => this.open().catch(() => this.refuse(50)); // another process holds the port just now
    waitFor(ms, signal).then(reopen, () => undefined);
  }

  async close(): Promise<void> {
    this.#reopening.abort();
    await new Promise<void>((done) => this.#shut(done));
  }

  #shut(done?: () => void): void {
    this.server.close(() => done?.());
    this.server.closeAllConnections();
    this.dropWebSockets();
  }

  #why(error: NodeJS.ErrnoException): string {
    const where = `${this.options.host}:${this.port}`;
    if (error.code === "EADDRINUSE") return `The port is in use: ${where} is taken by another program.`;
    if (error.code === "EACCES") return `The port is not allowed: ${where} needs more rights.`;
    return `The service cannot listen on ${where}: ${error.message}`;
  }
}

/** The longest that a timer of Node.js can be set for: a longer one fires at once. */
const longest = 2 ** 31 - 1;

/** Waits any number of ms, however many; fails once the signal says so. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= longest) await wait(Math.min(left, longest), undefined, { signal });
}
