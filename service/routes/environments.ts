import { randomBytes, randomInt } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Base } from "../context";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { description, details, name, optional } from "../http/bodies";
import { begun, type Entity, type FieldsOf, firstStart, isGoing, stateAt, type Wire } from "../store/entities";
import { plainAddress } from "../ledger/ledger-data";
import { sha256 } from "../storage/files";
import { ofOthers } from "../store/sharing";
import { type Changed, gone, resource, show, supported, withUnknownFields } from "./crud";

const protocols = { quorum: ["raft", "ibft"], geth: ["poa"], pantheon: ["ibft", "poa"] } as const;
type Provider = keyof typeof protocols;
const blockPeriods = { raft: 1, ibft: 5, poa: 10 };

/** The values of `release_id`. A provider's first one is its default. */
const releases = [
  { id: "quorum-1", provider: "quorum", version: "1.0.0", release_status: "ga" },
  { id: "quorum-0", provider: "quorum", version: "0.9.0", release_status: "deprecated" },
  { id: "geth-1", provider: "geth", version: "1.0.0", release_status: "ga" },
  { id: "geth-0", provider: "geth", version: "0.9.0", release_status: "deprecated" },
  { id: "pantheon-1", provider: "pantheon", version: "1.0.0", release_status: "ga" },
  { id: "pantheon-0", provider: "pantheon", version: "0.9.0", release_status: "deprecated" },
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

export const addressText = z
  .string()
  .regex(/^(0x)?[\da-f]{40}$/i, "must be an address: 40 hexadecimal digits, with or without 0x");
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

/** When it pauses automatically. Other clients use different names for these fields than the specification. They have no effect here. */
const hours = z.number().int().nonnegative().optional();
const autopause = {
  initial_delay: hours,
  idle_hours: hours,
  autopause_init_delay: hours,
  autopause_idle_hours: hours,
};

/** A body with these fields under the specification's names. */
function asSpecified<B extends Wire>({ autopause_init_delay, autopause_idle_hours, ...body }: B): Wire {
  return {
    ...body,
    ...(autopause_init_delay === undefined ? {} : { initial_delay: autopause_init_delay }),
    ...(autopause_idle_hours === undefined ? {} : { idle_hours: autopause_idle_hours }),
  };
}

/** The fields as this service shows them. */
function inHouseStyle({ settings: { quirks } }: Context, fields: FieldsOf["environment"]): Wire {
  const { initial_delay, idle_hours, prefunded_accounts, ...others } = fields;
  const { autopauseNames, bareAddresses } = quirks;
  const accounts = Object.entries(prefunded_accounts ?? {}).map(([key, money]) => [key.replace(/^0x/i, ""), money]);
  return {
    ...others,
    ...(autopauseNames
      ? { autopause_init_delay: initial_delay, autopause_idle_hours: idle_hours }
      : { initial_delay, idle_hours }),
    ...(prefunded_accounts && {
      prefunded_accounts: bareAddresses ? (Object.fromEntries(accounts) as Wire) : prefunded_accounts,
    }),
  };
}

function refuseOtherRelease(release_id: string, of: Provider): void {
  if (!releases.some(({ id, provider }) => id === release_id && provider === of))
    throw new Refusal(400, `release_id: ${release_id} is not a release of ${of}: see GET /releases.`);
}

type Environment = Entity<"environment">;

/** An environment is live once one of its nodes was started. */
export function environmentState({ store }: Base, entity: Environment, at: number): string {
  const state = stateAt(entity, at);
  const started = () => store.present("node", entity.id, at).some((node) => firstStart(node, at) !== undefined);
  return state === "setup" && started() ? "live" : state;
}

/** Begins an upgrade. The ledger goes on meanwhile. */
function upgraded(base: Base, entity: Environment): Omit<Changed, "fields"> {
  refuseUnless(base, entity, ["setup", "live"], "can be upgraded");
  return begun("environment", "upgrade", base.clock(), base.settings.timing);
}

/** Pauses an environment, or resumes it. Its nodes stay as they are. */
function pausedOrLive(base: Base, entity: Environment, wanted: "paused" | "live"): Changed {
  const { since, before } = { before: 0, ...entity.fields.pause };
  const now = base.clock();
  if (wanted === "paused") {
    refuseUnless(base, entity, ["live"], "can be paused");
    return { fields: { pause: { since: now, before } }, state: "paused", due: undefined };
  }
  refuseUnless(base, entity, ["paused"], "can be resumed");
  return { fields: { pause: { before: before + now - since! } }, state: "setup", due: undefined };
}

function refuseUnless(base: Base, entity: Environment, states: readonly string[], what: string): void {
  const state = environmentState(base, entity, base.clock());
  if (states.includes(state)) return;
  throw new Refusal(409, `The environment ${entity.id} is ${state}: only one that is ${states.join(" or ")} ${what}.`);
}

/** Starts an environment that has waited for its first node. */
export function startWaiting({ store, settings, clock }: Base, id: string): void {
  const waiting = store.get("environment", id);
  if (!settings.quirks.environmentsWait || waiting?.state !== "initializing" || waiting.due !== undefined) return;
  store.put([{ ...waiting, ...begun("environment", "initializing", clock(), settings.timing) }]);
}

/** Nothing starts in a paused environment. */
export function refusePaused({ id, state }: Environment): void {
  if (state === "paused")
    throw new Refusal(409, `The environment ${id} is paused. Resume it first: PATCH it with { "state": "live" }.`);
}

export const environment = resource({
  kind: "environment",
  parents: ["consortium"],
  create: z.object({
    provider: z.enum(["quorum", "geth", "pantheon"]),
    consensus_type: z.enum(["raft", "ibft", "poa"]),
    name: name.optional(),
    description: description.optional(),
    chain_id: z.number().int().positive().optional(),
    block_period: z.number().int().min(1).max(3_600).optional(),
    release_id: optional,
    prefunded_accounts: prefunded.optional(),
    test_features: details.optional(),
    ...autopause,
  }),
  patch: z.object({
    name: name.optional(),
    description: description.nullable().optional(),
    test_features: details.optional(),
    release_id: name.optional(),
    state: z.enum(["paused", "live"]).optional(),
    ...autopause,
  }),
  limit: "environments",
  extended: [
    ...(["block_period", "release_id", "prefunded_accounts", "test_features", "state"] as never[]),
    ...(Object.keys(autopause) as (keyof typeof autopause)[]),
  ],
  make({ context }, body) {
    if (body.provider === "pantheon" && !context.settings.quirks.extended)
      throw new Refusal(400, "provider: pantheon is unknown here: use quorum or geth.");
    const allowed: readonly string[] = protocols[body.provider];
    if (!allowed.includes(body.consensus_type)) {
      const choice = allowed.join(" or ");
      throw new Refusal(
        400,
        `consensus_type ${body.consensus_type} cannot be used with ${body.provider}: use ${choice}.`,
      );
    }
    const prefixed = Object.keys(body.prefunded_accounts ?? {}).find((key) => /^0x/i.test(key));
    if (prefixed !== undefined && context.settings.quirks.bareAddresses)
      throw new Refusal(400, `prefunded_accounts: ${prefixed} must be without 0x.`);
    const release_id = body.release_id ?? releases.find(({ provider }) => provider === body.provider)!.id;
    refuseOtherRelease(release_id, body.provider);
    return {
      fields: {
        ...(asSpecified(body) as typeof body),
        chain_id: body.chain_id ?? randomInt(1_000_000_000, 2_000_000_000),
        initial_delay: body.autopause_init_delay ?? body.initial_delay ?? 0,
        idle_hours: body.autopause_idle_hours ?? body.idle_hours ?? 0,
        enable_tether: false,
        block_period: body.block_period ?? blockPeriods[body.consensus_type],
        region: "local",
        release_id,
      },
    };
  },
  view(context, entity, at) {
    const nodes = context.store.present("node", entity.id, at);
    const list = { state: environmentState(context, entity, at), node_list: nodes.map(({ id }) => id) };
    const fields = inHouseStyle(context, entity.fields);
    return show(context, entity, { ...fields, accountOwners: undefined, pause: undefined, ...list }, at);
  },
  patched(context, entity, { state, ...body }) {
    const { release_id } = body;
    if (state !== undefined && release_id !== undefined)
      throw new Refusal(400, "state and release_id cannot change in one call: send one, then the other.");
    const fields = asSpecified(body);
    if (typeof release_id === "string") {
      refuseOtherRelease(release_id, entity.fields.provider);
      return { fields, ...upgraded(context, entity) };
    }
    if (state === undefined) return { fields };
    const changed = pausedOrLive(context, entity, state as "paused" | "live");
    return { ...changed, fields: { ...fields, ...changed.fields } };
  },
  changed({ backend, store }, entity) {
    if (entity.state === "paused") backend.ledger.pause?.(entity);
    else if (store.children("node", entity.id).length > 0) backend.ledger.prepare?.(entity);
  },
  blocker(context, entity) {
    const { settings, clock } = context;
    const others = ofOthers(context, entity, "node") ?? ofOthers(context, entity, "service");
    if (others !== undefined) return `it still has ${others}`;
    const early = settings.quirks.refuseEarlyDelete && stateAt(entity, clock()) === "initializing";
    return early ? "it is still initializing" : undefined;
  },
});

export function newPassword() {
  const password = randomBytes(32).toString("base64url");
  return { password, passwordHash: sha256(password) };
}

export const credential = resource({
  kind: "credential",
  parents: ["consortium", "environment"],
  create: z.object({ membership_id: name, name: name.optional() }),
  patch: z.object({ name: name.optional() }),
  make(_making, body) {
    const { password, passwordHash } = newPassword();
    return { id: `u${randomBytes(5).toString("hex")}`, fields: { ...body, passwordHash }, once: { password } };
  },
  view(context, { id, revision, fields }) {
    return withUnknownFields(context, {
      ...fields,
      passwordHash: undefined,
      auth_type: "basic_auth",
      // the specification has `id`; other clients read `_id`, as for all objects
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
  blocker({ settings, store }, { id, parent }) {
    if (!settings.quirks.refuseChildren) return undefined;
    const user = store.children("node", parent).find((one) => one.fields.node_config_id === id && !isGoing(one));
    return user && `the node ${user.id} uses it`;
  },
});
