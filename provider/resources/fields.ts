import { z } from "zod";
import { field, type FieldMeta } from "../core/field";
import { paths } from "../api/paths";
import { otherPrefix } from "../constants";
import { notKnown } from "../core/suggest";
import { type Place, type Props } from "../core/definition";
import { isUnset } from "../core/values";

/*
 * Fields that several resources share. Each call makes a new schema, because metadata belongs to the object.
 */

const notEmpty = (what: string) => `${what} must not be empty`;

/** A name for people. */
export const nameText = (what: string) =>
  z
    .string({ error: `${what} is required: give it as text` })
    .refine((text) => text.trim() !== "", notEmpty(what))
    .max(256, `${what} must have at most 256 characters`);

/** Text in the service's own words. @param it what to give, in words */
export const requiredText = (what: string, it: string, example: string) =>
  z.string({ error: `${what} is required: give ${it} as text, such as "${example}"` }).min(1, notEmpty(what));

/** Text with values that are known. The program has to mark any other as meant. */
export const listed = (what: string, known: readonly string[]) => {
  const error = ({ input }: { input?: unknown }): string =>
    typeof input === "string" ? notKnown(what, input, known) : `${what} must be text, such as ${known.join(", ")}`;
  return z.union([z.enum(known, { error }), z.string().regex(new RegExp(`^${otherPrefix}.+`), { error })], { error });
};

/** Text that may be left out. */
export const optionalText = (what: string) =>
  z
    .string({ error: `${what} must be text` })
    .min(1, notEmpty(what))
    .max(256, `${what} must have at most 256 characters`)
    .optional();

/** An object, which may also be given as its JSON, as text: Terraform configurations do. */
export const objectOf = (what: string, of: string) => {
  const error = `${what} must be an object of ${of}, or its JSON as text`;
  const members = z.record(z.string(), z.unknown(), { error });
  return z.union([members, z.string().transform(parsed)], { error }).pipe(members);
};

/** The value, or the text itself, which is then rejected. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The id of a parent. The remedy names both ways to give it. @param ids as every language gives it */
export const parentId = (what: string, ids: string, argument: string) => {
  const remedy = `give ${ids}, or in TypeScript and JavaScript ${argument}: (the resource)`;
  return z.string({ error: `${what} is missing: ${remedy}` }).min(1, `${what} is empty: ${remedy}`);
};

export const tetherIdLength = 10;

/** The id of a tether service. */
export const tetherIdText = (missing: string) =>
  z
    .string({ error: missing })
    .regex(
      new RegExp(`^[^\\s/?#%&=:]{${tetherIdLength}}$`),
      `tetherId must be the last ${tetherIdLength} characters of the tether service's console address, without blanks and / ? # % & = :`,
    );

export const consortiumId = () =>
  field(
    parentId("the consortium", "consortiumId: (its id)", "consortium"),
    "Id of the consortium that it belongs to.",
    { argument: "consortium", onChange: "replace", parent: "path" },
  );

export const environmentId = () =>
  field(
    parentId("the environment", "environmentId: and consortiumId: (ids)", "environment"),
    "Id of the environment that it belongs to.",
    { argument: "environment", onChange: "replace", parent: "path" },
  );

export const membershipId = (doc: string) =>
  field(parentId("the membership", "membershipId: (its id)", "membership"), doc, {
    argument: "membership",
    onChange: "replace",
    parent: "body",
  });

export const description = () =>
  field(z.string({ error: "description must be text" }).optional(), "Description for people.", { default: "none" });

const wanted = "adopt must be true, false, or the id to adopt";

/** @param which what `true` adopts */
export const adopt = (which = "the object with this name", otherwise = "a name that is already taken is an error") =>
  field(
    z.union([z.boolean(), z.string().min(1, wanted)], { error: wanted }).optional(),
    `\`true\` adopts ${which} if it exists; an id adopts exactly that object or fails.`,
    { default: `\`false\`: ${otherwise}`, visibility: "program", onChange: "ignore" },
  );

export const extra = () =>
  field(
    z.record(z.string(), z.unknown(), { error: "extra must be an object of fields" }).optional(),
    "Additional fields for the create call, under the service's own names, sent unchanged.",
    { visibility: "program", onChange: "replace" },
  );

/** The id of another object of the environment. @param target which object that is, in words */
export const idOf = (argument: string, target: string, meta: Omit<FieldMeta, "doc"> = {}) =>
  field(optionalText(`${argument}Id`), `Id of ${target}.`, {
    default: "the service chooses",
    computed: true,
    argument,
    ...meta,
  });

const seconds = z.number().positive().optional();

/** The resource option of that name, which the host does not pass on. Not an argument. */
export const customTimeouts = () =>
  field(
    z.strictObject({ create: seconds, update: seconds, delete: seconds }).optional(),
    "Timeouts in seconds for create, update and delete; set with the resource option `customTimeouts`.",
    { visibility: "program" },
  );

/** The last arguments of every resource that lives in a collection. */
export const common = (...adopts: Parameters<typeof adopt>) => ({
  adopt: adopt(...adopts),
  extra: extra(),
  customTimeouts: customTimeouts(),
});

export const revision = () =>
  field(z.string().optional(), "Revision counter: starts at `0` and increases with every change.");

/** The outputs of a resource, together with those that almost all have. */
export const outputs = <Shape extends z.ZodRawShape>(own: Shape) =>
  z.object({
    state: field(z.string().optional(), "Last known state, in the service's own words."),
    ...own,
    revision: revision(),
    createdAt: field(z.string().optional(), "Creation time: ISO 8601, UTC."),
  });

/** An id among the properties. Empty if it is missing, which paths reject. */
export const idIn = (props: Props, key: string): string => {
  const value = props[key];
  return typeof value === "string" ? value : "";
};

export const consortia = (): Place => ({ collection: paths.consortia });

const inConsortium = (props: Props, collectionOf: (consortiumId: string) => string): Place => {
  const id = idIn(props, "consortiumId");
  return { collection: collectionOf(id), parent: { place: consortia(), id } };
};

export const memberships = (props: Props): Place => inConsortium(props, paths.memberships);
export const environments = (props: Props): Place => inConsortium(props, paths.environments);
export const invitations = (props: Props): Place => inConsortium(props, paths.invitations);
export const consortiumZones = (props: Props): Place => inConsortium(props, paths.zones);

const inEnvironment = (props: Props, collectionOf: (consortiumId: string, environmentId: string) => string): Place => {
  const id = idIn(props, "environmentId");
  const collection = collectionOf(idIn(props, "consortiumId"), id);
  return { collection, parent: { place: environments(props), id } };
};

export const nodes = (props: Props): Place => inEnvironment(props, paths.nodes);
export const configurations = (props: Props): Place => inEnvironment(props, paths.configurations);
export const services = (props: Props): Place => inEnvironment(props, paths.services);
export const environmentZones = (props: Props): Place => inEnvironment(props, paths.zones);
/** The normal form of what services write in one way or another, such as the names of clouds and their regions. */
export const lowerCase = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value);

export const destinations = (props: Props): Place => {
  const id = idIn(props, "serviceId");
  const collection = paths.destinations(String(lowerCase(idIn(props, "serviceType"))), id);
  // Without the environment, the service cannot be found, but the consortium of both can.
  const parent = isUnset(props.environmentId)
    ? { place: consortia(), id: idIn(props, "consortiumId") }
    : { place: services(props), id };
  return { collection, parent, idField: "name" };
};
export const appcreds = (props: Props): Place => ({ ...inEnvironment(props, paths.appcreds), isUnlisted: true });
