import { isUnset, sameValue } from "./canonical";
import { type Definition, inputKeys, inputMeta, nameOf, type Props, type States } from "./definition";

export interface Difference {
  changes: boolean;
  /** Properties whose change makes a new object. */
  replaces: string[];
  /** The old one has to go first, since the new one will bear the same name in the same parent. */
  deleteBeforeReplace: boolean;
  /** What the user should read before saying yes. */
  warnings: string[];
}

export function isReady(states: States, state: unknown): boolean {
  if (typeof state !== "string") return true;
  return !states.pending?.includes(state) && !states.failed?.includes(state);
}

/** Whether the last run ended with the object ready and all of its outputs read. */
export function isSettled(definition: Definition, state: Props): boolean {
  if (definition.kind === "custom") return definition.settled(state);
  return isReady(definition.states, state.state) && (definition.detailed ?? []).every((key) => !isUnset(state[key]));
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
    replaces,
    deleteBeforeReplace,
    warnings:
      replaces.length > 0 && warning ? [`${nameOf(definition, olds)}: ${warning} (${replaces.join(", ")})`] : [],
  };
}
