import { z } from "zod";
import { type Clock, type ConsortiumClient, type Identified, isApiError } from "../api";

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
  readonly #entries = new Map<string, Entry>();
  readonly #made = new Map<string, Map<string, Identified>>();
  readonly #removed = new Set<string>();
  readonly #claims = new Set<string>();
  readonly #deletions = new Set<symbol>();
  #lastDeletion = -Infinity;
  readonly #creates = new Map<string, Set<Promise<unknown>>>();

  constructor(
    private readonly client: ConsortiumClient,
    private readonly clock: Clock,
  ) {}

  /** The collection, as the service showed it at most `maxAgeMs` ago. */
  get(collection: string, maxAgeMs: number): Promise<Identified[]> {
    const known = this.#entries.get(collection);
    const now = this.clock.now();
    if (known && known.startedAt >= now - maxAgeMs) return known.items;
    const items = this.client.list(collection, Anything);
    const entry: Entry = { startedAt: now, items };
    this.#entries.set(collection, entry);
    items.catch((error: unknown) => {
      // An answer such as "there is no such list" is worth keeping for the siblings; a passing fault is not.
      const lasting = isApiError(error, "missing", "unsupported", "denied");
      if (!lasting && this.#entries.get(collection) === entry) this.#entries.delete(collection);
    });
    return items;
  }

  /** Its owner was made just now by this process: the collection is known to be empty, without asking. */
  startEmpty(collection: string): void {
    this.#entries.set(collection, { startedAt: this.clock.now(), items: Promise.resolve([]) });
  }

  /** What this process made there and has not removed. */
  made(collection: string): Identified[] {
    return [...(this.#made.get(collection)?.values() ?? [])];
  }

  recordMade(collection: string, item: Identified): void {
    const made = this.#made.get(collection) ?? new Map<string, Identified>();
    this.#made.set(collection, made.set(item.id, item));
  }

  recordRemoved(collection: string, id: string): void {
    this.#made.get(collection)?.delete(id);
    this.#removed.add(`${collection}/${id}`);
  }

  wasRemoved(collection: string, id: string): boolean {
    return this.#removed.has(`${collection}/${id}`);
  }

  /** The service has taken a deletion; call what this answers when it is over. */
  deleting(): () => void {
    const one = Symbol("deletion");
    this.#deletions.add(one);
    return () => {
      this.#deletions.delete(one);
      this.#lastDeletion = this.clock.now();
    };
  }

  /** How long this process has been deleting nothing: what it empties may look full until then. */
  calmMs(): number {
    return this.#deletions.size > 0 ? 0 : this.clock.now() - this.#lastDeletion;
  }

  /** Sends a create there; `quiet` waits for it. */
  async creating<T>(collection: string, create: Promise<T>): Promise<T> {
    const all = this.#creates.get(collection) ?? new Set();
    this.#creates.set(collection, all.add(create));
    try {
      return await create;
    } finally {
      all.delete(create);
    }
  }

  /** Ends when the creates that are under way there now are answered: what they made is known then. */
  async quiet(collection: string): Promise<void> {
    await Promise.allSettled([...(this.#creates.get(collection) ?? [])]);
  }

  /** Runs a create alone under its name: two resources of one program cannot race for it. */
  async claim<T>(key: string, taken: () => Error, run: () => Promise<T>): Promise<T> {
    if (this.#claims.has(key)) throw taken();
    this.#claims.add(key);
    try {
      return await run();
    } finally {
      this.#claims.delete(key);
    }
  }
}
