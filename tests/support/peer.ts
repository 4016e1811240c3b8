import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { type ApiError } from "../../provider/api/api-error";
import { Http, type HttpOptions } from "../../provider/api/http";
import { resolveSettings, type Settings } from "../../provider/api/settings";

/** A plain HTTP server with the answers of a test, which counts connections. */
export interface Peer {
  baseUrl: string;
  connections: number;
  requests: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  close(): Promise<void>;
}

export type Reply = (response: ServerResponse, seen: number, socket: Socket) => void;

const running: (() => Promise<void>)[] = [];

export async function peer(reply: Reply): Promise<Peer> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      seen.requests.push({ method: request.method!, url: request.url!, headers: request.headers, body });
      reply(response, seen.requests.length, request.socket);
    });
  });
  server.on("connection", () => seen.connections++);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  const seen: Peer = { baseUrl, connections: 0, requests: [], close };
  running.push(close);
  return seen;
}

export const apiKey = "key-that-must-not-show";

export const settingsFor = (baseUrl: string, more: Record<string, unknown> = {}): Settings =>
  resolveSettings({ env: {}, given: { apiKey, baseUrl, ...more } });

/** The request path under test, closed with the test. */
export function http(baseUrl: string, more: Record<string, unknown> = {}, options: HttpOptions = {}): Http {
  const made = new Http(settingsFor(baseUrl, more), options);
  running.unshift(() => made.close());
  return made;
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => {
  return (response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

export const text = (status: number, body: string, headers: Record<string, string> = {}): Reply => {
  return (response) => void response.writeHead(status, headers).end(body);
};

/** The error that a call ends with. */
export const failure = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: unknown) => error as ApiError,
  );

afterEach(async () => {
  for (const close of running.splice(0)) await close();
});
