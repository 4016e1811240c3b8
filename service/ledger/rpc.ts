import { connect, type Socket } from "node:net";
import pLimit from "p-limit";
import { request } from "undici";
import { Refusal } from "../errors";
import { basicHeader } from "../http/authentication";
import { jsonText } from "../store/files";

/** A chain's error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
}

/** A chain's answer exceeds a limit of size, time or blocks. */
export class Excess extends Error {
  override readonly name = "Excess";
  constructor(readonly kind: "long" | "late" | "wide") {
    super(`The answer is too ${kind}.`);
  }
}

/** What a chain says to a call. */
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** The most that is read of an answer, and how long it is waited for. */
export interface Bounds {
  bytes: number;
  ms: number;
}

/** For the service's own calls. */
const own: Bounds = { bytes: 256 * 1_048_576, ms: 60_000 };
/** Bytes of an answer of a network of the user's own: blocks without transactions, receipts and numbers are asked for. */
const mostRemote = 1_048_576;
const newline = "\n".charCodeAt(0);
/** Connections that wait for the next call. */
const mostIdle = 8;
/** Calls of members that a chain carries out at once: each may take the memory of an execution and of an answer. */
const mostRunning = 8;

/** Calls to a chain. A connection carries one at a time, and a line comes back, so no two callers share anything. */
export class Caller {
  readonly #idle: Socket[] = [];
  readonly #running = pLimit(mostRunning);
  #asked = 0;

  constructor(private readonly socketPath: string) {}

  /** Whether a caller is waiting for an answer. */
  get busy(): boolean {
    return this.#asked > 0;
  }

  /** Sends a call of somebody's, after those before it. */
  ask = (text: string, bounds: Bounds): Promise<Buffer> => {
    const end = performance.now() + bounds.ms;
    return this.#counted(() => this.#running(() => this.#send(text, { ...bounds, ms: end - performance.now() })));
  };

  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    resultOf<T>(method, await this.answer(method, params));

  /** A call of the service's own, with what the chain says of an error. */
  async answer(method: string, params: unknown[]): Promise<Answer> {
    const line = await this.#counted(() => this.#send(message(method, params), own));
    return JSON.parse(line.toString()) as Answer;
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#asked++;
    try {
      return await work();
    } finally {
      this.#asked--;
    }
  }

  #send(text: string, { bytes, ms }: Bounds): Promise<Buffer> {
    if (ms <= 0) return Promise.reject(new Excess("late"));
    return new Promise((done, fail) => {
      const socket = this.#idle.pop() ?? connect(this.socketPath);
      socket.removeAllListeners();
      const parts: Buffer[] = [];
      let length = 0;
      const refuse = (error: Error) => {
        clearTimeout(late);
        socket.removeAllListeners().on("error", () => undefined);
        socket.destroy();
        fail(error);
      };
      const broken = () => refuse(new Refusal(502, "The ledger did not answer: the chain ended."));
      const late = setTimeout(() => refuse(new Excess("late")), ms);
      socket.ref().on("data", (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length > bytes + 1) return refuse(new Excess("long"));
        if (part.at(-1) !== newline) return;
        clearTimeout(late);
        socket.removeAllListeners();
        this.#keep(socket);
        done(Buffer.concat(parts, length - 1));
      });
      socket.once("error", broken).once("close", broken);
      socket.write(`${text}\n`);
    });
  }

  #keep(socket: Socket): void {
    const drop = () => {
      const at = this.#idle.indexOf(socket);
      if (at >= 0) this.#idle.splice(at, 1);
      socket.destroy();
    };
    socket.on("error", drop).on("close", drop).on("data", drop);
    if (this.#idle.length >= mostIdle) return drop();
    this.#idle.push(socket.unref());
  }
}

/**
 * A lasting connection to a chain, for subscriptions: a line each way is a message.
 *
 * @param most bytes of a line; a longer one ends the connection
 */
export function converse(socketPath: string, most: number, hear: (line: Buffer) => void): Socket {
  let parts: Buffer[] = [];
  let length = 0;
  return connect(socketPath).on("data", function (this: Socket, part: Buffer) {
    let rest = part;
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      hear(Buffer.concat([...parts, rest.subarray(0, at)]));
      [parts, length, rest] = [[], 0, rest.subarray(at + 1)];
    }
    parts.push(rest);
    length += rest.length;
    if (length > most) this.destroy();
  });
}

/** A call's answer where there is no result. */
export const failure = (id: unknown, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

const message = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function resultOf<T>(method: string, answer: unknown): T {
  const { result, error } = (answer ?? {}) as { result?: T; error?: { message: string } };
  if (error) throw new RpcError(`${method}: ${error.message}`);
  return result as T;
}

/** An external network's answer. */
async function shortText(method: string, body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > mostRemote) throw new RpcError(`${method}: the answer is longer than ${mostRemote} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** One call to a network of the user's own; its address may hold a password, so errors name the network. */
export async function callRemote<T>(
  url: string,
  method: string,
  params: unknown[] = [],
  signal?: AbortSignal,
): Promise<T> {
  const { username, password, ...plain } = credentialsOf(url);
  const { body, statusCode } = await request(plain.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(username ? basicHeader(username, password) : {}) },
    body: message(method, params),
    signal: signal ?? null,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  const answer = jsonText.safeParse(await shortText(method, body)).data;
  if (answer === undefined) throw new RpcError(`${method}: answered with status ${statusCode}, and no JSON`);
  return resultOf<T>(method, answer);
}

/** Splits an address into its secret part and the rest. */
export function credentialsOf(address: string): { url: string; username: string; password: string } {
  const url = new URL(address);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, username, password };
}
