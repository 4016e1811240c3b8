import { isObject } from "../plain";
import { type ErrorKind } from "./api-error";
import { conflictOf, silent } from "./conflict";

/* Finds the refusal in an answer. The specification leaves status codes open, so even a 2xx may be one. */

/** Fields with an explanation: the API's own name first (spec, section 1), then others, including those of RFC 9457. */
const explanations = [
  "errorMessage",
  "message",
  "error",
  "error_description",
  "detail",
  "errors",
  "title",
  "reason",
  "msg",
];

/** The explanation in an answer; of a list, the first ones. @param depth how many names or lists it may be in */
export function messageIn(body: unknown, depth = 3): string | undefined {
  if (typeof body === "string") return body === "" ? undefined : body;
  if (typeof body !== "object" || body === null || depth === 0) return undefined;
  const inner = (value: unknown): string | undefined => messageIn(value, depth - 1);
  if (Array.isArray(body))
    return (
      body
        .slice(0, 3)
        .flatMap((part) => inner(part) ?? [])
        .join("; ") || undefined
    );
  return explanations.map((name) => inner((body as Record<string, unknown>)[name])).find(Boolean);
}

export interface Refused {
  kind: ErrorKind;
  errorMessage: string;
}

/**
 * The refusal in a 2xx: an `errorMessage` without an object, or `false` in answer to a change. Nothing was made or changed then.
 * @param call method and path: an object may have no id but its name in the path
 */
export function refusalIn(body: unknown, call: string): Refused | undefined {
  if (body === false && !call.startsWith("GET ")) return { kind: "conflict", errorMessage: silent("false") };
  if (!isObject(body) || isAnObject(body, call)) return undefined;
  const errorMessage = messageIn(body.errorMessage);
  return errorMessage === undefined ? undefined : { kind: kindOfWords(errorMessage), errorMessage };
}

/** The object in an envelope, `{ "data": { … } }`, in which some services wrap their answers. */
export const unwrapped = (body: unknown, call: string): unknown =>
  isObject(body) && isObject(body.data) && !isAnObject(body, call) && refusalIn(body, call) === undefined
    ? body.data
    : body;

function isAnObject({ _id, id, name }: Record<string, unknown>, call: string): boolean {
  const isId = (value: unknown): boolean => (typeof value === "string" && value !== "") || typeof value === "number";
  return isId(_id) || isId(id) || (isId(name) && call.endsWith(`/${encodeURIComponent(String(name))}`));
}

/** Kinds that only the wording tells. After a failure of its own (`server`), the service may have acted. */
const words: [ErrorKind, RegExp][] = [
  [
    "missing",
    /\bnot (be )?found\b|\bno longer (accessible|available|exists?)\b|\b(do|does)( not|n't) exist\b|\bno such\b/,
  ],
  ["denied", /\bun-?authori[sz]ed\b|\bnot authori[sz]ed\b|\bforbidden\b|\bpermissions?\b|\baccess denied\b/],
  [
    "server",
    /\binternal (server )?error\b|\b(service|temporarily|currently) (is )?unavailable\b|\btimed out\b|\b(bad gateway|gateway time-?out)\b/,
  ],
];

function kindOfWords(errorMessage: string): ErrorKind {
  const text = errorMessage.toLowerCase();
  const found = words.find(([, pattern]) => pattern.test(text))?.[0];
  if (found !== undefined) return found;
  return conflictOf({ status: 409, errorMessage }) === undefined ? "invalid" : "conflict";
}
