/** Time is passed in, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
