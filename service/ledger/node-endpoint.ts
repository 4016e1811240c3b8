import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Base } from "../base";
import { Refusal } from "../errors";
import { admitted, nodePath } from "../http/node-credentials";
import { asksUpgrade } from "../http/server";
import { stateAt } from "../store/states-over-time";
import { acceptText, answers, askOf, enter, send, Share } from "./calls";
import { NodeSockets } from "./node-sockets";
import type { RealLedger } from "./real-ledger";
import { read } from "./screening";

/** The addresses of nodes: JSON-RPC over POST and WebSockets, for whoever holds a credential. */
export class NodeEndpoint {
  readonly #sockets: NodeSockets;
  /** Of each credential. */
  readonly #shares = new Map<string, Share>();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
  ) {
    this.#sockets = new NodeSockets(base.settings.callLimits);
  }

  async serve(app: FastifyInstance): Promise<void> {
    const limits = this.base.settings.callLimits;
    this.#sockets.listen(app);
    await app.register((nodes, _options, done) => {
      acceptText(nodes, limits);
      // before the body is read
      nodes.addHook("onRequest", (request, reply, next) => {
        const { share } = this.#admit(request, reply);
        const upgrade = asksUpgrade(request.raw);
        if (request.method !== "POST" && !upgrade) throw new Refusal(405, "JSON-RPC calls are sent with POST.");
        if (!upgrade) enter(share, reply, limits);
        next();
      });
      nodes.all(nodePath, { config: { quiet: true } }, (request, reply) => this.#answer(request, reply));
      done();
    });
  }

  /** Drops the WebSockets of credentials or nodes that are no more. */
  removed(ids: ReadonlySet<string>): void {
    this.#sockets.drop(ids);
    for (const id of ids) this.#shares.delete(id);
  }

  close(): void {
    this.#sockets.close();
  }

  #admit(request: FastifyRequest, reply: FastifyReply) {
    const found = admitted(this.base.store, request, reply);
    const state = stateAt(found.node, this.base.clock());
    if (state !== "started") throw new Refusal(503, `The node ${found.node.id} does not serve yet: it is ${state}.`);
    const { id } = found.credential;
    const share = this.#shares.get(id) ?? new Share(this.base.settings.callLimits);
    this.#shares.set(id, share);
    return { ...found, share };
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { node } = this.#admit(request, reply);
    const environment = this.base.store.get("environment", node.parent)!;
    const chain = () => this.ledger.chain(environment);
    const account = await this.ledger.account(await this.ledger.chain(environment), node);
    const { credential, share } = this.#admit(request, reply); // the chain's start takes a while
    const limits = this.base.settings.callLimits;
    const rights = { limits, account, overrides: true, socket: asksUpgrade(request.raw) };
    if (rights.socket) {
      this.#sockets.open(request.raw, { credential: credential.id, node: node.id, rights, share, chain });
      return reply.hijack();
    }
    await chain();
    const asked = read((request.body as string | undefined) ?? "", rights);
    return send(reply, share, answers(asked, share, askOf(chain), rights));
  }
}
