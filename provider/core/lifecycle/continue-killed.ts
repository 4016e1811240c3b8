import { type Identified } from "../../api";
import { type Collection } from "../collection";
import { isSentWith, type LoggedCreate } from "../create-log";
import { identityOf, timeoutMs } from "../definition";
import { isElsewhere } from "../ownership";
import { times } from "../times";
import { timeOf } from "../values";
import { lookFor } from "../wait";
import { type NewObjects, newObjects, type CreateAttempts } from "./recognize";
import { discard } from "./send-create";

/**
 * The object that a killed run of this stack created for these inputs. Its logged id proves it. Without an answer, everything that the
 * service shows has to agree. undefined: there is no such object.
 * @throws UserError if an object may just as well be somebody else's: the error names it, and it is left as it is
 */
export async function toContinue(collection: Collection): Promise<Identified | undefined> {
  const { inputs, session, definition } = collection;
  const identity = identityOf(definition, inputs);
  if (identity === undefined || inputs.adopt || session.adoptAll) return undefined;
  const interrupted = interruptedFor(collection);
  for (const create of interrupted) {
    const { id, at, serviceAt = at } = create;
    if (id === undefined || isTaken(collection, id)) continue;
    const found = await collection.find(id, 0, serviceAt);
    if (typeof found === "object") return goesOnWith(collection, create, found.item);
  }
  const open = unanswered(collection, interrupted);
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

/** Creates that killed runs sent to this service for the resource. */
function interruptedFor({ session, path, definition, inputs }: Collection): LoggedCreate[] {
  const identity = identityOf(definition, inputs);
  const { settings } = session.client.http;
  const all = session.createLog.interrupted({ path, name: identity, resource: session.resource?.name });
  return all.filter(({ key }) => !isElsewhere({ keys: [key] }, settings));
}

const unanswered = ({ session }: Collection, interrupted: readonly LoggedCreate[]): LoggedCreate[] =>
  interrupted.filter((one) => one.id === undefined && isSentWith(one, session.client.http.settings));

async function goesOnWith(collection: Collection, create: LoggedCreate, item: Identified): Promise<Identified> {
  await collection.session.createLog.continued(create, item.id);
  return item;
}

/**
 * Deletes the credentials that killed runs created for these inputs: no state has them, and nobody has their passwords. What may be
 * somebody else's stays. @param siblings what there was before this run made its own
 */
export async function discardKilled(collection: Collection, siblings: Identified[] = []): Promise<void> {
  const interrupted = interruptedFor(collection);
  if (collection.definition.steps?.shownOnce === undefined || interrupted.length === 0) return;
  const logged = interrupted.map(({ id }) => id);
  const known = siblings.filter(({ id }) => logged.includes(id) && !isTaken(collection, id));
  const open = unanswered(collection, interrupted);
  const seen = open.length === 0 ? undefined : await newObjects(createOf(collection, open));
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
  const before = new Set(open.flatMap((one) => one.before));
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
  const { createLog, client } = collection.session;
  const isRival = (one: LoggedCreate): boolean =>
    one.id === undefined
      ? one.name === open[0]!.name && isSentWith(one, client.http.settings)
      : found.some(({ id }) => id === one.id);
  const held = found.flatMap(({ id }) => {
    const stack = createLog.holder(collection.pathOf(id));
    return stack === undefined ? [] : [`the stack ${stack} has ${id}`];
  });
  const rivals = createLog.ofOtherStacks(collection.path).filter(({ create }) => isRival(create));
  return [
    ...held,
    ...rivals.map(({ stack }) => `the stack ${stack} created one of this name, too`),
    ...found.flatMap((item) => timeDoubts(collection, open, item)),
    ...others.map(({ item, why }) => `of ${item.id}, ${why}`),
  ];
}
