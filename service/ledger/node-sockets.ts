import type { Duplex } from "node:stream";
import WebSocket from "ws";
import { Refusal } from "../http/errors";
import { screen } from "./screening";

/** Bytes that may wait for a side that does not read them. */
const mostWaiting = 16 * 1_048_576;

/** The account of the node that a connection leads to. */
const accounts = new WeakMap<Duplex, string>();

/** The connections with WebSockets to chains. Each is open as long as its credential and its node are there. */
export class Sockets {
  readonly #open = new Map<Duplex, readonly string[]>();

  /** From here on it is dropped with its owners, also if the WebSocket is not open yet. */
  add(socket: Duplex, owners: readonly string[], account: string): void {
    if (socket.destroyed) throw new Refusal(400, "The connection is closed.");
    this.#open.set(socket, owners);
    accounts.set(socket, account);
    socket.once("close", () => this.#open.delete(socket));
  }

  /** Drops those of credentials or nodes that are no more. */
  drop(ids: ReadonlySet<string>): void {
    for (const [socket, owners] of this.#open) if (owners.some((id) => ids.has(id))) socket.destroy();
  }

  close(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

/** A member's end of a WebSocket: only what its node may answer gets through to the chain's end. */
export class Member extends WebSocket {
  /** The connection below; ws has no public name for it. */
  declare readonly _socket: Duplex;
  /** What came before the chain's end was open. */
  #early: unknown[] | undefined = [];

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== "message") return super.emit(event, ...args);
    const [data] = args;
    if (this.#early) {
      this.pause();
      return this.#early.push(data) > 0;
    }
    const { send, answers, batch } = screen(String(data), accounts.get(this._socket) ?? "", true);
    if (answers.length > 0) this.send(JSON.stringify(batch ? answers : answers[0]));
    if (this.bufferedAmount > mostWaiting) this.terminate();
    return send === undefined || super.emit("message", Buffer.from(send), false);
  }

  /** The chain's end is open. */
  connected(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const data of early) this.emit("message", data);
    this.resume();
  }
}

/** What the proxy does as WebSockets open and messages pass. */
export const hooks = {
  onConnect(_context: unknown, member: WebSocket, chain: WebSocket): void {
    // whoever left while the chain's end was opening leaves that one behind
    if (member.readyState !== WebSocket.OPEN) chain.terminate();
    else (member as Member).connected();
  },
  onIncomingMessage(_context: unknown, member: WebSocket, chain: WebSocket): void {
    if (chain.bufferedAmount > mostWaiting) member.terminate();
  },
  onOutgoingMessage(_context: unknown, member: WebSocket): void {
    if (member.bufferedAmount > mostWaiting) member.terminate();
  },
};
