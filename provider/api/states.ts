/* The meaning of an object's state, for all parts. Imports nothing, so that browser pages can use it. */

type Stated = { id?: unknown; state?: unknown };

/** A deleted object may still be listed for a moment (spec, section 3). */
export const isGone = ({ state }: Stated): boolean => typeof state === "string" && /^deleted$/i.test(state);

/** On its way out: it still counts toward limits, but nothing may depend on it. Services have several words for it. */
export const isGoing = ({ state }: Stated): boolean =>
  typeof state === "string" &&
  /^(delet(ing|ion)|delet(e|ion)[-_ ]pending|pending[-_ ]delet(e|ion)|terminating|removing)$/i.test(state);

export type Condition = "ready" | "pending" | "failed" | "stopped" | "going" | "gone";

const known: [Condition, RegExp][] = [
  ["failed", /^(failed|failure|error(ed)?)$/],
  /** Stopped and started by hand only: nothing to wait for. */
  ["stopped", /^(stopp(ing|ed)|paused|suspended|hibernated)$/],
  /** The service no longer has it; only models of a network use this word. */
  ["gone", /^gone$/],
  /** States that count as working. */
  ["ready", /^(running|serving|listening|operating)$/],
  /** States that pass by themselves: `initializing` in the spec, and what services call the same; `upgrade` of an environment. */
  ["pending", /ing$|^(queued|scheduled|upgrade|in[-_ ]progress)$/],
];

/** The spec names one state to wait for (section 3). Any other counts as ready, unless its name says otherwise. */
export function conditionOf(state: unknown): Condition {
  if (isGone({ state })) return "gone";
  if (isGoing({ state })) return "going";
  const word = typeof state === "string" ? state.trim().toLowerCase() : "";
  return known.find(([, words]) => words.test(word))?.[0] ?? "ready";
}

/** Whether the state is one of these, which are in lower case. */
export const isOneOf = (states: readonly string[] | undefined, state: unknown): boolean =>
  states?.includes(String(state).trim().toLowerCase()) === true;
