/* The one vocabulary of states, for all parts. Imports nothing, so that browser pages can use it. */

type Stated = { state?: unknown };

/**
 * What a state means: `ready`, it works; `pending`, it passes by itself; `failed`, it does not pass; `stopped`, by hand, so there is nothing
 * to wait for; `going`, nothing may depend on it; `gone`; `unknown`, ready only if the object can be used, and named in a warning.
 * Some kinds have words of their own (`states` of the steps): `over`, it can do nothing any more, keeps no name from others, and counts as
 * deleted; `empty`, a service may leave it so until something is put into it, so it is waited for only briefly.
 */
export type Condition = "ready" | "pending" | "failed" | "stopped" | "going" | "gone" | "unknown" | "over" | "empty";

/* Words by their stems, because services have several forms of each. */
const failed = /fail|error|crash|^dead|^abort|^broken|^corrupt|^fatal/;
const going = /^(delet|terminat|remov|archiv|destroy)/;
const gone = /^(gone|deleted|terminated|removed|archived|destroyed)$/;
const stopped = /^(stop|paus|suspend|hibernat|(in|de)activ|idl(e|ing)$|sleep|asleep)/;
const ended = /^(completed?|succeeded|success|successful|done)$/;
const ready =
  /^(live|setup|set|up|started|running|ready|active|ok|healthy|online|available|operational|operating|serving|listening|validating|mining|sealing|syncing|synced|synchroni[sz](ing|ed)|initiali[sz]ed|provisioned|created|deployed|configured|updated|upgraded|restarted|resumed|installed|registered|connected|verified|enabled|sent|accepted)$/;
const begun = /^(pending|queued|scheduled|requested|progress|(a?wait|load|reset)(t?ing)?)$/;
const pending =
  /^(initiali[sz]|provision|creat|(re)?(start|boot|configur|build)|deploy|launch|prepar|allocat|install|upgrad|updat|migrat|recover|restor|resum|connect|join|register|verify|set+|chang|process|scal)(e|ing|ation|ion|ment)?$/;

/** The words of a state, in lower case: `FAILED_TO_START`, `deletePending`, `in progress`. */
const wordsOf = (state: string): string[] =>
  state
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** What a state means by its words alone. An object without a state is ready: the specification does not give every kind one. */
export function conditionOf(state: unknown): Condition {
  const words = typeof state === "string" ? wordsOf(state) : [];
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  if (words.length === 0) return "ready";
  if (has(failed)) return "failed";
  if (has(/^protect/)) return "unknown"; // from deletion
  if ((words.length === 1 && has(gone)) || (has(going) && has(ended))) return "gone";
  if (has(going)) return "going";
  if (has(stopped)) return "stopped";
  if (words.every((word) => ready.test(word) || ended.test(word))) return "ready";
  return has(begun) || has(pending) ? "pending" : "unknown";
}

/** A deleted object may still be listed for a moment (spec, section 3). Services have several words for it. */
export const isGone = ({ state }: Stated): boolean => conditionOf(state) === "gone";

/** Whether it is on its way out. */
export const isGoing = ({ state }: Stated): boolean => conditionOf(state) === "going";

/** Whether the state is one of these, which are in lower case. */
export const isOneOf = (states: readonly string[] | undefined, state: unknown): boolean =>
  states?.includes(String(state).trim().toLowerCase()) === true;
