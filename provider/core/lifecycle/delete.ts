import { type ApiError, isApiError } from "../../api";
import { conflictOf } from "../../api/conflict";
import { type Collection, Listed } from "../collection";
import { type Props } from "../definition";
import { UserError } from "../user-error";
import { isGone } from "../../api/states";
import { isAdoptedShared } from "../state";
import { waitFor } from "../wait";

/** The object cannot be deleted. The message names it. */
class NotDeleted extends UserError {}

/** How long to retry a deletion that is refused for a temporary reason. */
const refusalMs = { conflict: 120_000, invalid: 20_000 };
/** How long after this run's last deletion an object may still look full. */
const contentMs = 10_000;
/** How long an object may stay listed after a 404 before we report that it cannot be deleted. */
const stillListedMs = 20_000;
/** Owners rarely change. */
const parentAgeMs = 10_000;
/** Siblings deleted within this time share one list call. */
const shareMs = 100;

/** The answer to the DELETE: gone, going, unknown to the service, goes with its parent, or refused for now. */
type Answer = "gone" | "going" | "unknown" | "stays" | { refused: ApiError };

/**
 * Deletes the object and waits until it is really gone. Succeeds if it already is.
 * @returns why it stays; undefined: it is gone, or goes with what it founded
 */
export async function deleteObject(collection: Collection, id: string, state: Props): Promise<string | undefined> {
  const { session, definition } = collection;
  const { clock, collections } = session;
  const { shared } = definition;
  const what = `${collection.nameOf(state)} (${id})`;
  const user = await shared?.usedBy(session, id, state, isAdoptedShared(definition, state));
  if (user !== undefined) {
    session.say(`${what}: is left as it is, since ${user}`);
    return user;
  }
  const start = clock.now();
  let answer: Answer | undefined;
  let left: string | undefined;
  let over: (() => void) | undefined;

  const look = async (): Promise<boolean> => {
    if (answer === undefined || typeof answer === "object") answer = await send(collection, what, id);
    if (typeof answer === "string") over ??= collections.deleting();
    if (answer === "gone" || answer === "stays") return true;
    if (typeof answer === "object") {
      const waited = clock.now() - start;
      // A DELETE has no body, so the words mean the same with any status.
      const content = conflictOf({ status: 409, errorMessage: answer.refused.errorMessage }) === "content";
      const patient = content
        ? Math.min(waited, collections.sinceDeletionMs()) < contentMs
        : waited < refusalMs[answer.refused.kind as keyof typeof refusalMs];
      if (patient) return false;
      if (shared?.applies(state)) {
        left = `others may share it: ${answer.refused.message}`;
        session.say(`${what}: is left as it is, since ${left}`);
        answer = "stays";
        return true;
      }
      throw new NotDeleted(
        `${what} could not be deleted: ${answer.refused.message} Something that this stack does not manage may still ` +
          "be in it: delete that in the console and run the command again.",
      );
    }
    if (answer === "unknown") {
      // Believe this only if the lists agree: a wrong address answers the same.
      if (typeof (await collection.find(id, 0)) === "string") return true;
      if (clock.now() - start < stillListedMs) return false;
      throw new NotDeleted(
        `${what} could not be deleted: the service reports it missing, but still lists it. ` +
          "Delete it in the console, then run `pulumi refresh`.",
      );
    }
    await clock.sleep(shareMs);
    return !(await isListed(collection, id));
  };

  await waitFor(
    session,
    what,
    async () => {
      if (await look()) return { done: undefined };
      return {
        waiting: typeof answer === "object" ? `kept by the service (${answer.refused.errorMessage})` : "being deleted",
      };
    },
    `DELETE ${collection.path}`,
  )
    .catch((error: unknown) => {
      if (!(error instanceof UserError) || error instanceof NotDeleted) throw error;
      throw new UserError(`${what}: ${error.message}`);
    })
    .finally(() => over?.());
  collection.recordRemoved(id);
  return left;
}

async function send(collection: Collection, what: string, id: string): Promise<Answer> {
  try {
    const body = await collection.session.client.delete(collection.pathOf(id));
    return typeof body === "object" && body !== null && isGone(body) ? "gone" : "going";
  } catch (error) {
    if (isApiError(error, "missing")) return "unknown";
    if (isApiError(error, "conflict", "invalid")) return { refused: error };
    if (isApiError(error, "unsupported")) {
      const next = "Delete it in the console, then run `pulumi refresh`.";
      throw new NotDeleted(`${what} cannot be deleted through this service (${error.message}) ${next}`);
    }
    if (!isApiError(error, "denied") || error.status !== 403) throw error;
    return refusedKey(collection, what, id, error);
  }
}

/** A 403 may not be about the key: the object may be gone already, or go with its parent. */
async function refusedKey(collection: Collection, what: string, id: string, error: ApiError): Promise<Answer> {
  const { session, definition, place } = collection;
  const presence = await collection.find(id, 0);
  if (presence === "gone") return "gone";
  if (typeof presence === "string") throw error;
  const { parent } = place;
  const siblings = parent && (await new Listed(session, parent.place).look(parentAgeMs)).items;
  const owner = siblings?.find((one) => one.id === parent!.id);
  if (owner && definition.foundedWith?.(presence.item, owner)) {
    session.say(
      `${what}: stays as long as what it founded, with which it goes: the service does not delete it alone (${error.errorMessage})`,
    );
    return "stays";
  }
  throw new NotDeleted(
    `${what} is not deleted: the service shows it to this API key, but does not let it delete it (${error.call}: HTTP 403: ` +
      `${error.errorMessage}). Use a key that may, or delete it in the console and run \`pulumi refresh\`.`,
  );
}

async function isListed(collection: Collection, id: string): Promise<boolean> {
  try {
    const { items, part } = await collection.look(shareMs);
    const item = items.find((one) => one.id === id);
    if (item || !part) return item !== undefined && !isGone(item);
    return typeof (await collection.find(id, shareMs)) === "object";
  } catch (error) {
    if (!isApiError(error)) throw error;
    return typeof (await collection.find(id, shareMs)) === "object";
  }
}
