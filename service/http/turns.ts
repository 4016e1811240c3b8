import { setImmediate as nextRound, setTimeout as wait } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import pLimit from "p-limit";
import { Refusal } from "../errors";
import type { CallLimits } from "../settings/settings";

/** Work of callers before everything else, such as a block that is due, has its turn (ms). */
const round = 10;
/** A caller that has rested may use at once what it gets in this time (ms). */
const saved = 1_000;
/** Callers that are remembered before those that rest are forgotten. */
const remembered = 1_000;

interface Caller {
  /** Its calls that wait, one after the other. */
  waiting: ReturnType<typeof pLimit>;
  /** When its work so far will have been paid for with the time that passes. */
  paid: number;
}

/**
 * Shares the thread, which also makes the blocks of all ledgers. What a caller's calls take of it is measured. A caller that has used
 * up its share waits, and while there is much work, each call waits for a gap.
 */
export class Turns {
  readonly #callers = new Map<string, Caller>();
  /** Work in this round of the event loop (ms). */
  #used = 0;
  /** Whether somebody's work is about to begin. */
  #granted = false;

  constructor(private readonly limits: Pick<CallLimits, "atOnce" | "work">) {}

  /** Resolves when a caller's call may be worked on. The work itself, `measured`, must follow at once. */
  async next(caller: string): Promise<void> {
    const one = this.#callerOf(caller);
    const { activeCount, pendingCount } = one.waiting;
    if (activeCount + pendingCount >= this.limits.atOnce)
      throw new Refusal(
        429,
        `Your calls use more than your share of the service: ${this.limits.atOnce} of them are waiting. Send calls more slowly.`,
      );
    if (one.paid <= performance.now() && this.#isFree) return this.#grant();
    await new Promise<void>((go) => {
      void one.waiting(async () => {
        for (let left; (left = one.paid - performance.now()) > 0;) await wait(left, undefined, { ref: false });
        while (!this.#isFree) await nextRound();
        this.#grant();
        go();
        await nextRound(); // the work is done then, and counted
      });
    });
  }

  /** Does work for a caller, without a pause, and counts its time. */
  measured<T>(caller: string, work: () => T): T {
    const begun = performance.now();
    this.#granted = false;
    try {
      return work();
    } finally {
      const now = performance.now();
      const one = this.#callerOf(caller);
      one.paid = Math.max(one.paid, begun - saved) + ((now - begun) * 1_000) / this.limits.work;
      if (this.#used === 0) setImmediate(() => (this.#used = 0));
      this.#used += now - begun;
    }
  }

  get #isFree(): boolean {
    return this.#used < round && !this.#granted;
  }

  #grant(): void {
    this.#granted = true;
    setImmediate(() => (this.#granted = false)); // if there is no work after all
  }

  #callerOf(name: string): Caller {
    const known = this.#callers.get(name);
    if (known) return known;
    if (this.#callers.size >= remembered) this.#forget(performance.now() - saved);
    const made = { waiting: pLimit(1), paid: -Infinity };
    this.#callers.set(name, made);
    return made;
  }

  #forget(before: number): void {
    for (const [name, { waiting, paid }] of this.#callers)
      if (waiting.activeCount === 0 && paid < before) this.#callers.delete(name);
  }
}

/** Waits for a caller's turn. */
export function turnOf(turns: Turns, caller: string, reply: FastifyReply): Promise<void> {
  return turns.next(caller).catch((error: unknown) => {
    reply.header("retry-after", "1");
    throw error;
  });
}
