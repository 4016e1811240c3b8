import { isDeepStrictEqual } from "node:util";
import { type z } from "zod";
import { metaOf, type Props } from "./field";
import { type Path } from "../plain";
import { secretsKey } from "../constants";

/** Nothing, null, an empty text, and an object or a list with nothing in it all mean "not set". */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.values(value).every((member) => member === undefined || member === null);
}

const plainText = (text: string): string => text.normalize("NFC").trim();

/** The normalized value: composed characters, trimmed, numbers as numbers, no unset members. */
export function unformatted(value: unknown, textOf = plainText): unknown {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return value.map((member) => unformatted(member, textOf));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, unformatted(member, textOf)]));
}

/** Equal except for formatting that a service may change. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b || (isUnset(a) && isUnset(b))) return true;
  return isDeepStrictEqual(unformatted(a), unformatted(b));
}

/** The same request. In an object, such as `details`, each character may count. */
export function sameAsked(a: unknown, b: unknown): boolean {
  if (typeof a !== "object") return sameValue(a, b);
  const exact = (value: unknown): unknown => unformatted(value, (text) => text);
  return (isUnset(a) && isUnset(b)) || isDeepStrictEqual(exact(a), exact(b));
}

/** Equal except for case and separators, which a service may change. */
export function sameName(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): unknown =>
    typeof value === "string"
      ? value
          .normalize("NFKC")
          .toLowerCase()
          .replace(/[^\p{L}\p{N}]/gu, "") || value
      : value;
  return sameValue(a, b) || sameValue(plain(a), plain(b));
}

/** How unknown values of a preview arrive, by type (Pulumi's wire format). Programs in Node.js send the first one for all. */
const markers: ReadonlySet<unknown> = new Set([
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9", // text
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // list
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
]);

/** The placeholder for an output that is known only after the run. */
export const [unknown] = markers;

/** Whether a value is, or contains, an unknown of a preview. */
export function isUnknown(value: unknown): boolean {
  if (markers.has(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}

/** The value that leaving an input out means. */
export const defaultOf = (schema: z.ZodType): unknown =>
  schema.def.type === "default" ? schema.parse(undefined) : undefined;

/**
 * Inputs in their normal form: what is left out has the documented default, and all spellings of one value are the same. Only
 * normal forms are compared. An unknown value of a preview stays one.
 */
export function normalOf(
  { inputs }: { inputs: z.ZodObject },
  props: Props,
  keys: readonly string[] = Object.keys(inputs.shape),
): Props {
  const entries = keys.map((key) => {
    const schema = inputs.shape[key] as z.ZodType;
    const { normal } = metaOf(schema);
    const value = isUnset(props[key]) ? defaultOf(schema) : props[key];
    return [key, normal && !isUnknown(value) ? normal(value, props) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** A time of the API, which is UTC, in ms since 1970. undefined: not a time. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  const ms = Date.parse(/(z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Paths of secret properties, as found by the program or an adapter. */
export const secretPaths = ({ [secretsKey]: paths }: Props): Path[] =>
  Array.isArray(paths) ? paths.filter((path): path is (string | number)[] => Array.isArray(path)) : [];
