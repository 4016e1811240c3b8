import { isDeepStrictEqual } from "node:util";
import { type Definition, inputKeys, inputMeta, isReady, nameOf, type Props } from "./definition";

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

export interface Difference {
  changes: boolean;
  /** Properties that differ; none where only the last run is to be finished. */
  changed: string[];
  /** Properties whose change makes a new object. */
  replaces: string[];
  /** The old one has to go first, since the new one will bear the same name in the same parent. */
  deleteBeforeReplace: boolean;
  /** What the user should read before saying yes. */
  warnings: string[];
}

/** Whether the last run ended with the object ready and all of its outputs read. */
export function isSettled(definition: Definition, state: Props): boolean {
  if (definition.kind === "custom") return definition.settled(state);
  const { states, details } = definition;
  return isReady(states, state.state) && (details?.outputs ?? []).every((key) => !isUnset(state[key]));
}

/** Properties that differ; computed from the metadata on the fields, never written for one resource. */
export function changedKeys(definition: Definition, olds: Props, news: Props): string[] {
  return inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key);
    if (meta?.uncompared) return false;
    if (meta?.computed && isUnset(news[key])) return false;
    return !sameValue(olds[key], news[key]);
  });
}

/**
 * Compares the old state (inputs and outputs) with the new inputs, with no call.
 * An unknown value is one that may change; a changed parent is unknown just because it is made anew.
 */
export function diff(definition: Definition, olds: Props, news: Props): Difference {
  const changed = changedKeys(definition, olds, news);
  const replaces = changed.filter((key) => inputMeta(definition, key)?.replace);
  const moved = changed.some((key) => inputMeta(definition, key)?.parent === "path");
  const naming = definition.kind === "collection" ? definition.naming : undefined;
  const deleteBeforeReplace =
    replaces.length > 0 && naming !== undefined && !moved && sameValue(olds[naming], news[naming]);
  const warning = definition.kind === "collection" ? definition.replaceWarning : undefined;
  return {
    changes: changed.length > 0 || !isSettled(definition, olds),
    changed,
    replaces,
    deleteBeforeReplace,
    warnings:
      replaces.length > 0 && warning ? [`${nameOf(definition, olds)}: ${warning} (${replaces.join(", ")})`] : [],
  };
}
