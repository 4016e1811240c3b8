import httpProxy from "@fastify/http-proxy";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { Refusal } from "../http/errors";
import { admitted, nodePath } from "../routes/runtime";
import { asksUpgrade } from "../http/server";
import { stateAt } from "../store/states-over-time";
import type { Ledger } from "./real-ledger";
import { screen } from "./screening";
import { hooks, Member, Sockets } from "./node-sockets";
import { agent, connectTo, upstreamOf } from "./upstream";

declare module "fastify" {
  interface FastifyRequest {
    /** Where a call to a node goes, and the account that the node signs for. */
    way: { upstream: string; account: string; ask: (message: string) => Promise<string> } | undefined;
  }
}

/** The most a call, or a batch of calls, may be long. */
const mostBytes = 1_048_576;
const patience = 60_000;

/** The way from a node's addresses to its chain, for whoever holds a credential. */
export class Proxy {
  readonly sockets = new Sockets();

  constructor(
    private readonly context: Context,
    private readonly ledger: Ledger,
  ) {}

  /** Puts the nodes' addresses under the service. */
  async serve(app: FastifyInstance): Promise<void> {
    app.decorateRequest("way", undefined);
    await app.register(async (nodes) => {
      nodes.removeAllContentTypeParsers();
      nodes.addContentTypeParser("*", { parseAs: "string", bodyLimit: mostBytes }, (_request, body, done) =>
        done(null, body),
      );
      // before the body is read
      nodes.addHook("onRequest", (request, reply, done) => {
        this.#admit(request, reply);
        if (request.method !== "POST" && !asksUpgrade(request.raw))
          throw new Refusal(405, "JSON-RPC calls are sent with POST.");
        done();
      });
      nodes.addHook("preHandler", (request, reply) => this.#lead(request, reply));
      // ws has other types for ESM, in which this class would lack what the module holds besides
      const admitting: object = { WebSocket: Member, maxPayload: mostBytes };
      await nodes.register(httpProxy, {
        ...{ prefix: nodePath, upstream: "", routes: ["/"], proxyPayloads: false, config: { quiet: true } },
        // the chain knows one address, whatever the node's own is
        preRewrite: (_url, _params, prefix) => prefix,
        handler: forward,
        replyOptions: {
          getUpstream: ({ way }) => way!.upstream,
          queryString: () => "",
          rewriteRequestHeaders: (_request, { host, "content-length": length, "content-type": type }) => ({
            ...{ host, "content-length": length, "content-type": type },
          }),
          rewriteHeaders: ({ "content-type": type = "application/json", "content-length": length }) => ({
            "content-type": type,
            ...(length === undefined ? {} : { "content-length": length }),
          }),
          onError: (reply, { error }) => void reply.send(unanswered(error)),
        },
        ...{ websocket: true, wsHooks: hooks },
        wsServerOptions: admitting,
        wsClientOptions: {
          ...{ rewriteRequestHeaders: () => ({}), queryString: () => "", perMessageDeflate: false },
          ...{ handshakeTimeout: patience, createConnection: connectTo },
        },
        undici: agent({ connections: 64, headersTimeout: patience, bodyTimeout: patience }),
        ...{ destroyAgent: true, disableRequestLogging: true },
      });
    });
  }

  #admit(request: FastifyRequest, reply: FastifyReply) {
    const found = admitted(this.context, request, reply);
    const state = stateAt(found.node, this.context.clock());
    if (state !== "started") throw new Refusal(503, `The node ${found.node.id} does not serve yet: it is ${state}.`);
    return found;
  }

  async #lead(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { node } = this.#admit(request, reply);
    const chain = await this.ledger.chain(this.context.store.get("environment", node.parent) as Entity<"environment">);
    const account = await this.ledger.account(chain, node);
    const { credential } = this.#admit(request, reply); // the chain's start takes a while
    if (chain.problem !== undefined && request.method === "POST") throw new Refusal(507, chain.problem);
    request.way = { upstream: upstreamOf(chain), account, ask: chain.ask };
    if (asksUpgrade(request.raw)) this.sockets.add(request.raw.socket, [credential.id, node.id], account);
  }
}

/** Sends the calls that are the chain's to answer, and answers the others. */
function forward(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { send, answers, batch } = screen((request.body as string | undefined) ?? "", request.way!.account, false);
  if (send === undefined) return reply.send(batch ? answers : answers[0]);
  request.way!.ask(send).then(
    (said) =>
      reply.type("application/json").send(answers.length > 0 ? [JSON.parse(said) as unknown, answers].flat() : said),
    (error: unknown) => reply.send(unanswered(error)),
  );
  return reply;
}

/** What the chain's connection met is not the caller's fault. */
function unanswered(error: unknown): Refusal {
  return new Refusal(502, `The ledger did not answer: ${error instanceof Error ? error.message : "unknown"}.`);
}
