import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { answerTo, converse } from "./rpc";
import { screen } from "./screening";

/** The most a call, or a batch of calls, may be long. */
export const mostBytes = 1_048_576;
/** Bytes that may wait for a side that does not read them. */
const mostWaiting = 16 * 1_048_576;
/** Tells a member that the chain ended; clients of 0.1.0 know this code. */
const chainEnded = 4006;

/** The WebSockets to nodes. Each is open as long as its credential and its node are there. */
export class NodeSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: mostBytes, perMessageDeflate: false });
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  readonly #open = new Map<WebSocket, readonly string[]>();

  /** Sends what asks for a WebSocket through the routes, as any other request. */
  listen(app: FastifyInstance): void {
    app.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false; // what is refused ends its connection
      try {
        response.assignSocket(socket);
      } catch {
        return void socket.destroy(); // an answer is under way on this connection
      }
      response.once("finish", () => socket.destroy());
      this.#heads.set(request, head);
      app.routing(request, response);
    });
  }

  /** Opens the WebSocket that was asked for; `owners`: ids of what it ends with. */
  open(request: IncomingMessage, owners: readonly string[], chainPath: string, account: string): void {
    this.#server.handleUpgrade(request, request.socket, this.#heads.get(request)!, (member) => {
      this.#open.set(member, owners);
      member.once("close", () => this.#open.delete(member));
      connect(member, chainPath, account);
    });
  }

  /** Drops those of credentials or nodes that are no more. */
  drop(ids: ReadonlySet<string>): void {
    for (const [member, owners] of this.#open) if (owners.some((id) => ids.has(id))) member.terminate();
  }

  close(): void {
    for (const member of this.#open.keys()) member.terminate();
  }
}

/** Lets a member talk to a chain; only what its node may answer gets through. */
function connect(member: WebSocket, chainPath: string, account: string): void {
  const tell = (text: string) => {
    member.send(text);
    if (member.bufferedAmount > mostWaiting) member.terminate();
  };
  const chain = converse(chainPath, tell);
  chain.on("error", () => undefined).once("close", () => member.close(chainEnded));
  member.on("error", () => undefined).once("close", () => chain.destroy());
  member.on("message", (data: Buffer) => {
    const { send, answers, batch } = screen(data.toString(), account, true);
    if (answers.length > 0) tell(JSON.stringify(batch ? answers : answers[0]));
    if (send === undefined) return;
    const known = answerTo(send);
    if (known !== undefined) return tell(known);
    chain.write(`${send}\n`);
    if (chain.writableLength > mostWaiting) member.terminate();
  });
}
