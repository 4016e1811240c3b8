import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { cert, key } from "../../support/certificate";

/** Plays a node's endpoints for one credential: as much of the protocol as a provider needs to log in. */
export interface Ledger {
  urls: { rpc: string; wss: string };
  /** The certificate, where it speaks TLS. */
  ca?: string;
  /** The addresses that were asked for. */
  seen: string[];
  /** Resolves once a method was called over a WebSocket. */
  asked(method: string): Promise<void>;
  /** Closes all WebSockets. */
  drop(): void;
  close(): Promise<void>;
}

export const username = "u-test";
export const password = "p:ss/wörd";
const header = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const results: Record<string, string> = { eth_chainId: "0x539", eth_blockNumber: "0x7" };
interface Payload {
  id: number;
  method: string;
}
const result = ({ id, method }: Payload): object => ({ jsonrpc: "2.0", id, result: results[method] ?? null });
const answer = (text: string): string => {
  const asked = JSON.parse(text) as Payload | Payload[];
  return JSON.stringify(Array.isArray(asked) ? asked.map(result) : result(asked));
};

/** @param refusal answer to every WebSocket that is opened */
export async function ledger(tls = false, refusal?: { status: number; body: string }): Promise<Ledger> {
  const seen: string[] = [];
  const calls: string[] = [];
  const watchers: (() => void)[] = [];
  const refused = { status: 401, body: JSON.stringify({ errorMessage: "Not this one." }) };
  const open = ({ headers, url }: IncomingMessage): boolean => {
    seen.push(String(url));
    return headers.authorization === header;
  };
  const server: Server = tls ? createTlsServer({ key, cert }) : createServer();
  server.on("request", (request: IncomingMessage, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      if (open(request)) response.setHeader("content-type", "application/json").end(answer(body));
      else response.writeHead(refused.status).end(refused.body);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on("connection", (socket: WebSocket) => {
    socket.on("message", (data: Buffer) => {
      const { method } = JSON.parse(data.toString()) as Payload;
      calls.push(method);
      for (const look of watchers) look();
      if (method !== "peer_hang") socket.send(answer(data.toString()));
    });
  });
  server.on("upgrade", (request, socket, head) => {
    const no = open(request) ? refusal : refused;
    if (!no) return sockets.handleUpgrade(request, socket, head, (one) => sockets.emit("connection", one, request));
    socket.end(`HTTP/1.1 ${no.status} No\r\ncontent-length: ${Buffer.byteLength(no.body)}\r\n\r\n${no.body}`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const where = `://127.0.0.1:${(server.address() as AddressInfo).port}/runtime/e/n`;
  const made: Ledger = {
    urls: { rpc: `http${tls ? "s" : ""}${where}`, wss: `ws${tls ? "s" : ""}${where}` },
    ca: tls ? cert : undefined,
    seen,
    asked: (method) =>
      new Promise((done) => {
        const look = (): void => void (calls.includes(method) && done());
        watchers.push(look);
        look();
      }),
    drop: () => sockets.clients.forEach((socket) => socket.terminate()),
    close: () =>
      new Promise((done) => {
        sockets.clients.forEach((socket) => socket.terminate());
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  running.push(made);
  return made;
}

const running: Ledger[] = [];
afterAll(() => Promise.all(running.map((one) => one.close())));
