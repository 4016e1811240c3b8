import { type CollectionDefinition, nameOf, type Props } from "./definition";
import { UserError } from "./errors";
import { locate } from "./presence";
import { type Session } from "./session";
import { fromWire, merge } from "./state";

/** A list this old serves a whole refresh; what this process changes itself is asked for anew. */
const readAgeMs = 10_000;

/** The state as it is now; undefined: gone, and that was confirmed. */
export async function read(
  session: Session,
  definition: CollectionDefinition,
  id: string,
  state: Props,
): Promise<Props | undefined> {
  const place = definition.place(state);
  const presence = await locate(session, place, id, readAgeMs);
  if (presence === "unlistable") {
    if (definition.unlistable) return merge({}, state, {});
    throw new UserError(
      `${nameOf(definition, state)} (${id}): the service does not list ${place.collection}, so its state cannot be read.`,
    );
  }
  if (presence === "gone") return undefined;
  const now = merge({}, state, fromWire(definition, presence.item));
  // What a list does not show is only asked for when it is not known, or the object changed.
  const known = (definition.detailed ?? []).every((key) => state[key] !== undefined);
  if (!definition.details || (known && state.revision === now.revision)) return now;
  return merge({}, now, (await definition.details(session, id, now)) ?? {});
}
