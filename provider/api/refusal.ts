import { isObject } from "../plain";

/*
 * Finds the refusal in an answer. The specification leaves status codes open, so even a 2xx may be one. A service's own words are shown,
 * and decide nothing: what to do follows from the status, and from what the service shows.
 */

/** The end of a message about a refusal without a reason. */
const noReason = ", without a reason";
export const silent = (answer: string): string => `the service answers ${answer}${noReason}`;
export const isSilent = ({ errorMessage }: { errorMessage: string }): boolean => errorMessage.endsWith(noReason);

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
  kind: "invalid" | "conflict";
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
  return errorMessage === undefined ? undefined : { kind: "invalid", errorMessage };
}

function isAnObject({ _id, id, name }: Record<string, unknown>, call: string): boolean {
  const isId = (value: unknown): boolean => (typeof value === "string" && value !== "") || typeof value === "number";
  return isId(_id) || isId(id) || (isId(name) && call.endsWith(`/${encodeURIComponent(String(name))}`));
}
