import { isApiError } from "../../api";
import { conditionOf, isGoing } from "../../api/states";
import { type Collection } from "../collection";
import { conditionIn, type Definition, inputKeys, inputMeta, type Props } from "../definition";
import { isStored, madeAt, lackedIn, readyStep, type StateParts, partsOf, stateOf } from "../state";
import { briefly } from "../../api/api-error";
import { times } from "../times";
import { isUnset, sameName, sameValue } from "../values";
import { nameUnknown } from "../wait";
import { withoutUndefined } from "../../plain";

/** The current state. undefined: the object is confirmed to be gone. */
export async function read(collection: Collection, id: string, state: Props): Promise<Props | undefined> {
  const { definition, place } = collection;
  const before = partsOf(definition, state);
  const presence = await collection.find(id, times.refreshAgeMs, madeAt(before)).catch(async (error: unknown) => {
    if (!(await isSilent(collection, error))) throw error;
    collection.warn(`is kept as it was, because it cannot be read: ${briefly(error)}`);
    return "silent" as const;
  });
  if (presence === "unlistable" || presence === "silent") {
    if (place.isUnlisted || presence === "silent") return stateOf(definition, before, state);
    throw collection.error(
      "unsupported",
      `this service does not list ${collection.path}, so the state cannot be read.`,
    );
  }
  if (presence === "gone" || isGoing(presence.item)) return undefined;
  const now = looked(definition, state, before, collection.shown(presence.item), lackedIn(definition, presence.item));
  nameUnknown(collection, now.shown, before.shown.state);
  const more = await detailsOf(collection, id, state, now.shown);
  return stateOf(definition, { ...now, shown: { ...now.shown, ...more } }, state);
}

/**
 * What other calls show of it. They are asked for an object whose details are not known, or that changed. Of the others in a place, the
 * first one asks for all, and each asks for itself only if that shows something new: a restart of the service moves all addresses.
 */
async function detailsOf(collection: Collection, id: string, state: Props, shown: Props): Promise<Props> {
  const { session, definition, parentPath } = collection;
  const { details } = definition.steps ?? {};
  if (!details) return {};
  const ask = async (): Promise<Props> =>
    withoutUndefined((await details.read(session.client, id, { ...state, ...shown })) ?? {});
  if (details.outputs.some((key) => state[key] === undefined) || state.revision !== shown.revision) return ask();
  const isWorking = ["ready", "unknown"].includes(conditionIn(definition, shown));
  if (!isWorking) return {};
  const { clock, run } = session;
  const known = run.news.get(parentPath);
  if (known && clock.now() - known.at < times.refreshAgeMs) return (await known.isNew) ? askedIfPossible(ask) : {};
  const found = askedIfPossible(ask);
  const isNew = found.then((more) => Object.entries(more).some(([key, value]) => !sameValue(value, state[key])));
  run.news.set(parentPath, { at: clock.now(), isNew });
  return found;
}

/** What is not answered stays as it was: it was known before. */
const askedIfPossible = (ask: () => Promise<Props>): Promise<Props> =>
  ask().catch((error: unknown) => {
    if (!isApiError(error) || error.status === 401) throw error;
    return {};
  });

/** The state after a look at the object. @param shown what the service shows of it, by property @param lacked see `lackedIn` */
export const stateSeen = (definition: Definition, state: Props, shown: Props, lacked?: readonly string[]): Props =>
  stateOf(definition, looked(definition, state, partsOf(definition, state), shown, lacked), state);

/** Whether the list is refused because the parent does not work: that says nothing about the objects in it. */
async function isSilent(collection: Collection, error: unknown): Promise<boolean> {
  if (!isApiError(error, "conflict")) return false;
  const owner = await collection.parent(times.refreshAgeMs);
  return owner !== undefined && conditionOf(owner.state) !== "ready";
}

/** Values that are only spelled differently in an unchanged object: an answer may have repeated the request. */
function ownFormsIn(definition: Definition, { asked, shown: before }: StateParts, shown: Props): Props {
  if (shown.revision === undefined || shown.revision !== before.revision) return {};
  const keys = inputKeys(definition).filter((key) => !isUnset(asked[key]) && sameName(shown[key], asked[key]));
  return Object.fromEntries(keys.map((key) => [key, shown[key]]));
}

/** A first look defines all three values, because nothing was asked for before. Later looks change only the observed one. */
function looked(
  definition: Definition,
  state: Props,
  before: StateParts,
  shown: Props,
  lacked: readonly string[] = [],
): StateParts {
  // What was set and shown, and is not shown any more, has been cleared.
  const cleared = lacked.filter((key) => !isUnset(before.asked[key]) && !before.unlisted.includes(key));
  const all = { ...before.shown, ...Object.fromEntries(cleared.map((key) => [key, null])), ...shown };
  const unlisted = before.unlisted.filter((key) => !(key in shown));
  // A value that the service chose and shows for the first time counts as its answer.
  const first = inputKeys(definition).filter(
    (key) => inputMeta(definition, key)!.computed && isUnset(before.answered[key]) && isUnset(before.asked[key]),
  );
  const chosen = Object.fromEntries(first.map((key) => [key, shown[key]]));
  const answered = { ...before.answered, ...chosen, ...ownFormsIn(definition, before, shown) };
  const isPending = conditionIn(definition, all) === "pending";
  const open = before.open.filter((step) => isPending || step !== readyStep);
  if (isStored(state)) return { ...before, shown: all, answered, open, unlisted };
  const how: StateParts["how"] = definition.shared?.applies(all) ? "shared" : "adopted";
  const asked = inputKeys(definition).filter((key) => !inputMeta(definition, key)!.computed && all[key] !== undefined);
  return {
    ...before,
    asked: Object.fromEntries(asked.map((key) => [key, all[key]])),
    answered: all,
    shown: all,
    how,
    open: isPending ? [readyStep] : [],
  };
}
