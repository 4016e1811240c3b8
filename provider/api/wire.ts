import { z } from "zod";
import { isObject } from "../plain";

/*
 * Tolerant schemas for the objects of the service: any field may be absent, null or new. A value of an unexpected type counts as
 * absent; an unknown field is kept and never an error. generated.ts has the objects, made from the resource definitions.
 */

/** An object of the service. Its id is always under `id`. */
export interface Identified {
  id: string;
  state?: string;
  [field: string]: unknown;
}

type Wire = Record<string, unknown>;

export const text = z.string().optional().catch(undefined);
export const flag = z.boolean().optional().catch(undefined);
const digits = z.string().regex(/^-?\d+$/);
export const integer = z
  .union([z.int(), digits.transform(Number)])
  .optional()
  .catch(undefined);
export const texts = z.array(z.string()).optional().catch(undefined);
const counter = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);

export const object = z.record(z.string(), z.unknown()).optional().catch(undefined);

/** Absent and null mean the same, except in a description, where null means that it was removed. */
function withoutNulls(value: Wire): Wire {
  const given = Object.entries(value).filter(([, field]) => field !== null);
  return { ...(value.description === null ? { description: "" } : {}), ...Object.fromEntries(given) };
}

/** Other names that services have for fields of the specification. */
const otherNames: Record<string, string> = {
  autopause_init_delay: "initial_delay",
  autopause_idle_hours: "idle_hours",
};

function underOneName(value: Wire): Wire {
  const others = Object.entries(otherNames).filter(([other]) => other in value);
  return { ...Object.fromEntries(others.map(([other, name]) => [name, value[other]])), ...value };
}

const asText = (value: unknown): unknown => (Number.isSafeInteger(value) ? String(value) : value);

/** The service's id is `_id`, `id`, or another field that names the object. Ids that are numbers are read as text. */
function underId({ _id, id, ...rest }: Wire, idField: string): Wire {
  const others = Object.entries(rest).filter(([key, value]) => key.endsWith("_id") && typeof value === "number");
  return {
    ...rest,
    ...Object.fromEntries(others.map(([key, value]) => [key, asText(value)])),
    id: asText(idField === "_id" ? (_id ?? id) : rest[idField]),
  };
}

/** An object with these fields and those that all have. */
export const identified = <S extends z.ZodRawShape>(shape: S, idField = "_id") =>
  z.preprocess(
    (value) => (isObject(value) ? underId(underOneName(withoutNulls(value)), idField) : value),
    z.looseObject({ id: z.string().min(1), state: text, _revision: counter, created_at: text, ...shape }),
  );

/** Any object with an id, whatever the list. Not parsed further, because lists are long. */
export const anything = (idField = "_id") =>
  z.preprocess(
    (value) => (isObject(value) ? underId(value, idField) : value),
    z.looseObject({ id: z.string().min(1), state: text }),
  );
export const Anything = anything();

export const NodeStatusObject = z.looseObject({
  id: text,
  geth: z.looseObject({ public_address: text, validators: texts }).optional().catch(undefined),
  quorum: z.looseObject({ public_address: text, validators: texts }).optional().catch(undefined),
  user_accounts: texts,
  block_height: integer,
  urls: z.looseObject({ rpc: text, wss: text }).optional().catch(undefined),
});

export type NodeStatusObject = z.infer<typeof NodeStatusObject>;

/** A release of the service's software, which environments refer to by id. Not in the specification. */
export const ReleaseObject = identified({ provider: text, version: text, release_status: text });
export type ReleaseObject = z.infer<typeof ReleaseObject>;

/** An API key's id and organization. Not in the specification. */
export const ApiKeyObject = identified({ org_id: text });
/** An organization's id, name and plan, and nothing else: the service shows secrets of it. Not in the specification. */
export const OrganizationObject = identified({ name: text, plan: text }).transform(({ id, name, plan }) => {
  return { id, name, plan };
});
export type OrganizationObject = z.infer<typeof OrganizationObject>;

/** A report, as the service shows it. Its fields are not documented. */
export type TetherReport = unknown;
