import { printable } from "../api/printable";
import { type z } from "zod";
import { otherPrefix } from "../constants";

export type Props = Record<string, unknown>;

/** Metadata of a property, besides its type. */
export interface FieldMeta {
  /** One or two sentences: meaning, unit, and the rule itself. */
  doc: string;
  /** The default, in words that can follow "Default:". */
  default?: string;
  /** All values that are known (`listed` of the fields). */
  known?: readonly string[];
  /**
   * The service decides which values are allowed. These were seen. Where a change replaces the object, one that was not has to be marked as
   * meant, as one that is not known.
   */
  seen?: readonly string[];
  /** A sentence on what TypeScript programs can write instead. Other languages cannot. */
  inTypeScript?: string;
  /**
   * The effect of a change besides sending it. Default: no other effect.
   * - `replace`: it replaces the object, and is not sent
   * - `replaceIfRefused`: not in the spec. A create leaves it out if a service rejects it; the state remembers a service that cannot
   *   change it in place, and then a change replaces
   * - `restart`: it takes effect after a restart, which the update triggers
   * - `regenerate`: the service makes a new value of what it shows only once, such as a password
   * - `ignore`: it does not affect an existing object
   */
  onChange?: "replace" | "replaceIfRefused" | "restart" | "regenerate" | "ignore";
  /** Never shown: a secret output. */
  secret?: boolean;
  /**
   * The service chooses a value if none is given, so leaving it out is not a change. `moving`: the service also changes it later, which is
   * not drift.
   */
  computed?: boolean | "moving";
  /**
   * Where the value is found, if not in the list of objects under its name.
   * - `program`: it is not a property of the service's object, and neither sent nor read
   * - `writeOnly`: it is sent and never read back, because a service may show it in another form
   * - `elsewhere`: another call shows it (`details` of the steps)
   */
  visibility?: "program" | "writeOnly" | "elsewhere";
  /** The normal form of a value that has several spellings. undefined: it is left out. `inputs`: the other ones. */
  normal?: (value: unknown, inputs: Props) => unknown;
  /** The argument of TypeScript programs that takes the resource with this id. */
  argument?: string;
  /**
   * Not a field of the object: a change sends this instead. The create leaves it out, and the next update sends it. `shown` is the value
   * that an object with these properties has. With `true`, the object and everything in it is idle.
   */
  action?: { sent: (value: unknown) => Props; shown: (props: Props) => unknown };
  /** Names a parent of the object: in the path, or under this name in the body. */
  parent?: "path" | "body";
}

const fields = new WeakMap<z.ZodType, FieldMeta>();

/** Apply it last: a later `.optional()` or `.default()` makes another schema, without the metadata. */
export const field = <S extends z.ZodType>(schema: S, doc: string, meta: Omit<FieldMeta, "doc"> = {}): S => {
  fields.set(schema, { doc, ...meta });
  return schema;
};

export function metaOf(schema: z.ZodType): FieldMeta {
  const meta = fields.get(schema);
  if (!meta) throw new Error("a field without metadata: wrap it in field(…), last");
  return meta;
}

/** More values are not listed in the documentation. */
const shownAtMost = 12;

/** The documentation of a field, for TypeScript or for any language. */
export function docOf(schema: z.ZodType, reader: "typescript" | "any" = "any"): string | undefined {
  const meta = fields.get(schema);
  if (!meta) return undefined;
  const { doc, inTypeScript, argument, default: otherwise, seen, known } = meta;
  const values = seen && seen.length <= shownAtMost ? seen.map((value) => `\`${value}\``).join(", ") : undefined;
  const open = values ? ` The service decides which values are allowed; seen: ${values}.` : "";
  const allowed = known ? `${open} A value that is not known, and is meant: \`${otherPrefix}<value>\`.` : open;
  const more = inTypeScript ?? (argument && `Programs can pass the resource as \`${argument}\` instead.`);
  const instead = reader === "typescript" && more ? ` ${more}` : "";
  return `${doc}${allowed}${instead}${otherwise ? ` Default: ${otherwise}.` : ""}`;
}

/** `orgName` is `org_name` on the wire, `revision` is `_revision`. */
export const wireName = (key: string): string =>
  key === "revision" ? "_revision" : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** How messages name a resource: `node "acme-1"`. */
export const nameOf = (definition: { title: string }, inputs: Props): string => {
  const name = inputs.name ?? inputs.orgName ?? inputs.tetherId;
  return typeof name === "string" && name !== "" ? `${definition.title} "${printable(name)}"` : definition.title;
};
