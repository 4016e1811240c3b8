import { UserError } from "./user-error";
import { type Session } from "./session";

/** The result of a look: done, or what the progress line says, such as the state. */
export type Look<T> = { done: T } | { waiting: string };

/** How old a list may be for one look, so that siblings share a call. */
export const lookAgeMs = 400;
/** The longest lag of a list to wait for. */
export const longestLagMs = 60_000;
const firstDelaysMs = [500, 1_000, 2_000];
/** A node takes 30 to 60 seconds to start (spec, section 8), so look more often then. */
const likely = { fromMs: 30_000, toMs: 50_000, everyMs: 1_500 };
const steadyMs = 4_000;

/** Soon at first, then at times that all siblings share, so that one list call serves them. */
export function nextLookMs(looks: number, now: number, elapsed: number): number {
  const beat = elapsed >= likely.fromMs && elapsed < likely.toMs ? likely.everyMs : steadyMs;
  return firstDelaysMs[looks] ?? beat - (now % beat);
}

/**
 * Looks until done or until the session's deadline. Reports what it waits for when that changes, and otherwise ever more
 * rarely.
 * @param look may throw to end the wait at once
 * @param group those who wait for the same kind of thing in the same place share a line
 */
export async function waitFor<T>(
  session: Session,
  what: string,
  look: () => Promise<Look<T>>,
  group = what,
): Promise<T> {
  const { clock, deadline } = session;
  const start = clock.now();
  const progress = session.progress.join(group, what);
  try {
    for (let looks = 0; ; looks++) {
      const seen = await look();
      if ("done" in seen) return seen.done;
      const now = clock.now();
      if (now >= deadline.at)
        throw new UserError(`still ${seen.waiting} after ${deadline.limit}, which is the limit (customTimeouts).`);
      progress.tell(seen.waiting);
      await clock.sleep(Math.min(nextLookMs(looks, now, now - start), deadline.at - now));
    }
  } finally {
    progress.leave();
  }
}
