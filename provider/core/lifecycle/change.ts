import { type z } from "zod";
import { type ApiError, type Identified, isApiError } from "../../api";
import { briefly, sentence } from "../../api/api-error";
import { conditionOf } from "../../api/states";
import { type Collection, isForbidden } from "../collection";
import { identityOf, inputMeta, type Props } from "../definition";
import { wireName } from "../field";
import { isReadable, madeAt, stateOf, type StateParts, toBody } from "../state";
import { holdsLedger } from "../../constants";
import { fieldsOf, isObject, messageOf, withoutUndefined } from "../../plain";
import { times } from "../times";
import { codeOf, Incomplete, unclear, UserError } from "../../errors";
import { lookFor, seen } from "../wait";
import { defaultOf, isUnset, normalOf, sameName, sameValue } from "../values";

/** One change in place. */
export interface Change {
  collection: Collection;
  id: string;
  /** The desired inputs. */
  inputs: Props;
  /** The inputs that are sent. */
  keys: readonly string[];
  /** Its known properties: members of objects that are no longer requested must be removed. */
  before: Pick<StateParts, "asked" | "shown" | "at">;
}

/** The object after a change, inputs that the service accepted but did not change, and steps that are still to be done. */
interface Effect {
  shown: Props;
  ignored: string[];
  open: readonly string[];
}

/**
 * Changes properties in place.
 * PATCH is not in the spec: a service without it gets an error that says what to do, and nothing is lost.
 */
export async function sendChange(change: Change): Promise<Effect> {
  const { collection, id, inputs, keys } = change;
  const { session, definition } = collection;
  const body = bodyOf(collection, inputs, keys);
  const send = (): Promise<unknown> =>
    collection.place.idField === undefined
      ? patch(change, body)
      : session.client.put(collection.pathOf(id), toBody(definition, inputs));
  const answer = await send().catch(async (error: unknown) => {
    const other = isApiError(error, "conflict") ? await taken(change, error) : undefined;
    if (other) throw other;
    if (isApiError(error, "missing", "unsupported")) throw await unchanged(change, briefly(error));
    if (isForbidden(error)) throw (await goneOutside(change)) ?? error;
    throw isApiError(error) && !error.unclear ? error : unclear(error);
  });
  try {
    return await effectOf(change, await completed(change, answer));
  } catch (error) {
    throw unclear(error);
  }
}

/** Sends fields. A service that has no PATCH and says that it has a PUT (spec, section 4.1) gets the whole object, as it is otherwise shown. */
async function patch({ collection, id, inputs, before }: Change, fields: Props): Promise<unknown> {
  const { session, definition } = collection;
  const path = collection.pathOf(id);
  try {
    return await session.client.patch(path, fields);
  } catch (error) {
    if (!isApiError(error, "unsupported") || !/\bput\b/i.test(error.allow ?? "")) throw error;
    return session.client.put(path, { ...toBody(definition, { ...inputs, ...before.shown }), ...fields });
  }
}

/** The object after an answer, once the whole change is made. */
async function completed(change: Change, answer: unknown): Promise<Props> {
  const { collection, inputs, keys, before } = change;
  const shown = await afterwards(change, before.shown, answer);
  // Members of objects that were asked for, are not any more, and are shown still, if only in the answer.
  const left = keys.map((key) => {
    const isSecret = inputMeta(collection.definition, key)?.secret;
    const now = isSecret ? fieldsOf(answer)[wireName(key)] : shown[key];
    return [key, withNulls(before.asked[key], now, inputs[key] ?? {})] as const;
  });
  const leftOver = withoutUndefined(Object.fromEntries(left));
  if (Object.keys(leftOver).length === 0) return shown;
  // A service that merges objects removes a member for null (RFC 7396).
  const body = bodyOf(collection, leftOver, Object.keys(leftOver));
  const again = await patch(change, body);
  return { ...shown, ...(await afterwards(change, shown, again)) };
}

/** Values under the service's names. What is taken out has the value that unsets it, or is taken back where the service chose. */
function bodyOf({ definition }: Collection, inputs: Props, keys: readonly string[]): Props {
  const none = (key: string): unknown => {
    if (inputMeta(definition, key)?.computed) return null;
    const schema = definition.inputs.shape[key] as z.ZodType;
    return defaultOf(schema) ?? (schema.safeParse({}).success ? {} : "");
  };
  const entries = keys.flatMap((key): [string, unknown][] => {
    const { action } = inputMeta(definition, key)!;
    if (action) return Object.entries(action.sent(inputs[key]));
    return [[wireName(key), isUnset(inputs[key]) ? none(key) : inputs[key]]];
  });
  return Object.fromEntries(entries);
}

/** The wanted value, with null for each leftover member. undefined: nothing is left over. */
function withNulls(was: unknown, is: unknown, wanted: unknown): Props | undefined {
  if (!isObject(was) || !isObject(is) || !isObject(wanted)) return undefined;
  const left = Object.keys(was).flatMap((member): [string, unknown][] => {
    if (!(member in wanted)) return isUnset(is[member]) ? [] : [[member, null]];
    const inner = withNulls(was[member], is[member], wanted[member]);
    return inner ? [[member, inner]] : [];
  });
  return left.length > 0 ? { ...wanted, ...Object.fromEntries(left) } : undefined;
}

/** The object after a change: an answer with a new revision, or else the list, once it shows the change or has had time to. */
function afterwards({ collection, id, inputs, keys }: Change, before: Props, answer: unknown): Promise<Props> {
  const visible = keys.filter((key) => isReadable(inputMeta(collection.definition, key)!));
  const isFresh = (shown: Props): boolean => {
    if (!("revision" in shown)) return false;
    const isNewer = Number(shown.revision) > Number(before.revision);
    return isNewer || visible.every((key) => sameValue(shown[key], inputs[key]));
  };
  return shownSoon(collection, id, answer, isFresh);
}

/** Compares what a change has done with what was asked. An answer may show only a part: nothing counts as ignored before a look agrees. */
async function effectOf(change: Change, answered: Props): Promise<Effect> {
  const { collection, id, keys } = change;
  let [shown, ignored] = [answered, ignoredIn(change, answered)];
  if (ignored.length > 0) {
    const look = async (): Promise<Identified | undefined> =>
      (await collection.get(id)) ?? (await collection.listed(id, 0));
    const item = await look().catch(() => undefined);
    const now = item && collection.shown(item);
    [shown, ignored] = [{ ...answered, ...now }, now ? ignoredIn(change, now) : []];
  }
  const isIdle = (key: string): boolean =>
    !ignored.includes(key) && inputMeta(collection.definition, key)?.onChange === "restart";
  return { shown, ignored, open: keys.some(isIdle) ? [restartStep] : [] };
}

/** Inputs that are shown as they were. A name may be written in another way, and where the service chooses, any value will do. */
function ignoredIn({ collection, inputs, keys, before }: Change, shown: Props): string[] {
  const { definition } = collection;
  const forms = [before.shown, shown, inputs].map((props) => normalOf(definition, props));
  return keys.filter((key) => {
    const meta = inputMeta(definition, key)!;
    const [was, is, asked] = forms.map((form) => form[key]);
    if (!isReadable(meta) || (meta.computed && isUnset(asked))) return false;
    return sameValue(is, was) && !sameName(is, asked);
  });
}

/** Says what the service accepted and did not change. */
export function warnOfIgnored({ collection, before }: Change, ignored: readonly string[]): void {
  if (ignored.length === 0) return;
  const isIdle = ignored.some((key) => inputMeta(collection.definition, key)!.onChange === "restart");
  const old = ignored.every((key) => isUnset(before.shown[key])) ? "none" : "the old one";
  collection.warn(
    `the service accepted another ${ignored.join(" and ")}, but still shows ${old}. ` +
      `Check in the console whether the change has an effect.${isIdle ? " It was not restarted for that." : ""}`,
  );
}

/** The error for an object that somebody has deleted. undefined: it exists, or nothing tells. */
async function goneOutside({
  collection,
  id,
  before,
}: Pick<Change, "collection" | "id" | "before">): Promise<UserError | undefined> {
  if ((await collection.find(id, 0, madeAt(before))) !== "gone") return undefined;
  return collection.error(
    "deleted-outside",
    "run `pulumi up --refresh`, which makes it again. It no longer exists: it was deleted outside of Pulumi.",
  );
}

async function unchanged(change: Change, reason: string): Promise<UserError> {
  const gone = await goneOutside(change);
  if (gone) return gone;
  const { collection, keys } = change;
  const again = holdsLedger(collection.definition.type)
    ? "A replacement would destroy what is in it."
    : "Or let Pulumi make a new one with `pulumi up --replace` and its URN.";
  const why = `this service cannot change ${keys.join(" and ")} in place (${reason}). Nothing was changed.`;
  return collection.error(
    "cannot-change",
    `set the old value again, or change it in the console and run \`pulumi refresh\`: ${why} ${again}`,
    { why },
  );
}

/** The error for a rename to a name that is taken. undefined: that is not why it is refused. */
async function taken({ collection, id, inputs, keys }: Change, error: ApiError): Promise<UserError | undefined> {
  if (!keys.some((key) => collection.definition.naming?.includes(key))) return undefined;
  const found = collection.namesakes((await collection.siblings(0)) ?? []).filter((item) => item.id !== id);
  if (found.length === 0) return undefined;
  return collection.error(
    "name-taken",
    "choose another name, or use two runs: this change is for the second, after the name is free. To swap two names, give one of " +
      `them a temporary name in the first. ${found.map((item) => item.id).join(", ")} has the name ` +
      `"${identityOf(collection.definition, inputs)}". ${sentence(briefly(error))}`,
  );
}

/** Looks until an object is shown as expected, if that takes no longer than a list may lag. @returns what was shown last */
async function shownSoon(
  collection: Collection,
  id: string,
  answer: unknown,
  isExpected: (shown: Props) => boolean,
): Promise<Props> {
  const read = collection.definition.wire.safeParse(answer);
  const answered = read.success ? collection.shown(read.data) : {};
  if (isExpected(answered)) return answered;
  const look = async (): Promise<Props> => {
    const presence = await collection.find(id, times.waitingAgeMs);
    return typeof presence === "object" ? collection.shown(presence.item) : {};
  };
  return lookFor(collection.session, look, isExpected, { forMs: times.changeLagMs, everyMs: times.waitingAgeMs });
}

/** The step of a change that takes effect after a restart. */
const restartStep = "restart";

/**
 * Restarts the object if that is still to be done.
 * @param before what an earlier run left open: it could not restart the object
 * @throws Incomplete if it did not restart: the next update tries again
 */
export async function restarted(
  collection: Collection,
  id: string,
  parts: StateParts,
  kept: Props,
  before: readonly string[] = [],
): Promise<StateParts> {
  if (!parts.open.includes(restartStep)) return parts;
  const done: StateParts = { ...parts, open: parts.open.filter((step) => step !== restartStep) };
  try {
    const answer = await collection.session.client.put(`${collection.pathOf(id)}/reset`, {});
    // The service may show it as ready for another moment.
    const isBegun = ({ state }: Props): boolean => conditionOf(state) === "pending";
    return seen(done, await shownSoon(collection, id, answer, isBegun), []);
  } catch (error) {
    const isImpossible = isApiError(error, "missing", "unsupported");
    const next = isImpossible
      ? "restart it in the console, then run `pulumi up` again: this service cannot."
      : "run `pulumi up` again, which restarts it.";
    if (isImpossible && before.includes(restartStep)) {
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

/**
 * Lets the service make a new secret of an object, which it shows only now. Not in the specification. May be repeated: what the last
 * answer shows is the secret.
 * @returns the object with what only this answer shows; undefined: the answer lacks that
 */
export async function regenerated(
  collection: Collection,
  id: string,
  known: Props = {},
): Promise<Identified | undefined> {
  const { session, definition } = collection;
  const body = await session.client.postAgain(`${collection.pathOf(id)}/regenerate`, {});
  const read = definition.wire.safeParse({ id, ...known, ...(typeof body === "object" ? body : undefined) });
  return read.success && definition.steps?.shownOnce?.(read.data) ? { ...read.data, id } : undefined;
}

/**
 * Gives the object of a resource a new secret.
 * @returns what is shown of it then
 * @throws UserError with what is possible instead
 */
export async function regenerate(
  collection: Collection,
  id: string,
  key: string,
  before: Change["before"],
): Promise<Props> {
  const { definition } = collection;
  const username = isUnset(before.shown.username) ? {} : { username: before.shown.username };
  let made: Identified | undefined;
  try {
    made = await regenerated(collection, id, username);
  } catch (error) {
    if (isApiError(error, "missing", "unsupported"))
      throw (
        (await goneOutside({ collection, id, before })) ??
        collection.error(
          "cannot-change",
          `set the old ${key} again, and change keepers instead: that creates a new ${definition.title} and deletes this one. ` +
            `This service cannot regenerate its password (${briefly(error)}). Nothing was changed.`,
        )
      );
    if (isForbidden(error)) throw (await goneOutside({ collection, id, before })) ?? error;
    if (!isApiError(error) || !error.unclear) throw error;
    throw unclear(collection.error(codeOf(error)!, `${regenerateAgain} ${messageOf(error)}`));
  }
  if (!made)
    throw unclear(
      collection.error(
        "unclear-change",
        `${regenerateAgain} The service regenerated the password and did not show it.`,
      ),
    );
  return { ...collection.shown(made), ...definition.steps?.shownOnce?.(made) };
}

const regenerateAgain = "run `pulumi up` again, which regenerates the password. That in the state may no longer work.";
