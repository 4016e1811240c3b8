import { setTimeout as wait } from "node:timers/promises";

/** The longest that a timer is set for; it then looks again. */
const longest = 3_600_000;

/** What is to be done when, for each tether one thing after the other. */
export class Schedule {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #working = new Map<string, Promise<void>>();
  #closed = false;

  /** @param work does what is due, and answers when there is more to do */
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

  /** Does what is due by now; who waits for it waits so long at most. It never fails. */
  async look(id: string, due: number | undefined, atMost = 0): Promise<void> {
    if (this.#closed || due === undefined) return;
    if (due > this.clock()) return this.#working.has(id) ? undefined : this.set(id, due);
    const working = this.#working.get(id) ?? this.#begin(id);
    if (atMost > 0) await Promise.race([working, wait(atMost, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#working.values());
  }

  #begin(id: string): Promise<void> {
    const working = this.work(id)
      .then(
        (next) => next,
        () => this.clock() + 1_000, // such as a full disk: it is tried again
      )
      .then((next) => {
        this.#working.delete(id);
        this.set(id, next);
      });
    this.#working.set(id, working);
    return working;
  }
}
