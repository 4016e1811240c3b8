import { type Collection } from "../collection";
import { type Props } from "../definition";
import { Incomplete, messageOf, UserError } from "../user-error";
import { merge } from "../state";
import { type Identified } from "../../api";
import { type Condition, conditionOf as conditionIn, isGone } from "../../api/states";
import { isUnset } from "../values";
import { longestLagMs, type Look, lookAgeMs, waitFor } from "../wait";

/** How old a list may be in a refresh. What this process changes is requested anew. */
const readAgeMs = 10_000;

/** The current state. undefined: the object is confirmed to be gone. */
export async function read(collection: Collection, id: string, state: Props): Promise<Props | undefined> {
  const { session, definition, place } = collection;
  const presence = await collection.find(id, readAgeMs);
  if (presence === "unlistable") {
    if (place.isUnlisted) return merge({}, state, {});
    throw new UserError(
      `${collection.nameOf(state)} (${id}): the service does not list ${collection.path}, so its state cannot be read.`,
    );
  }
  if (presence === "gone") return undefined;
  const now = merge({}, state, collection.shown(presence.item), true);
  const { details } = definition;
  // Request details only if they are unknown, or if the object changed.
  const isKnown = details?.outputs.every((key) => state[key] !== undefined) && state.revision === now.revision;
  if (!details || isKnown) return now;
  return merge({}, now, (await details.read(session.client, id, now)) ?? {});
}

/** After this many lists without an object, it is requested by id. */
const looksBeforeAsking = 4;
/** After this many looks at a ready object, a missing output counts as not shown at all. */
const looksForShownLater = 2;

/** Whether a list lags behind what an answer said: revisions only rise. */
const isOlder = (listed: Props, known: Props): boolean => Number(listed.revision) < Number(known.revision);

/**
 * Waits until the object is ready and everything about it is known.
 * @throws Incomplete with the last known state if it failed, vanished or took too long
 */
export async function settle(collection: Collection, id: string, known: Props): Promise<Props> {
  const { session, definition } = collection;
  const what = collection.nameOf(known);
  let state = known;
  const behindUntil = session.clock.now() + longestLagMs;
  let missing = 0;
  let incomplete = 0;
  /**
   * The answer to the create is the first look, unless it did not show the object's state.
   * A failure may be what an earlier run saw, so look again.
   */
  const conditionOf = (state: unknown): Condition => (definition.isReadyAtOnce ? "ready" : conditionIn(state));
  const failed = conditionOf(state.state) === "failed";
  const answered = !("state" in definition.outputs.shape) || (!isUnset(state.state) && !failed);
  let unread = answered ? state : undefined;

  const look = async (): Promise<Look<Props>> => {
    if (unread === undefined) {
      const item = await find();
      if (!item) return { waiting: "not listed yet" };
      const shown = collection.shown(item);
      if (isOlder(shown, known) && session.clock.now() < behindUntil) return { waiting: "listed as it was before" };
      state = merge({}, state, shown);
    }
    unread = undefined;
    const condition = conditionOf(state.state);
    if (condition === "failed") {
      throw new UserError(
        `it went to the state "${String(state.state)}". Look at it in the console; \`pulumi destroy\` removes it, ` +
          "and `pulumi up --replace` with its URN makes a new one.",
      );
    }
    if (condition === "pending") return { waiting: `"${String(state.state)}"` };
    if (definition.shownLater?.some((key) => isUnset(state[key])) && incomplete++ < looksForShownLater) {
      return { waiting: "not fully shown yet" };
    }
    if (!definition.details) return { done: state };
    const details = await definition.details.read(session.client, id, state);
    return details ? { done: merge({}, state, details) } : { waiting: definition.details.waiting };
  };

  const find = async (): Promise<Identified | undefined> => {
    const listed = await collection.listed(id, lookAgeMs);
    if (listed && isGone(listed)) throw new UserError("it was deleted by somebody else while this run waited for it.");
    if (listed) return listed;
    if (++missing % looksBeforeAsking !== 0) return undefined;
    return collection.get(id);
  };

  try {
    return await waitFor(session, what, look, collection.path);
  } catch (error) {
    const kept = "It is kept in the state as it is; run `pulumi up` again to continue.";
    throw new Incomplete(
      id,
      state,
      new UserError(`${what} (${id}) exists, but is not ready: ${messageOf(error)} ${kept}`),
    );
  }
}
