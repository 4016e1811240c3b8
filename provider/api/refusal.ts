import { isObject } from "../plain";

/*
 * Finds the refusal in an answer. The specification leaves status codes open, so even a 2xx may be one. A service's own words are shown,
 * and decide nothing but `reasonIn`: what to do follows from the status, and from what the service shows.
 */

/** The end of a message about a refusal without a reason. */
const noReason = ", without a reason";
export const silent = (answer: string): string => `the service answers ${answer}${noReason}`;
export const isSilent = ({ errorMessage }: { errorMessage: string }): boolean => errorMessage.endsWith(noReason);

/** Fields with an explanation: the API's own name first (spec, section 1), then others, including those of RFC 9457. */
const explanations = ["errorMessage", "message", "error", "detail", "errors", "title"];

/** The explanation in an answer; of a list, the first ones. @param depth how many names or lists it may be in */
export function messageIn(body: unknown, depth = 3): string | undefined {
  if (typeof body === "string") return body === "" ? undefined : body;
  if (typeof body !== "object" || body === null || depth === 0) return undefined;
  const inner = (value: unknown): string | undefined => messageIn(value, depth - 1);
  const parts = (Array.isArray(body) ? body.slice(0, 3) : []).flatMap((part) => inner(part) ?? []);
  if (Array.isArray(body)) return parts.join("; ") || undefined;
  return explanations.map((name) => inner((body as Record<string, unknown>)[name])).find(Boolean);
}

/**
 * The refusal in a 2xx: an `errorMessage` without an object, or `false` in answer to a change. Nothing was made or changed then.
 * @param call method and path: an object may have no id but its name in the path
 */
export function refusalIn(
  body: unknown,
  call: string,
): { kind: "invalid" | "conflict"; errorMessage: string } | undefined {
  if (body === false && !call.startsWith("GET ")) return { kind: "conflict", errorMessage: silent("false") };
  if (!isObject(body) || isAnObject(body, call)) return undefined;
  const errorMessage = messageIn(body.errorMessage);
  return errorMessage === undefined ? undefined : { kind: "invalid", errorMessage };
}

function isAnObject({ _id, id, name }: Record<string, unknown>, call: string): boolean {
  const isId = (value: unknown): boolean => (typeof value === "string" && value !== "") || typeof value === "number";
  return isId(_id) || isId(id) || (isId(name) && call.endsWith(`/${encodeURIComponent(String(name))}`));
}

/* A place that is still being emptied will be empty soon, so `early` is looked for first. */
const early =
  /\b(initiali[sz]ing|provisioning|being (created|made|set up|configured|provisioned|deployed|deleted|removed|updated|changed|processed)|(is|are|currently|still) (creating|deleting|updating|configuring|deploying|starting|restarting|going|processing)|at a time|(please|must) wait|wait (until|for)|(?<!\b(not|no longer|isn't) )(already running|in progress|under way|underway|pending)|not (yet )?(ready|started|live|finished)|not yet|busy|locked|try again (later|soon|in))\b/;
const content =
  /\b(not empty|non-?empty|still (has|have|owns?|holds?|contains?|used|in use|referenced)|in use|uses it|used by|owns?|contains?|depend(s|ed|ents?|encies)? ?(on|upon)?|referenced by|belongs? to|(delete|remove)[\w ]* first|(has|have|with) (active |existing |running |associated |attached )*(\d+ )?(nodes?|environments?|memberships?|members|children|credentials|resources))\b/;

/**
 * Why a DELETE is refused: a 409 comes while what is in it is being removed, for minutes (seen for memberships), and also where somebody
 * else's object stays in it. Nothing but the words tells these apart. undefined: they do not.
 */
export function reasonIn({ errorMessage }: { errorMessage: string }): "early" | "content" | undefined {
  const text = errorMessage.toLowerCase().replace(/ ?\([^)]*\)/g, ""); // asides, such as a number
  return early.test(text) ? "early" : content.test(text) ? "content" : undefined;
}
