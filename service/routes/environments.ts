import { randomBytes, randomInt } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Context } from "../context";
import { Refusal } from "../errors";
import { description, details, name, optional } from "../http/bodies";
import { type Entity, firstStart, stateAt } from "../store/entities";
import { plainAddress } from "../ledger/ledger-folder";
import { sha256 } from "../store/files";
import { gone, resource, show, supported, withUnknownFields } from "./crud";

const protocols = { quorum: ["raft", "ibft"], geth: ["poa"] } as const;
const blockPeriods = { raft: 1, ibft: 5, poa: 10 };

/** The values of `release_id`. A provider's first one is its default. */
const releases = [
  { id: "quorum-1", provider: "quorum", version: "1.0.0", release_status: "ga" },
  { id: "quorum-0", provider: "quorum", version: "0.9.0", release_status: "deprecated" },
  { id: "geth-1", provider: "geth", version: "1.0.0", release_status: "ga" },
  { id: "geth-0", provider: "geth", version: "0.9.0", release_status: "deprecated" },
] as const;

export function releaseRoutes(app: FastifyInstance, context: Context): void {
  const shown = ({ id, ...fields }: (typeof releases)[number]) =>
    withUnknownFields(context, { [context.settings.quirks.idField]: id, ...fields });
  app.get("/releases", (request) => {
    const query = request.query as Record<string, unknown>;
    const asked = (["provider", "version"] as const).filter((field) => query[field] !== undefined);
    return releases.filter((one) => asked.every((field) => one[field] === query[field])).map(shown);
  });
  app.get("/releases/:releaseId", (request) => {
    supported(context.settings.quirks.getById || 404, "A release cannot be read by id");
    const { releaseId } = request.params as { releaseId: string };
    const found = releases.find(({ id }) => id === releaseId);
    if (!found) throw gone(context, "release", releaseId);
    return shown(found);
  });
}

const addressText = z
  .string()
  .regex(/^(0x)?[\da-f]{40}$/i, "must be an address: 40 hexadecimal digits, after 0x or not");
const wei = z
  .string()
  .refine(
    (text) => /^(\d{1,39}|0x[\da-f]{1,32})$/i.test(text) && BigInt(text) < 2n ** 128n,
    "must be a number of wei below 2^128, as a text",
  );
const prefunded = z
  .record(addressText, z.strictObject({ balance: wei }))
  .refine(
    (accounts) => new Set(Object.keys(accounts).map(plainAddress)).size === Object.keys(accounts).length,
    "must name each account once",
  );

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
    release_id: optional,
    prefunded_accounts: prefunded.optional(),
    test_features: details.optional(),
  }),
  patch: z.object({
    name: name.optional(),
    description: description.nullable().optional(),
    test_features: details.optional(),
  }),
  limit: "environments",
  extended: ["block_period", "release_id", "prefunded_accounts", "test_features"],
  make(_making, body) {
    const allowed: readonly string[] = protocols[body.provider];
    if (!allowed.includes(body.consensus_type)) {
      const choice = allowed.join(" or ");
      throw new Refusal(400, `consensus_type ${body.consensus_type} does not go with ${body.provider}: use ${choice}.`);
    }
    const release_id = body.release_id ?? releases.find(({ provider }) => provider === body.provider)!.id;
    if (!releases.some(({ id, provider }) => id === release_id && provider === body.provider))
      throw new Refusal(400, `release_id: ${release_id} is not a release of ${body.provider}: see GET /releases.`);
    return {
      fields: {
        ...body,
        chain_id: body.chain_id ?? randomInt(1_000_000_000, 2_000_000_000),
        initial_delay: 0,
        idle_hours: 0,
        enable_tether: false,
        block_period: body.block_period ?? blockPeriods[body.consensus_type],
        region: "local",
        release_id,
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

/** An environment is live once one of its nodes was started. */
function environmentState({ store }: Context, entity: Entity<"environment">, at: number): string {
  const state = stateAt(entity, at);
  const started = () => store.listed("node", entity.id, at).some((node) => firstStart(node, at) !== undefined);
  return state === "setup" && started() ? "live" : state;
}

export const credential = resource({
  kind: "credential",
  parents: ["consortium", "environment"],
  create: z.object({ membership_id: name, name: name.optional() }),
  patch: z.object({ name: name.optional() }),
  make(_making, body) {
    const password = randomBytes(32).toString("base64url");
    return {
      id: `u${randomBytes(5).toString("hex")}`,
      fields: { ...body, passwordHash: sha256(password) },
      once: { password },
    };
  },
  view(context, { id, revision, fields }) {
    return withUnknownFields(context, {
      ...fields,
      passwordHash: undefined,
      auth_type: "basic_auth",
      // the specification says `id`; other clients read `_id`, as of all objects
      [context.settings.quirks.idField]: id,
      id,
      username: id,
      _revision: String(revision),
    });
  },
});

export const configuration = resource({
  kind: "configuration",
  parents: ["consortium", "environment"],
  create: z.object({ name: name.optional(), type: name, membership_id: name, details: details.optional() }),
  patch: z.object({ name: name.optional(), details: details.optional() }),
  filters: ["name", "type"],
  make: (_making, body) => ({ fields: body }),
  view: (context, entity, at) => show(context, entity, entity.fields, at),
  blocker({ settings, store }, { id, parent }) {
    if (!settings.quirks.refuseChildren) return undefined;
    const user = store.children("node", parent).find(({ fields }) => fields.node_config_id === id);
    return user && `the node ${user.id} uses it`;
  },
});
