import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { Client } from "undici";
import type { Chain } from "./chains";
import { refusal } from "./proxy";

/** Who may go to a node, and the way to its chain. */
export interface Admitted {
  credential: string;
  node: string;
  chain: () => Promise<Chain>;
}

interface Open {
  owners: readonly string[];
  end(): void;
}

/** The WebSockets to the chains. Each is open as long as its credential and its node are there. */
export class Sockets {
  readonly #open = new Set<Open>();

  constructor(private readonly admit: (request: IncomingMessage) => Admitted) {}

  open(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    this.#connect(request, socket, head).catch((error: unknown) => refuseSocket(socket, error));
  }

  /** Closes those of credentials or nodes that are no more. */
  drop(ids: ReadonlySet<string>): void {
    for (const open of this.#open) if (open.owners.some((id) => ids.has(id))) open.end();
  }

  close(): void {
    for (const open of this.#open) open.end();
  }

  async #connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { credential, node, chain } = this.admit(request);
    const { socketPath } = await chain();
    this.admit(request); // the chain's start takes a while
    const client = new Client("http://localhost", { socketPath });
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => name.startsWith("sec-websocket-")),
    );
    const { socket: inner, headers: answer } = await client
      .upgrade({ path: "/", method: "GET", protocol: "websocket", headers })
      .catch((error: unknown) => {
        void client.destroy();
        throw error;
      });
    const end = () => {
      this.#open.delete(open);
      inner.destroy();
      socket.destroy();
      void client.destroy();
    };
    const open: Open = { owners: [credential, node], end };
    this.#open.add(open);
    for (const one of [inner, socket]) one.once("close", end).on("error", end);
    if (socket.destroyed) return end();
    const shown = Object.entries(answer).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${shown.join("")}\r\n`);
    if (head.length > 0) inner.write(head);
    inner.pipe(socket).pipe(inner);
  }
}

/** Answers on the bare socket, where there is no response to write to. */
export function refuseSocket(socket: Duplex, error: unknown): void {
  if (!socket.writable) return void socket.destroy();
  const { status, message } = refusal(error);
  const body = JSON.stringify({ errorMessage: message });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      ...(status === 401 ? ['www-authenticate: Basic realm="node"'] : []),
      "connection: close",
      `\r\n${body}`,
    ].join("\r\n"),
  );
}
