import { type Identified, isApiError } from "../api";
import { paths } from "../api/paths";
import { type CollectionDefinition, nameOf, type Place, type Props } from "./definition";
import { sameName, sameValue } from "./same-value";
import { wireName } from "./field";
import { isGone } from "../api/states";
import { type Listing } from "./lists";
import { type Session } from "./session";
import { fromWire } from "./state";

/** `unlistable`: the service does not list this collection, and its owner is there. */
export type Presence = { item: Identified } | "gone" | "unlistable";

/** The objects of one kind in one place, for one verb: what the service says of them, and what this process knows besides. */
export class Collection {
  /** Path of the collection, such as `/consortia/c1/environments`. */
  readonly path: string;

  constructor(
    readonly session: Session,
    readonly definition: CollectionDefinition,
    readonly place: Place,
  ) {
    this.path = place.collection;
  }

  /** Where the inputs, or a state, say that the object is. */
  static of(session: Session, definition: CollectionDefinition, props: Props): Collection {
    return new Collection(session, definition, definition.place(props));
  }

  pathOf(id: string): string {
    return paths.item(this.path, id);
  }

  /** How messages call the object with these properties. */
  nameOf(props: Props): string {
    return nameOf(this.definition, props);
  }

  /** All of them, as the service listed them at most `maxAgeMs` ago. */
  list(maxAgeMs: number): Promise<Identified[]> {
    return this.session.lists.get(this.path, maxAgeMs);
  }

  /** One of them, gone or not, where the list has it. */
  async listed(id: string, maxAgeMs: number): Promise<Identified | undefined> {
    return (await this.look(maxAgeMs)).items.find((item) => item.id === id);
  }

  /** As many of them as the service shows. */
  look(maxAgeMs: number): Promise<Listing> {
    return this.session.lists.look(this.path, maxAgeMs);
  }

  /**
   * Those that are there, what this process made and the list does not have yet included; undefined: they cannot be listed.
   * @throws PartialList where the list is only a part: what is not in it may be there, and no name is free because of it
   */
  async siblings(maxAgeMs: number): Promise<Identified[] | undefined> {
    const { isUnlisted } = this.place;
    try {
      const { items, part } = await this.look(maxAgeMs);
      if (!part) return this.there(items);
      if (isUnlisted) return undefined;
      throw part;
    } catch (error) {
      if (isUnlisted && isApiError(error, "missing", "unsupported", "denied")) return undefined;
      throw error;
    }
  }

  /** Those of a list that are there, with what this process made and the list does not have yet. */
  there(listed: Identified[]): Identified[] {
    const known = new Map([...this.made(), ...listed].map((item) => [item.id, item]));
    return [...known.values()].filter((item) => !isGone(item) && !this.session.lists.wasRemoved(this.path, item.id));
  }

  /** Those of the given ones that have the name of the inputs. */
  namesakes(inputs: Props, items: Identified[]): Identified[] {
    const { naming } = this.definition;
    if (!naming) return [];
    const field = wireName(naming); // not read through the schema: this runs for all siblings of each one that is made
    return items.filter((item) => sameValue(item[field], inputs[naming]));
  }

  /**
   * Those that a service may show for what is created with these inputs: it may write a name in its own way. What has exactly
   * the name comes first, and what has exactly the name of another create of this process is that one's.
   */
  namedLike(inputs: Props, items: Identified[]): Identified[] {
    const exact = this.namesakes(inputs, items);
    const { naming } = this.definition;
    if (!naming || exact.length > 0) return exact;
    const field = wireName(naming);
    const isOthers = (item: Identified): boolean => this.session.lists.isClaimed(this.claimOf(item[field]));
    return items.filter((item) => sameName(item[field], inputs[naming]) && !isOthers(item));
  }

  /** The name that the service shows. */
  nameIn(item: Identified): string {
    const { naming } = this.definition;
    return naming ? String(item[wireName(naming)]) : "";
  }

  /** Under what a create of this name runs alone. */
  claimOf(name: unknown): string {
    return `${this.path} ${String(name).trim()}`;
  }

  /** Whether the object is there; "gone" only where that is certain. */
  find(id: string, maxAgeMs: number): Promise<Presence> {
    return locate(this.session, this.place, id, maxAgeMs);
  }

  /** The object by GET, which only nodes have by the spec; undefined where there is none, or no such call. */
  get(id: string): Promise<Identified | undefined> {
    return getById(this.session, this.place, id);
  }

  /** What the service shows of the object, under the names of the properties. */
  shown(item: Identified): Props {
    return fromWire(this.definition, item);
  }

  /** What this process made there and has not removed. */
  made(): Identified[] {
    return this.session.lists.made(this.path);
  }

  recordMade(item: Identified): void {
    this.session.lists.recordMade(this.path, item);
  }

  async delete(id: string): Promise<void> {
    await this.session.client.delete(this.pathOf(id)).catch((error: unknown) => {
      if (!isApiError(error, "missing")) throw error;
    });
    this.recordRemoved(id);
  }

  recordRemoved(id: string): void {
    this.session.lists.recordRemoved(this.path, id);
  }
}

/**
 * Whether an object is there. "Gone" is only said when it was confirmed: by its state, or by two lists without it
 * and an answer 404/410 (or none) to a GET by id; never after a failure, a refused key or a wrong address.
 */
export async function locate(session: Session, place: Place, id: string, maxAgeMs: number): Promise<Presence> {
  let listed: Listing;
  try {
    listed = await session.lists.look(place.collection, maxAgeMs);
  } catch (error) {
    // The list may be refused because its owner is gone, which takes the object with it.
    if (!isApiError(error, "missing", "unsupported", "denied", "invalid", "conflict") || !place.parent) throw error;
    const owner = await locate(session, place.parent.place, place.parent.id, maxAgeMs);
    if (owner === "gone") return "gone";
    if (isApiError(error, "missing", "unsupported")) return "unlistable";
    throw error;
  }
  // A list may lag: ask by id, where the service knows that, and for a list made now.
  const within = ({ items }: Listing): Identified | undefined => items.find((one) => one.id === id);
  let item = within(listed) ?? (await getById(session, place, id));
  if (!item) {
    listed = await session.lists.look(place.collection, 0);
    item = within(listed);
    // In a part it may only not be shown; but a service that shows another one by its id would show this one, too.
    if (!item && listed.part && !(await showsById(session, place, listed.items))) throw listed.part;
  }
  return item && !isGone(item) ? { item } : "gone";
}

async function showsById(session: Session, place: Place, items: Identified[]): Promise<boolean> {
  const another = items.find((item) => !isGone(item));
  return another !== undefined && (await getById(session, place, another.id)) !== undefined;
}

async function getById({ client }: Session, place: Place, id: string): Promise<Identified | undefined> {
  const found = await client.find(paths.item(place.collection, id));
  return found && { ...found, id };
}
