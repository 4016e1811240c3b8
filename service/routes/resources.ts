import { randomBytes, randomInt } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { itemPath, type Making, reach, resource, show, withUnknownFields } from "./crud";
import { description, name } from "../http/bodies";
import { ownedBy } from "../store/deletion";
import { type Entity, type FieldsOf, stateAt } from "../store/entities";
import type { Context } from "../context";
import { Refusal } from "../errors";
import { accountsOfChain } from "../ledger/ledger";
import { passwordHash } from "../http/authentication";

export const consortium = resource({
  kind: "consortium",
  parents: [],
  create: z.object({ name, description: description.optional() }),
  patch: z.object({ name: name.optional(), description: description.nullable().optional() }),
  filters: ["name"],
  limit: "consortia",
  make: (_making, body) => ({ fields: body }),
  made({ settings, store }, entity) {
    if (!settings.quirks.foundingMembership) return;
    const owner = store.get("organization", entity.organization);
    store.create({
      kind: "membership",
      parent: entity.id,
      organization: entity.organization,
      fields: {
        ...newMembership(settings.limits.nodes, entity.organization, owner?.fields.name ?? ""),
        founding: true,
      },
    });
  },
  view: (context, entity, at) => show(context, entity, { owner: entity.organization, ...entity.fields }, at),
  blocker({ settings, store }, entity) {
    if (!settings.quirks.refuseChildren) return undefined;
    const environments = store.children("environment", entity.id).length;
    const memberships = store.children("membership", entity.id).filter(({ fields }) => !fields.founding).length;
    if (environments + memberships === 0) return undefined;
    return `it still has ${environments} environment(s) and ${memberships} membership(s)`;
  },
});

export const newMembership = (nodes: number, organization: string, orgName: string): FieldsOf["membership"] => ({
  org_name: orgName,
  org_id: organization,
  minimum_nodes: 0,
  maximum_nodes: nodes,
});

export const membership = resource({
  kind: "membership",
  parents: ["consortium"],
  create: z.object({ org_name: name }),
  patch: z.object({ org_name: name.optional() }),
  filters: ["org_name"],
  make: ({ context, organization }, body) => ({
    fields: newMembership(context.settings.limits.nodes, organization.id, body.org_name),
  }),
  view: (context, entity, at) => show(context, entity, { ...entity.fields, founding: undefined }, at),
  blocker(context, entity) {
    if (!context.settings.quirks.refuseChildren) return undefined;
    const nodes = ownedBy(context, entity).filter(({ kind }) => kind === "node").length;
    return nodes > 0 ? `it still has ${nodes} node(s)` : undefined;
  },
});

const protocols = { quorum: ["raft", "ibft"], geth: ["poa"] } as const;
const blockPeriods = { raft: 1, ibft: 5, poa: 10 };

export const environment = resource({
  kind: "environment",
  parents: ["consortium"],
  create: z.object({
    provider: z.enum(["quorum", "geth"]),
    consensus_type: z.enum(["raft", "ibft", "poa"]),
    name: name.optional(),
    description: description.optional(),
    chain_id: z.number().int().positive().optional(),
    block_period: z.number().int().min(1).max(3_600).optional(),
    release_id: name.optional(),
  }),
  patch: z.object({ name: name.optional(), description: description.nullable().optional() }),
  limit: "environments",
  make(_making, body) {
    const allowed: readonly string[] = protocols[body.provider];
    if (!allowed.includes(body.consensus_type)) {
      const choice = allowed.join(" or ");
      throw new Refusal(400, `consensus_type ${body.consensus_type} does not go with ${body.provider}: use ${choice}.`);
    }
    return {
      fields: {
        ...body,
        chain_id: body.chain_id ?? randomInt(1_000_000_000, 2_000_000_000),
        initial_delay: 0,
        idle_hours: 0,
        enable_tether: false,
        block_period: body.block_period ?? blockPeriods[body.consensus_type],
        region: "local",
        release_id: body.release_id ?? `${body.provider}-1`,
      },
    };
  },
  view(context, entity, at) {
    const nodes = context.store.listed("node", entity.id, at);
    const list = { state: environmentState(context, entity, at), node_list: nodes.map(({ id }) => id) };
    return show(context, entity, { ...entity.fields, accountOwners: undefined, ...list }, at);
  },
  blocker({ settings, clock }, entity) {
    const early = settings.quirks.refuseEarlyDelete && stateAt(entity, clock()) === "initializing";
    return early ? "it is still initializing" : undefined;
  },
});

/** An environment is live as soon as one of its nodes is started. */
export function environmentState({ store }: Context, entity: Entity<"environment">, at: number): string {
  const state = stateAt(entity, at);
  const started = () => store.listed("node", entity.id, at).some((node) => stateAt(node, at) === "started");
  return state === "setup" && started() ? "live" : state;
}

/** Whoever runs a node or holds a credential must be a member of that consortium. */
export function memberOf({ context, consortium }: Making, id: string): void {
  const found = context.store.get("membership", id);
  if (found?.parent !== consortium.id)
    throw new Refusal(400, `membership_id: ${id} is not a membership of this consortium.`);
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
    throw new Refusal(
      409,
      `The limit is reached: this ledger has ${accountsOfChain} accounts, and earlier nodes have used them all.`,
    );
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

export const credential = resource({
  kind: "credential",
  parents: ["consortium", "environment"],
  create: z.object({ membership_id: name, name: name.optional() }),
  patch: z.object({ name: name.optional() }),
  make(making, body) {
    memberOf(making, body.membership_id);
    const password = randomBytes(32).toString("base64url");
    return {
      id: `u${randomBytes(5).toString("hex")}`,
      fields: { ...body, passwordHash: passwordHash(password) },
      once: { password },
    };
  },
  view(context, { id, revision, fields }) {
    return withUnknownFields(context, {
      ...fields,
      passwordHash: undefined,
      auth_type: "basic_auth",
      // The specification says `id`; other clients know a credential as they know all objects, by `_id`.
      [context.settings.quirks.idField]: id,
      id,
      username: id,
      _revision: String(revision),
    });
  },
});
