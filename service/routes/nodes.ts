import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { show } from "./responses";
import { name } from "../http/bodies";
import type { Context } from "../context";
import { accountsOfChain } from "../ledger/ledger";
import type { Entity } from "../store/entities";
import { Refusal } from "../errors";
import { itemPath, reach, resource, type Making } from "./resource";
import { stateAt } from "../store/states-over-time";

/** Whoever runs a node or holds a credential must be a member of that consortium. */
export function memberOf({ context, consortium }: Making, id: string): void {
  const found = context.store.get("membership", id);
  if (found?.parent !== consortium.id)
    throw new Refusal(400, `membership_id: ${id} is no membership of this consortium.`);
  if (found.state === "deleting") throw new Refusal(409, `The membership ${id} is being deleted.`);
}

/** An account of the chain that was never another member's: one of its own that no node uses, else a new one. */
function accountFor({ context: { store }, environment }: Making, membership: string): number {
  const nodes = store.children("node", environment.id).map(({ fields }) => fields);
  const owners = [...(environment.fields.accountOwners ?? [])];
  for (const { account = 0, membership_id } of nodes) owners[account] ??= membership_id; // data of 0.1.0 does not say
  const used = new Set(nodes.map(({ account = 0 }) => account));
  const own = [...owners.keys()].filter((index) => owners[index] === membership);
  const free = own.find((index) => !used.has(index));
  if (free !== undefined) return free;
  const index = owners.length < accountsOfChain ? owners.length : own[0];
  if (index === undefined)
    throw new Refusal(409, `The limit is reached: this ledger has accounts for ${accountsOfChain} nodes of all times.`);
  owners[index] = membership;
  store.put([{ ...environment, fields: { ...environment.fields, accountOwners: owners } }]);
  return index;
}

export const node = resource({
  kind: "node",
  parents: ["consortium", "environment"],
  create: z.object({ membership_id: name, name: name.optional() }),
  patch: z.object({ name: name.optional() }),
  filters: ["name"],
  limit: "nodes",
  make(making, body) {
    memberOf(making, body.membership_id);
    const { provider, consensus_type } = making.environment.fields;
    const account = accountFor(making, body.membership_id);
    return { fields: { ...body, role: "validator", provider, consensus_type, ...(account ? { account } : {}) } };
  },
  made: (context, entity) => context.backend.ledger.prepare(context.store.get("environment", entity.parent)!),
  view: (context, entity, at) => show(context, entity, { ...entity.fields, account: undefined }, at),
});

/** What only nodes have: status and logs. */
export function nodeRoutes(app: FastifyInstance, context: Context): void {
  const target = (request: FastifyRequest) => {
    const [, , environment, entity] = reach(context, request, [...node.parents, "node"]);
    return { environment: environment as Entity<"environment">, entity: entity as Entity<"node"> };
  };

  app.get(`${itemPath(node)}/status`, async (request) => {
    const { environment, entity } = target(request);
    const state = stateAt(entity, context.clock());
    if (state !== "started") throw new Refusal(409, `The node ${entity.id} has no status yet: it is ${state}.`);
    return context.backend.ledger.status(environment, entity, request.headers.host);
  });

  app.get(`${itemPath(node)}/logs/:client`, async (request) => {
    const { environment, entity } = target(request);
    const { client } = request.params as { client: string };
    const clients = environment.fields.provider === "quorum" ? ["geth", "constellation"] : ["geth"];
    if (!clients.includes(client))
      throw new Refusal(400, `There is no log of ${client} here: use ${clients.join(" or ")}.`);
    const { maxlines = "100" } = request.query as { maxlines?: string };
    if (!/^[1-9]\d{0,5}$/.test(maxlines)) throw new Refusal(400, "maxlines must be a whole number from 1 to 999999.");
    const lines = await context.backend.ledger.log(environment, entity, client);
    return lines.slice(-Number(maxlines));
  });
}
