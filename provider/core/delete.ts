import { type ApiError, type Identified, isApiError } from "../api";
import { conflictOf } from "../api/conflict";
import { type CollectionDefinition, nameOf, type Place, type Props } from "./definition";
import { UserError } from "./errors";
import { isGone } from "./lists";
import { locate, pathOf } from "./presence";
import { type Session } from "./session";
import { waitFor } from "./wait";

/** How long the service may refuse a deletion for a reason that may pass. */
const refusalMs = { conflict: 120_000, invalid: 20_000 };
/** What is in it goes with what this run deletes. When that has been over for this long, the rest stays. */
const contentMs = 10_000;
/** How long an object may still be listed after "no such thing" before we say that it cannot be deleted. */
const doubtMs = 20_000;
/** Siblings whose deletion was answered within this time share one look at the list. */
const shareMs = 100;

/** What the service said to the DELETE: it is gone at once, it goes, it knows no such thing, or not yet. */
type Answer = "gone" | "going" | "unknown" | { refused: ApiError };

/** Deletes the object and waits until it is really gone. Gone already is success. */
export async function remove(
  session: Session,
  definition: CollectionDefinition,
  id: string,
  state: Props,
): Promise<void> {
  const { clock, lists } = session;
  const place = definition.place(state);
  const what = `${nameOf(definition, state)} (${id})`;
  const start = clock.now();
  let answer: Answer | undefined;
  let over: (() => void) | undefined;

  const look = async (): Promise<boolean> => {
    if (answer === undefined || typeof answer === "object") answer = await ask(session, definition, what, place, id);
    if (typeof answer === "string") over ??= lists.deleting();
    if (answer === "gone") return true;
    if (typeof answer === "object") {
      const waited = clock.now() - start;
      // A deletion has no body, so the words mean the same with any status.
      const content = conflictOf({ status: 409, errorMessage: answer.refused.errorMessage }) === "content";
      const patient = content
        ? Math.min(waited, lists.calmMs()) < contentMs
        : waited < refusalMs[answer.refused.kind as keyof typeof refusalMs];
      if (patient) return false;
      throw new UserError(
        `${what} could not be deleted: ${answer.refused.message} Something that this stack does not manage may still ` +
          "be in it: delete that in the console and run the command again.",
      );
    }
    if (answer === "unknown") {
      // Only believed when the lists agree: such an answer may come from a wrong address.
      if (typeof (await locate(session, place, id, 0)) === "string") return true;
      if (clock.now() - start < doubtMs) return false;
      throw new UserError(
        `${what} could not be deleted: the service says that there is no such thing, and still lists it. ` +
          "Delete it in the console, then run `pulumi refresh`.",
      );
    }
    await clock.sleep(shareMs);
    return !(await isListed(session, place, id));
  };

  await waitFor(
    session,
    what,
    session.deadline.at - clock.now(),
    async () => {
      if (await look()) return { done: undefined };
      return {
        waiting: typeof answer === "object" ? `kept by the service (${answer.refused.errorMessage})` : "being deleted",
      };
    },
    `DELETE ${place.collection}`,
  )
    .catch((error: unknown) => {
      if (error instanceof UserError && !error.message.startsWith(what))
        throw new UserError(`${what}: ${error.message}`);
      throw error;
    })
    .finally(() => over?.());
  lists.recordRemoved(place.collection, id);
}

async function ask(
  session: Session,
  definition: CollectionDefinition,
  what: string,
  place: Place,
  id: string,
): Promise<Answer> {
  try {
    const { body } = await session.client.http.request("DELETE", pathOf(place, id));
    return typeof body === "object" && body !== null && isGone(body as Identified) ? "gone" : "going";
  } catch (error) {
    if (isApiError(error, "missing")) return "unknown";
    if (isApiError(error, "conflict", "invalid")) return { refused: error };
    if (isApiError(error, "unsupported")) {
      const next = "Delete it in the console, then run `pulumi refresh`.";
      throw new UserError(`${what} cannot be deleted through this service (${error.message}) ${next}`);
    }
    // A service may answer "not allowed" for what is no longer there.
    if (isApiError(error, "denied") && error.status === 403 && (await locate(session, place, id, 0)) === "gone")
      return "gone";
    throw error;
  }
}

async function isListed(session: Session, place: Place, id: string): Promise<boolean> {
  try {
    const items = await session.lists.get(place.collection, shareMs);
    return items.some((item) => item.id === id && !isGone(item));
  } catch (error) {
    if (!isApiError(error)) throw error;
    return typeof (await locate(session, place, id, shareMs)) === "object";
  }
}
