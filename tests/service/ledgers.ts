import { request } from "node:http";
import WebSocket from "ws";
import { treeOf } from "../../tools/lib/processes.mjs";
import { basic, populated, quick, type start, type Wire } from "./helpers";
import { until } from "../support/until";

/** A service with real chains, and one network on it. */
export async function ledgered(options: Parameters<typeof start>[0] = {}, environment?: object) {
  const made = await populated({ ledger: true, timing: quick, ...options }, environment);
  const { urls } = (await made.send("GET", `${made.paths.node}/status`)).body;
  return { ...made, urls };
}

type Pair = { username: string; password: string };

/** A JSON-RPC call as a program would make it. */
export async function rpc(url: string, { username, password }: Pair, body: unknown) {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...basic(username, password), "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, body: (await response.json()) as never };
}

export const eth = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });

/** An address without code, for overrides. */
export const contract = `0x${"c0".repeat(20)}`;
/** Code that returns this many zero bytes. */
export const returning = (bytes: number) => `0x63${bytes.toString(16).padStart(8, "0")}6000f3`;
/** Code that never ends. */
export const endless = "0x5b600056";

/** The result of one call. */
export async function result<T>(url: string, pair: Pair, method: string, ...params: unknown[]): Promise<T> {
  const { body } = await rpc(url, pair, eth(method, ...params));
  const { result, error } = body as { result: T; error?: { message: string } };
  if (error) throw new Error(error.message);
  return result;
}

/** Opens a WebSocket, or returns the status and error of the refusal. */
export function webSocket(url: string, pair?: Pair, options: WebSocket.ClientOptions = {}) {
  const socket = new WebSocket(url, { ...options, ...(pair ? { headers: basic(pair.username, pair.password) } : {}) });
  const messages: Wire[] = [];
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString()) as Wire));
  return new Promise<{ status: number; error?: string; socket: WebSocket; messages: Wire[] }>((done, fail) => {
    socket.once("open", () => done({ status: 101, socket, messages }));
    socket.once("error", fail);
    socket.once("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.once("end", () => {
        const { errorMessage } = JSON.parse(text) as Wire;
        done({ status: response.statusCode!, error: errorMessage, socket, messages });
      });
    });
  });
}

/** Sends a request exactly as given. */
export function raw(url: string, headers: Record<string, string>, body: string | Buffer = "", method = "POST") {
  return new Promise<{ status: number; text: string }>((done, fail) => {
    const asked = request(url, { method, headers }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.once("end", () => done({ status: response.statusCode!, text }));
      response.once("error", fail);
    });
    asked.once("error", fail);
    asked.end(body);
  });
}

/** The processes of the chains of a service, and of the shells that watch over them: one above each, and one beside it. */
export function chainsBelow(service: number) {
  const found = treeOf(service).filter(({ command }) => command.includes("--init"));
  const pids = (shells: boolean) =>
    found.filter(({ command }) => command.startsWith("/bin/sh ") === shells).map(({ pid }) => pid);
  return { watchers: pids(true), chains: pids(false) };
}

export const blockNumber = async (url: string, pair: Pair) =>
  Number(await result<string>(url, pair, "eth_blockNumber"));
export const blocks = (url: string, pair: Pair, least: number) =>
  until(async () => (await blockNumber(url, pair)) >= least);
