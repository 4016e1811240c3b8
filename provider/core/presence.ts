import { type Identified, isApiError } from "../api";
import { path } from "../api/path";
import { type Place } from "./definition";
import { isGone } from "./lists";
import { type Session } from "./session";

/** `unlistable`: the service does not list this collection, and its owner is there. */
export type Presence = { item: Identified } | "gone" | "unlistable";

export const pathOf = (place: Place, id: string): string => place.collection + path`/${id}`;

/**
 * Whether an object is there. "Gone" is only said when it was confirmed: by its state, or by two lists without it
 * and an answer 404/410 (or none) to a GET by id; never after a failure, a refused key or a wrong address.
 */
export async function locate(session: Session, place: Place, id: string, maxAgeMs: number): Promise<Presence> {
  let items: Identified[];
  try {
    items = await session.lists.get(place.collection, maxAgeMs);
  } catch (error) {
    // The list may be refused because its owner is gone, which takes the object with it.
    if (!isApiError(error, "missing", "unsupported", "denied", "invalid", "conflict") || !place.parent) throw error;
    const owner = await locate(session, place.parent.place, place.parent.id, maxAgeMs);
    if (owner === "gone") return "gone";
    if (isApiError(error, "missing", "unsupported")) return "unlistable";
    throw error;
  }
  const listed = items.find((item) => item.id === id);
  if (listed) return isGone(listed) ? "gone" : { item: listed };
  return confirmGone(session, place, id);
}

/** A list may lag or be cut into pages: ask by id, where the service knows that, and for a list made now. */
async function confirmGone(session: Session, place: Place, id: string): Promise<Presence> {
  const found = await getById(session, place, id);
  if (found) return isGone(found) ? "gone" : { item: found };
  const items = await session.lists.get(place.collection, 0);
  const listed = items.find((item) => item.id === id);
  return listed && !isGone(listed) ? { item: listed } : "gone";
}

/** GET by id, which only nodes have by the spec; undefined where there is no such object or no such call. */
export async function getById(session: Session, place: Place, id: string): Promise<Identified | undefined> {
  try {
    const { body } = await session.client.http.request("GET", pathOf(place, id));
    if (typeof body !== "object" || body === null) return undefined;
    return { ...body, id };
  } catch (error) {
    if (isApiError(error, "missing", "unsupported", "invalid")) return undefined;
    throw error;
  }
}
