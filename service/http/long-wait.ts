import { setTimeout as wait } from "node:timers/promises";

/** The longest that a timer of Node.js can be set for: a longer one fires at once. */
const longest = 2 ** 31 - 1;

/** Waits any number of ms, however many; fails once the signal says so. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= longest) await wait(Math.min(left, longest), undefined, { signal });
}
