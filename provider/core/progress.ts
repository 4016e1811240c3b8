import { type Session } from "./session";

/** When a line is due: soon, then ever more rarely, but often enough for pipelines that end what says nothing for ten minutes. */
const dueMs = [10_000, 30_000, 60_000, 120_000, 300_000];

const nextDue = (elapsed: number): number =>
  dueMs.find((due) => due > elapsed) ?? (Math.floor(elapsed / dueMs.at(-1)!) + 1) * dueMs.at(-1)!;

const namesShown = 4;

/** What waits together, such as the nodes of an environment, and is told of together: one line for all. */
export class Progress {
  readonly #waiting = new Map<symbol, { what: string; state: string }>();
  /** States that were told of, or that somebody began with: another one is news. */
  readonly #known = new Set<string>();
  readonly #start: number;
  #due = dueMs[0]!;

  constructor(private readonly session: Session) {
    this.#start = session.clock.now();
  }

  /** One of them was looked at. */
  tell(one: symbol, what: string, state: string): void {
    const isNew = !this.#waiting.has(one);
    this.#waiting.set(one, { what, state });
    const elapsed = this.session.clock.now() - this.#start;
    const changed = !this.#known.has(state) && !isNew;
    this.#known.add(state);
    if (!changed && elapsed < this.#due) return;
    this.#due = nextDue(elapsed);
    this.session.say(`${this.#summary()}, ${Math.round(elapsed / 1000)} s so far`);
  }

  /** Whether nobody is left. */
  leave(one: symbol): boolean {
    this.#waiting.delete(one);
    return this.#waiting.size === 0;
  }

  #summary(): string {
    const byState = new Map<string, string[]>();
    for (const { what, state } of this.#waiting.values()) byState.set(state, [...(byState.get(state) ?? []), what]);
    const parts = [...byState].map(([state, names]) => {
      const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
      return `${names.slice(0, namesShown).join(", ")}${more}: ${state}`;
    });
    return parts.join("; ");
  }
}

/** Joins those who wait for the same; `tell` after each look, `leave` at the end. */
export function joinProgress(
  session: Session,
  group: string,
  what: string,
): { tell(state: string): void; leave(): void } {
  const all = session.progress;
  const progress = all.get(group) ?? new Progress(session);
  all.set(group, progress);
  const one = Symbol(what);
  return {
    tell: (state) => progress.tell(one, what, state),
    leave: () => {
      if (progress.leave(one) && all.get(group) === progress) all.delete(group);
    },
  };
}
