import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import type { Base } from "../context";
import { Refusal } from "../errors";
import { admitted, nodePath } from "./authentication";
import { type Turns, turnOf } from "./turns";
import { asksUpgrade, scope } from "./server";
import { stateAt } from "../store/entities";
import { acceptText, answers, type Ask, send, Share } from "./calls";
import type { RealLedger } from "../store/ledgers";
import { finished } from "../ledger/answers";
import { failure, unforeseen, written } from "../ledger/rpc";
import { type Message, read, type Rights } from "../ledger/screening";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "../ledger/chains";
import { Subscriptions } from "../ledger/subscriptions";

/** Messages of one WebSocket that are answered at a time; others are not read meanwhile. */
const mostAnswered = 4;
/** Bytes that the clients of all WebSockets together may leave unread. */
const mostUnread = 64 * 1_048_576;
/** The close code that says that the chain ended. */
const chainEnded = 4006;

/** What a WebSocket leads to, and whose it is. */
interface Place {
  credential: string;
  node: string;
  rights: Rights;
  share: Share;
  /** Reads a message, when it is the caller's turn. */
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
  readonly #open = new Map<WebSocket, Place>();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
    private readonly turns: Turns,
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
    for (const [member, { credential, node }] of this.#open) {
      if (ids.has(credential) || ids.has(node)) member.terminate();
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
    const { profile } = await chain();
    const account = await this.ledger.account(await chain(), node);
    const { credential } = this.#admit(request, reply); // again, because starting the chain takes a while
    const rights = { limits: this.#limits, account, profile, socket, report: this.base.report };
    const { turns } = this;
    const { organization } = node;
    const readIt = (text: string) => turns.measured(organization, () => read(text, rights));
    if (!socket) {
      await turnOf(turns, organization, reply);
      return send(reply, share, readIt((request.body as string | undefined) ?? ""), chain, rights);
    }
    const message = async (text: string) => {
      await turns.next(organization);
      return readIt(text);
    };
    this.#upgrade(request.raw, { credential: credential.id, node: node.id, rights, share, message, chain });
    return reply.hijack();
  }

  #upgrade(request: IncomingMessage, place: Place): void {
    const { sockets } = this.#limits;
    const same = [...this.#open.values()].filter(({ credential }) => credential === place.credential);
    if (same.length >= sockets) throw new Refusal(429, `At most ${sockets} WebSockets are allowed for a credential.`);
    this.#webSockets.handleUpgrade(request, request.socket, this.#heads.get(request)!, (member) => {
      this.#open.set(member, place);
      const alive = this.#watch(member);
      member.once("close", () => {
        clearInterval(alive);
        this.#open.delete(member);
      });
      connect(member, place, () => this.#relieve());
    });
  }

  /** Closes a WebSocket whose client does not answer, so that it does not count forever. */
  #watch(member: WebSocket): NodeJS.Timeout {
    let answered = true;
    member.on("pong", () => (answered = true));
    return setInterval(() => {
      if (member.isPaused) return; // its answers are not read now
      if (!answered) return member.terminate();
      answered = false;
      member.ping();
    }, this.#limits.time).unref();
  }

  /** Closes the WebSockets that leave most unread, until all together no longer leave too much. */
  #relieve(): void {
    let sum = 0;
    for (const { bufferedAmount } of this.#open.keys()) sum += bufferedAmount;
    if (sum <= mostUnread) return;
    const slowest = [...this.#open.keys()].sort((one, other) => other.bufferedAmount - one.bufferedAmount);
    for (const member of slowest) {
      if (sum <= mostUnread) return;
      sum -= member.bufferedAmount;
      member.terminate();
    }
  }
}

/** Sends a request for a WebSocket through the routes, like any other request. */
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
function connect(member: WebSocket, { rights, share, message, chain }: Place, relieve: () => void): void {
  const { limits } = rights;
  const notify = (line: Buffer) => {
    member.send(line, { binary: false });
    if (member.bufferedAmount > limits.answer)
      member.terminate(); // it does not read
    else if (member.bufferedAmount > 0) relieve();
  };
  const subscriptions = new Subscriptions(limits, notify, () => member.close(chainEnded), rights.report);
  member.on("error", () => undefined).once("close", () => subscriptions.close());

  const ask: Ask = async (call, bounds) => {
    const asked = await chain();
    const concerns = subscriptions.concerns(call.method);
    const line = concerns ? await subscriptions.ask(call, asked, bounds) : await asked.ask(call, bounds);
    return finished(call, line, asked, rights.report);
  };
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
    try {
      for await (const part of answers(await message(text), share, ask, rights, end)) parts.push(part);
      await tell(Buffer.concat(parts));
    } catch (error) {
      const known = error instanceof Refusal;
      if (!known) rights.report(error);
      await tell(written(known ? failure(null, -32_005, error.message) : unforeseen(null)));
    } finally {
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
