import { setTimeout as wait } from "node:timers/promises";

/** Time is passed in, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** The signal ends it early, with its own error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Until when something may take. */
export interface Deadline {
  /** Time of the clock; Infinity: for ever. */
  at: number;
  /** The limit in words, such as `300 s`. */
  limit: string;
}

export const noDeadline: Deadline = { at: Infinity, limit: "all the time there is" };

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
};

/** How many answers tell of the service's clock: the newest, since it may be set. */
const datesKept = 16;

/** The service's clock, as far as the `Date` of its answers tells it. */
export class ServiceClock {
  /** By how much it is ahead of ours at least, in ms: a date is cut to seconds, and older than its answer. */
  #ahead: number[] = [];

  saw(date: string | undefined, at: number): void {
    const shown = Date.parse(date ?? "");
    if (!Number.isNaN(shown)) this.#ahead = [...this.#ahead, shown - at].slice(-datesKept);
  }

  /** Its time at a time of ours, in ms since 1970, at the earliest; undefined: no answer had a date. */
  earliest(at: number): number | undefined {
    return this.#ahead.length > 0 ? at + Math.max(...this.#ahead) : undefined;
  }
}
