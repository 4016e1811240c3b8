/**
 * A clock that never goes back: if the machine's clock is set back, it continues from the latest time that it saw. So created objects stay
 * created, and deleted ones stay deleted.
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

  /** Notes that something happened at this time. */
  readonly saw = (time: number): void => {
    this.#latest = Math.max(this.#latest, time);
  };
}
