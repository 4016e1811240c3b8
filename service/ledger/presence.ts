/** Knows whether somebody uses a ledger. While nobody does, blocks without transactions are of no use. */
export class Presence {
  /** Those who are there until they leave: subscribers. */
  readonly #staying = new Set<unknown>();
  /** Until when the latest call counts. */
  #until = -Infinity;
  /** Whether there was a call since the latest block, however long a block takes. */
  #called = false;

  /** @param idle how long after a call its caller still counts as there (ms) */
  constructor(private readonly idle: number) {}

  get isSomebody(): boolean {
    return this.#called || this.#staying.size > 0 || performance.now() < this.#until;
  }

  calls(): void {
    this.#called = true;
    this.#until = performance.now() + this.idle;
  }

  enters(who: unknown): void {
    this.#staying.add(who);
  }

  leaves(who: unknown): void {
    if (this.#staying.delete(who)) this.calls();
  }

  /** Those who have called so far got their block. */
  gotBlock(): void {
    this.#called = false;
  }
}
