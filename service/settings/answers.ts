import { z } from "zod";

const success = z.number().int().min(200).max(299);
const trueOrStatus = z.literal(true).or(z.number().int().min(400).max(599));

/** How the service answers where the API does not say, so that a client can be tried against other servers. */
export const answers = z.strictObject({
  /** Status of a successful create. Default 201. */
  created: success.default(201),
  /** Status of a successful PATCH. Default 200. */
  updated: success.default(200),
  /** Status of a successful DELETE, per resource. */
  deleted: z
    .strictObject({
      /** Default 202. */
      consortium: success.default(202),
      /** Default 202; the body is the environment with state `deleted`. */
      environment: success.default(202),
      /** Default 204. */
      membership: success.default(204),
      /** Default 204. */
      node: success.default(204),
      /** Default 204. */
      credential: success.default(204),
    })
    .prefault({}),
  /** Creates, updates and deletes answer without a body; only a new credential still shows its password. Default false. */
  emptyBodies: z.boolean().default(false),
  /** Name of the identifier field. Credentials always carry `id`. Default `_id`. */
  idField: z.enum(["_id", "id"]).default("_id"),
  /** Whether objects other than nodes can be read by id; if not, 404. Default true. */
  getById: z.boolean().default(true),
  /** true, or the status that answers every PATCH. Default true. */
  patch: trueOrStatus.default(true),
  /** true, or the status that answers a list of credentials. Default true. */
  listCredentials: trueOrStatus.default(true),
  /** Status for an object that is unknown, deleted, or another organization's: 404, 410 or 403. Default 404. */
  gone: z
    .number()
    .pipe(z.literal([404, 410, 403]))
    .default(404),
  /** A consortium with environments or memberships, or a membership with nodes, is not deleted (409). false: all go. Default true. */
  refuseChildren: z.boolean().default(true),
  /** An environment that is still `initializing` is not deleted (409), since deletion is defined from `setup` and `live`. Default true. */
  refuseEarlyDelete: z.boolean().default(true),
  /** Objects carry fields that nobody knows, some of them null. Default false. */
  unknownFields: z.boolean().default(false),
  /** Body fields that are not documented are refused with 400; otherwise they are ignored. Default false. */
  strictBodies: z.boolean().default(false),
  /** A new consortium comes with a membership named like the organization. Default false. */
  foundingMembership: z.boolean().default(false),
});
export type Answers = z.output<typeof answers>;
export type DeletedStatus = Answers["deleted"];
/** What `setAnswers` takes: any part of the answers. */
export type AnswersChange = z.input<typeof answers>;
