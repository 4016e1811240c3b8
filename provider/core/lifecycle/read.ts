import { type Collection } from "../collection";
import { type Props } from "../definition";
import { UserError } from "../user-error";
import { merge } from "../state";

/** A list this old serves a whole refresh; what this process changes itself is asked for anew. */
const readAgeMs = 10_000;

/** The state as it is now; undefined: gone, and that was confirmed. */
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
  // What a list does not show is only asked for when it is not known, or the object changed.
  const isKnown = details?.outputs.every((key) => state[key] !== undefined) && state.revision === now.revision;
  if (!details || isKnown) return now;
  return merge({}, now, (await details.read(session.client, id, now)) ?? {});
}
