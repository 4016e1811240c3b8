import { type z } from "zod";
import { isApiError } from "../../api";
import { conditionOf } from "../../api/states";
import { type Collection } from "../collection";
import { identityOf, inputMeta, nameKey, type Props } from "../definition";
import { changedKeys, fits, fixedKey, fixedKeys, isLeft } from "../diff";
import { isUnset, sameName, sameValue } from "../values";
import { isNamesake } from "../program-resources";
import { Incomplete, UserError } from "../user-error";
import { wireName } from "../field";
import { carried, merge, outputsOf, toBody } from "../state";
import { lookAgeMs } from "../wait";
import { settle } from "./read";

/**
 * Changes in place what differs. With nothing to change, it waits for what an earlier run left incomplete.
 * @throws Incomplete if the service cannot change what is then replaced: the state stays as it was, and records that
 */
export async function update(collection: Collection, id: string, olds: Props, news: Props): Promise<Props> {
  const { definition } = collection;
  const changed = changedKeys(definition, olds, news).filter((key) => !inputMeta(definition, key)?.programOnly);
  const replaceable = changed.filter((key) => inputMeta(definition, key)?.replace === "ifNeeded");
  const fixed = (keys: string[], state: Props, why: string): Incomplete =>
    new Incomplete(
      id,
      { ...state, [fixedKey]: [...new Set([...fixedKeys(olds), ...keys])] },
      new UserError(
        `${collection.nameOf(olds)} (${id}): ${why} Run \`pulumi up\` again to make a new ${definition.title} and then ` +
          `delete this one, or set the old ${keys.join(" and ")} again to keep it.`,
      ),
    );
  let shown: Props = {};
  try {
    if (changed.length > 0) shown = await change(collection, id, news, changed);
  } catch (error) {
    if (!(error instanceof Unchanged) || replaceable.length === 0) throw error;
    throw fixed(replaceable, olds, error.why);
  }
  // Values that the service chose itself, such as a chain id, are outputs too, and stay.
  const chosen = Object.entries(olds).filter(([key]) => inputMeta(definition, key)?.computed);
  const before = { ...outputsOf(definition, olds), ...Object.fromEntries(chosen), ...carried(definition, olds, news) };
  const wanted = Object.fromEntries(Object.entries(news).filter(([key, value]) => !isLeft(olds, key, value)));
  const state = merge(wanted, before, shown);
  const ignored = replaceable.filter((key) => sameValue(state[key], olds[key]));
  if (ignored.length > 0)
    throw fixed(ignored, state, `the service accepts another ${ignored.join(" and ")}, but keeps the old one.`);
  return settle(collection, id, state);
}

/** Changes properties in place, restarts the object if they need that, and returns what it is afterwards. */
export async function change(
  collection: Collection,
  id: string,
  inputs: Props,
  keys: readonly string[],
): Promise<Props> {
  const shown = await patch(collection, id, inputs, keys);
  const restarts = keys.some((key) => inputMeta(collection.definition, key)?.restarts);
  return restarts ? { ...shown, ...(await restart(collection, id, inputs)) } : shown;
}

/**
 * Restarts the object and returns what it is then. The service may show it as ready for another moment.
 * @throws UserError if the service cannot: the change is made, and the next update asks again
 */
async function restart(collection: Collection, id: string, inputs: Props): Promise<Props> {
  let answer: unknown;
  try {
    answer = await collection.session.client.put(`${collection.pathOf(id)}/reset`, {});
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported")) throw error;
    throw new UserError(
      `${collection.nameOf(inputs)} (${id}) was changed, but this service cannot restart it (${error.message}) ` +
        "Restart it in the console, then run `pulumi refresh`.",
    );
  }
  return shownSoon(collection, id, answer, ({ state }) => conditionOf(state) === "pending");
}

/** Looks until an object is shown as expected, if that takes no longer than a list may lag. @returns what was shown last */
async function shownSoon(
  collection: Collection,
  id: string,
  answer: unknown,
  isExpected: (shown: Props) => boolean,
): Promise<Props> {
  const { clock, deadline } = collection.session;
  const end = Math.min(clock.now() + lagMs, deadline.at);
  const read = collection.definition.wire.safeParse(answer);
  const answered = read.success ? collection.shown(read.data) : {};
  if (isExpected(answered)) return answered;
  for (;;) {
    const presence = await collection.find(id, lookAgeMs);
    const shown = typeof presence === "object" ? collection.shown(presence.item) : {};
    if (isExpected(shown) || clock.now() >= end) return shown;
    await clock.sleep(lookAgeMs);
  }
}

/** The service has no way to change the object in place. */
class Unchanged extends UserError {
  constructor(
    readonly why: string,
    message: string,
  ) {
    super(message);
  }
}

/** How long lists may show an object as it was before the change. */
const lagMs = 3_000;

/** How long to wait for a name that another resource of the program gives up in this run. */
const freeMs = 20_000;

/** Retries a rename while a sibling still has the name, if that sibling gets another one in the same run. */
async function renaming<T>(
  collection: Collection,
  id: string,
  inputs: Props,
  keys: readonly string[],
  send: () => Promise<T>,
): Promise<T> {
  const { session, definition } = collection;
  const { clock, deadline, programResources } = session;
  const identifies = keys.some((key) => definition.naming?.includes(key));
  const end = Math.min(clock.now() + freeMs, deadline.at);
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!identifies || !isApiError(error, "conflict")) throw error;
      await programResources.allDeclared(clock);
      const siblings = await collection.siblings(0);
      const rivals = collection.namesakes(inputs, siblings ?? []).filter((one) => one.id !== id);
      if (rivals.length === 0 && attempt === 1) continue; // it is free by now
      const mover = rivals
        .map((one) => programResources.holder(definition, one.id))
        .find((holder) => holder && !isNamesake(definition, holder.inputs, inputs));
      if (!mover) throw error;
      if (clock.now() < end) {
        await clock.sleep(1_000);
        continue;
      }
      const name = identityOf(definition, inputs);
      throw new UserError(
        `${collection.nameOf(inputs)} (${id}): "${mover.owner.name}" has the name "${name}" still, and this service does not ` +
          "let two siblings swap their names: give one of them a third name, run `pulumi up`, and then the name that it is to have.",
      );
    }
  }
}

/**
 * Changes properties in place and returns the object as it is afterwards.
 * PATCH is not in the spec: a service without it gets an error that says what to do, and nothing is lost.
 */
async function patch(collection: Collection, id: string, inputs: Props, keys: readonly string[]): Promise<Props> {
  const { session, definition } = collection;
  const what = `${collection.nameOf(inputs)} (${id})`;
  /** The value that unsets a property, by its type. */
  const none = (key: string): unknown => {
    const takesObject = (definition.inputs.shape[key] as z.ZodType | undefined)?.safeParse({}).success;
    return takesObject ? {} : "";
  };
  const body = Object.fromEntries(keys.map((key) => [wireName(key), isUnset(inputs[key]) ? none(key) : inputs[key]]));
  let answer: unknown;
  try {
    const path = collection.pathOf(id);
    answer = await renaming(collection, id, inputs, keys, () =>
      definition.idField === undefined
        ? session.client.patch(path, body)
        : session.client.put(path, toBody(definition, inputs)),
    );
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported")) throw error;
    if ((await collection.find(id, 0)) === "gone") {
      throw new UserError(
        `${what} no longer exists: it was deleted outside of Pulumi. \`pulumi up --refresh\` makes it again.`,
      );
    }
    const again = definition.replaceWarning
      ? "A replacement would destroy what is in it."
      : "Or let Pulumi make a new one with `pulumi up --replace` and its URN.";
    const why = `this service cannot change ${keys.join(" and ")} in place (${error.message}) Nothing was changed.`;
    throw new Unchanged(
      why,
      `${what}: ${why} Either set the old value again, or change it in the console and run \`pulumi refresh\`. ${again}`,
    );
  }
  const isFresh = (shown: Props): boolean => {
    const same = (key: string): boolean =>
      key === nameKey(definition) ? sameName(shown[key], inputs[key]) : fits(definition, key, shown[key], inputs[key]);
    return "revision" in shown && keys.every((key) => !(key in shown) || same(key));
  };
  // After an empty answer, ask until the list shows the change, but not forever: a service may store a value in its own way.
  return shownSoon(collection, id, answer, isFresh);
}
