import { z } from "zod";
import { type Clock, type ConsortiumClient, type Deadline, type Identified, isApiError } from "../api";
import { UserError } from "./errors";

interface Entry {
  /** When the request was sent, or is about to be: the list is at least this new. */
  startedAt: number;
  items: Promise<Identified[]>;
}

/** Any object with an id; the resource's own schema reads it further. */
const Anything = z.preprocess(
  (value) => {
    if (typeof value !== "object" || value === null) return value;
    const { _id, id, ...rest } = value as Record<string, unknown>;
    return { ...rest, id: _id ?? id };
  },
  z.looseObject({ id: z.string().min(1), state: z.string().optional().catch(undefined) }),
);

/** A deleted object may still be listed for a moment (spec, section 3). */
export const isGone = (item: Identified): boolean => item.state === "deleted";

/**
 * One list call serves all siblings: callers say how old an answer may be, and join a request that is new enough.
 * Remembers what this process made and removed, since lists may lag behind.
 */
export class SharedLists {
  constructor(
    private readonly client: ConsortiumClient,
    private readonly clock: Clock,
    private readonly deadline?: Deadline,
    private readonly shared = {
      entries: new Map<string, Entry>(),
      made: new Map<string, Map<string, Identified>>(),
      removed: new Set<string>(),
      claims: new Set<string>(),
      creates: new Map<string, Set<Promise<unknown>>>(),
    },
  ) {}

  /** The same lists for a verb that ends at the deadline: a call that siblings share may take longer than it has. */
  until(deadline: Deadline): SharedLists {
    return new SharedLists(this.client, this.clock, deadline, this.shared);
  }

  /** The collection, as the service showed it at most `maxAgeMs` ago. */
  async get(collection: string, maxAgeMs: number): Promise<Identified[]> {
    const items = this.#listed(collection, maxAgeMs);
    const { deadline } = this;
    if (!deadline || deadline.at === Infinity) return items;
    const answered = new AbortController();
    const over = this.clock.sleep(Math.max(0, deadline.at - this.clock.now()), answered.signal).then(() => {
      const seconds = "is all the time it has (customTimeouts)";
      throw new UserError(`GET ${collection} was not answered in time: ${deadline.limit} ${seconds}.`);
    });
    try {
      return await Promise.race([items, over]);
    } finally {
      answered.abort();
      over.catch(() => undefined); // woken
    }
  }

  #listed(collection: string, maxAgeMs: number): Promise<Identified[]> {
    const known = this.shared.entries.get(collection);
    const now = this.clock.now();
    if (known && known.startedAt >= now - maxAgeMs) return known.items;
    const items = this.client.list(collection, Anything);
    const entry: Entry = { startedAt: now, items };
    this.shared.entries.set(collection, entry);
    items.catch((error: unknown) => {
      // An answer such as "there is no such list" is worth keeping for the siblings; a passing fault is not.
      const lasting = isApiError(error, "missing", "unsupported", "denied");
      if (!lasting && this.shared.entries.get(collection) === entry) this.shared.entries.delete(collection);
    });
    return items;
  }

  /** Its owner was made just now by this process: the collection is known to be empty, without asking. */
  startEmpty(collection: string): void {
    this.shared.entries.set(collection, { startedAt: this.clock.now(), items: Promise.resolve([]) });
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
}
