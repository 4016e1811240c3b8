import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import type { Base } from "../context";
import { Refusal } from "../errors";
import { admitted, nodePath } from "./authentication";
import { asksUpgrade, scope } from "./server";
import { stateAt } from "../store/entities";
import { acceptText, answers, type Ask, send } from "./calls";
import type { RealLedger } from "../store/ledgers";
import { failure, unforeseen, written } from "../ledger/rpc";
import { read, type Rights } from "../ledger/screening";
import type { Chain } from "../ledger/chains";
import { deliver, Subscriptions } from "../ledger/subscriptions";

/** How long a WebSocket may be silent until the system asks whether its client is still there (ms). */
const silence = 60_000;

/** The addresses of nodes: JSON-RPC over POST and WebSockets, for holders of a credential. */
export class NodeEndpoint {
  readonly #webSockets: WebSocketServer;
  /** The first bytes after a request for a WebSocket. */
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  /** Each is open as long as its credential and its node exist. */
  readonly #open = new Map<WebSocket, { credential: string; node: string }>();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
  ) {
    const maxPayload = base.settings.callLimits.request;
    this.#webSockets = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
  }

  async serve(app: FastifyInstance): Promise<void> {
    app.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      this.#heads.set(request, head);
      route(app, request, socket, this.base.report);
    });
    await scope(app, "nodes", (nodes) => {
      acceptText(nodes, this.base.settings.callLimits);
      // before the body is read
      nodes.addHook("onRequest", (request, reply, next) => {
        this.#admit(request, reply);
        if (request.method !== "POST" && !asksUpgrade(request.raw))
          throw new Refusal(405, "JSON-RPC calls are sent with POST.");
        next();
      });
      nodes.all(nodePath, { config: { quiet: true } }, (request, reply) => this.#answer(request, reply));
    });
  }

  /** Closes the WebSockets of deleted credentials and nodes. */
  removed(ids: ReadonlySet<string>): void {
    for (const [member, { credential, node }] of this.#open)
      if (ids.has(credential) || ids.has(node)) member.terminate();
  }

  close(): void {
    for (const member of this.#open.keys()) member.terminate();
  }

  #admit(request: FastifyRequest, reply: FastifyReply) {
    const { found: node, credential } = admitted("node", this.base.store, request, reply);
    const state = stateAt(node, this.base.clock());
    if (state !== "started") throw new Refusal(503, `The node ${node.id} is not ready for calls yet: it is ${state}.`);
    return { node, credential };
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const socket = asksUpgrade(request.raw);
    const { environmentId: id } = request.params as { environmentId: string };
    const chain = () => this.ledger.chain({ id });
    const { spec, accounts } = await chain();
    const { node, credential } = this.#admit(request, reply); // again, because starting the chain takes a while
    const account = this.ledger.account(accounts, node);
    const { settings, report } = this.base;
    const rights = { limits: settings.callLimits, account, profile: spec.profile, socket, report };
    if (!socket) return send(reply, read((request.body as string | undefined) ?? "", rights), chain, rights);
    this.#webSockets.handleUpgrade(request.raw, request.raw.socket, this.#heads.get(request.raw)!, (member) => {
      request.raw.socket.setKeepAlive(true, silence);
      this.#open.set(member, { credential: credential.id, node: node.id });
      member.once("close", () => this.#open.delete(member));
      connect(member, rights, chain);
    });
    return reply.hijack();
  }
}

/** Passes an upgrade request through the routes, like any other request. */
function route(app: FastifyInstance, request: IncomingMessage, socket: Socket, report: (error: unknown) => void): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false; // a refusal closes the connection
  try {
    response.assignSocket(socket);
  } catch {
    return void socket.destroy(); // an answer is being sent on this connection
  }
  response.once("finish", () => socket.destroy());
  try {
    app.routing(request, response);
  } catch (error) {
    report(error);
    socket.destroy();
  }
}

/** Connects a member to a chain, with the same limits as over HTTP. */
function connect(member: WebSocket, rights: Rights, chain: () => Promise<Chain>): void {
  const subscriptions = new Subscriptions(member, rights.limits);
  const answer = async (text: string) => {
    const parts: Buffer[] = [];
    const sent: (() => void)[] = [];
    const ask: Ask = async (call, bounds) => {
      const asked = await chain();
      return subscriptions.concerns(call.method) ? subscriptions.ask(call, asked, sent) : asked.ask(call, bounds);
    };
    try {
      for await (const part of answers(read(text, rights), ask, rights)) parts.push(part);
      if (parts.length > 0) deliver(member, rights.limits, Buffer.concat(parts));
    } catch (error) {
      const known = error instanceof Refusal;
      if (!known) rights.report(error);
      deliver(member, rights.limits, written(known ? failure(null, -32_005, error.message) : unforeseen(null)));
    }
    for (const goOn of sent) goOn();
  };
  member.on("error", () => undefined);
  member.on("message", (data: Buffer) => void answer(data.toString()).catch(rights.report));
}
