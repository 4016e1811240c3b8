import { templateOf } from "../../provider/api/paths";
import { fieldsOf } from "../../provider/plain";

/** What the service answered to one call, whatever its status. */
export interface Seen {
  status: number;
  form: "JSON" | "plain text" | "HTML" | "no body";
  body: unknown;
  text: string;
  /** The call succeeded, with an answer in the API's form. */
  ok: boolean;
}

/** A refusal in the service's words, without names, ids and numbers. */
interface Refusal {
  call: string;
  status: number;
  form: Seen["form"];
  words?: string;
}

/** Names of fields whose values identify somebody or something, or give access. */
const telling = /(^|_)(id|name|owner|email|user|username|password|token|key|host|url|secret)s?$/i;
/** A service may have names and ids as keys. */
const isField = (name: string): boolean => name.length <= 40 && /^_?[a-z]+([_A-Z][a-z]*)*$/.test(name);
/** What a refusal may say as it is: usual words, names of fields, small numbers. */
const usual =
  /^[("'`]*(0x|\d{1,4}(\.\d)?|[A-Z]?[a-z]{0,20}(['’-][a-z]{1,20})*|[a-z]+(_[a-z]+)+|[A-Z]{2,8})[)"'`]*[.,:;!?]*$/;

/**
 * What a run saw of all calls, without secrets: it takes names of fields, states, statuses, times, and words of refusals. Of values, only
 * states stay.
 */
export class Notes {
  /** By kind: the names of its fields, and its states in the order of their appearance. */
  readonly kinds: Record<string, { fields: string[]; states: string[] }> = {};
  readonly refusals: Refusal[] = [];
  readonly #times = new Map<string, number[]>();
  readonly #told = new Set<string>();

  /** @param path below the base address */
  add(method: string, path: string, seen: Seen, ms: number): void {
    const call = `${method} ${templateOf(path.split("?")[0]!)}`;
    this.#times.set(call, [...(this.#times.get(call) ?? []), ms]);
    const shown = Array.isArray(seen.body) ? (seen.body as unknown[]) : [seen.body];
    this.#learn(shown.map(fieldsOf));
    if (seen.ok) return this.#describe(call, shown.map(fieldsOf));
    const { errorMessage } = fieldsOf(seen.body);
    const told = typeof errorMessage === "string" ? errorMessage : seen.form === "plain text" ? seen.text : "";
    const words = this.plain(told);
    const refusal = { call, status: seen.status, form: seen.form, ...(words && { words }) };
    if (!this.refusals.some((one) => JSON.stringify(one) === JSON.stringify(refusal))) this.refusals.push(refusal);
  }

  /** By call, in milliseconds. */
  get latency(): Record<string, { calls: number; median: number; most: number }> {
    return Object.fromEntries(
      [...this.#times].map(([call, times]) => [
        call,
        { calls: times.length, median: median(times), most: Math.round(Math.max(...times)) },
      ]),
    );
  }

  /** The usual time of a call that changes nothing. */
  get usualMs(): number {
    return median([...this.#times].flatMap(([call, times]) => (call.startsWith("GET ") ? times : [])));
  }

  /** Foreign text without what may identify somebody or something. */
  plain(text: string): string {
    let shown = text;
    for (const one of [...this.#told].sort((a, b) => b.length - a.length)) shown = shown.replaceAll(one, "…");
    const words = shown.trim().split(/\s+/).slice(0, 60);
    return words.map((word) => (usual.test(word) ? word : "…")).join(" ");
  }

  #learn(objects: Record<string, unknown>[]): void {
    for (const one of objects)
      for (const [name, value] of Object.entries(one))
        if (telling.test(name) && typeof value === "string" && value.length > 2) this.#told.add(value);
  }

  #describe(call: string, objects: Record<string, unknown>[]): void {
    const kind = call
      .replace(/^\S+ /, "")
      .split("/")
      .filter((part) => part !== "" && part !== "{id}")
      .join("/");
    const { fields, states } = (this.kinds[kind] ??= { fields: [], states: [] });
    for (const one of objects) {
      for (const name of Object.keys(one))
        if (isField(name) && !this.#told.has(name) && !fields.includes(name)) fields.push(name);
      const { state } = one;
      if (typeof state === "string" && /^[a-z][\w -]{0,29}$/i.test(state) && !states.includes(state))
        states.push(state);
    }
  }
}

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}
