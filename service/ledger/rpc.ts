import { connect, type Socket } from "node:net";
import { Refusal } from "../errors";
import { jsonText } from "../storage/files";

export class RpcError extends Error {
  override readonly name: string = "RpcError";
}

/** An answer is too long or too late. */
export class Excess extends Error {
  override readonly name = "Excess";
  constructor(readonly kind: "long" | "late") {
    super(`The answer is too ${kind}.`);
  }
}

export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** How long an answer may be, and how long to wait for it. */
export interface Bounds {
  bytes: number;
  ms: number;
  /** Whether to wait for a long start of the ledger, too, as the service itself does. */
  patient?: boolean | undefined;
}

export interface RpcCall {
  id: unknown;
  method: string;
  params: unknown[];
}

export const rpcCall = (method: string, params: unknown[], id: unknown = 1): RpcCall => ({ id, method, params });

export const own: Bounds = { bytes: Infinity, ms: 60_000, patient: true };
const newline = "\n".charCodeAt(0);

interface Asked {
  bytes: number;
  over: (answer: Answer | Error) => void;
}

/** Makes calls to a chain, all over one connection. */
export class Caller {
  readonly #asked = new Map<number, Asked>();
  #socket: Socket | undefined;
  #count = 0;

  constructor(readonly socketPath: string) {}

  get busy(): boolean {
    return this.#asked.size > 0;
  }

  /** Makes a call; returns the answer, which may be an error. */
  answer(method: string, params: unknown[], { bytes, ms }: Bounds = own): Promise<Answer> {
    const id = ++this.#count;
    return new Promise((done, fail) => {
      const over = (answer: Answer | Error) => {
        clearTimeout(late);
        this.#asked.delete(id);
        if (answer instanceof Error) fail(answer);
        else done(answer);
      };
      const late = setTimeout(() => over(new Excess("late")), Math.max(0, ms));
      this.#asked.set(id, { bytes, over });
      const socket = (this.#socket ??= this.#connect());
      socket.cork(); // the calls of this moment share a packet
      process.nextTick(() => socket.uncork());
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Makes one of the service's own calls; returns the result, and throws errors. */
  call = async <T>(method: string, params: unknown[] = [], bounds = own): Promise<T> =>
    resultOf<T>(method, await this.answer(method, params, bounds));

  #connect(): Socket {
    const socket = connect(this.socketPath).unref();
    let parts: Buffer[] = [];
    socket.on("data", (data: Buffer) => {
      let part = data;
      for (let end = part.indexOf(newline); end >= 0; end = part.indexOf(newline)) {
        this.#hear(Buffer.concat([...parts, part.subarray(0, end)]));
        [parts, part] = [[], part.subarray(end + 1)];
      }
      if (part.length > 0) parts.push(part);
    });
    return socket
      .on("error", () => undefined)
      .once("close", () => {
        this.#socket = undefined;
        for (const { over } of this.#asked.values())
          over(new Refusal(502, "The ledger did not answer: the chain ended."));
      });
  }

  #hear(line: Buffer): void {
    const { id, ...answer } = JSON.parse(line.toString()) as Answer & { id: number };
    const asked = this.#asked.get(id);
    asked?.over(line.length > asked.bytes ? new Excess("long") : answer);
  }
}

export const written = (message: object) => Buffer.from(JSON.stringify(message));

export const failure = (id: unknown, code: number, message: string, data?: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

/** The answer to a call that failed unexpectedly. */
export const unforeseen = (id: unknown) =>
  failure(id, -32_603, "The service failed to answer this call; its log says why.");

/** The result of an answer; throws its error. */
function resultOf<T>(method: string, answer: unknown): T {
  const { result, error } = (answer ?? {}) as { result?: T; error?: unknown };
  if (error) throw new RpcError(`${method}: ${(error as { message?: string }).message ?? JSON.stringify(error)}`);
  if (result === undefined) throw new RpcError(`${method}: the answer has no result`);
  return result;
}

/** Makes a call to an external network. Its address may contain a password, so errors do not show it. */
export async function callRemote<T>(
  url: string,
  method: string,
  params: unknown[] = [],
  signal?: AbortSignal,
): Promise<T> {
  const { username, password, url: plain } = credentialsOf(url);
  const login = Buffer.from(`${username}:${password}`).toString("base64");
  const response = await fetch(plain, {
    method: "POST",
    headers: { "content-type": "application/json", ...(username ? { authorization: `Basic ${login}` } : {}) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(signal ? [signal] : [])]),
  }).catch((error: Error) => {
    throw error.cause instanceof Error ? error.cause : error;
  });
  const answer = jsonText.safeParse(await response.text()).data;
  if (answer === undefined) throw new RpcError(`${method}: the answer has the status ${response.status} and no JSON`);
  return resultOf<T>(method, answer);
}

/** Splits an address into its secret part and the rest. */
export function credentialsOf(address: string): { url: string; username: string; password: string } {
  const url = new URL(address);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, username, password };
}
