import { type Clock, type ConsortiumClient, systemClock } from "../provider/api";
import { isGone } from "../provider/api/states";
import { SharedLists } from "../provider/core/lists";

interface Entry {
  /** When it was asked for, so the answer is at least this new. */
  at: number;
  answer: Promise<unknown>;
}

/**
 * What the service has answered within the last seconds. However many look, each thing is asked for once while its
 * answer is new enough, through the one client and its limit of requests.
 */
export class SharedAnswers {
  readonly #entries = new Map<string, Entry>();
  readonly #lists: SharedLists;

  /** @param maxAgeMs how old an answer may be */
  constructor(
    readonly client: ConsortiumClient,
    readonly maxAgeMs = 2_000,
    private readonly clock: Clock = systemClock,
  ) {
    this.#lists = new SharedLists(client, clock);
  }

  /** The objects of a collection, without those that are deleted. */
  async list<T>(collection: string, schema: Readable<T>): Promise<T[]> {
    const items = await this.#lists.get(collection, this.maxAgeMs);
    return items.flatMap((item) => {
      const read = isGone(item) ? undefined : schema.safeParse(item);
      return read?.success ? [read.data] : [];
    });
  }

  /** What `ask` answers, or has answered under this key. */
  get<T>(key: string, ask: (client: ConsortiumClient) => Promise<T>): Promise<T> {
    const now = this.clock.now();
    const known = this.#entries.get(key);
    if (known && known.at >= now - this.maxAgeMs) return known.answer as Promise<T>;
    const entry: Entry = { at: now, answer: ask(this.client) };
    this.#entries.delete(key); // so that the oldest are always first
    this.#entries.set(key, entry);
    entry.answer.catch(() => this.#entries.get(key) === entry && this.#entries.delete(key));
    this.#forgetOld(now);
    return entry.answer as Promise<T>;
  }

  /** A console runs for days, and what is deleted is never asked for again. */
  #forgetOld(now: number): void {
    for (const [key, { at }] of this.#entries) {
      if (at >= now - this.maxAgeMs) return;
      this.#entries.delete(key);
    }
  }
}

/** What reads an object of the service, as the schemas of provider/api/wire do. */
interface Readable<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}
