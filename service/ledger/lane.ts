import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Forwarded } from "./forward";
import { type Head, Heads } from "./heads";
import { refuseSocket } from "./sockets";

type Serve = (body: Buffer) => Promise<Forwarded>;
/** The way of a call to its chain; an error if it may not go there. */
export type Admit = (head: Head) => Serve;

/** How calls to nodes begin; a connection that begins otherwise is not worth a look. */
const begin = Buffer.from("POST /runtime/");

/** Bytes that may wait while a call is under way. */
const mostWaiting = 65_536;

/**
 * The short way for calls to nodes. A program sends the same head with every call; what Node's parser has read once, it does not
 * read again (see heads.ts), and that is most of what a call costs. Whatever is not such a plain call, from the first byte of
 * a connection on, goes to the HTTP server as if nothing had been here before: so do all refusals.
 */
export class Lane {
  readonly #heads = new Heads();
  readonly #open = new Set<Socket>();

  constructor(private readonly admit: Admit) {}

  /** Stands before the server's own way of taking connections. */
  attach(server: Server): void {
    const event = server.listenerCount("secureConnection") > 0 ? "secureConnection" : "connection";
    const others = server.listeners(event);
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => {
      this.#open.add(socket);
      const leave = () => {
        this.#open.delete(socket);
        for (const take of others) take.call(server, socket);
      };
      new Guest(socket, this.#heads, this.admit, leave);
      socket.setTimeout(server.keepAliveTimeout);
      socket.once("close", () => this.#open.delete(socket));
    });
  }

  /** Drops all connections that the HTTP server does not know of. */
  drop(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** One connection, as long as only plain calls come. */
class Guest {
  #waiting: Buffer = Buffer.alloc(0);
  #busy = false;

  constructor(
    private readonly socket: Socket,
    private readonly heads: Heads,
    private readonly admit: Admit,
    private readonly leave: () => void,
  ) {
    socket.on("data", this.#onData).on("end", this.#onEnd).on("timeout", this.#onTimeout).on("error", this.#onTimeout);
  }

  readonly #onTimeout = () => void this.socket.destroy();
  readonly #onEnd = () => void (this.#busy || this.socket.end());

  readonly #onData = (bytes: Buffer) => {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    if (!this.#busy) this.#next();
    else if (this.#waiting.length > mostWaiting) this.socket.pause();
  };

  #next(): void {
    const bytes = this.#waiting;
    const end = bytes.indexOf("\r\n\r\n") + 4;
    if (end < 4 || bytes.compare(begin, 0, begin.length, 0, begin.length) !== 0) return this.#handOver();
    const headBytes = bytes.subarray(0, end);
    const head = this.heads.known(headBytes);
    if (head === undefined) return this.#learn(headBytes);
    const serve = head === "other" ? undefined : this.#admitted(head);
    if (head === "other" || !serve) return this.#handOver();
    const length = end + head.length;
    if (bytes.length < length) return;
    this.#waiting = bytes.subarray(length);
    this.#busy = true;
    serve(bytes.subarray(end, length)).then(this.#answer, (error: unknown) => refuseSocket(this.socket, error));
  }

  /** Meanwhile nothing is read, not even the end: the server may have to take the connection as it is now. */
  #learn(head: Buffer): void {
    this.#busy = true;
    this.socket.pause();
    void this.heads.read(head).then(() => this.#free());
  }

  #admitted(head: Head): Serve | undefined {
    try {
      return this.admit(head);
    } catch {
      return undefined; // the long way says why
    }
  }

  readonly #answer = ({ status, type, text }: Forwarded) => {
    const { socket } = this;
    if (socket.destroyed) return;
    const length = Buffer.byteLength(text);
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${text}`,
    );
    this.#free();
  };

  #free(): void {
    const { socket } = this;
    this.#busy = false;
    if (this.#waiting.length > 0) this.#next();
    if (socket.isPaused()) socket.resume();
    if (socket.readableEnded && !this.#busy) socket.end();
  }

  #handOver(): void {
    const { socket } = this;
    const bytes = this.#waiting;
    if (socket.readableEnded) return void socket.end(); // what cannot be given back cannot be taken over
    socket
      .off("data", this.#onData)
      .off("end", this.#onEnd)
      .off("timeout", this.#onTimeout)
      .off("error", this.#onTimeout);
    socket.setTimeout(0);
    socket.unshift(bytes);
    this.leave();
  }
}
