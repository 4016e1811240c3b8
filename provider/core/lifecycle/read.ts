import { isApiError } from "../../api";
import { conditionOf, isGoing } from "../../api/states";
import { type Collection } from "../collection";
import { type Definition, inputKeys, inputMeta, meaningOf, type Props } from "../definition";
import {
  isStored,
  type StoredState,
  madeAt,
  readyStep,
  type StateParts,
  partsOf,
  stateOf,
  withoutReady,
} from "../state";
import { messageOf } from "../../plain";
import { refreshAgeMs } from "../times";
import { isUnset, sameName } from "../values";

/** The current state. undefined: the object is confirmed to be gone. */
export async function read(collection: Collection, id: string, state: Props): Promise<Props | undefined> {
  const { session, definition, place } = collection;
  const before = partsOf(definition, state);
  const presence = await collection.find(id, refreshAgeMs, madeAt(before)).catch(async (error: unknown) => {
    if (!(await isSilent(collection, error))) throw error;
    collection.warn(`is kept as it was, because it cannot be read: ${messageOf(error)}`);
    return "silent" as const;
  });
  if (presence === "unlistable" || presence === "silent") {
    if (place.isUnlisted || presence === "silent") return stateOf(definition, before, state);
    throw collection.error(`the service does not list ${collection.path}, so its state cannot be read.`);
  }
  if (presence === "gone" || isGoing(presence.item)) return undefined;
  const now = looked(definition, state, before, collection.shown(presence.item));
  const { details } = definition.steps ?? {};
  // Request details only if they are unknown, or if the object changed.
  const isKnown = details?.outputs.every((key) => state[key] !== undefined) && state.revision === now.shown.revision;
  const more = !details || isKnown ? {} : ((await details.read(session.client, id, { ...state, ...now.shown })) ?? {});
  return stateOf(definition, { ...now, shown: { ...now.shown, ...more } }, state);
}

/** The state after a look at the object. @param shown what the service shows of it, by property */
export const stateSeen = (definition: Definition, state: Props, shown: Props): Props =>
  stateOf(definition, looked(definition, state, partsOf(definition, state), shown), state);

/** Whether the list is refused because the parent does not work: that says nothing about the objects in it. */
async function isSilent(collection: Collection, error: unknown): Promise<boolean> {
  if (!isApiError(error, "conflict")) return false;
  const owner = await collection.parent(refreshAgeMs);
  return owner !== undefined && conditionOf(owner.state) !== "ready";
}

/** Values that are only spelled differently in an unchanged object: an answer may have repeated the request. */
function ownFormsIn(definition: Definition, { asked, shown: before }: StateParts, shown: Props): Props {
  if (shown.revision === undefined || shown.revision !== before.revision) return {};
  const keys = inputKeys(definition).filter((key) => !isUnset(asked[key]) && sameName(shown[key], asked[key]));
  return Object.fromEntries(keys.map((key) => [key, shown[key]]));
}

/** A first look defines all three values, because nothing was asked for before. Later looks change only the observed one. */
function looked(definition: Definition, state: Props, before: StateParts, shown: Props): StateParts {
  const all = { ...before.shown, ...shown };
  // A value that the service chose and shows for the first time counts as its answer.
  const first = inputKeys(definition).filter(
    (key) => inputMeta(definition, key)!.computed && isUnset(before.answered[key]) && isUnset(before.asked[key]),
  );
  const chosen = Object.fromEntries(first.map((key) => [key, shown[key]]));
  const answered = {
    ...before.answered,
    ...chosen,
    ...ownFormsIn(definition, before, shown),
  };
  const open = meaningOf(definition, all) === "pending" ? before.open : withoutReady(before.open);
  if (isStored(state)) return { ...before, shown: all, answered, open };
  const how: StoredState["how"] = definition.shared?.applies(all) ? "shared" : "adopted";
  const asked = inputKeys(definition).filter((key) => !inputMeta(definition, key)!.computed && all[key] !== undefined);
  return {
    ...before,
    asked: Object.fromEntries(asked.map((key) => [key, all[key]])),
    answered: all,
    shown: all,
    how,
    open: meaningOf(definition, all) === "pending" ? [readyStep] : [],
  };
}
