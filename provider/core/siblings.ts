import { type Identified, isApiError } from "../api";
import { sameValue } from "./canonical";
import { type CollectionDefinition, type Place, type Props } from "./definition";
import { wireName } from "./field";
import { isGone } from "./lists";
import { type Session } from "./session";

/** The siblings that are there; undefined where the service does not list them (only credentials may be such). */
export async function siblingsOf(
  session: Session,
  definition: CollectionDefinition,
  place: Place,
  maxAgeMs: number,
): Promise<Identified[] | undefined> {
  const { lists } = session;
  try {
    const listed = await lists.get(place.collection, maxAgeMs);
    const known = new Map([...lists.made(place.collection), ...listed].map((item) => [item.id, item]));
    return [...known.values()].filter((item) => !isGone(item) && !lists.wasRemoved(place.collection, item.id));
  } catch (error) {
    if (definition.unlistable && isApiError(error, "missing", "unsupported", "denied")) return undefined;
    throw error;
  }
}

/** Those that bear the name that the inputs give. */
export function namesakes(definition: CollectionDefinition, inputs: Props, siblings: Identified[]): Identified[] {
  const { naming } = definition;
  if (!naming) return [];
  const field = wireName(naming); // not read through the schema: this runs for all siblings of each one that is made
  return siblings.filter((item) => sameValue(item[field], inputs[naming]));
}
