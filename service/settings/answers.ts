import { z } from "zod";

/** How many objects the service allows. More is refused with 409. */
export interface Limits {
  /** Consortia per organization. Default 2. */
  consortia: number;
  /** Environments per consortium. Default 3. */
  environments: number;
  /** Nodes per environment. Default 4. */
  nodes: number;
}

/** How long things take, in milliseconds. A change applies to what happens after it. */
export interface Timing {
  /** From the creation of an environment until it is `setup`. Default 500. */
  environmentStart: number;
  /** From the creation of a node until it is `started`. Default 1500; the hosted service takes 30 to 60 seconds. */
  nodeStart: number;
  /** How long a deleted environment still shows in lists, with state `deleted`. Default 500. */
  deletedVisible: number;
  /** How long a deleted consortium, membership or node stays there with state `deleting`. Default 0. */
  deleting: number;
  /** Lists show what was true this long ago; reading by id is immediate. Default 0. */
  listLag: number;
  /** Pause before every call is looked at. Default 0. */
  latency: number;
  /** Length of the "hour" of a tether's interval. Default 3600000. */
  tetherHour: number;
}

/** Status that answers a successful DELETE, per resource. */
export interface DeletedStatus {
  /** Default 202. */
  consortium: number;
  /** Default 202; the body is the environment with state `deleted`. */
  environment: number;
  /** Default 204. */
  membership: number;
  /** Default 204. */
  node: number;
  /** Default 204. */
  credential: number;
}

/** How the service answers where the API does not say, so that a client can be tried against other servers. */
export interface Answers {
  /** Status of a successful create. Default 201. */
  created: number;
  /** Status of a successful PATCH. Default 200. */
  updated: number;
  /** Status of a successful DELETE, per resource. */
  deleted: DeletedStatus;
  /** Creates, updates and deletes answer without a body; only a new credential still shows its password. Default false. */
  emptyBodies: boolean;
  /** Name of the identifier field. Credentials always carry `id`. Default `_id`. */
  idField: "_id" | "id";
  /** Whether objects other than nodes can be read by id; if not, 404. Default true. */
  getById: boolean;
  /** true, or the status that answers every PATCH. Default true. */
  patch: true | number;
  /** true, or the status that answers a list of credentials. Default true. */
  listCredentials: true | number;
  /** Status for an object that is unknown, deleted, or another organization's. Default 404. */
  gone: number;
  /** A consortium with environments or memberships, or a membership with nodes, is not deleted (409). false: all go. Default true. */
  refuseChildren: boolean;
  /** An environment that is still `initializing` is not deleted (409), since deletion is defined from `setup` and `live`. Default true. */
  refuseEarlyDelete: boolean;
  /** Objects carry fields that nobody knows, some of them null. Default false. */
  unknownFields: boolean;
  /** Body fields that are not documented are refused with 400; otherwise they are ignored. Default false. */
  strictBodies: boolean;
  /** A new consortium comes with a membership named like the organization. Default false. */
  foundingMembership: boolean;
}

/** What `setAnswers` takes: any part of the answers. */
export type AnswersChange = Partial<Omit<Answers, "deleted">> & { deleted?: Partial<DeletedStatus> };

const ms = z.number().nonnegative();
const count = z.number().int().nonnegative();
const success = z.number().int().min(200).max(299);
const refusal = z.number().int().min(400).max(599);

const shapes = {
  limits: { consortia: count, environments: count, nodes: count } satisfies Shape<Limits>,
  timing: {
    environmentStart: ms,
    nodeStart: ms,
    deletedVisible: ms,
    deleting: ms,
    listLag: ms,
    latency: ms,
    tetherHour: z.number().positive(),
  } satisfies Shape<Timing>,
  deleted: {
    consortium: success,
    environment: success,
    membership: success,
    node: success,
    credential: success,
  } satisfies Shape<DeletedStatus>,
};

export const limitsSchema = z.strictObject(shapes.limits).partial();
export const timingSchema = z.strictObject(shapes.timing).partial();
export const answersSchema = z
  .strictObject({
    created: success,
    updated: success,
    deleted: z.strictObject(shapes.deleted).partial(),
    emptyBodies: z.boolean(),
    idField: z.enum(["_id", "id"]),
    getById: z.boolean(),
    patch: z.literal(true).or(refusal),
    listCredentials: z.literal(true).or(refusal),
    gone: z.literal([404, 410, 403]),
    refuseChildren: z.boolean(),
    refuseEarlyDelete: z.boolean(),
    unknownFields: z.boolean(),
    strictBodies: z.boolean(),
    foundingMembership: z.boolean(),
  } satisfies Shape<Answers>)
  .partial();

type Shape<T> = Record<keyof T, z.ZodType>;

/** The settings in force; routes read them at every call, so a change takes effect at once. */
export interface Settings {
  limits: Limits;
  timing: Timing;
  answers: Answers;
}

export const defaults: Settings = {
  limits: { consortia: 2, environments: 3, nodes: 4 },
  timing: {
    environmentStart: 500,
    nodeStart: 1_500,
    deletedVisible: 500,
    deleting: 0,
    listLag: 0,
    latency: 0,
    tetherHour: 3_600_000,
  },
  answers: {
    created: 201,
    updated: 200,
    deleted: { consortium: 202, environment: 202, membership: 204, node: 204, credential: 204 },
    emptyBodies: false,
    idField: "_id",
    getById: true,
    patch: true,
    listCredentials: true,
    gone: 404,
    refuseChildren: true,
    refuseEarlyDelete: true,
    unknownFields: false,
    strictBodies: false,
    foundingMembership: false,
  },
};

/** A change laid over what is there; a field given as undefined is not a change. */
export function overlay<T extends object>(base: T, change: { [K in keyof T]?: T[K] | undefined } | undefined): T {
  const given = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(given) };
}

export function overlayAnswers(base: Answers, change: AnswersChange | undefined): Answers {
  return overlay(base, { ...change, deleted: overlay(base.deleted, change?.deleted) });
}
