import {
  type Clock,
  type ConsortiumClient,
  type Deadline,
  type Identified,
  isApiError,
  noDeadline,
  PartialList,
} from "../api";
import { Anything } from "../api/wire";
import { UserError } from "./user-error";

interface Entry {
  /** When the request was sent, or is about to be: the list is at least this new. */
  startedAt: number;
  /** The call is given up then: whoever has more time asks again. */
  until: number;
  items: Promise<Identified[]>;
}

/** As much of a collection as the service shows. */
export interface Listing {
  items: Identified[];
  /** Where it is only a part: the error for who needs all of it. */
  part?: PartialList;
}

/**
 * One list call serves all siblings: callers say how old an answer may be, and join a request that is new enough.
 * Remembers what this process made and removed, since lists may lag behind.
 */
export class SharedLists {
  constructor(
    private readonly client: ConsortiumClient,
    private readonly clock: Clock,
    private readonly deadline: Deadline = noDeadline,
    private readonly shared = {
      entries: new Map<string, Entry>(),
      made: new Map<string, Map<string, Identified>>(),
      removed: new Set<string>(),
      claims: new Set<string>(),
      creates: new Map<string, Set<Promise<unknown>>>(),
      deletions: new Set<symbol>(),
      lastDeletion: -Infinity,
    },
  ) {}

  /** The same lists for a verb that ends at the deadline. */
  until(deadline: Deadline): SharedLists {
    return new SharedLists(this.client.until(deadline), this.clock, deadline, this.shared);
  }

  /** As much of the collection as the service shows. */
  async look(collection: string, maxAgeMs: number): Promise<Listing> {
    try {
      return { items: await this.get(collection, maxAgeMs) };
    } catch (error) {
      if (error instanceof PartialList) return { items: [...error.items] as Identified[], part: error };
      throw error;
    }
  }

  /** The collection, as the service showed it at most `maxAgeMs` ago. @throws PartialList where that is not all of it */
  async get(collection: string, maxAgeMs: number): Promise<Identified[]> {
    const entry = this.#listed(collection, maxAgeMs);
    const { items, until } = entry;
    const { at } = this.deadline;
    try {
      return await (until > at ? this.#inTime(collection, items) : items);
    } catch (error) {
      // A sibling with less time gave it up; an answer that lasts is kept, and no other would come.
      const givenUp = this.shared.entries.get(collection) !== entry;
      if (until < at && givenUp && isApiError(error)) return this.get(collection, maxAgeMs);
      throw error;
    }
  }

  /** A call that siblings share may take longer than this verb has. */
  async #inTime(collection: string, items: Promise<Identified[]>): Promise<Identified[]> {
    const answered = new AbortController();
    const { at, limit } = this.deadline;
    const over = this.clock.sleep(Math.max(0, at - this.clock.now()), answered.signal).then(() => {
      throw new UserError(`GET ${collection} was not answered in time: the limit is ${limit} (customTimeouts).`);
    });
    try {
      return await Promise.race([items, over]);
    } finally {
      over.catch(() => undefined); // woken
      answered.abort();
    }
  }

  #listed(collection: string, maxAgeMs: number): Entry {
    const known = this.shared.entries.get(collection);
    const now = this.clock.now();
    if (known && known.startedAt >= now - maxAgeMs) return known;
    const items = this.client.list(collection, Anything);
    const entry: Entry = { startedAt: now, until: this.deadline.at, items };
    this.shared.entries.set(collection, entry);
    items.catch((error: unknown) => {
      // An answer such as "there is no such list" is worth keeping for the siblings; a passing fault is not.
      const lasting = isApiError(error, "missing", "unsupported", "denied", "partial");
      if (!lasting && this.shared.entries.get(collection) === entry) this.shared.entries.delete(collection);
    });
    return entry;
  }

  /** Its owner was made just now by this process: the collection is known to be empty, without asking. */
  startEmpty(collection: string): void {
    this.shared.entries.set(collection, { startedAt: this.clock.now(), until: Infinity, items: Promise.resolve([]) });
  }

  /** What this process made there and has not removed. */
  made(collection: string): Identified[] {
    return [...(this.shared.made.get(collection)?.values() ?? [])];
  }

  recordMade(collection: string, item: Identified): void {
    const made = this.shared.made.get(collection) ?? new Map<string, Identified>();
    this.shared.made.set(collection, made.set(item.id, item));
  }

  recordRemoved(collection: string, id: string): void {
    this.shared.made.get(collection)?.delete(id);
    this.shared.removed.add(`${collection}/${id}`);
  }

  wasRemoved(collection: string, id: string): boolean {
    return this.shared.removed.has(`${collection}/${id}`);
  }

  /** The service has taken a deletion; call what this answers when it is over. */
  deleting(): () => void {
    const one = Symbol("deletion");
    this.shared.deletions.add(one);
    return () => {
      this.shared.deletions.delete(one);
      this.shared.lastDeletion = this.clock.now();
    };
  }

  /** How long this process has been deleting nothing: what it empties may look full until then. */
  calmMs(): number {
    return this.shared.deletions.size > 0 ? 0 : this.clock.now() - this.shared.lastDeletion;
  }

  /** Sends a create there; `quiet` waits for it. */
  async creating<T>(collection: string, create: Promise<T>): Promise<T> {
    const all = this.shared.creates.get(collection) ?? new Set();
    this.shared.creates.set(collection, all.add(create));
    try {
      return await create;
    } finally {
      all.delete(create);
    }
  }

  /** Ends when the creates that are under way there now are answered: what they made is known then. */
  async quiet(collection: string): Promise<void> {
    await Promise.allSettled([...(this.shared.creates.get(collection) ?? [])]);
  }

  /** Runs a create alone under its name: two resources of one program cannot race for it. */
  async claim<T>(key: string, taken: () => Error, run: () => Promise<T>): Promise<T> {
    if (this.shared.claims.has(key)) throw taken();
    this.shared.claims.add(key);
    try {
      return await run();
    } finally {
      this.shared.claims.delete(key);
    }
  }

  /** Whether a create of this process runs under it. */
  isClaimed(key: string): boolean {
    return this.shared.claims.has(key);
  }
}
