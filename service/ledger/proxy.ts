import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Context } from "../context";
import type { Entity } from "../entities";
import { Refusal } from "../errors";
import { admit, type Login, loginOf } from "../routes/runtime";
import { stateAt } from "../states";
import { bodyOf } from "./bodies";
import type { Chain } from "./chains";
import type { Ledger } from "./ledger";

import { Lane } from "./lane";
import { type Admitted, Sockets } from "./sockets";

const route = /^\/runtime\/([^/?]+)\/([^/?]+)\/?(?:\?|$)/;

/** The way from a node's addresses to its chain, for whoever holds a credential. */
export class Proxy {
  readonly sockets: Sockets;
  readonly #lane = new Lane(({ path, login }) => {
    const { chain } = this.#admit("POST", path, login);
    return async (body) => (await chain()).forward(body);
  });

  constructor(
    private readonly context: Context,
    private readonly ledger: Ledger,
  ) {
    this.sockets = new Sockets((request) => this.#admitted(request));
  }

  /** Takes the calls to nodes out of what the server gets. They are many, so they are not in the call log. */
  attach(server: Server, others: RequestListener): void {
    server.on("request", (request, response) => {
      if (!route.test(request.url ?? "")) return void others(request, response);
      this.#serve(request, response).catch((error: unknown) => refuse(response, error));
    });
    server.on("upgrade", (request, socket, head) => this.sockets.open(request, socket, head));
    this.#lane.attach(server);
  }

  /** Drops the connections that the server itself does not know of. */
  drop(): void {
    this.sockets.close();
    this.#lane.drop();
  }

  #admitted({ method = "", url = "", headers }: IncomingMessage): Admitted {
    return this.#admit(method, url, loginOf(headers.authorization));
  }

  #admit(method: string, url: string, login: Login): Admitted {
    const [, environmentId = "", nodeId = ""] = route.exec(url) ?? [];
    if (nodeId === "") throw new Refusal(404, `There is no ${method} ${url} here.`);
    const { node, credential } = admit(this.context, login, environmentId, nodeId);
    const state = stateAt(node, this.context.clock());
    if (state !== "started") throw new Refusal(503, `The node ${node.id} does not serve yet: it is ${state}.`);
    const chain = async () => this.ledger.peek(environmentId) ?? this.#start(environmentId);
    return { credential: credential.id, node: node.id, chain };
  }

  async #start(environmentId: string): Promise<Chain> {
    return this.ledger.chain(this.context.store.get("environment", environmentId) as Entity<"environment">);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { chain } = this.#admitted(request);
    if (request.method !== "POST") throw new Refusal(405, "JSON-RPC calls are sent with POST.");
    const body = await bodyOf(request);
    const { forward } = await chain();
    const { status, type, text } = await forward(body);
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) });
    response.end(text); // a text goes out in one piece with the head
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, message } = refusal(error);
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    "content-type": "application/json",
    ...(status === 401 ? { "www-authenticate": 'Basic realm="node"' } : {}),
    ...(status === 413 || status === 400 ? { connection: "close" } : {}),
  });
  response.end(JSON.stringify({ errorMessage: message }));
}

/** What is told of an error; that of the chain's connection is not the caller's. */
export function refusal(error: unknown): { status: number; message: string } {
  if (error instanceof Refusal) return error;
  return { status: 502, message: `The ledger did not answer: ${error instanceof Error ? error.message : "unknown"}.` };
}
