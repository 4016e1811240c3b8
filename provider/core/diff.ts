import { type z } from "zod";
import { holdsLedger, lossWarning } from "../constants";
import { isObject } from "../plain";
import {
  conditionIn,
  type Definition,
  inputKeys,
  inputMeta,
  isOver,
  keysWith,
  nameKey,
  nameOf,
  type Props,
  secretKeys,
} from "./definition";
import { isReadable, type StateParts, partsOf } from "./state";
import { UserError } from "../errors";
import { isUnset, normalOf, sameAsked, sameValue } from "./values";

export interface DiffResult {
  changes: boolean;
  /** Properties that differ. Empty if only the last run has to be completed. */
  changed: string[];
  /** Properties that replace the object when they change. */
  replaces: string[];
  /** The old object must go first, because the new one has the same name in the same parent. */
  deleteBeforeReplace: boolean;
  /** Warnings to read before confirming. */
  warnings: string[];
  /** Side effects of an update in place, if one may follow. */
  plans: string[];
}

/** Differences by property. */
interface ChangedKeys {
  /** The program asks for something else than it did. */
  changed: string[];
  /** Somebody has changed it in the service, and an update puts it back. */
  drifted: string[];
  /** Somebody has changed it in the service, and only a replacement could put it back. */
  lasting: string[];
  /** The program asks for something else, and the object stays as it is: see `keptBecause`. */
  kept: string[];
}

type Forms = [now: Props, last: Props, shown: Props, answered: Props];

/** Whether a change to it replaces the object. */
const isReplacing = (definition: Definition, refused: readonly string[], key: string): boolean => {
  const onChange = inputMeta(definition, key)?.onChange;
  return onChange === "replace" || (onChange === "replaceIfRefused" && refused.includes(key));
};

/** Whether all its outputs are read, no step of a run is left, and it has not failed. An upgrade by the service itself is not a step. */
function isSettled(definition: Definition, state: Props, open: readonly string[]): boolean {
  const { steps, shownLater = [] } = definition;
  if (steps?.settled) return steps.settled(state);
  const condition = conditionIn(definition, state);
  const outputs = [...(steps?.details?.outputs ?? []), ...(condition === "empty" ? shownLater : [])];
  return open.length === 0 && condition !== "failed" && outputs.every((key) => !isUnset(state[key]));
}

/**
 * Change: what the program asks for now differs from what it asked for last. Drift: what the service shows now differs from what
 * it answered then. What it shows is never compared with what is asked, so a service may write a value in its own way.
 */
export function changedKeys(definition: Definition, parts: StateParts, inputs: Props): ChangedKeys {
  const all = [inputs, parts.asked, parts.shown, parts.answered] as const;
  const found: ChangedKeys = { changed: [], drifted: [], lasting: [], kept: [] };
  let forms: Props[] | undefined;
  for (const key of inputKeys(definition)) {
    const meta = inputMeta(definition, key)!;
    if (meta.onChange === "ignore") continue;
    const isUnclear = parts.unclear.includes(key);
    // In most resources, nothing differs.
    if (!meta.normal && !isUnclear && inputs[key] === parts.asked[key] && parts.shown[key] === parts.answered[key])
      continue;
    const [now, last, shown, answered] = (forms ??= all.map((props) => normalOf(definition, props))) as Forms;
    const isChange = isUnclear || !sameAsked(now[key], last[key]);
    const isDrift = meta.computed !== "moving" && !sameValue(...watched(inputs[key], shown[key], answered[key]));
    if (!isChange && !isDrift) continue;
    // A value that is already set needs no call, unless another one is on its way. After a change by an interrupted run, a restart may be
    // missing.
    const isSo = (isChange ? sameAsked : sameValue)(shown[key], now[key]);
    if (isSo && !isUnclear && !(isChange && meta.onChange === "restart" && !sameValue(shown[key], answered[key])))
      continue;
    const isOpen = isUnset(inputs[key]);
    if (isChange) {
      // The program now accepts any value, so no ledger is lost for it, and the service may change it by itself.
      if (isOpen && (meta.computed === "moving" || (meta.computed && losesLedger(definition, key)))) continue;
      (keptBecause(definition, parts, inputs, key) === undefined ? found.changed : found.kept).push(key);
    } else if (parts.how !== "shared" && !(isOpen && (meta.computed || parts.how === "adopted"))) {
      (isReplacing(definition, parts.refused, key) ? found.lasting : found.drifted).push(key);
    }
  }
  return found;
}

const losesLedger = (definition: Definition, key: string): boolean =>
  inputMeta(definition, key)?.onChange === "replace" && holdsLedger(definition.type);

/** Whether a program may leave it out. Otherwise every state has it, unless somebody edited that. */
const isOptional = ({ inputs }: Definition, key: string): boolean =>
  (inputs.shape[key] as z.ZodType).safeParse(undefined).success;

/** Why an object stays as it is although the program now asks for something else. undefined: it is changed. */
function keptBecause(definition: Definition, parts: StateParts, inputs: Props, key: string): string | undefined {
  const meta = inputMeta(definition, key)!;
  if (parts.how === "shared") {
    // An object is sent as a whole, which could remove members that are not this stack's.
    const isTheirs =
      isUnset(inputs[key]) || (isObject(inputs[key]) && !sameValue(parts.answered[key], parts.asked[key]));
    const fits = meta.parent === "path" || definition.shared?.fits.includes(key) === true;
    if (isReplacing(definition, parts.refused, key) ? !fits : isTheirs && meta.visibility !== "program")
      return "others may share it";
  }
  if (meta.onChange === "replace" && isUnset(parts.asked[key]) && !isOptional(definition, key))
    return "the state has lost its value: run `pulumi refresh`, or restore the state";
  if (!losesLedger(definition, key)) return undefined;
  const [now, none] = [inputs, {}].map((props) => normalOf(definition, props)[key]);
  if (isUnset(now) || (isUnset(inputs[key]) && sameAsked(now, none)))
    return "the program no longer sets it, and removing it requires a new object";
  const isUntold = parts.how === "adopted" && isUnset(parts.asked[key]) && !isReadable(meta);
  return isUntold ? "it was adopted, and the service does not show whether it has this" : undefined;
}

/** The part of a value that can drift. If the service may add members, only those set by the program count, at any depth. */
function watched(wanted: unknown, ...values: [unknown, unknown]): [unknown, unknown] {
  const own = (value: unknown, set: unknown): unknown =>
    isObject(value) && isObject(set)
      ? Object.fromEntries(Object.keys(set).map((member) => [member, own(value[member], set[member])]))
      : value;
  return [own(values[0], wanted), own(values[1], wanted)];
}

/** Compares a state with new inputs, without a call. An unknown value may differ: the id of a replaced parent is unknown for that reason. */
export function diff(definition: Definition, id: string, state: Props, inputs: Props): DiffResult {
  const parts = partsOf(definition, state);
  const { changed, drifted, lasting, kept } = changedKeys(definition, parts, inputs);
  const replaces = changed.filter((key) => isReplacing(definition, parts.refused, key));
  const what = nameOf(definition, state);
  if (replaces.length > 0 && inputs.adopt === id && definition.place(state).idField === undefined)
    throw new UserError(
      "cannot-adopt",
      `${what}: remove adopt to make a new one, or set the old ${replaces.join(" and ")} again. The change replaces ${id}, and ` +
        `adopt: "${id}" would adopt the object that is deleted.`,
    );
  const moved = changed.some((key) => inputMeta(definition, key)?.parent === "path");
  const sent = [...changed, ...drifted];
  const restarts = sent.filter((key) => inputMeta(definition, key)?.onChange === "restart");
  const { naming, isNamedById } = definition;
  const loss = lossWarning("replace", definition.type);
  const sameName = naming?.every(
    (key) => sameValue(state[key], inputs[key]) || sameValue(parts.asked[key], inputs[key]),
  );
  // Such as a utility service: there cannot be a second one beside it.
  const isOnlyOne = !moved && definition.shared?.isSame?.(inputs, state) === true;
  const isReplaced = replaces.length > 0;
  const losses = [
    ...(loss ? [`${loss} (${replaces.join(", ")})`] : []),
    // Another name does not make room for it.
    ...(isNamedById && sameName && !moved && !isOnlyOne && !naming?.includes(nameKey(definition)!) ? [besideOld] : []),
  ];
  const again = onPurpose(inputs.adopt === id ? "remove adopt, and " : "");
  const over = isOver(definition, state)
    ? [`is ${String(state.state)}: ${definition.steps!.states!.over}. ${again}`]
    : [];
  const warnings = isReplaced ? losses : [...over, ...lasting.map((key) => lastingDrift(parts, key))];
  const plans = isReplaced ? [] : plansOf(definition, parts, inputs, { restarts, kept });
  return {
    changes: sent.length > 0 || !isSettled(definition, state, parts.open),
    changed: sent,
    replaces,
    deleteBeforeReplace: isReplaced && (isOnlyOne || (sameName === true && !moved && !isNamedById)),
    warnings: warnings.map((warning) => `${what}: ${warning}`),
    plans: plans.map((plan) => `${what}: ${plan}`),
  };
}

/** Side effects of an update in place. */
function plansOf(
  definition: Definition,
  parts: StateParts,
  inputs: Props,
  { restarts, kept }: Record<"restarts" | "kept", string[]>,
): string[] {
  const again = parts.unclear.filter((key) => inputMeta(definition, key)?.onChange !== "regenerate");
  const key = regenerating(definition, parts, inputs);
  const hasSecret = key !== undefined && secretKeys(definition).some((secret) => !isUnset(parts.shown[secret]));
  return [
    ...(restarts.length > 0 || parts.open.includes("restart")
      ? [`restarts, to change ${restarts.join(" and ") || "what the last run changed"}`]
      : []),
    ...(again.length > 0
      ? [`sends ${again.join(" and ")} again, because the last change of that had no clear answer`]
      : []),
    ...(hasSecret ? [`gets a new password, because ${key} changes; the old password stops working at once`] : []),
    ...kept.map((key) => `${key} stays as it is, because ${keptBecause(definition, parts, inputs, key)}`),
  ];
}

/** The input that requests a new secret with this change, or requested one without a clear answer. Removing it requests nothing. */
export const regenerating = (
  definition: Definition,
  { asked, unclear }: Pick<StateParts, "asked" | "unclear">,
  inputs: Props,
): string | undefined =>
  keysWith(definition, "regenerate").find(
    (key) => unclear.includes(key) || (!isUnset(inputs[key]) && !sameAsked(inputs[key], asked[key])),
  );

const besideOld =
  "the new one is created before the old one is deleted. If the service rejects a second one like it, set the resource option " +
  "deleteBeforeReplace: true: then resources that refer to it are replaced, too.";

const onPurpose = (first = ""): string => `To replace it on purpose, ${first}run \`pulumi up --replace\` with its URN.`;

/** Drift that stays. Its values may be secret. */
const lastingDrift = ({ asked }: StateParts, key: string): string =>
  `somebody changed ${key} in the service, and only a new object could have the old value${isUnset(asked[key]) ? "" : " again"}. ` +
  `Nothing is replaced because of it. ${onPurpose()}`;
