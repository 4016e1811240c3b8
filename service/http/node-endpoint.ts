import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import type { Base } from "../context";
import { Refusal } from "../errors";
import { gapBefore } from "../json";
import { admitted, nodePath } from "./authentication";
import { asksUpgrade, scope } from "./server";
import { stateAt } from "../store/entities";
import { acceptText, answers, type Ask, send, Share } from "./calls";
import type { RealLedger } from "../store/ledgers";
import { finished } from "../ledger/answers";
import { failure, unforeseen, written } from "../ledger/rpc";
import { type Message, read, type Rights } from "../ledger/screening";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "../ledger/chains";
import { Outbox, Subscriptions, Unread } from "../ledger/subscriptions";

/** Concurrent messages of one WebSocket; it does not read others meanwhile. */
const mostAnswered = 4;
/** Bytes that the clients of all WebSockets together may leave unread. */
const mostUnread = 64 * 1_048_576;
/** The close code that says that the chain ended. */
const chainEnded = 4006;

/** The target and the owner of a WebSocket. */
interface Place {
  credential: string;
  node: string;
  rights: Rights;
  share: Share;
  /** Reads a message. */
  message: (text: string) => Promise<Message>;
  chain: () => Promise<Chain>;
}

/** The addresses of nodes: JSON-RPC over POST and WebSockets, for holders of a credential. */
export class NodeEndpoint {
  readonly #limits: CallLimits;
  /** By credential. */
  readonly #shares = new Map<string, Share>();
  readonly #webSockets: WebSocketServer;
  /** The first bytes after a request for a WebSocket. */
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  /** Each is open as long as its credential and its node exist. */
  readonly #open = new Map<WebSocket, { place: Place; outbox: Outbox }>();
  readonly #unread = new Unread();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
  ) {
    this.#limits = base.settings.callLimits;
    const maxPayload = this.#limits.request;
    this.#webSockets = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
  }

  async serve(app: FastifyInstance): Promise<void> {
    app.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      this.#heads.set(request, head);
      route(app, request, socket, this.base.report);
    });
    await scope(app, "nodes", (nodes) => {
      acceptText(nodes, this.#limits);
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
    for (const [member, { place }] of this.#open) {
      if (ids.has(place.credential) || ids.has(place.node)) member.terminate();
    }
    for (const id of ids) this.#shares.delete(id);
  }

  /** Closes all WebSockets. */
  close(): void {
    for (const member of this.#open.keys()) member.terminate();
  }

  #admit(request: FastifyRequest, reply: FastifyReply) {
    const { found: node, credential } = admitted("node", this.base.store, request, reply);
    const state = stateAt(node, this.base.clock());
    if (state !== "started") throw new Refusal(503, `The node ${node.id} is not ready for calls yet: it is ${state}.`);
    const share = this.#shares.get(credential.id) ?? new Share(this.#limits);
    this.#shares.set(credential.id, share);
    return { node, credential, share };
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { node, share } = this.#admit(request, reply);
    const socket = asksUpgrade(request.raw);
    if (!socket) share.enter(reply);
    const environment = this.base.store.get("environment", node.parent)!;
    const chain = () => this.ledger.chain(environment);
    const started = await chain();
    const account = this.ledger.account(started, node);
    const { credential } = this.#admit(request, reply); // again, because starting the chain takes a while
    const rights = { limits: this.#limits, account, profile: started.profile, socket, report: this.base.report };
    const message = async (text: string) => {
      await gapBefore(text);
      return read(text, rights);
    };
    if (!socket) return send(reply, share, await message((request.body as string | undefined) ?? ""), chain, rights);
    this.#upgrade(request.raw, { credential: credential.id, node: node.id, rights, share, message, chain });
    return reply.hijack();
  }

  #upgrade(request: IncomingMessage, place: Place): void {
    const { sockets } = this.#limits;
    const same = [...this.#open.values()].filter((one) => one.place.credential === place.credential);
    if (same.length >= sockets) throw new Refusal(429, `At most ${sockets} WebSockets are allowed for a credential.`);
    this.#webSockets.handleUpgrade(request, request.socket, this.#heads.get(request)!, (member) => {
      const outbox = new Outbox(member, this.#limits, this.#unread, () => this.#relieve());
      this.#open.set(member, { place, outbox });
      const alive = this.#watch(member);
      member.once("close", () => {
        clearInterval(alive);
        this.#open.delete(member);
      });
      connect(member, place, outbox);
    });
  }

  /** Closes a WebSocket whose client does not answer, so that it does not count forever. */
  #watch(member: WebSocket): NodeJS.Timeout {
    let answered = true;
    member.on("pong", () => (answered = true));
    return setInterval(() => {
      if (member.isPaused) return; // the client is not reading answers now
      if (!answered) return member.terminate();
      answered = false;
      member.ping();
    }, this.#limits.time).unref();
  }

  /** Closes the WebSockets with the most unread bytes, until the total is within the limit. */
  #relieve(): void {
    if (this.#unread.bytes <= mostUnread) return;
    const slowest = [...this.#open].sort(([, one], [, other]) => other.outbox.bytes - one.outbox.bytes);
    for (const [member, { outbox }] of slowest) {
      if (this.#unread.bytes <= mostUnread) return;
      outbox.clear();
      member.terminate();
    }
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
function connect(member: WebSocket, place: Place, outbox: Outbox): void {
  const { rights, share, message, chain } = place;
  const { limits } = rights;
  const subscriptions = new Subscriptions(limits, outbox, () => member.close(chainEnded));
  member.on("error", () => undefined).once("close", () => subscriptions.close());

  const tell = (text: Buffer) =>
    new Promise<void>((done) => {
      const late = setTimeout(() => member.terminate(), limits.time);
      member.send(text, { binary: false }, () => {
        clearTimeout(late);
        done();
      });
    });
  const answer = async (text: string) => {
    const { end, release } = await share.turn();
    const parts: Buffer[] = [];
    const sent: (() => void)[] = [];
    const ask: Ask = async (call, bounds) => {
      const asked = await chain();
      const concerns = subscriptions.concerns(call.method);
      const line = concerns ? subscriptions.ask(call, asked, sent) : await asked.ask(call, bounds);
      return finished(call, line, asked, rights.report);
    };
    try {
      for await (const part of answers(await message(text), share, ask, rights, end)) parts.push(part);
      if (parts.length > 0) await tell(Buffer.concat(parts));
    } catch (error) {
      const known = error instanceof Refusal;
      if (!known) rights.report(error);
      await tell(written(known ? failure(null, -32_005, error.message) : unforeseen(null)));
    } finally {
      for (const goOn of sent) goOn();
      release();
    }
  };
  let answering = 0;
  member.on("message", (data: Buffer) => {
    if (++answering >= mostAnswered) member.pause();
    const answered = answer(data.toString()).catch(rights.report);
    void answered.then(() => {
      if (--answering < mostAnswered && member.readyState === member.OPEN) member.resume();
    });
  });
}
