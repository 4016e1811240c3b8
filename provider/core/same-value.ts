import { isDeepStrictEqual } from "node:util";

/** Nothing, null, an empty text and an empty object all mean "not set". */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** The value without formatting: composed characters, no space around, numbers as numbers, no unset members. */
function unformatted(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC").trim();
  if (Array.isArray(value)) return value.map(unformatted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, unformatted(member)]).sort());
}

/** Equal but for formatting: what a service may rewrite without meaning a change. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (isUnset(a) && isUnset(b)) return true;
  return isDeepStrictEqual(unformatted(a), unformatted(b));
}

/** What a service that writes names in its own way leaves of one: letters in small, digits, nothing else. */
function plainName(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return (
    value
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, "") || value
  );
}

/** Equal, or as a service may write the name: in another case, or with other signs between the words. */
export const sameName = (a: unknown, b: unknown): boolean => sameValue(a, b) || sameValue(plainName(a), plainName(b));
