import { traced } from "../api/trace";
import { UserError } from "../errors";
import { type Session } from "./session";
import { times } from "./times";

/** The result of a look: done, or what the progress line says, such as the state. */
export type Look<T> = { done: T } | { waiting: string };

/** Soon at first, then at times that all siblings share, so that one list call serves them. */
export function nextLookMs(looks: number, now: number, elapsed: number): number {
  const { steady, likely, likelyFrom, likelyTo } = times.waitEveryMs;
  const beat = elapsed >= likelyFrom && elapsed < likelyTo ? likely : steady;
  return times.firstWaitsMs[looks] ?? beat - (now % beat);
}

/**
 * Looks until done or until the session's deadline. Reports what it waits for when that changes, and otherwise ever more
 * rarely.
 * @param look may throw to end the wait at once
 * @param group those who wait for the same kind of thing in the same place share a line
 */
export const waitFor = <T>(session: Session, what: string, look: () => Promise<Look<T>>, group = what): Promise<T> =>
  traced(
    () => ({ name: "wait", attributes: { "consortium.waits_for": what } }),
    (note) => {
      let looks = 0;
      const counted = (): Promise<Look<T>> => {
        note?.({ "consortium.looks": ++looks });
        return look();
      };
      return lookUntilDone(session, what, counted, group);
    },
  );

async function lookUntilDone<T>(
  session: Session,
  what: string,
  look: () => Promise<Look<T>>,
  group: string,
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
        throw new UserError(
          "not-ready",
          `still ${seen.waiting} after ${deadline.limit}, which is the limit (customTimeouts).`,
        );
      progress.tell(seen.waiting);
      await clock.sleep(Math.min(nextLookMs(looks, now, now - start), deadline.at - now));
    }
  } finally {
    progress.leave();
  }
}

/** Looks until a look finds enough, for so long at most, and not beyond the deadline. @returns what the last look found */
export async function lookFor<T>(
  { clock, deadline }: Pick<Session, "clock" | "deadline">,
  look: () => Promise<T>,
  isEnough: (seen: T) => boolean,
  { forMs, everyMs }: { forMs: number; everyMs: number },
): Promise<T> {
  const end = Math.min(clock.now() + forMs, deadline.at);
  for (;;) {
    const seen = await look();
    if (isEnough(seen) || clock.now() >= end) return seen;
    await clock.sleep(everyMs);
  }
}
