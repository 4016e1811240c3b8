/**
 * A time that never goes back: what was created must stay created, and what was deleted must stay deleted, when the machine's clock
 * is set back. It then goes on from the latest time that was seen.
 */
export class SteadyClock {
  #shift = 0;
  #latest = -Infinity;

  constructor(private readonly clock: () => number) {}

  readonly now = (): number => {
    const time = this.clock() + this.#shift;
    if (time < this.#latest) this.#shift += this.#latest - time;
    return (this.#latest = Math.max(time, this.#latest));
  };

  /** Something happened at this time. */
  readonly saw = (time: number): void => {
    this.#latest = Math.max(this.#latest, time);
  };
}
