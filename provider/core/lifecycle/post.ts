import { type Identified, isApiError } from "../../api";
import { backoffMs, longestWaitMs } from "../../api/retry";
import { type Collection } from "../collection";
import { inputKeys, type Props, undocumentedKeys } from "../definition";
import { sameValue } from "../diff";
import { messageOf, UserError } from "../user-error";
import { toBody } from "../state";

/** How long what a lost create made may take to be listed. */
const lagMs = { lost: 2_500, refused: 1_200 };
/** How long lists may be behind, as far as this waits for it. */
const longestLagMs = 60_000;
const lookEveryMs = 500;
const mostAttempts = 6;

/** One create under way: what it is about, and what is known of its attempts. */
interface Posting {
  collection: Collection;
  inputs: Props;
  what: string;
  /** Ids that were there before; undefined where the service does not list them. */
  before: ReadonlySet<string> | undefined;
  /** Attempts that may have made one although nobody saw the answer. */
  lost: number;
}

/**
 * Sends the create, so that the object is made exactly once.
 * After a lost answer it looks whether the object appeared, takes it if so, and only else sends again. What an attempt
 * that was given up makes after all is taken away again, since this run made it.
 * @param siblings those that were there before; undefined where the service does not list them.
 */
export async function post(
  collection: Collection,
  inputs: Props,
  siblings: Identified[] | undefined,
): Promise<Identified> {
  const { session, definition } = collection;
  const what = collection.nameOf(inputs);
  const before = siblings && new Set(siblings.map(({ id }) => id));
  const posting: Posting = { collection, inputs, what, before, lost: 0 };
  let without: readonly string[] = [];
  for (let attempt = 1; ; attempt++) {
    let failure: unknown;
    try {
      const body = toBody(definition, inputs, without);
      const sent = session.client.create(collection.path, body);
      const answer = await session.lists.creating(collection.path, sent);
      const read = definition.wire.safeParse(answer.body);
      const isWhole = read.success && (!definition.shownOnce || definition.shownOnce(read.data) !== undefined);
      if (isWhole) {
        collection.recordMade(read.data);
        if (posting.lost > 0) await discardSurplus(posting, read.data.id);
        return read.data;
      }
      failure = new UserError(
        `${what}: the service answered HTTP ${answer.status} without showing all of what it made.`,
      );
    } catch (error) {
      const undocumented = undocumentedKeys(definition);
      if (isApiError(error, "invalid") && undocumented.length > 0 && without.length === 0) {
        without = undocumented; // nothing was made; a strict service may not know what the spec does not list
        continue;
      }
      const taken = attempt > 1 && isApiError(error, "conflict"); // by what an earlier attempt made
      if (!taken && !isApiError(error, "lost", "server", "unavailable")) throw error;
      if (taken) posting.lost--;
      failure = error;
    }
    posting.lost++;
    const found = await recover(posting, failure);
    if (found) return found;
    const retryAfter = isApiError(failure) ? (failure.retryAfterMs ?? 0) : 0;
    const pause = Math.max(retryAfter, backoffMs(attempt));
    if (attempt >= mostAttempts || retryAfter > longestWaitMs) throw failure;
    if (session.clock.now() + pause >= session.deadline.at) throw outOfTime(posting, failure);
    await session.clock.sleep(pause);
  }
}

/** Looks for what the lost attempts made: gives the object, where it can be taken; else it may be sent again. */
async function recover(posting: Posting, failure: unknown): Promise<Identified | undefined> {
  const { collection, what } = posting;
  const { session, definition } = collection;
  const { requestTimeout } = session.client.http.settings;
  const isLate = isApiError(failure) && failure.late;
  // A service that is only slow may act long after nobody waits for its answer any more.
  const forMs =
    (isLate ? 2_000 * requestTimeout : 0) + (isApiError(failure, "unavailable") ? lagMs.refused : lagMs.lost);
  const patience = isLate ? ` for ${Math.round(forMs / 1000)} s` : "";
  session.say(`${what}: ${messageOf(failure)} Looking${patience} for what it may have created all the same.`);
  const end = session.clock.now() + forMs;
  const appeared = await lookForNew(posting, Math.min(end, session.deadline.at - lookEveryMs));
  if (definition.naming === undefined) {
    await discard(posting, appeared);
  } else if (appeared && appeared.length > posting.lost) {
    const ids = appeared.map(({ id }) => id).join(", ");
    throw new UserError(
      `${what}: while the answer to its creation was lost, ${ids} appeared under this name, more than this run can have made. ` +
        `Find out which one is yours, and adopt that: adopt: "<id>".`,
    );
  } else if (appeared?.[0]) {
    collection.recordMade(appeared[0]);
    posting.lost--;
    if (posting.lost > 0) await discardSurplus(posting, appeared[0].id);
    return appeared[0];
  }
  if (end > session.deadline.at) throw outOfTime(posting, failure);
  return undefined;
}

const outOfTime = ({ collection, what }: Posting, failure: unknown): UserError => {
  const { session, definition } = collection;
  const next = definition.naming ? " `CONSORTIUM_ADOPT=true pulumi up` adopts it, if it was made after all." : "";
  return new UserError(
    `${what}: ${messageOf(failure)} No time is left to send it again: the limit is ${session.deadline.limit} (customTimeouts).${next}`,
  );
};

/** Objects of this name that were not there before and that this process did not make; undefined: cannot be listed. */
async function fresh({ collection, inputs, before }: Posting): Promise<Identified[] | undefined> {
  const siblings = before && (await collection.siblings(0));
  if (!siblings) return undefined;
  const known = new Set([...before, ...collection.made().map(({ id }) => id)]);
  const others = siblings.filter(({ id }) => !known.has(id));
  return collection.definition.naming
    ? collection.namesakes(inputs, others)
    : others.filter((item) => isTwin(collection, item, inputs));
}

/** Looks often at first, then every two seconds: a service that is slow is not helped by being asked. */
async function lookForNew(posting: Posting, end: number): Promise<Identified[] | undefined> {
  const { clock } = posting.collection.session;
  for (let looks = 1; ; looks++) {
    const ours = await fresh(posting);
    if (!ours || ours.length > 0 || clock.now() >= end) return ours;
    await clock.sleep(looks <= 6 ? lookEveryMs : 4 * lookEveryMs);
  }
}

/**
 * Takes away what attempts that were given up made after all. When a list shows the object that was made last, it shows
 * what was made before, too, however far lists are behind.
 */
async function discardSurplus(posting: Posting, id: string): Promise<void> {
  const { collection, before } = posting;
  const { clock, deadline } = collection.session;
  const end = Math.min(clock.now() + longestLagMs, deadline.at);
  for (;;) {
    if (!before || !(await collection.siblings(0))) return;
    const surplus = await fresh(posting);
    if (surplus?.length) return discard(posting, surplus);
    if (await collection.listed(id, lookEveryMs)) return;
    if (clock.now() >= end) return;
    await clock.sleep(lookEveryMs);
  }
}

/**
 * Made for the same thing, by the same name. A service that does not show names says too little to be sure:
 * it may be a sibling's, which is in use.
 */
export function isTwin(collection: Collection, item: Identified, inputs: Props): boolean {
  const shown = collection.shown(item);
  const same = (key: string): boolean => shown[key] === undefined || sameValue(shown[key], inputs[key]);
  return shown.name !== undefined && inputKeys(collection.definition).every(same);
}

/** Deletes what lost attempts of this run made and nobody can use: never more than there were, else it may be somebody's. */
async function discard(posting: Posting, lost: Identified[] | undefined): Promise<void> {
  const { collection, what } = posting;
  const { session, definition } = collection;
  if (!lost) {
    session.say(
      `Warning: ${what}: the answer to its creation was lost and this service does not list what exists, so one that ` +
        "nobody holds the password of may be left there. Look in the console (Security, App Creds) and delete it by hand.",
    );
    return;
  }
  // A sibling's create may have made one whose answer is still on its way.
  if (lost.length > 0) await session.lists.quiet(collection.path);
  const kept = new Set(collection.made().map(({ id }) => id));
  const ours = lost.filter((item) => !kept.has(item.id));
  if (ours.length > posting.lost) {
    const ids = ours.map(({ id }) => id);
    session.say(
      `Warning: ${what}: ${ids.join(", ")} appeared while the answer to its creation was lost, more than this run can ` +
        `have made. Nothing was deleted: find out what is in use, and remove the rest with \`consortium sweep --id <id>\`.`,
    );
    return;
  }
  for (const { id } of ours) {
    session.say(
      `${what}: deletes ${id}, ${definition.naming ? "made twice" : "whose password was lost"} since an answer was lost`,
    );
    await collection.delete(id);
    posting.lost--;
  }
}
