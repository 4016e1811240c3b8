import { isApiError } from "../../api";
import { conditionOf } from "../../api/states";
import { Collection } from "../collection";
import { type Definition, inputKeys, inputMeta, type Props, type Steps } from "../definition";
import { changedKeys, regenerating } from "../diff";
import { type StateParts, partsOf, stateOf } from "../state";
import { briefly, sentence } from "../../api/api-error";
import { codeOf, hasCode, Incomplete, isUnclear, UserError } from "../../errors";
import { isUnset, normalOf, sameValue } from "../values";
import { change, type Change, type Effect, effectOf, mayBeIgnored, shownSoon, warnOfIgnored } from "./change";
import { regenerate } from "./regenerate";
import { seen, settle } from "./settle";

/** The step of a change that takes effect after a restart. */
const restartStep = "restart";

/** Rejects a change before anything is sent. @throws UserError */
type Refusing = (change: Change) => Promise<void>;

/** The update of a resource with such an exception. */
export const updating =
  (definition: () => Definition, refuse: Refusing): Steps["update"] =>
  (session, id, olds, news) =>
    update(Collection.of(session, definition(), news, id), id, olds, news, refuse);

/**
 * Changes in place what differs, and does what an earlier run began and did not finish.
 * @throws Incomplete if a change was made, but not all that belongs to it: the next update does the rest
 */
export async function update(
  collection: Collection,
  id: string,
  olds: Props,
  news: Props,
  refuse?: Refusing,
): Promise<Props> {
  const { definition } = collection;
  const before = partsOf(definition, olds);
  const key = regenerating(definition, before, news);
  if (key === undefined) return updateFrom(collection, id, olds, news, before, refuse);
  const others = before.unclear.filter((one) => one !== key);
  const shown = await regenerate(collection, id, key, before).catch((error: unknown) => {
    if (!isUnclear(error)) throw error;
    throw new Incomplete(id, stateOf(definition, { ...before, unclear: [...others, key] }, olds), error);
  });
  // The old secret no longer works from here on, so keep the new one even if a later step fails.
  const asked = { ...before.asked, [key]: news[key] };
  const after = { ...before, asked, shown: { ...before.shown, ...shown }, unclear: others };
  try {
    return await updateFrom(collection, id, olds, news, after, refuse);
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
  refuse?: Refusing,
): Promise<Props> {
  const { definition } = collection;
  const { changed, drifted, kept: staying } = changedKeys(definition, before, news);
  const keys = [...changed, ...drifted].filter((key) => inputMeta(definition, key)?.visibility !== "program");
  const kept = { ...olds, ...news };
  const one: Change = { collection, id, inputs: news, keys, before };
  const asked: StateParts = {
    ...before,
    asked: { ...news, ...stillAsked(definition, before.asked, staying) },
    answered: { ...before.answered, ...alreadySo(definition, before, news) },
    unclear: [],
  };
  const parts = keys.length === 0 ? asked : await applied(one, asked, olds, changed, refuse);
  if (!parts) return stateOf(definition, asked, kept);
  const ready = await restarted(collection, id, parts, kept, before.open.includes(restartStep));
  const sent = keys.filter((key) => !parts.refused.includes(key));
  const isRemoval = sent.some((key) => isUnset(news[key]) && mayBeIgnored(definition, news, key));
  return settle(collection, id, ready, { sent, state: kept, isRemoval });
}

/** Requested values of unchanged inputs, in normal form, because another input may have set them. */
function stillAsked(definition: Definition, asked: Props, keys: readonly string[]): Props {
  const [last, none] = [asked, {}].map((one) => normalOf(definition, one)) as [Props, Props];
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
  one: Change,
  asked: StateParts,
  olds: Props,
  changed: readonly string[],
  refuse?: Refusing,
): Promise<StateParts | undefined> {
  const { collection, id, keys, before } = one;
  await refuse?.(one);
  const isDrift = !keys.some((key) => changed.includes(key));
  const refused = (some: string[], why: string, then: StateParts): Incomplete =>
    new Incomplete(id, stateOf(collection.definition, withRefused(then, some), olds), refusedChange(one, some, why));
  let effect: Effect;
  try {
    effect = await effectOf(one, await change(one));
  } catch (error) {
    if (hasCode(error, "deleted-outside") && (await isServed(one, olds))) return undefined;
    if (isUnclear(error)) {
      const unclear = { ...asked, asked: before.asked, unclear: keys };
      throw new Incomplete(id, stateOf(collection.definition, unclear, olds), error.cause);
    }
    const some = refusable(one);
    if (!(error instanceof UserError) || error.why === undefined || some.length === 0) throw error;
    if (!isDrift) throw refused(some, error.why, { ...asked, asked: before.asked });
    collection.warn(`somebody changed ${some.join(" and ")} in the service, and ${error.why}`);
    return withRefused(asked, some);
  }
  const made = keys.filter((key) => !effect.ignored.includes(key));
  const parts = { ...changedTo(asked, one, effect.shown), open: openAfter(collection, made, asked.open) };
  const ignored = isDrift ? [] : refusable(one).filter((key) => isKept(one, parts, olds, key));
  if (ignored.length > 0) {
    const why = `the service accepts another ${ignored.join(" and ")}, but keeps the old one.`;
    throw refused(ignored, why, { ...parts, asked: before.asked });
  }
  warnOfIgnored(one, effect.ignored);
  return parts;
}

/** Whether the service kept the old value. After an unclear change, that may be the one that is asked for. */
const isKept = ({ inputs }: Change, { shown }: StateParts, olds: Props, key: string): boolean =>
  sameValue(shown[key], olds[key]) && !sameValue(shown[key], inputs[key]);

/** Steps that are still to be done after a change. */
export const openAfter = (
  { definition }: Collection,
  sent: readonly string[],
  open: readonly string[] = [],
): readonly string[] =>
  sent.some((key) => inputMeta(definition, key)?.onChange === "restart") ? [...new Set([...open, restartStep])] : open;

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

/**
 * Restarts the object if that is still to be done.
 * @param isSecond whether an earlier run could not restart it
 * @throws Incomplete if it did not restart: the next update tries again
 */
export async function restarted(
  collection: Collection,
  id: string,
  parts: StateParts,
  kept: Props,
  isSecond = false,
): Promise<StateParts> {
  if (!parts.open.includes(restartStep)) return parts;
  const done: StateParts = { ...parts, open: parts.open.filter((step) => step !== restartStep) };
  try {
    return seen(done, await restart(collection, id), []);
  } catch (error) {
    const isImpossible = isApiError(error, "missing", "unsupported");
    const next = isImpossible
      ? "restart it in the console, then run `pulumi up` again: this service cannot."
      : "run `pulumi up` again, which restarts it.";
    if (isImpossible && isSecond) {
      collection.warn(`this service cannot restart it. Its last change takes effect after a restart.`);
      return done;
    }
    throw new Incomplete(
      id,
      stateOf(collection.definition, parts, kept),
      new UserError(
        codeOf(error) ?? "not-ready",
        `${collection.what}: ${next} It was changed, but not restarted, so that the change has no effect yet: ${sentence(briefly(error))}`,
      ),
    );
  }
}

/** Restarts the object and returns its new state. The service may show it as ready for another moment. */
async function restart(collection: Collection, id: string): Promise<Props> {
  const answer = await collection.session.client.put(`${collection.pathOf(id)}/reset`, {});
  return shownSoon(collection, id, answer, ({ state }) => conditionOf(state) === "pending");
}
