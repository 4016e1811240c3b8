import { setTimeout as wait } from "node:timers/promises";

/** Time is passed in, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds, never decreasing. */
  now(): number;
  /** The signal ends it early, with the signal's error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Who makes a call, for the log: such as `create` of `Node "acme-1"`. */
export interface Caller {
  verb: string;
  resource: string;
}

/** When something must be done. */
export interface Deadline {
  /** Time by the clock. Infinity: no deadline. */
  at: number;
  /** In words, such as `300 s`. */
  limit: string;
  /** That the limit is from. */
  setting?: string;
  caller?: Caller | undefined;
}

export const noDeadline: Deadline = { at: Infinity, limit: "all the time there is" };

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
};

/** Waits for an answer, but not longer than this. @throws what `late` makes then */
export async function inTime<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const answered = new AbortController();
  const over = clock.sleep(Math.max(0, ms), answered.signal).then(() => {
    throw late();
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    over.catch(() => undefined); // woken
    answered.abort();
  }
}

/** How many of the newest answers count: somebody may set the service's clock. */
const datesKept = 16;

/** The service's clock, estimated from the `Date` headers of its answers. */
export class ServiceClock {
  /** Lower bounds in ms for how far it is ahead of ours: a `Date` is truncated to seconds, and older than its answer. */
  #ahead: number[] = [];

  saw(date: string | undefined, at: number): void {
    const shown = Date.parse(date ?? "");
    if (!Number.isNaN(shown)) this.#ahead = [...this.#ahead, shown - at].slice(-datesKept);
  }

  /** The service's earliest possible time at a time of ours, in ms since 1970. undefined: no answer had a date. */
  earliest(at: number): number | undefined {
    return this.#ahead.length > 0 ? at + Math.max(...this.#ahead) : undefined;
  }
}
