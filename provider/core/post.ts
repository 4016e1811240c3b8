import { type Identified, isApiError } from "../api";
import { backoffMs, longestWaitMs } from "../api/retry";
import { sameValue } from "./canonical";
import { type CollectionDefinition, inputKeys, nameOf, type Place, type Props } from "./definition";
import { messageOf, UserError } from "./errors";
import { pathOf } from "./presence";
import { type Session } from "./session";
import { namesakes, siblingsOf } from "./siblings";
import { fromWire, toBody } from "./state";

/** How long to look for what a lost create may have made: lists may lag by a second. */
const lagMs = { lost: 2_500, refused: 1_200 };
const lookEveryMs = 500;
const mostAttempts = 6;

/**
 * Sends the create, so that the object is made exactly once.
 * After a lost answer it looks whether the object appeared, takes it if so, and only else sends again.
 * @param before the siblings that were there before; undefined where the service does not list them.
 */
export async function post(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  inputs: Props,
  before: Identified[] | undefined,
): Promise<Identified> {
  const what = nameOf(definition, inputs);
  let without: readonly string[] = [];
  for (let attempt = 1; ; attempt++) {
    let failure: unknown;
    try {
      const body = toBody(definition, inputs, without);
      const sent = session.client.http.request("POST", place.collection, { body });
      const answer = await session.lists.creating(place.collection, sent);
      const read = (definition.created ?? definition.wire).safeParse(answer.body);
      if (read.success) {
        session.lists.recordMade(place.collection, read.data);
        return read.data;
      }
      failure = new UserError(
        `${what}: the service answered HTTP ${answer.status} without showing all of what it made.`,
      );
    } catch (error) {
      if (isApiError(error, "invalid") && definition.undocumented && without.length === 0) {
        without = definition.undocumented; // nothing was made; a strict service may not know what the spec does not list
        continue;
      }
      const uncertain =
        isApiError(error, "lost", "server", "unavailable") || (attempt > 1 && isApiError(error, "conflict"));
      if (!uncertain) throw error;
      failure = error;
    }
    const refused = isApiError(failure, "unavailable");
    session.say(`${what}: ${messageOf(failure)} Looking whether it was made all the same.`);
    const appeared = await lookForNew(session, definition, place, inputs, before, refused ? lagMs.refused : lagMs.lost);
    if (definition.naming === undefined) await discard(session, definition, place, what, appeared);
    else if (appeared?.[0]) return appeared[0];
    const retryAfter = isApiError(failure) ? (failure.retryAfterMs ?? 0) : 0;
    if (attempt >= mostAttempts || retryAfter > longestWaitMs) throw failure;
    await session.clock.sleep(Math.max(retryAfter, backoffMs(attempt)));
  }
}

/** Objects of this name that were not there before and that this process did not make; undefined: cannot be listed. */
async function lookForNew(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  inputs: Props,
  before: Identified[] | undefined,
  forMs: number,
): Promise<Identified[] | undefined> {
  if (!before) return undefined;
  const known = new Set(before.map(({ id }) => id));
  const end = session.clock.now() + forMs;
  for (;;) {
    const siblings = await siblingsOf(session, definition, place, 0);
    if (!siblings) return undefined;
    for (const { id } of session.lists.made(place.collection)) known.add(id);
    const fresh = siblings.filter(({ id }) => !known.has(id));
    const ours = definition.naming
      ? namesakes(definition, inputs, fresh)
      : fresh.filter((item) => isTwin(definition, item, inputs));
    if (ours.length > 0 || session.clock.now() >= end) return ours;
    await session.clock.sleep(lookEveryMs);
  }
}

/**
 * Made for the same thing, by the same name. A service that does not show names says too little to be sure:
 * it may be a sibling's, which is in use.
 */
function isTwin(definition: CollectionDefinition, item: Identified, inputs: Props): boolean {
  const shown = fromWire(definition, item);
  const same = (key: string): boolean => shown[key] === undefined || sameValue(shown[key], inputs[key]);
  return shown.name !== undefined && inputKeys(definition).every(same);
}

/** After an interrupted run: the pairs that it made and did not record. */
export async function discardUnrecorded(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  inputs: Props,
  siblings: Identified[] | undefined,
): Promise<void> {
  const made = new Set(session.lists.made(place.collection).map(({ id }) => id));
  const lost = siblings?.filter((item) => !made.has(item.id) && isTwin(definition, item, inputs));
  await discard(session, definition, place, nameOf(definition, inputs), lost);
}

/** A credential whose password was lost with the answer is of no use to anybody: remove it before making another. */
async function discard(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  what: string,
  lost: Identified[] | undefined,
): Promise<void> {
  if (!lost) {
    session.say(
      `Warning: ${what}: the answer to its creation was lost and this service does not list what exists, so one that ` +
        "nobody holds the password of may be left there. Look in the console (Security, App Creds) and delete it by hand.",
    );
  }
  // A sibling's create may have made one whose answer is still on its way.
  if (lost?.length) await session.lists.quiet(place.collection);
  const kept = new Set(session.lists.made(place.collection).map(({ id }) => id));
  for (const { id } of (lost ?? []).filter((item) => !kept.has(item.id))) {
    session.say(`${what}: deletes ${id}, whose password was lost with the answer`);
    await session.client.http.request("DELETE", pathOf(place, id)).catch((error: unknown) => {
      if (!isApiError(error, "missing")) throw error;
    });
    session.lists.recordRemoved(place.collection, id);
  }
}
