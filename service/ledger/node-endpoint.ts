import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Base } from "../base";
import { Refusal } from "../errors";
import { admitted, nodePath } from "../http/node-credentials";
import { asksUpgrade } from "../http/server";
import { stateAt } from "../store/states-over-time";
import { mostBytes, NodeSockets } from "./node-sockets";
import type { RealLedger } from "./real-ledger";
import { screen } from "./screening";

/** The addresses of nodes: JSON-RPC over POST and WebSockets, for whoever holds a credential. */
export class NodeEndpoint {
  readonly sockets = new NodeSockets();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
  ) {}

  async serve(app: FastifyInstance): Promise<void> {
    this.sockets.listen(app);
    await app.register((nodes, _options, done) => {
      nodes.removeAllContentTypeParsers();
      nodes.addContentTypeParser("*", { parseAs: "string", bodyLimit: mostBytes }, (_request, body, read) =>
        read(null, body),
      );
      // before the body is read
      nodes.addHook("onRequest", (request, reply, next) => {
        this.#admit(request, reply);
        if (request.method !== "POST" && !asksUpgrade(request.raw))
          throw new Refusal(405, "JSON-RPC calls are sent with POST.");
        next();
      });
      nodes.all(nodePath, { config: { quiet: true } }, (request, reply) => this.#answer(request, reply));
      done();
    });
  }

  #admit(request: FastifyRequest, reply: FastifyReply) {
    const found = admitted(this.base.store, request, reply);
    const state = stateAt(found.node, this.base.clock());
    if (state !== "started") throw new Refusal(503, `The node ${found.node.id} does not serve yet: it is ${state}.`);
    return found;
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { node } = this.#admit(request, reply);
    const chain = await this.ledger.chain(this.base.store.get("environment", node.parent)!);
    const account = await this.ledger.account(chain, node);
    const { credential } = this.#admit(request, reply); // the chain's start takes a while
    if (asksUpgrade(request.raw)) {
      reply.hijack();
      return this.sockets.open(request.raw, [credential.id, node.id], chain.socketPath, account);
    }
    if (chain.problem !== undefined) throw new Refusal(507, chain.problem);
    const { send, answers, batch } = screen((request.body as string | undefined) ?? "", account, false);
    if (send === undefined) return reply.send(batch ? answers : answers[0]);
    const said = await chain.ask(send);
    reply.type("application/json");
    return reply.send(answers.length > 0 ? [JSON.parse(said) as unknown, answers].flat() : said);
  }
}
