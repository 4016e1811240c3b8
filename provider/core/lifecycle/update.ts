import { Collection } from "../collection";
import { type Definition, inputKeys, inputMeta, type Props, type Steps } from "../definition";
import { changedKeys, regenerating } from "../diff";
import { isReadable, type StateParts, partsOf, stateOf } from "../state";
import { hasCode, Incomplete, isUnclear, UserError } from "../../errors";
import { isUnset, normalOf, sameValue } from "../values";
import { type Change, regenerate, restarted, sendChange, warnOfIgnored } from "./change";
import { seen, settle } from "../wait";

/** Rejects a change before anything is sent. @throws UserError */
type Rejecting = (change: Change) => Promise<void>;

export const updating =
  (definition: () => Definition, reject: Rejecting): Steps["update"] =>
  (session, id, olds, news) =>
    update(Collection.of(session, definition(), news, id), id, olds, news, reject);

/**
 * Changes in place what differs, and does what an earlier run began and did not finish.
 * @throws Incomplete if a change was made, but not all that belongs to it: the next update does the rest
 */
export async function update(
  collection: Collection,
  id: string,
  olds: Props,
  news: Props,
  reject?: Rejecting,
): Promise<Props> {
  const { definition } = collection;
  const before = partsOf(definition, olds);
  const key = regenerating(definition, before, news);
  if (key === undefined) return updateFrom(collection, id, olds, news, before, reject);
  const others = before.unclear.filter((input) => input !== key);
  const shown = await regenerate(collection, id, key, before).catch((error: unknown) => {
    if (!isUnclear(error)) throw error;
    throw new Incomplete(id, stateOf(definition, { ...before, unclear: [...others, key] }, olds), error);
  });
  // The old secret no longer works from here on, so keep the new one even if a later step fails.
  const asked = { ...before.asked, [key]: news[key] };
  const after = { ...before, asked, shown: { ...before.shown, ...shown }, unclear: others };
  try {
    return await updateFrom(collection, id, olds, news, after, reject);
  } catch (error) {
    if (error instanceof Incomplete) throw error;
    throw new Incomplete(id, stateOf(definition, after, olds), error);
  }
}

/** @param before what is known of the object, which may be more than in the earlier state */
async function updateFrom(
  collection: Collection,
  id: string,
  olds: Props,
  news: Props,
  before: StateParts,
  reject?: Rejecting,
): Promise<Props> {
  const { definition } = collection;
  const { changed, drifted, kept: staying } = changedKeys(definition, before, news);
  const keys = [...changed, ...drifted].filter((key) => inputMeta(definition, key)?.visibility !== "program");
  const kept = { ...olds, ...news };
  const change: Change = { collection, id, inputs: news, keys, before };
  const asked: StateParts = {
    ...before,
    asked: { ...news, ...stillAsked(definition, before.asked, staying) },
    answered: { ...before.answered, ...alreadySo(definition, before, news) },
    unclear: [],
  };
  const parts = keys.length === 0 ? asked : await applied(change, asked, olds, changed, reject);
  if (!parts) return stateOf(definition, asked, kept);
  const ready = await restarted(collection, id, parts, kept, before.open);
  const sent = keys.filter((key) => !parts.refused.includes(key));
  const isRemoval = sent.some((key) => {
    const meta = inputMeta(definition, key)!;
    return isUnset(news[key]) && isReadable(meta) && !meta.computed;
  });
  return settle(collection, id, ready, { sent, state: kept, isRemoval });
}

/** Requested values of unchanged inputs, in normal form, because another input may have set them. */
function stillAsked(definition: Definition, asked: Props, keys: readonly string[]): Props {
  const [last, none] = [asked, {}].map((props) => normalOf(definition, props)) as [Props, Props];
  return Object.fromEntries(keys.map((key) => [key, sameValue(last[key], none[key]) ? asked[key] : last[key]]));
}

/** Values that are already as requested need no call and count as answered: a later change is drift. */
function alreadySo(definition: Definition, { shown }: StateParts, news: Props): Props {
  const keys = inputKeys(definition).filter((key) => sameValue(shown[key], news[key]));
  return Object.fromEntries(keys.map((key) => [key, shown[key]]));
}

/**
 * Sends a change.
 * @param changed inputs that the program changed. The others have drifted, and stay if the service cannot change them
 * @returns what is known then; undefined: the object has served its purpose and is gone
 */
async function applied(
  change: Change,
  asked: StateParts,
  olds: Props,
  changed: readonly string[],
  reject?: Rejecting,
): Promise<StateParts | undefined> {
  const { collection, id, keys, before } = change;
  await reject?.(change);
  const isDrift = !keys.some((key) => changed.includes(key));
  const refused = (inputs: string[], why: string, then: StateParts): Incomplete => {
    const state = stateOf(collection.definition, withRefused({ ...then, asked: before.asked }, inputs), olds);
    return new Incomplete(id, state, refusedChange(change, inputs, why));
  };
  let effect: Awaited<ReturnType<typeof sendChange>>;
  try {
    effect = await sendChange(change);
  } catch (error) {
    if (hasCode(error, "deleted-outside") && (await isServed(change, olds))) return undefined;
    if (isUnclear(error)) {
      const unclear = { ...asked, asked: before.asked, unclear: keys };
      throw new Incomplete(id, stateOf(collection.definition, unclear, olds), error.cause);
    }
    const refusables = refusable(change);
    if (!(error instanceof UserError) || error.why === undefined || refusables.length === 0) throw error;
    if (!isDrift) throw refused(refusables, error.why, asked);
    collection.warn(`somebody changed ${refusables.join(" and ")} in the service, and ${error.why}`);
    return withRefused(asked, refusables);
  }
  const parts = { ...changedTo(asked, change, effect.shown), open: [...new Set([...asked.open, ...effect.open])] };
  const ignored = isDrift ? [] : refusable(change).filter((key) => isKept(change, parts, olds, key));
  if (ignored.length > 0) {
    const why = `the service accepts another ${ignored.join(" and ")}, but keeps the old one.`;
    throw refused(ignored, why, parts);
  }
  warnOfIgnored(change, effect.ignored);
  return parts;
}

/** Whether the service kept the old value. After an unclear change, that may be the one that is asked for. */
const isKept = ({ inputs }: Change, { shown }: StateParts, olds: Props, key: string): boolean =>
  sameValue(shown[key], olds[key]) && !sameValue(shown[key], inputs[key]);

/** The state after a change. Without an answer, the change counts as made. */
function changedTo(parts: StateParts, { inputs, keys }: Change, shown: Props): StateParts {
  const asIs = Object.fromEntries(keys.map((key) => [key, inputs[key]]));
  const answered = { ...parts, answered: { ...parts.answered, ...asIs }, shown: { ...parts.shown, ...asIs } };
  return seen(answered, shown, keys);
}

/** Inputs that the service may refuse to change. Then another update replaces the object. */
const refusable = ({ collection, keys }: Change): string[] =>
  keys.filter((key) => inputMeta(collection.definition, key)?.onChange === "replaceIfRefused");

const withRefused = (parts: StateParts, keys: readonly string[]): StateParts => ({
  ...parts,
  refused: [...new Set([...parts.refused, ...keys])],
});

/** The service cannot change what is then replaced: the state stays as it was, and records that. */
const refusedChange = ({ collection }: Change, keys: readonly string[], why: string): UserError =>
  collection.error(
    "cannot-change",
    `run \`pulumi up\` again to make a new ${collection.definition.title} and then delete this one, or set the old ` +
      `${keys.join(" and ")} again to keep it: ${why}`,
  );

/** Whether it has served its purpose and is gone, so that there is nothing left to change. */
async function isServed({ collection, keys, inputs }: Change, olds: Props): Promise<boolean> {
  const { definition, session } = collection;
  const { isServed: wasServed } = definition.steps ?? {};
  if (!(await wasServed?.(session, olds))) return false;
  const isOther = keys.some((key) => definition.naming?.includes(key));
  if (isOther && !(await wasServed?.(session, { ...olds, ...inputs })))
    throw collection.error(
      "cannot-change",
      "for a new one, run `pulumi up --replace` with its URN, or give the resource another name. It has served its purpose and is gone, " +
        `so it cannot get another ${keys.join(" and ")}.`,
    );
  collection.say(`has served its purpose and is gone, so the change of ${keys.join(" and ")} has no effect.`);
  return true;
}
