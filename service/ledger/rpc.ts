import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { request } from "undici";
import { Refusal } from "../errors";

/** What a chain answers instead of a result. */
export class RpcError extends Error {
  override readonly name = "RpcError";
}

const longest = 60_000;
const newline = "\n".charCodeAt(0);
/** Connections that wait for the next message. */
const mostIdle = 8;

/** Calls to a chain. A connection carries one message at a time, and a line comes back, so no two callers share anything. */
export class Caller {
  readonly #idle: Socket[] = [];

  constructor(private readonly socketPath: string) {}

  /** Sends a message: one call, or one batch. */
  ask = (text: string): Promise<string> => {
    const known = answerTo(text);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((done, fail) => {
      const socket = this.#idle.pop() ?? connect(this.socketPath);
      socket.removeAllListeners();
      const parts: Buffer[] = [];
      const refuse = (why: string) => {
        socket.removeAllListeners().on("error", () => undefined);
        socket.destroy();
        fail(new Refusal(502, `The ledger did not answer: ${why}.`));
      };
      socket.ref().setTimeout(longest, () => refuse(`nothing came for ${longest / 1_000} s`));
      socket.on("data", (part: Buffer) => {
        parts.push(part);
        if (part.at(-1) !== newline) return;
        socket.removeAllListeners();
        this.#keep(socket, text);
        const [line = ""] = Buffer.concat(parts).toString().split("\n");
        done(line);
      });
      socket.once("error", (error) => refuse(error.message));
      socket.once("close", () => refuse("the chain ended"));
      socket.write(`${text}\n`);
    });
  };

  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    resultOf<T>(method, JSON.parse(await this.ask(message(method, params))));

  /** On a connection that has subscribed to something, more than answers comes. */
  #keep(socket: Socket, text: string): void {
    const drop = () => {
      const at = this.#idle.indexOf(socket);
      if (at >= 0) this.#idle.splice(at, 1);
      socket.destroy();
    };
    socket.on("error", drop).on("close", drop).on("data", drop).setTimeout(0);
    if (this.#idle.length >= mostIdle || text.includes("ubscribe")) return drop();
    this.#idle.push(socket.unref());
  }
}

/** A lasting connection to a chain, for subscriptions: a line each way is a message. */
export function converse(socketPath: string, hear: (line: string) => void): Socket {
  const socket = connect(socketPath);
  createInterface({ input: socket })
    .on("line", hear)
    .on("error", () => undefined); // the socket's own error says it
  return socket;
}

/** A call's answer where there is no result. */
export const failure = (id: unknown, code: number, message: string) => ({
  ...{ jsonrpc: "2.0", id, error: { code, message } },
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What answers a message that a chain would not answer: what is no JSON, or holds no call with an id. */
export function answerTo(text: string): string | undefined {
  const value = parsed(text);
  if (value === undefined) return JSON.stringify(failure(null, -32_700, "Parse error"));
  const calls = (Array.isArray(value) ? value : [value]) as unknown[];
  const isCall = (call: unknown) => typeof call === "object" && call !== null && "id" in call;
  return calls.some(isCall) ? undefined : JSON.stringify(failure(null, -32_600, "Invalid request"));
}

const message = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function resultOf<T>(method: string, answer: unknown): T {
  const { result, error } = (answer ?? {}) as { result?: T; error?: { message: string } };
  if (error) throw new RpcError(`${method}: ${error.message}`);
  return result as T;
}

/** One call to a network of the user's own; its address may hold a password, so errors name the network. */
export async function callRemote<T>(
  url: string,
  method: string,
  params: unknown[] = [],
  signal?: AbortSignal,
): Promise<T> {
  const { username, password, ...plain } = credentialsOf(url);
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  const { body, statusCode } = await request(plain.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(username ? { authorization: `Basic ${basic}` } : {}) },
    body: message(method, params),
    signal: signal ?? null,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  const answer = parsed(await body.text());
  if (answer === undefined) throw new RpcError(`${method}: answered with status ${statusCode}, and no JSON`);
  return resultOf<T>(method, answer);
}

/** Takes an address apart into what may be shown nowhere, and the rest. */
export function credentialsOf(address: string): { url: string; username: string; password: string } {
  const url = new URL(address);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, username, password };
}
