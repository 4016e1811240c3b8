import { setTimeout as wait } from "node:timers/promises";

/** The longest timer (ms); longer waits check again. */
const longest = 3_600_000;

/** Does the due work of each tether, one task at a time. */
export class Schedule {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #working = new SingleFlight<void>();
  #closed = false;

  /** @param work does the due work, and returns when to call it again */
  constructor(
    private readonly clock: () => number,
    private readonly work: (id: string) => Promise<number | undefined>,
  ) {}

  set(id: string, due: number | undefined): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (due === undefined || this.#closed) return;
    const timer = setTimeout(() => void this.look(id, due), Math.min(Math.max(due - this.clock(), 0), longest));
    this.#timers.set(id, timer.unref());
  }

  /** Does the due work. Waits for it at most `atMost` ms, and never fails. */
  async look(id: string, due: number | undefined, atMost = 0): Promise<void> {
    if (this.#closed || due === undefined) return;
    if (due > this.clock()) return this.#working.has(id) ? undefined : this.set(id, due);
    const working = this.#working.join(id, () => this.#work(id));
    if (atMost > 0) await Promise.race([working, wait(atMost, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#working.settled();
  }

  async #work(id: string): Promise<void> {
    const failed = () => this.clock() + 1_000; // such as a full disk: try again
    this.set(id, await this.work(id).catch(failed));
  }
}

/** Work in progress, by key. Callers of the same work share its outcome. */
export class SingleFlight<T> {
  readonly #works = new Map<string, Promise<T>>();

  has = (key: string) => this.#works.has(key);

  join(key: string, begin: () => Promise<T>): Promise<T> {
    const work = this.#works.get(key) ?? begin().finally(() => this.#works.delete(key));
    this.#works.set(key, work);
    return work;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#works.values());
  }
}
