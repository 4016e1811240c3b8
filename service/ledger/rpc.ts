import { connect, type Socket } from "node:net";
import pLimit from "p-limit";
import { request } from "undici";
import { Refusal } from "../errors";
import { jsonText } from "../storage/files";

/** A chain's error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
}

/** An answer is too long or too late. */
export class Excess extends Error {
  override readonly name = "Excess";
  constructor(readonly kind: "long" | "late") {
    super(`The answer is too ${kind}.`);
  }
}

/** A chain's answer to a call. */
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** How long an answer may be, and how long to wait for it. */
export interface Bounds {
  bytes: number;
  ms: number;
  /** Whether it skips the queue: the service's own calls do not wait for members' calls. */
  now?: boolean | undefined;
}

/** The id of all calls to engines, which identifies their answers. */
export const engineId = "@";

/** A JSON-RPC call, and its text for an engine. */
export interface RpcCall {
  /** The caller's own id. */
  id: unknown;
  method: string;
  params: unknown[];
  send: string;
}

export const rpcCall = (method: string, params: unknown[], id: unknown = 1): RpcCall => ({
  id,
  method,
  params,
  send: JSON.stringify({ jsonrpc: "2.0", id: engineId, method, params }),
});

/** For the service's own calls. */
export const own: Bounds = { bytes: 256 * 1_048_576, ms: 60_000, now: true };
/** Maximum bytes of an answer of an external network: only blocks without transactions, receipts and numbers. */
const mostRemote = 1_048_576;
const newline = "\n".charCodeAt(0);
/** Idle connections to keep for later calls. */
const mostIdle = 8;
/** Concurrent members' calls of a chain: each may take the memory of an execution and of an answer. */
const mostRunning = 8;

/** Makes calls to a chain, one at a time per connection. */
export class Caller {
  readonly #idle: Socket[] = [];
  readonly #running = pLimit(mostRunning);
  /** The service's own calls of this moment. */
  #own: { text: string; done: (answer: Answer) => void; failed: (error: unknown) => void }[] = [];
  #asked = 0;

  constructor(readonly socketPath: string) {}

  /** Whether a call is waiting for its answer. */
  get busy(): boolean {
    return this.#asked > 0;
  }

  /** Makes a call; members' calls wait for their turn. */
  async ask(text: string, bounds: Bounds): Promise<Buffer> {
    const end = performance.now() + bounds.ms;
    const send = (ms: number) => this.exchange((socket) => socket.write(`${text}\n`), { ...bounds, ms });
    this.#asked++;
    try {
      return await (bounds.now ? send(bounds.ms) : this.#running(() => send(end - performance.now())));
    } finally {
      this.#asked--;
    }
  }

  /**
   * Makes one of the service's own calls; returns the answer, which may be an error. Those of the same moment share a message, and the
   * chain begins them in their order.
   */
  answer = (method: string, params: unknown[]): Promise<Answer> =>
    new Promise((done, failed) => {
      const count = this.#own.push({ text: rpcCall(method, params).send, done, failed });
      if (count === 1) setImmediate(() => void this.#askOwn());
    });

  /** Makes one of the service's own calls; returns the result, and throws errors. */
  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    resultOf<T>(method, await this.answer(method, params));

  async #askOwn(): Promise<void> {
    const calls = this.#own;
    this.#own = [];
    try {
      const line = await this.ask(`[${calls.map(({ text }) => text).join()}]`, own);
      const answers = JSON.parse(line.toString()) as Answer[];
      calls.forEach(({ done }, at) => done(answers[at]!));
    } catch (error) {
      for (const { failed } of calls) failed(error);
    }
  }

  /** Writes a call to a connection, and reads the line that comes back. */
  protected exchange(write: (socket: Socket) => unknown, { bytes, ms }: Bounds): Promise<Buffer> {
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
      Promise.resolve(write(socket)).catch(refuse);
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

/** How every answer of an engine begins. */
const begin = `{"jsonrpc":"2.0","id":"${engineId}",`;
const ofError = '"error"';

/** Whether an engine answered; otherwise, the service did. */
export const isEngines = (line: Buffer): boolean => line.toString("latin1", 0, begin.length) === begin;
export const isError = (line: Buffer): boolean =>
  line.toString("latin1", begin.length, begin.length + ofError.length) === ofError;
/** An engine's answer for a caller with this id. */
export const withId = (line: Buffer, id: unknown): Buffer =>
  Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},`), line.subarray(begin.length)]);
/** The result of an engine's answer; undefined if it is an error. */
export const resultOfLine = (line: Buffer): unknown =>
  isError(line) ? undefined : (JSON.parse(line.toString()) as { result: unknown }).result;

/** An answer in its final form. */
export const written = (message: object) => Buffer.from(JSON.stringify(message));

/** An answer that is an error. */
export const failure = (id: unknown, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

/** The answer to a call that failed unexpectedly. */
export const unforeseen = (id: unknown) =>
  failure(id, -32_603, "The service failed to answer this call; its log says why.");

/** The result of an answer; throws its error. */
export function resultOf<T>(method: string, answer: unknown): T {
  const { result, error } = (answer ?? {}) as { result?: T; error?: unknown };
  if (error) throw new RpcError(`${method}: ${(error as { message?: string }).message ?? JSON.stringify(error)}`);
  if (result === undefined) throw new RpcError(`${method}: the answer has no result`);
  return result;
}

/** Reads an external network's answer. */
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

/** Makes a call to an external network. Its address may contain a password, so errors do not show it. */
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
    body: rpcCall(method, params).send,
    signal: signal ?? null,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  const answer = jsonText.safeParse(await shortText(method, body)).data;
  if (answer === undefined) throw new RpcError(`${method}: the answer has the status ${statusCode} and no JSON`);
  return resultOf<T>(method, answer);
}

/** Splits an address into its secret part and the rest. */
export function credentialsOf(address: string): { url: string; username: string; password: string } {
  const url = new URL(address);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, username, password };
}

/** The header of a login with username and password. */
const basicHeader = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
});
