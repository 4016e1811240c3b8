import { createServer, IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance, FastifyPluginCallback } from "fastify";
import type { CallLimits } from "../settings/settings";
import type { ResolvedOptions, TlsOptions } from "../settings/options";
import { ServiceError } from "../errors";

/**
 * A request that may upgrade only to a WebSocket of a node. Clients that offer other protocols, such as HTTP/2
 * (Java's HttpClient and curl do, even with a body), get HTTP/1.1, as HTTP allows.
 */
class Request extends IncomingMessage {
  /** Set by Node's parser. Only declared, because an initializer would overwrite the parser's value. */
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

/** Adds routes with their own hooks and parsers. Without a name, fastify looks for one among all loaded modules. */
export async function scope(app: FastifyInstance, name: string, add: (own: FastifyInstance) => void, prefix = "") {
  const plugin: FastifyPluginCallback = (own, _options, done) => {
    add(own);
    done();
  };
  await app.register(Object.assign(plugin, { [Symbol.for("fastify.display-name")]: name }), { prefix });
}

/** How often to look for clients that are too slow (ms). */
const look = 1_000;
/** Creates a server with limits: of connections, and of the time for headers; a whole request may take twice that. */
export function createHttpServer(tls: TlsOptions | undefined, limits: CallLimits): Server {
  const { connections, time } = limits;
  const slowest = { headersTimeout: time, requestTimeout: 2 * time, connectionsCheckingInterval: look };
  const options = { ...slowest, keepAliveTimeout: 72_000, IncomingMessage: Request };
  const server = tls ? createSecureServer({ ...options, handshakeTimeout: time, ...tls }) : createServer(options);
  server.maxConnections = connections;
  return server;
}

/** The listening socket, which can be closed for a while. */
export class Listener {
  #reopening = new AbortController();

  port: number;

  /** @param dropWebSockets closes the WebSockets, which the server no longer tracks */
  constructor(
    private readonly server: Server,
    private readonly options: Pick<ResolvedOptions, "host" | "port" | "tls">,
    private readonly dropWebSockets?: () => void,
  ) {
    this.port = options.port;
  }

  /**
   * `http://HOST:PORT` (or https). If the service listens on all addresses, HOST is the caller's, or otherwise an address that works on
   * this machine.
   */
  origin(asked?: string): string {
    const everywhere = { "0.0.0.0": "127.0.0.1", "::": "::1" }[this.options.host];
    const host = everywhere ?? this.options.host;
    const place = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${this.port}`;
    return `${this.options.tls ? "https" : "http"}://${(everywhere && asked) ?? place}`;
  }

  open(): Promise<void> {
    return new Promise((done, fail) => {
      const failed = (cause: NodeJS.ErrnoException) =>
        fail(new ServiceError(this.#why(cause), { ...(cause.code === "EADDRINUSE" && { code: "port-taken" }), cause }));
      this.server.once("error", failed);
      this.server.listen(this.port, this.options.host, () => {
        this.server.off("error", failed);
        this.port = (this.server.address() as AddressInfo).port;
        done();
      });
    });
  }

  /** Drops all connections and accepts none for some ms; then listens on the same port again. */
  refuse(ms: number): void {
    this.#reopening.abort();
    this.#shut();
    const { signal } = (this.#reopening = new AbortController());
    const reopen = () => this.open().catch(() => this.refuse(50)); // another process has the port now
    waitFor(ms, signal).then(reopen, () => undefined);
  }

  async close(): Promise<void> {
    this.#reopening.abort();
    await new Promise<void>((done) => this.#shut(done));
  }

  #shut(done?: () => void): void {
    this.server.close(() => done?.());
    this.server.closeAllConnections();
    this.dropWebSockets?.();
  }

  #why(error: NodeJS.ErrnoException): string {
    const where = `${this.options.host}:${this.port}`;
    if (error.code === "EADDRINUSE") return `The port is in use: ${where} is taken by another program.`;
    if (error.code === "EACCES") return `The port is not allowed: ${where} needs more rights.`;
    return `The service cannot listen on ${where}: ${error.message}`;
  }
}

/** The longest timer in Node.js (ms): a longer one fires at once. */
const longest = 2 ** 31 - 1;

/** Waits any number of ms. Rejects if the signal aborts. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= longest) await wait(Math.min(left, longest), undefined, { signal });
}
