import { z } from "zod";

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
export type DeletedStatus = z.output<typeof deleted>;

/**
 * Behavior that the API does not specify. Change it to try a client against other plausible services.
 * docs/reference/embedded-service.md lists all settings with their defaults.
 */
export interface ApiQuirks {
  /** Whom the service is like: sets all settings in which the hosted service is known to differ. Default `specification`. */
  like: "specification" | "hosted";
  /** Status of a successful create. Default 201. */
  created: number;
  /** Status of a successful PATCH or PUT. Default 200. */
  updated: number;
  /** Status of a successful DELETE, per resource. */
  deleted: DeletedStatus;
  /** Whether creates, updates and deletes answer without a body; only a new credential still shows its password. Default false. */
  emptyBodies: boolean;
  /** Name of the identifier field. Credentials always have `id`. Default `_id`. */
  idField: "_id" | "id";
  /** Whether objects other than nodes can be read by id; if not, 404. Default true. */
  getById: boolean;
  /** true, or the status returned for every PATCH. Default true. */
  patch: true | number;
  /** true, or the status returned for every reset of a node or a service. Default true. */
  reset: true | number;
  /** true, or the status returned for a list of credentials. Default true. */
  listCredentials: true | number;
  /** Status for objects that are unknown, deleted, or another organization's. Default 404. */
  gone: 404 | 410 | 403;
  /**
   * Whether a consortium with environments or memberships, a membership with nodes, configurations or services, and a zone or a
   * configuration that is in use cannot be deleted (409). If false, they are deleted with what is in them. Default true.
   */
  refuseChildren: boolean;
  /** Whether an environment that is still `initializing` cannot be deleted (409). Default true. */
  refuseEarlyDelete: boolean;
  /** Whether objects have fields that no client knows, some of them null. Default false. */
  unknownFields: boolean;
  /** Whether undocumented fields in bodies are refused with 400. Default false. */
  strictBodies: boolean;
  /**
   * Whether there is what the API's specification does not have, but other clients use. If false, the paths of those kinds are
   * unknown (404), and so are the fields. Default true.
   */
  extended: boolean;
  /** Whether a new consortium comes with a membership of its organization. Default false. */
  foundingMembership: boolean;
  /** Whether a new environment stays `initializing` until it has a node. Default false. */
  environmentsWait: boolean;
  /**
   * How objects are deleted. `deleting`: all but environments may be `deleting` for a while (`timing.deleting`), and only environments
   * are listed as `deleted` (`timing.deletedVisible`). `delete_pending`: consortia, memberships, environments and nodes are
   * `delete_pending`, then `deleted`, for these times. Default `deleting`.
   */
  deletion: "deleting" | "delete_pending";
  /** Whether a 401 is plain text, and a 404 plain text or, if something was to be changed, empty. Default false. */
  plainErrors: boolean;
  /** Whether `prefunded_accounts` are without `0x`; with it, they are refused with 400. Default false: taken and shown as given. */
  bareAddresses: boolean;
  /** Whether `initial_delay` and `idle_hours` are shown as `autopause_init_delay` and `autopause_idle_hours`. Default false. */
  autopauseNames: boolean;
  /** Whether a quorum node's status has `quorum` in place of `geth`. Default false. */
  quorumStatus: boolean;
  /** Whether a node that was never started shows `urls`, with an empty `wss`. Default false. */
  emptyUrls: boolean;
  /** Whether a new service is `provisioning` until it is started. Default false: `initializing`. */
  provisioning: boolean;
  /** true, or the status returned for every DELETE of a zone. Default true. */
  deleteZones: true | number;
  /** Whether a tether's account exists from the start. If not, `POST /tether/{id}/account` makes it. Default true. */
  tetherAccounts: boolean;
  /** Whether POSTs to a tether answer its configuration and account. Default false. */
  tetherConfig: boolean;
}

/** What `setAnswers` takes: any part of the settings. */
export type ApiQuirksChange = z.input<typeof apiQuirks>;

export const apiQuirks = z.strictObject({
  like: z.enum(["specification", "hosted"]).default("specification"),
  created: success.default(201),
  updated: success.default(200),
  deleted: deleted.prefault({}),
  emptyBodies: z.boolean().default(false),
  idField: z.enum(["_id", "id"]).default("_id"),
  getById: z.boolean().default(true),
  patch: trueOrStatus.default(true),
  reset: trueOrStatus.default(true),
  listCredentials: trueOrStatus.default(true),
  gone: z.literal([404, 410, 403]).default(404),
  refuseChildren: z.boolean().default(true),
  refuseEarlyDelete: z.boolean().default(true),
  unknownFields: z.boolean().default(false),
  strictBodies: z.boolean().default(false),
  extended: z.boolean().default(true),
  foundingMembership: z.boolean().default(false),
  environmentsWait: z.boolean().default(false),
  deletion: z.enum(["deleting", "delete_pending"]).default("deleting"),
  plainErrors: z.boolean().default(false),
  bareAddresses: z.boolean().default(false),
  autopauseNames: z.boolean().default(false),
  quorumStatus: z.boolean().default(false),
  emptyUrls: z.boolean().default(false),
  provisioning: z.boolean().default(false),
  deleteZones: trueOrStatus.default(true),
  tetherAccounts: z.boolean().default(true),
  tetherConfig: z.boolean().default(false),
} satisfies Record<keyof ApiQuirks, z.ZodType>);

/** How long things take, in milliseconds. A change applies to what happens after it. */
export interface Timing {
  /** From the creation of an environment until it is `setup`. Default 500. */
  environmentStart: number;
  /** From the creation or a reset of a node or a service until it is `started`. Default 1500; the hosted service takes 30 to 60 seconds. */
  nodeStart: number;
  /** From the change of an environment's release until it is `live` again. Default 500. */
  upgrade: number;
  /** How long lists show a deleted object with state `deleted`: an environment, or others by the setting `deletion`. Default 500. */
  deletedVisible: number;
  /** How long a deleted object is still there, with the state that the setting `deletion` names. Default 0; like the hosted service: 500. */
  deleting: number;
  /** Lists show what was true this long ago; reading by id is immediate. Default 0. */
  listLag: number;
  /** Delay before every call is looked at. Default 0. */
  latency: number;
  /** Length of the "hour" of a tether's interval. Default 3600000. */
  tetherHour: number;
}

const ms = z.number().nonnegative();

export const timing = z.strictObject({
  environmentStart: ms.default(500),
  nodeStart: ms.default(1_500),
  upgrade: ms.default(500),
  deletedVisible: ms.default(500),
  deleting: ms.default(0),
  listLag: ms.default(0),
  latency: ms.default(0),
  tetherHour: z.number().positive().default(3_600_000),
} satisfies Record<keyof Timing, z.ZodType>);

/** How much the service allows. More is refused with 409, and beyond the quotas of an organization with 403. */
export interface Limits {
  /** Consortia per organization. Default 2. */
  consortia: number;
  /** Environments per consortium. Default 3. */
  environments: number;
  /** Nodes per environment. Default 4. */
  nodes: number;
  /** Objects of an organization, of all kinds. Default 10,000. */
  objects: number;
  /** Bytes that an organization's objects take: those of their JSON, and 64 for each value in it. Default 16 MiB. */
  bytes: number;
}

const MiB = 1_048_576;
const count = z.number().int().nonnegative();

export const limits = z.strictObject({
  consortia: count.default(2),
  environments: count.default(3),
  nodes: count.default(4),
  objects: count.default(10_000),
  bytes: count.default(16 * MiB),
} satisfies Record<keyof Limits, z.ZodType>);

const some = z.number().int().positive();

/**
 * Limits of calls to chains, so that no caller can stop the service or a ledger. Sizes are in bytes, times in milliseconds.
 * docs/reference/embedded-service.md says what happens beyond each.
 */
export interface CallLimits {
  /** Gas of a call, an estimate or a transaction. Default 30,000,000, the limit of a block. */
  gas: number;
  /** Memory of one execution in the EVM. Default 32 MiB. */
  memory: number;
  /** Calls in a batch. Default 100. */
  batch: number;
  /** Size of a request, or of a message over a WebSocket. Default 300,000: a transaction with 128 KiB of data. */
  request: number;
  /** Size of an answer, or of all answers to a batch. Default 16 MiB. */
  answer: number;
  /** Time to answer a request, and as much again to send it and take the answer. Default 30,000. */
  time: number;
  /** Processor time of the service a second for the calls of an organization, or of an address without a key. Default 500. */
  work: number;
  /** Requests of one credential under way at once; more is refused with 429. Default 64. */
  atOnce: number;
  /** Size of a call's state and block overrides. Default 64 KiB. */
  overrides: number;
  /** Filters of one credential. Default 16. */
  filters: number;
  /** WebSockets of one credential. Default 16. */
  sockets: number;
  /** Subscriptions on one WebSocket. Default 16. */
  subscriptions: number;
  /** Transactions of one account that wait for a block. Default 256. */
  accountPool: number;
  /** Transactions of a ledger that wait for a block. Default 4,096; as many as a quarter of these may wait for an earlier one. */
  pool: number;
  /** Connections to the service. Default 1,024; for a new one, the one that has been idle for the longest time is closed. */
  connections: number;
  /** Calls a second from one address at `/target/…`, which needs no credential, on an average of 10 seconds. Default 50. */
  targetRate: number;
}

export const callLimits = z.strictObject({
  gas: some.default(30_000_000),
  memory: some.default(32 * MiB),
  batch: some.default(100),
  request: some.max(64 * MiB).default(300_000),
  answer: some.max(256 * MiB).default(16 * MiB),
  time: some.max(3_600_000).default(30_000),
  work: some.max(1_000).default(500),
  atOnce: some.default(64),
  overrides: some.default(65_536),
  filters: some.default(16),
  sockets: some.default(16),
  subscriptions: some.default(16),
  accountPool: some.default(256),
  pool: some.default(4_096),
  connections: some.default(1_024),
  targetRate: some.default(50),
} satisfies Record<keyof CallLimits, z.ZodType>);

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
