import { type Identified } from "../../api";
import { messageOf } from "../../plain";
import { type Collection } from "../collection";
import { type LoggedCreate } from "../create-log";
import { identityOf, inputKeys, inputMeta, isOver, type Props, timeoutMs } from "../definition";
import { wireName } from "../field";
import { isElsewhere, isKnown } from "../organization";
import { isReadable } from "../state";
import { times } from "../times";
import { isUnset, normalOf, sameName, sameValue, timeOf } from "../values";
import { lookFor } from "../wait";

/*
 * Whether a new object is the result of a create with a lost answer, in this run or in a killed one. Looking alike is not enough: nothing
 * that the service shows may contradict it.
 */

/** One create with all its attempts. */
export interface CreateAttempts {
  collection: Collection;
  inputs: Props;
  /** Ids that were there before. undefined: the service does not list them. */
  before: ReadonlySet<string> | undefined;
  /** When it was first sent, by the service's clock, in ms since 1970. undefined: the service does not tell the time. */
  since: () => number | undefined;
}

export interface NewObjects {
  /** Objects that nothing contradicts. */
  ours: Identified[];
  /** Objects with the same name that are visibly something else. */
  others: { item: Identified; why: string }[];
}

/** New objects with this name, except those of the stack and of other creates. undefined: the service does not list them. */
export async function newObjects(create: CreateAttempts): Promise<NewObjects | undefined> {
  const { collection, inputs, before } = create;
  const siblings = before && (await collection.siblings(0));
  if (!siblings) return undefined;
  const fresh = siblings.filter(({ id }) => !before.has(id) && !collection.isMade(id) && !collection.isOfStack(id));
  const named = collection.definition.naming
    ? collection.namesakes(fresh)
    : fresh.filter((item) => isTwin(collection, item, inputs));
  const similar = named.length > 0 ? [] : similarIn(collection, fresh);
  const judged = named.map((item) => ({
    item,
    why: [...differences(create, item), ...tooOld(create, item)].join("; "),
  }));
  return {
    ours: judged.filter(({ why }) => why === "").map(({ item }) => item),
    others: [...judged.filter(({ why }) => why !== ""), ...similar.map((item) => ({ item, why: "in another form" }))],
  };
}

/**
 * Those whose name only differs in its form, and that no other resource is to have: a service may write names in its own way, so none is
 * taken, and none is made beside them.
 */
export function similarIn({ definition, inputs, session }: Collection, items: Identified[]): Identified[] {
  const [key, ...more] = definition.naming ?? [];
  if (key === undefined || more.length > 0) return [];
  const isOthers = (name: unknown): boolean =>
    session.run.leases.isWanted(definition, { ...inputs, [key]: name }, session.resource);
  return items.filter((item) => {
    const name = item[wireName(key)];
    return !isOver(definition, item) && sameName(name, inputs[key]) && !isOthers(name);
  });
}

/**
 * Whether it was made for the same thing under the same name. A service that shows no names says too little:
 * the object may be a sibling's, and in use.
 */
export function isTwin(collection: Collection, item: Identified, inputs: Props): boolean {
  const shown = collection.shown(item);
  return (
    shown.name !== undefined && inputKeys(collection.definition).every((key) => agrees(collection, shown, inputs, key))
  );
}

/**
 * Whether the shown value may be the service's way to write the requested one. A value that is not shown, or that the service chooses, does
 * not count as different, and neither does a member that it adds to an object.
 */
export function agrees({ definition }: Collection, shown: Props, inputs: Props, key: string): boolean {
  const meta = inputMeta(definition, key)!;
  // What a later update asks for says nothing of a new object.
  if (!isReadable(meta) || meta.action || shown[key] === undefined || (meta.computed && isUnset(inputs[key])))
    return true;
  const [there, wanted] = [shown, inputs].map((props) => normalOf(definition, props)[key]);
  return key.endsWith("Id") ? sameValue(there, wanted) : isLike(there, wanted);
}

/** Equal, except for how a service may write it. */
function isLike(there: unknown, wanted: unknown): boolean {
  const isObject = (value: unknown): value is Props => typeof value === "object" && value !== null;
  if (!isObject(there) || !isObject(wanted)) return sameName(there, wanted);
  return Object.entries(wanted).every(([key, value]) => isLike(there[key], value));
}

/** Values such as `details` are left out: they may hold secrets of others. */
export const factOf = (shown: Props, key: string): string =>
  `${key} is ${typeof shown[key] === "object" ? "another one" : JSON.stringify(shown[key])}`;

/** How the object differs from the request. Quotes only the service's value: the requested one may be secret. */
function differences({ collection, inputs }: CreateAttempts, item: Identified): string[] {
  const { definition, session } = collection;
  const shown = collection.shown(item);
  const fields = inputKeys(definition)
    .filter((key) => !agrees(collection, shown, inputs, key))
    .map((key) => `its ${factOf(shown, key)}`);
  const extra = Object.entries((inputs.extra ?? {}) as Props)
    .filter(([name, value]) => name in item && !isUnset(item[name]) && !sameValue(asText(item[name]), asText(value)))
    .map(([name]) => `its ${name} is another one`);
  const { owner } = shown;
  const { organization } = session.client.http.settings;
  const ours = organization
    ? [organization.id]
    : session.run.stateObjects.flatMap(({ ownership }) => ownership.organizations ?? []);
  const foreign = typeof owner === "string" && ours.length > 0 && !ours.includes(owner);
  return [...fields, ...extra, ...(foreign ? [`its owner is ${owner}`] : [])];
}

/** A service may show a number as text. */
const asText = (value: unknown): unknown => (typeof value === "number" ? String(value) : value);

/** Why the object is older than the request, by the service's clock. */
function tooOld({ since }: CreateAttempts, { created_at: created }: Identified): string[] {
  const [start, at] = [since(), timeOf(created)];
  if (at === undefined || start === undefined) return [];
  const latest = at + (/[.,]\d/.test(String(created)) ? 0 : 999); // it may be cut to seconds
  return latest < start ? [`it was created at ${String(created)}, before this run asked for one`] : [];
}

/** Deletes what nobody can use. @param reason in words that can follow their ids */
export async function discard(collection: Collection, items: readonly Identified[], reason: string): Promise<void> {
  for (const { id } of items) {
    collection.say(`deletes ${id}, ${reason}`);
    await collection.delete(id).catch((error: unknown) => {
      collection.warn(
        `${id}, ${reason}, could not be deleted: ${messageOf(error)} Remove it with: npx --no-install consortium sweep --id ${id}`,
      );
    });
  }
}

/** Creates that killed runs sent to this service for the resource. */
export function interruptedFor({ session, path, definition, inputs }: Collection): LoggedCreate[] {
  const { settings } = session.client.http;
  const name = identityOf(definition, inputs);
  const logged = session.createLog.interrupted({ path, name, resource: session.resource?.name });
  return logged.filter(({ key }) => !isElsewhere({ keys: [key] }, settings));
}

/**
 * The object that a killed run of this stack created for these inputs. Its logged id proves it. Without an answer, everything that the
 * service shows has to agree. undefined: there is no such object.
 * @throws UserError if an object may just as well be somebody else's: the error names it, and it is left as it is
 */
export async function toContinue(
  collection: Collection,
  interrupted: readonly LoggedCreate[],
): Promise<Identified | undefined> {
  for (const create of interrupted) {
    const { id, at, serviceAt = at } = create;
    if (id === undefined || isTaken(collection, id)) continue;
    const found = await collection.find(id, 0, serviceAt);
    if (typeof found === "object") return goesOnWith(collection, create, found.item);
  }
  const open = interrupted.filter((create) => isUnanswered(collection, create));
  if (open.length === 0) return undefined;
  const seen = await lookForKilled(collection, open);
  const found = [...seen.ours, ...seen.others.map(({ item }) => item)];
  if (found.length === 0) return undefined;
  const doubts = doubtsOf(collection, open, seen);
  if (doubts.length === 0) return goesOnWith(collection, open[0]!, found[0]!);
  const ids = found.map(({ id }) => id).join(", ");
  throw collection.error(
    "unclear-create",
    `set adopt: "${found[0]!.id}" if it is this stack's, or choose another name. A run of this stack was killed while it created this, ` +
      `and ${ids} has its name. Nothing proves that it is this stack's own: ${doubts.join("; ")}. It was left as it is.`,
  );
}

/** Whether nobody saw its answer, and it was sent with this key. */
const isUnanswered = ({ session }: Collection, { id, key }: LoggedCreate): boolean =>
  id === undefined && isKnown({ keys: [key] }, session.client.http.settings);

async function goesOnWith(collection: Collection, create: LoggedCreate, item: Identified): Promise<Identified> {
  await collection.session.createLog.continued(create, item.id);
  return item;
}

/**
 * Deletes the credentials that killed runs created for these inputs: no state has them, and nobody has their passwords. What may be
 * somebody else's stays. @param siblings what there was before this run made its own
 */
export async function discardKilled(
  collection: Collection,
  interrupted: readonly LoggedCreate[],
  siblings: Identified[] = [],
): Promise<void> {
  if (collection.definition.steps?.shownOnce === undefined) return;
  const logged = interrupted.map(({ id }) => id);
  const known = siblings.filter(({ id }) => logged.includes(id) && !isTaken(collection, id));
  const open = interrupted.filter((create) => isUnanswered(collection, create));
  const found = open.length === 0 ? undefined : await newObjects(createOf(collection, open));
  // Those of answered creates count for none of the others.
  const seen = found && { ...found, ours: found.ours.filter(({ id }) => !logged.includes(id)) };
  const isProved = seen !== undefined && seen.ours.length > 0 && doubtsOf(collection, open, seen).length === 0;
  const reason = "which a killed run of this stack made, and whose password was lost with it";
  await discard(collection, [...known, ...(isProved ? seen.ours : [])], reason);
}

/** Whether it already belongs to another resource of the stack. */
const isTaken = (collection: Collection, id: string): boolean => collection.isOfStack(id) || collection.isMade(id);

/** The new objects with that name. Waits as long as a request may take: the killed run's request may still be in progress. */
async function lookForKilled(collection: Collection, open: readonly LoggedCreate[]): Promise<NewObjects> {
  const { session } = collection;
  const longestMs = session.client.http.settings.requestTimeout * 1000;
  const sinceMs = Date.now() - Math.max(...open.map(({ at, last = { at } }) => last.at));
  const create = createOf(collection, open);
  let looks = 0;
  const look = async (): Promise<NewObjects> => {
    if (looks++ === 1) collection.say(`looking for what a killed run of this stack may have created.`);
    return (await newObjects(create)) ?? { ours: [], others: [] };
  };
  const isFound = ({ ours, others }: NewObjects): boolean => ours.length + others.length > 0;
  const leftMs = session.deadline.at - session.clock.now() - times.killedEveryMs; // for the create
  const forMs = Math.min(longestMs, longestMs - sinceMs, leftMs);
  return lookFor(session, look, isFound, { forMs, everyMs: times.killedEveryMs });
}

function createOf(collection: Collection, open: readonly LoggedCreate[]): CreateAttempts {
  const starts = open.map(({ serviceAt }) => serviceAt);
  const since = (): number | undefined => (starts.includes(undefined) ? undefined : Math.min(...(starts as number[])));
  // What an earlier one of them may have made was there before a later one.
  const [first, ...others] = open.map((create) => new Set(create.before));
  const before = new Set([...first!].filter((id) => others.every((there) => there.has(id))));
  return { collection, inputs: collection.inputs, since, before };
}

/** Why it may be somebody else's, by the time at which it was made. */
function timeDoubts(collection: Collection, open: readonly LoggedCreate[], item: Identified): string[] {
  const { session } = collection;
  const made = timeOf(item.created_at);
  const sent = open.map(({ serviceAt, last }) => (last ? last.serviceAt : serviceAt));
  if (made === undefined || sent.includes(undefined)) {
    // It has appeared within the time that one create may take: a run that is not killed takes that for its own, too.
    const first = Math.min(...open.map(({ at }) => at));
    const isRecent = Date.now() - first < timeoutMs(collection.definition, "create", collection.inputs);
    return isRecent ? [] : [`the service does not tell when ${item.id} was created`];
  }
  const longestMs = session.client.http.settings.requestTimeout * 1000 + times.actsWithinMs;
  if (made <= Math.max(...(sent as number[])) + longestMs) return [];
  return [`${item.id} was created at ${String(item.created_at)}, after the killed run can have asked for it`];
}

/** Reasons why it may not be ours. */
function doubtsOf(collection: Collection, open: readonly LoggedCreate[], { ours, others }: NewObjects): string[] {
  const found = [...ours, ...others.map(({ item }) => item)];
  if (found.length > open.length) return ["there are more than that run can have created"];
  const { createLog } = collection.session;
  const isRival = (create: LoggedCreate): boolean =>
    create.id === undefined
      ? create.name === open[0]!.name && isUnanswered(collection, create)
      : found.some(({ id }) => id === create.id);
  const held = found.flatMap(({ id }) => {
    const stack = createLog.holder(collection.pathOf(id));
    return stack === undefined ? [] : [`the stack ${stack} has ${id}`];
  });
  const rivals = createLog.ofOtherStacks(collection.path).filter(({ create }) => isRival(create));
  return [
    ...held,
    ...rivals.map(({ stack }) => `the stack ${stack} created one of this name, too`),
    // Only those may have made it that it was not there before.
    ...found.flatMap((item) => {
      const makers = open.filter(({ before }) => !before.includes(item.id));
      return timeDoubts(collection, makers, item);
    }),
    ...others.map(({ item, why }) => `of ${item.id}, ${why}`),
  ];
}
