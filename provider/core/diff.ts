import { type Definition, inputKeys, inputMeta, nameOf, type Props } from "./definition";
import { isSettledState } from "../api/states";
import { contains, fingerprint, isUnset, sameValue } from "./values";

/**
 * The state's list of properties that stayed as they were when the object was adopted: the keys that the program did not set;
 * and for a shared object the keys that it did set, each with a fingerprint of the wanted value.
 */
export const leftKey = "__left";
export type Left = string | [key: string, wanted: string];

/** Whether it stays as it is as long as the program wants the same as at the adoption. */
export const isLeft = (state: Props, key: string, wanted?: unknown): boolean =>
  ((state[leftKey] as Left[] | undefined) ?? []).some((left) =>
    wanted === undefined
      ? [left].flat()[0] === key
      : typeof left !== "string" && left[0] === key && left[1] === fingerprint(wanted),
  );

/** Whether the shown value is what the program wants. */
export const fits = (definition: Definition, key: string, shown: unknown, wanted: unknown): boolean =>
  inputMeta(definition, key)?.open && !isUnset(wanted) ? contains(shown, wanted) : sameValue(shown, wanted);

/** The state's list of properties that the service could not change in place. */
export const fixedKey = "__fixed";

export const fixedKeys = (state: Props): string[] => (state[fixedKey] as string[] | undefined) ?? [];

/** Whether a change to it replaces the object. */
const isReplacing = (definition: Definition, state: Props, key: string): boolean => {
  const replace = inputMeta(definition, key)?.replace;
  return replace === "ifNeeded" ? fixedKeys(state).includes(key) : replace === true;
};

export interface Difference {
  changes: boolean;
  /** Properties that differ. Empty if only the last run has to be completed. */
  changed: string[];
  /** Properties whose change replaces the object. */
  replaces: string[];
  /** The old object must go first, because the new one has the same name in the same parent. */
  deleteBeforeReplace: boolean;
  /** Warnings to read before confirming. */
  warnings: string[];
}

/** Whether the last run ended with the object ready and all its outputs read. */
export function isSettled(definition: Definition, state: Props): boolean {
  const { own, details, isReadyAtOnce } = definition;
  if (own) return own.settled(state);
  return (
    (isReadyAtOnce || isSettledState(state.state)) && (details?.outputs ?? []).every((key) => !isUnset(state[key]))
  );
}

/** Properties that differ, by the metadata of the fields. */
export function changedKeys(definition: Definition, olds: Props, news: Props): string[] {
  return inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key);
    if (meta?.ignoredInDiff) return false;
    if (meta?.computed && isUnset(news[key])) return false;
    if (isLeft(olds, key, news[key])) return false;
    return !fits(definition, key, olds[key], news[key]);
  });
}

/**
 * Compares the old state (inputs and outputs) with the new inputs, without a call.
 * An unknown value may differ: the id of a replaced parent is unknown for that reason.
 */
export function diff(definition: Definition, olds: Props, news: Props): Difference {
  const changed = changedKeys(definition, olds, news);
  const replaces = changed.filter((key) => isReplacing(definition, olds, key));
  const moved = changed.some((key) => inputMeta(definition, key)?.parent === "path");
  const restarts = replaces.length === 0 ? changed.filter((key) => inputMeta(definition, key)?.restarts) : [];
  const { naming, replaceWarning } = definition;
  const what = nameOf(definition, olds);
  const deleteBeforeReplace =
    replaces.length > 0 && naming !== undefined && !moved && naming.every((key) => sameValue(olds[key], news[key]));
  return {
    changes: changed.length > 0 || !isSettled(definition, olds),
    changed,
    replaces,
    deleteBeforeReplace,
    warnings: [
      ...(replaces.length > 0 && replaceWarning ? [`${what}: ${replaceWarning} (${replaces.join(", ")})`] : []),
      ...(restarts.length > 0 ? [`${what}: restarts, to change ${restarts.join(" and ")}`] : []),
    ],
  };
}
