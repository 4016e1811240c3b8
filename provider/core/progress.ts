import { type Clock } from "../api";
import { times } from "./times";
import { groupBy } from "./values";

const nextDue = (elapsed: number): number =>
  times.progressDueMs.find((due) => due > elapsed) ??
  (Math.floor(elapsed / times.progressDueMs.at(-1)!) + 1) * times.progressDueMs.at(-1)!;

const namesShown = 4;

/** Those that wait together, such as the nodes of an environment. */
interface Group {
  waiting: Map<symbol, { what: string; state: string }>;
  /** States that were reported already, or that somebody started in. */
  known: Set<string>;
  startedAt: number;
  dueMs: number;
}

/** Reports progress, with one line for all that wait together. */
export class Progress {
  readonly #groups = new Map<string, Group>();

  constructor(
    private readonly clock: Clock,
    private readonly say: (message: string) => void,
  ) {}

  /** Joins a group. Call `tell` after each look, and `leave` at the end. */
  join(name: string, what: string): { tell(state: string): void; leave(): void } {
    const group = this.#groups.get(name) ?? {
      waiting: new Map<symbol, { what: string; state: string }>(),
      known: new Set<string>(),
      startedAt: this.clock.now(),
      dueMs: times.progressDueMs[0]!,
    };
    this.#groups.set(name, group);
    const one = Symbol(what);
    return {
      tell: (state) => this.#tell(group, one, what, state),
      leave: () => {
        group.waiting.delete(one);
        if (group.waiting.size === 0 && this.#groups.get(name) === group) this.#groups.delete(name);
      },
    };
  }

  #tell(group: Group, one: symbol, what: string, state: string): void {
    const isNew = !group.waiting.has(one);
    group.waiting.set(one, { what, state });
    const elapsed = this.clock.now() - group.startedAt;
    const changed = !group.known.has(state) && !isNew;
    group.known.add(state);
    if (!changed && elapsed < group.dueMs) return;
    group.dueMs = nextDue(elapsed);
    this.say(`${summary(group)}, ${Math.round(elapsed / 1000)} s so far`);
  }
}

function summary({ waiting }: Group): string {
  const parts = [...groupBy([...waiting.values()], ({ state }) => state)].map(([state, some]) => {
    const names = some.map(({ what }) => what);
    const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
    return `${names.slice(0, namesShown).join(", ")}${more}: ${state}`;
  });
  return parts.join("; ");
}
