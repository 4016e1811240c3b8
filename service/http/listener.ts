import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ResolvedOptions } from "../settings/options";
import { ServiceError } from "../errors";
import { waitFor } from "./long-wait";

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
