import { type ApiError, type Identified, isApiError } from "../../api";
import { type Answer } from "../../api/http";
import { backoffMs, longestWaitMs } from "../../api/retry";
import { conditionOf } from "../../api/states";
import { type Collection, isForbidden } from "../collection";
import { identityOf, keysWith, nameKey, type Props } from "../definition";
import { holdsLedger } from "../../constants";
import { wireName } from "../field";
import { toBody } from "../state";
import { briefly, sentence } from "../../api/api-error";
import { messageOf } from "../../plain";
import { times } from "../times";
import { sameValue } from "../values";
import { codeOf, UserError } from "../../errors";
import { type Look, lookFor, waitFor } from "../wait";
import { type CreateAttempts, discard, type NewObjects, newObjects } from "./recognize";
import { regenerated } from "./change";

const mostAttempts = 6;

/** One create in progress and what is known of its attempts. */
interface Posting extends CreateAttempts {
  /** Attempts that may have created an object without a visible answer. */
  lost: number;
  /** Logs that it is sent now. */
  sending: () => Promise<void>;
  /** More fields of the body. */
  more: Props;
  /** Inputs that are left out, because the service refused what the spec does not list. */
  without: readonly string[];
}

/** What came of sending it: the object, or a failure after which it may exist. */
type Sent = { made: Identified } | { failure: ApiError; taken: boolean };

/**
 * Sends the create so that the object is made exactly once. After a lost answer, it looks for the object and takes it if
 * nothing contradicts that; only otherwise does it send again. What the service has accepted is never sent again.
 * @param siblings the objects that were there before; undefined: the service does not list them
 * @param more fields of the body besides the inputs
 */
export function sendCreate(
  collection: Collection,
  siblings: Identified[] | undefined,
  more: Props = {},
): Promise<Identified> {
  const { inputs, session, definition, path } = collection;
  const { http } = session.client;
  const startedAt = session.clock.now();
  const since = (): number | undefined => http.serviceTime(startedAt);
  const before = siblings?.map(({ id }) => id);
  const posting = { collection, inputs, before: before && new Set(before), since, more, lost: 0, without: [] };
  const [name, key] = [identityOf(definition, inputs), nameKey(definition)];
  const begun = {
    path,
    ...(name === undefined ? { called: key && (inputs[key] as string) } : { name }),
    ...(session.resource && { resource: session.resource.name }),
    before: before ?? [],
  };
  // Logged before it is sent, so that a killed run leaves proof of what is its own.
  return session.createLog.logged(
    begun,
    (sending) => made({ ...posting, sending: () => sending(http.serviceTime(session.clock.now())) }),
    (log) => session.run.settling(collection.parentPath, log),
  );
}

async function made(posting: Posting): Promise<Identified> {
  const { clock, deadline } = posting.collection.session;
  for (let attempt = 1; ; attempt++) {
    const sent = await whenItMay(posting, attempt);
    if ("made" in sent) return sent.made;
    const { failure, taken } = sent;
    if (!taken) posting.lost++;
    const found = await recover(posting, failure);
    if (found) return found;
    const retryAfter = failure.retryAfterMs ?? 0;
    const pause = Math.max(retryAfter, backoffMs(attempt));
    if (attempt >= mostAttempts || retryAfter > longestWaitMs) throw await withLeftovers(posting, failure);
    if (clock.now() + pause >= deadline.at) throw await withLeftovers(posting, outOfTime(posting, failure));
    await clock.sleep(pause);
  }
}

/** Sends it, and again until the deadline as long as the service says that it is too early: nothing was made then. */
async function whenItMay(posting: Posting, attempt: number): Promise<Sent> {
  const { collection } = posting;
  const first = await sendOnce(posting, attempt);
  if (!("early" in first)) return first;
  let looks = 0;
  const look = async (): Promise<Look<Sent>> => {
    const sent = looks++ === 0 ? first : await sendOnce(posting, attempt);
    return "early" in sent ? { waiting: `refused for now (${sent.early})` } : { done: sent };
  };
  return waitFor(collection.session, collection.what, look, `POST ${collection.path}`);
}

async function sendOnce(posting: Posting, attempt: number): Promise<Sent | { early: string }> {
  const { collection, inputs, more, without } = posting;
  const { session, definition, place } = collection;
  const { idField } = place;
  try {
    const body = toBody(definition, inputs, more, without);
    const send = async (): Promise<Answer> => {
      await posting.sending();
      return idField === undefined
        ? session.client.create(collection.path, body)
        : session.client.putObject(collection.pathOf(String(body[idField])), body);
    };
    const answer = await collection.creating(send());
    const made = madeBy(collection, answer) ?? (await accepted(posting, answer));
    collection.recordMade(made);
    if (posting.lost > 0) await clearSurplus(posting, made);
    return { made };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const undocumented = keysWith(definition, "replaceIfRefused");
    if (isApiError(error, "invalid") && undocumented.length > 0 && without.length === 0) {
      posting.without = undocumented; // no attempt: nothing was made; a strict service may reject what the spec does not list
      return sendOnce(posting, attempt);
    }
    const taken = attempt > 1 && isApiError(error, "conflict"); // by the object of an earlier attempt
    if (!taken && (await isEarly(collection, error))) {
      posting.without = []; // then the refusal was not about these
      return { early: error.errorMessage };
    }
    if (!taken && !error.unclear) throw error;
    return { failure: error, taken };
  }
}

/**
 * Whether a refusal passes by itself: the service does not know everywhere what this run has just made or deleted, or answers 409 while
 * something there is not ready (hosted.md). That it has the name already does not pass.
 */
async function isEarly(collection: Collection, error: ApiError): Promise<boolean> {
  const { run, clock } = collection.session;
  if (!isApiError(error, "missing", "conflict", "invalid") && !isForbidden(error)) return false;
  if (error.kind === "conflict" && collection.namesakes((await collection.siblings(0)) ?? []).length > 0) return false;
  if (collection.isChanging(Object.values(collection.inputs))) return true;
  if (error.kind !== "conflict") return false;
  if (run.sinceDeletionMs(clock) < times.unseenMs || (run.unsettled.get(collection.parentPath) ?? 0) > 0) return true;
  return conditionOf((await collection.parent(times.waitingAgeMs))?.state) === "pending";
}

/** The object in an answer, complete with what only this answer shows. */
function madeBy({ definition }: Collection, { status, body }: Answer): Identified | undefined {
  const { steps } = definition;
  const read = definition.wire.safeParse(body);
  if (!read.success || (steps?.shownOnce && steps.shownOnce(read.data) === undefined)) return undefined;
  // The id in a 202 may belong to a job, not to the object.
  if (status === 202 && definition.naming?.some((key) => read.data[wireName(key)] === undefined)) return undefined;
  return read.data;
}

/** Looks until the deadline for what an answer without the object accepted. It is never sent again. */
async function accepted(posting: Posting, { status, body }: Answer): Promise<Identified> {
  const { collection } = posting;
  const { session, definition } = collection;
  posting.lost++;
  if (definition.steps?.shownOnce) {
    const read = definition.wire.safeParse(body);
    return withoutPassword(posting, status, read.success ? read.data.id : undefined);
  }
  let seen: NewObjects | undefined;
  const look = async (): Promise<Look<Identified>> => {
    seen = await newObjects(posting);
    const ours = oursIn(posting, seen);
    return ours ? { done: ours } : { waiting: `accepted (HTTP ${status}), but not there yet` };
  };
  try {
    const made = await waitFor(session, collection.what, look, `POST ${collection.path}`);
    posting.lost--;
    return made;
  } catch (error) {
    if (session.clock.now() < session.deadline.at) throw error;
    const others = seen?.others.length ? ` ${stranger(seen)}` : "";
    throw collection.error(
      "unclear-create",
      'look in the console: once it is there, adopt it by its id (adopt: "<id>"); until then, `pulumi up` sends the creation again. The ' +
        `service accepted its creation (HTTP ${status}), but has not shown it within ${session.deadline.limit}, which is the limit ` +
        `(customTimeouts).${others}`,
    );
  }
}

/**
 * A credential whose password was not shown gets a new one, or is deleted, so that no run leaves one behind that nobody can use.
 * @throws UserError unless it has a new one
 */
async function withoutPassword(posting: Posting, status: number, id: string | undefined): Promise<Identified> {
  const { collection, before } = posting;
  const useless =
    `the service answered HTTP ${status} without the password, which it shows only once. Such a credential is ` +
    "useless, and sending the creation again would make another one.";
  const isNew = id !== undefined && !before?.has(id); // the password of an earlier one may be in use
  const rescued = isNew ? await regenerated(collection, id).catch(() => undefined) : undefined;
  if (rescued) {
    posting.lost--;
    return rescued;
  }
  // The id in a 202 may belong to a job.
  const isIts = isNew && status !== 202;
  const isGone = isIts && (await collection.delete(id).then(() => true, () => false)); // prettier-ignore
  const failure = collection.error("unclear-create", isGone ? `${useless} ${id} was deleted again.` : useless);
  if (isGone && posting.lost === 1) throw failure;
  throw await withLeftovers(posting, failure, isGone || !isNew ? undefined : id);
}

/** Looks for the result of lost attempts. @returns the object if it is this run's; undefined: the create may be sent again */
async function recover(posting: Posting, failure: ApiError): Promise<Identified | undefined> {
  const { collection } = posting;
  const { session, definition } = collection;
  const { clock, deadline } = session;
  const forMs = patienceMs(posting, failure);
  const patience = failure.late ? ` for ${Math.round(forMs / 1000)} s` : "";
  collection.say(`${sentence(briefly(failure))} Looking${patience} for an object that it may have created anyway.`);
  const end = clock.now() + forMs;
  let looks = 0;
  const look = async (): Promise<NewObjects | undefined> => {
    // Often at first, then every two seconds: more often does not help a slow service.
    if (looks++ > 6) await clock.sleep(times.lostEveryMs.then - times.lostEveryMs.first);
    return newObjects(posting);
  };
  const isFound = (seen: NewObjects | undefined): boolean => !seen || seen.ours.length > 0;
  const lookMs = Math.min(forMs, deadline.at - times.lostEveryMs.first - clock.now());
  const seen = await lookFor(session, look, isFound, { forMs: lookMs, everyMs: times.lostEveryMs.first });
  if (definition.naming) {
    const ours = oursIn(posting, seen);
    if (ours) {
      collection.recordMade(ours);
      posting.lost--;
      if (posting.lost > 0) await clearSurplus(posting, ours, false);
      return ours;
    }
    if (seen?.others.length)
      throw collection.error(
        "unclear-create",
        `choose another name, or adopt it by its id. The answer to its creation was lost. ${stranger(seen)} It was left alone.`,
      );
  } else if (!seen)
    collection.warn(
      "the answer to its creation was lost, and this service does not list credentials, so there may be " +
        "one left whose password nobody has. Look in the console (Security, App Creds) and delete it by hand.",
    );
  if (end > deadline.at) throw await withLeftovers(posting, outOfTime(posting, failure));
  return undefined;
}

/** How long to look for it. A ledger that turns out to be made twice is not deleted: the slowest list gets time to show it. */
function patienceMs({ collection }: Posting, failure: ApiError): number {
  const { requestTimeout } = collection.session.client.http.settings;
  if (failure.kind === "unavailable") return times.lostLagMs.refused;
  // A slow service may act long after the client has given up.
  const lost = failure.late ? 2 * 1000 * requestTimeout + times.lostLagMs.lost : times.lostLagMs.lost;
  return holdsLedger(collection.definition.type) ? Math.max(lost, times.longestLagMs) : lost;
}

/** The object that this run made; undefined: none yet. @throws UserError if there are more than this run can have made */
function oursIn({ collection, lost }: Posting, seen: NewObjects | undefined): Identified | undefined {
  const [first, ...more] = seen?.ours ?? [];
  if (!first || more.length < lost) return first;
  throw collection.error(
    "unclear-create",
    `find out which one is yours, and adopt that: adopt: "<id>". While the answer to its creation was lost, ` +
      `${idsOf([first, ...more])} appeared under this name, more than this run can have made.`,
  );
}

const idsOf = (items: Identified[]): string => items.map(({ id }) => id).join(", ");

/** Names the objects with this name, and why they are not this run's. */
const stranger = ({ others }: NewObjects): string =>
  `${others.map(({ item, why }) => `${item.id} has the name now (${why})`).join(", ")}: that is not what this run asked for.`;

const outOfTime = ({ collection }: Posting, failure: ApiError): UserError => {
  const { session, definition } = collection;
  const next = definition.naming ? " `CONSORTIUM_ADOPT=true pulumi up` adopts it, if it was made after all." : "";
  return collection.error(
    "unclear-create",
    `${sentence(briefly(failure))} No time is left to send it again: the limit is ${session.deadline.limit} (customTimeouts).${next}`,
  );
};

/**
 * Deletes the unused duplicates of lost attempts, if that is certain; otherwise names them. Once a list shows the newest object, it shows the
 * earlier ones, too; that of an earlier attempt tells nothing of a later one. A failure here is only reported: the object itself exists.
 */
async function clearSurplus(posting: Posting, made: Identified, isNewest = true): Promise<void> {
  const { collection, lost } = posting;
  const look = async (): Promise<{ seen?: NewObjects; own?: Identified }> => {
    const seen = await newObjects(posting);
    return { seen, own: seen && (await collection.listed(made.id, times.lostEveryMs.first)) };
  };
  const isAll = ({ seen, own }: Awaited<ReturnType<typeof look>>): boolean =>
    !seen || (isNewest && own !== undefined) || seen.ours.length >= lost;
  try {
    const often = { forMs: times.longestLagMs, everyMs: times.lostEveryMs.first };
    const { seen, own = made } = await lookFor(collection.session, look, isAll, often);
    // One may belong to a sibling's create that is still unanswered.
    if (seen && seen.ours.length > 0) await collection.createsAnswered();
    const surplus = (seen?.ours ?? []).filter(({ id }) => !collection.isMade(id));
    if (surplus.length === 0) return;
    const isCertain = surplus.length <= lost && surplus.every((item) => looksSame(item, own));
    if (isCertain && !holdsLedger(collection.definition.type)) {
      const reason = collection.definition.naming
        ? "a duplicate of a lost response"
        : "whose password was lost with the response";
      return await discard(collection, surplus, reason);
    }
    collection.warn(
      `${idsOf(surplus)} appeared while the answer to the creation of ${made.id} was lost, and this run may have made it. Nothing was ` +
        "deleted: find out what is in use, and remove the rest with `npx --no-install consortium sweep --id <id>`.",
    );
  } catch (error) {
    collection.warn(`after a lost answer, this run could not check whether it was made twice: ${messageOf(error)}`);
  }
}

/** Fields that differ between any two objects. */
const ownFields = /^(_?id|username|password|state|_revision)$|_at$/;

/** Whether two objects are the same in all that the service shows, except for fields that always differ. */
function looksSame(one: Identified, other: Identified): boolean {
  const itsOwn = (name: string): boolean =>
    ownFields.test(name) || [one, other].some((item) => JSON.stringify(item[name] ?? null).includes(item.id));
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => itsOwn(name) || sameValue(one[name], other[name]));
}

/** Adds credentials that lost attempts may have created to a failure: nobody has their passwords. */
async function withLeftovers(posting: Posting, failure: unknown, known?: string): Promise<unknown> {
  const { collection } = posting;
  if (collection.definition.naming !== undefined) return failure;
  const seen = await newObjects(posting).catch(() => undefined);
  const ids = [...new Set([...(known === undefined ? [] : [known]), ...(seen?.ours ?? []).map(({ id }) => id)])];
  if (ids.length === 0) return failure;
  const say = known === undefined ? "appeared meanwhile, and may be what it made" : "was made";
  return new UserError(
    codeOf(failure) ?? "unclear-create",
    `${messageOf(failure)} ${ids.join(" and ")} ${say}; nobody has the password. If nothing uses it, remove it with: ` +
      `npx --no-install consortium sweep --id ${ids.join(" ")}`,
  );
}
