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
