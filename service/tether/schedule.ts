/** The longest that a timer is set for; it then looks again. */
const longest = 3_600_000;

/** What is to be done when, for each tether one thing after the other. */
export class Schedule {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #turns = new Map<string, Promise<unknown>>();
  #closed = false;

  /** @param work does what is due, and answers when there is more to do */
  constructor(
    private readonly clock: () => number,
    private readonly work: (id: string) => Promise<number | undefined>,
  ) {}

  /** Does something when all before it is done. */
  inTurn<T>(id: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#turns.set(
      id,
      turn.catch(() => undefined),
    );
    return turn;
  }

  set(id: string, due: number | undefined): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (due === undefined || this.#closed) return;
    const timer = setTimeout(
      () => void this.look(id, due).catch(() => undefined),
      Math.min(Math.max(due - this.clock(), 0), longest),
    );
    this.#timers.set(id, timer.unref());
  }

  /** Does what is due by now. */
  async look(id: string, due: number | undefined): Promise<void> {
    if (this.#closed || due === undefined) return;
    if (due > this.clock()) return this.set(id, due);
    await this.inTurn(id, async () => {
      if (!this.#closed) this.set(id, await this.work(id));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#turns.values());
  }
}
