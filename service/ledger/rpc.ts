import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { request } from "undici";
import { Refusal } from "../errors";

/** What a chain answers instead of a result. */
export class RpcError extends Error {
  override readonly name = "RpcError";
}

const longest = 60_000;

/** Sends one call, or one batch, to a chain on a connection of its own; a line comes back. No two callers share anything. */
export function ask(socketPath: string, text: string): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect(socketPath);
    const refuse = (why: string) => {
      socket.destroy();
      fail(new Refusal(502, `The ledger did not answer: ${why}.`));
    };
    const parts: Buffer[] = [];
    socket.setTimeout(longest, () => refuse(`nothing came for ${longest / 1_000} s`));
    socket.on("data", (part: Buffer) => {
      parts.push(part);
      if (part.at(-1) !== newline) return;
      socket.destroy();
      const [line = ""] = Buffer.concat(parts).toString().split("\n");
      done(line);
    });
    socket.once("error", (error) => refuse(error.message));
    socket.once("end", () => refuse("the chain ended"));
    socket.write(`${text}\n`);
  });
}

const newline = "\n".charCodeAt(0);

/** A lasting connection to a chain, for subscriptions: a line each way is a message. */
export function converse(socketPath: string, hear: (line: string) => void): Socket {
  const socket = connect(socketPath);
  createInterface({ input: socket })
    .on("line", hear)
    .on("error", () => undefined); // the socket's own error says it
  return socket;
}

/** Whether a chain can take it: it tells messages apart by their brackets. */
export function isMessage(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** The answer to what is no JSON-RPC message. */
export const parseError = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });

const message = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function resultOf<T>(method: string, answer: unknown): T {
  const { result, error } = (answer ?? {}) as { result?: T; error?: { message: string } };
  if (error) throw new RpcError(`${method}: ${error.message}`);
  return result as T;
}

/** One call to a chain of this service. */
export const callLocal = async <T>(socketPath: string, method: string, params: unknown[] = []) =>
  resultOf<T>(method, JSON.parse(await ask(socketPath, message(method, params))));

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
  const text = await body.text();
  if (!isMessage(text)) throw new RpcError(`${method}: answered with status ${statusCode}, and no JSON`);
  return resultOf<T>(method, JSON.parse(text));
}

/** Takes an address apart into what may be shown nowhere, and the rest. */
export function credentialsOf(address: string): { url: string; username: string; password: string } {
  const url = new URL(address);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = url.password = "";
  return { url: url.href, username, password };
}
