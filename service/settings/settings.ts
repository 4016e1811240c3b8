import { z } from "zod";
import { hardForks, type HardFork, type Profile, profiles } from "../profiles";

/**
 * The values of some fields. They are lists of their own, because only then do declarations keep the descriptions of the fields.
 */
type Values<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.output<Shape[Name]> };

const success = z.number().int().min(200).max(299);
const trueOrStatus = z.literal(true).or(z.number().int().min(400).max(599));

const deleted = z.strictObject({
  consortium: success.default(202),
  environment: success.default(202),
  membership: success.default(204),
  node: success.default(204),
  credential: success.default(204),
  zone: success.default(204),
  configuration: success.default(204),
  service: success.default(204),
  invitation: success.default(204),
  destination: success.default(204),
});

/**
 * Status of a successful DELETE, per resource. Default: 202 for a consortium and an environment, with the object as the body; 204
 * for all others.
 */
export type DeletedStatus = Values<typeof deleted.shape>;

/** The argument of `setAnswers`: any part of the settings. */
export type ApiQuirksChange = z.input<typeof apiQuirks>;

const quorumLedger = z.strictObject({
  hardFork: z.enum(Object.keys(hardForks) as [HardFork, ...HardFork[]]).optional(),
  codeSize: z.number().int().min(1).max(16_777_216).optional(),
  clock: z.enum(["seconds", "nanoseconds"]).default("seconds"),
  clientVersion: z.string().min(1).max(200).optional(),
  gasPriceEnabled: z.boolean().optional(),
  transactionSize: z.number().int().min(1).max(131_072).optional(),
});

const answers = {
  /** The service to imitate: sets all settings in which the hosted service is known to differ. Default `specification`. */
  like: z.enum(["specification", "hosted"]).default("specification"),
  /** Status of a successful create. Default 201. */
  created: success.default(201),
  /** Status of a successful PATCH or PUT. Default 200. */
  updated: success.default(200),
  /** Status of a successful DELETE, per resource. */
  deleted: deleted.prefault({}),
  /** Whether creates, updates and deletes answer without a body; only a new credential still shows its password. Default false. */
  emptyBodies: z.boolean().default(false),
  /** Name of the identifier field. Credentials always have `id`. Default `_id`. */
  idField: z.enum(["_id", "id"]).default("_id"),
  /** Whether objects other than nodes can be read by id; if not, 404. Default true. */
  getById: z.boolean().default(true),
  /** true, or the status returned for every PATCH. Default true. */
  patch: trueOrStatus.default(true),
  /** true, or the status returned for every reset of a node or a service. Default true. */
  reset: trueOrStatus.default(true),
  /** true, or the status returned for a list of credentials. Default true. */
  listCredentials: trueOrStatus.default(true),
  /** Status for objects that are unknown, deleted, or another organization's. Default 404. */
  gone: z.literal([404, 410, 403]).default(404),
  /**
   * Whether a consortium with environments or memberships, a membership with nodes, configurations or services, and a zone or a
   * configuration that is in use cannot be deleted (409). If false, they are deleted with their contents. Default true.
   */
  refuseChildren: z.boolean().default(true),
  /** Whether an environment that is still `initializing` cannot be deleted (409). Default true. */
  refuseEarlyDelete: z.boolean().default(true),
  /** Whether objects have fields that no client knows, some of them null. Default false. */
  unknownFields: z.boolean().default(false),
  /** Whether undocumented fields in bodies are refused with 400. Default false. */
  strictBodies: z.boolean().default(false),
  /**
   * Whether the service has kinds and fields beyond the API's specification that other clients use. If false, their paths are unknown
   * (404), and so are the fields. Default true.
   */
  extended: z.boolean().default(true),
  /** Whether a new consortium comes with a membership of its organization. Default false. */
  foundingMembership: z.boolean().default(false),
  /** Whether a new environment stays `initializing` until it has a node. Default false. */
  environmentsWait: z.boolean().default(false),
  /**
   * How objects are deleted. `deleting`: all but environments may be `deleting` for a while (`timing.deleting`), and only environments
   * are listed as `deleted` (`timing.deletedVisible`). `delete_pending`: consortia, memberships, environments and nodes are
   * `delete_pending`, then `deleted`, for these times. Default `deleting`.
   */
  deletion: z.enum(["deleting", "delete_pending"]).default("deleting"),
  /** Whether a 401 is plain text, and a 404 plain text or, if something was to be changed, empty. Default false. */
  plainErrors: z.boolean().default(false),
  /** Whether `prefunded_accounts` are without `0x`; with it, they are refused with 400. Default false: taken and shown as given. */
  bareAddresses: z.boolean().default(false),
  /** Whether `initial_delay` and `idle_hours` are shown as `autopause_init_delay` and `autopause_idle_hours`. Default false. */
  autopauseNames: z.boolean().default(false),
  /** Whether a quorum node's status has `quorum` in place of `geth`. Default false. */
  quorumStatus: z.boolean().default(false),
  /** Whether a node that was never started shows `urls`, with an empty `wss`. Default false. */
  emptyUrls: z.boolean().default(false),
  /** Whether a new service is `provisioning` until it is started. Default false: `initializing`. */
  provisioning: z.boolean().default(false),
  /** true, or the status returned for every DELETE of a zone. Default true. */
  deleteZones: trueOrStatus.default(true),
  /** Whether a tether's account exists from the start. If not, `POST /tether/{id}/account` makes it. Default true. */
  tetherAccounts: z.boolean().default(true),
  /** Whether POSTs to a tether answer its configuration and account. Default false. */
  tetherConfig: z.boolean().default(false),
  /** Properties of new quorum ledgers that differ from the table in docs/service.md; `clock` applies to raft. */
  quorumLedger: quorumLedger.prefault({}),
};

export const apiQuirks = z.strictObject(answers);

/**
 * Behavior that the API does not specify. Change it to try a client against other plausible services.
 * docs/reference/embedded-service.md lists all settings with their defaults.
 */
export type ApiQuirks = Values<typeof answers>;

const ms = z.number().nonnegative();

const durations = {
  /** From the creation of an environment until it is `setup`. Default 500. */
  environmentStart: ms.default(500),
  /** From the creation or a reset of a node or a service until it is `started`. Default 1500; the hosted service takes 30 to 60 seconds. */
  nodeStart: ms.default(1_500),
  /** From the change of an environment's release until it is `live` again. Default 500. */
  upgrade: ms.default(500),
  /** How long lists show a deleted object with state `deleted`: an environment, or others by the setting `deletion`. Default 500. */
  deletedVisible: ms.default(500),
  /** How long a deleted object still exists, with the state that the setting `deletion` names. Default 0; like the hosted service: 500. */
  deleting: ms.default(0),
  /** Lists lag by this much; reads by id are immediate. Default 0. */
  listLag: ms.default(0),
  /** Delay before processing each call. Default 0. */
  latency: ms.default(0),
  /** Length of the "hour" of a tether's interval. Default 3600000. */
  tetherHour: z.number().positive().default(3_600_000),
};

export const timing = z.strictObject(durations);

/** How long things take, in milliseconds. A change applies to what happens after it. */
export type Timing = Values<typeof durations>;

const MiB = 1_048_576;
const count = z.number().int().nonnegative();
/** Names of what had a limit once. They are accepted, and have no effect. */
const unlimited = (...names: string[]) => Object.fromEntries(names.map((name) => [name, count.optional()]));

const quotas = {
  /** Consortia per organization. Default 2. */
  consortia: count.default(2),
  /** Environments per consortium. Default 3. */
  environments: count.default(3),
  /** Nodes per environment. Default 4. */
  nodes: count.default(4),
  ...unlimited("objects", "bytes"),
};

export const limits = z.strictObject(quotas);

/** The service's limits. It refuses more with 409. */
export type Limits = Values<typeof quotas>;

const some = z.number().int().positive();

const boundsOfCalls = {
  /** Gas of a call, an estimate or a transaction. Default 30,000,000, the limit of a block. */
  gas: some.default(30_000_000),
  /** Memory of one execution in the EVM. Default 32 MiB. */
  memory: some.default(32 * MiB),
  /** Calls in a batch. Default 1,000, as in Geth. */
  batch: some.default(1_000),
  /** Size of a request, or of a message over a WebSocket. Default 5 MiB, as in geth. */
  request: some.max(64 * MiB).default(5 * MiB),
  /** Size of an answer, or of all answers to a batch. Default 16 MiB. */
  answer: some.max(256 * MiB).default(16 * MiB),
  /** Time to answer a request, and as much again to send it and take the answer. Default 30,000. */
  time: some.max(3_600_000).default(30_000),
  /** Connections to the service. Default 1,024; more are closed. */
  connections: some.default(1_024),
  ...unlimited("atOnce", "overrides", "filters", "sockets", "subscriptions", "targetRate", "accountPool", "pool"),
};

export const callLimits = z.strictObject(boundsOfCalls);

/**
 * Limits of calls to chains, so that no caller can stop the service or a ledger. Sizes are in bytes, times in milliseconds.
 * For the effect of each, see docs/reference/embedded-service.md.
 */
export type CallLimits = Values<typeof boundsOfCalls>;

/** The current settings. Routes read them at every call, so a change takes effect at once. */
export interface Settings {
  limits: Limits;
  callLimits: CallLimits;
  timing: Timing;
  quirks: ApiQuirks;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies a change to settings; a field that is undefined is not a change. */
export function overlay(base: unknown, change: unknown): unknown {
  if (change === undefined) return base;
  if (!isObject(base) || !isObject(change)) return change;
  const changed = Object.entries(change).map(([name, value]) => [name, overlay(base[name], value)]);
  return { ...base, ...(Object.fromEntries(changed) as object) };
}

/** Known differences between the hosted service and the specification: see docs/reference/embedded-service.md. */
const hosted = {
  answers: {
    like: "hosted",
    foundingMembership: true,
    refuseEarlyDelete: false,
    environmentsWait: true,
    deletion: "delete_pending",
    plainErrors: true,
    bareAddresses: true,
    autopauseNames: true,
    quorumStatus: true,
    emptyUrls: true,
    provisioning: true,
    deleteZones: 405,
    tetherAccounts: false,
    tetherConfig: true,
    quorumLedger: { clock: "nanoseconds" },
  },
  timing: { deleting: 500 },
} as const satisfies { answers: ApiQuirksChange; timing: Partial<Timing> };

const defaults: Readonly<Record<string, unknown>> = apiQuirks.parse({});
const specification = Object.fromEntries(Object.keys(hosted.answers).map((name) => [name, defaults[name]]));

/** A change of answers with all settings of its `like`. Explicit settings win. */
export function answersLike(change: ApiQuirksChange): ApiQuirksChange {
  if (change.like === undefined) return change;
  return overlay(change.like === "hosted" ? hosted.answers : specification, change) as ApiQuirksChange;
}

/** The properties of a new ledger. */
export function profileOf(provider: string, protocol: string, { quorumLedger }: ApiQuirks): Profile {
  const profile = profiles[provider]![protocol]!;
  if (provider !== "quorum") return profile;
  const { clock, ...others } = quorumLedger;
  return overlay(profile, protocol === "raft" ? { ...others, clock } : others) as Profile;
}

interface Given {
  answers?: ApiQuirksChange | undefined;
  timing?: Partial<Timing> | undefined;
}

/** The options of a service with all settings of `answers.like`. */
export function optionsLike<Options extends Given>(given: Options): Options {
  if (given.answers?.like !== "hosted") return given;
  return { ...given, answers: answersLike(given.answers), timing: overlay(hosted.timing, given.timing) };
}
