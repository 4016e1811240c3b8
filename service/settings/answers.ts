import { z } from "zod";

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

const success = z.number().int().min(200).max(299);
const trueOrStatus = z.literal(true).or(z.number().int().min(400).max(599));

const deleted = z.strictObject({
  consortium: success.default(202),
  environment: success.default(202),
  membership: success.default(204),
  node: success.default(204),
  credential: success.default(204),
} satisfies Record<keyof DeletedStatus, z.ZodType>);

export const answers = z.strictObject({
  created: success.default(201),
  updated: success.default(200),
  deleted: deleted.prefault({}),
  emptyBodies: z.boolean().default(false),
  idField: z.enum(["_id", "id"]).default("_id"),
  getById: z.boolean().default(true),
  patch: trueOrStatus.default(true),
  listCredentials: trueOrStatus.default(true),
  gone: z.literal([404, 410, 403]).default(404),
  refuseChildren: z.boolean().default(true),
  refuseEarlyDelete: z.boolean().default(true),
  unknownFields: z.boolean().default(false),
  strictBodies: z.boolean().default(false),
  foundingMembership: z.boolean().default(false),
} satisfies Record<keyof Answers, z.ZodType>);
