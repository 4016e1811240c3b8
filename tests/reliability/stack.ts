import { UndiciTransport } from "../../provider/api/transport";
import { Engine, type Outcome } from "../support/engine";
import { newProcess } from "../support/service";
import { type Spec } from "./shapes";

interface Managed {
  spec: Spec;
  engine: Engine;
}

const levels: Spec["kind"][][] = [
  ["consortium"],
  ["membership", "environment"],
  ["environmentZone", "configuration"],
  ["node", "service", "appCred"],
];
const backwards = levels.toReversed();

/** Plays the Pulumi engine for a whole stack: siblings at the same time, parents first, deletions last and backwards. */
export class Stack {
  readonly #managed = new Map<string, Managed>();

  /** Ids of what the state holds, by the resource's key. */
  get ids(): Map<string, string> {
    return new Map(this.kept().map(({ spec, engine }) => [spec.key, engine.kept!.id]));
  }

  kept(): Managed[] {
    return [...this.#managed.values()].filter(({ engine }) => engine.kept);
  }

  /** Answers what went wrong; nothing when all is as the program says. */
  async up(specs: readonly Spec[]): Promise<string[]> {
    newProcess();
    const wrong: string[] = [];
    for (const kinds of levels) {
      const level = specs.filter(({ kind }) => kinds.includes(kind));
      const outcomes = await Promise.all(level.map((spec) => this.#make(spec)));
      wrong.push(...outcomes.flatMap((outcome) => ("error" in outcome ? [outcome.error] : [])));
    }
    if (wrong.length > 0) return wrong;
    return this.#remove(({ spec }) => !specs.some(({ key }) => key === spec.key));
  }

  /** Answers what went wrong, and keeps those as they were. */
  async refresh(): Promise<string[]> {
    newProcess();
    return problems(this.kept().map(({ engine }) => engine.refresh()));
  }

  destroy(): Promise<string[]> {
    newProcess();
    return this.#remove(() => true);
  }

  async #make(spec: Spec): Promise<Outcome> {
    const args = { ...spec.args };
    for (const [property, parent] of Object.entries(spec.parents)) {
      const id = this.#managed.get(parent)?.engine.kept?.id;
      if (id === undefined) return { then: "failed", error: `${spec.key}: its parent ${parent} failed` };
      args[property] = id;
    }
    const { engine } = this.#managed.get(spec.key) ?? { engine: new Engine(spec.kind) };
    this.#managed.set(spec.key, { spec, engine });
    const plan = await engine.preview(args);
    // What depends on it goes before it.
    if (plan.then === "replaced" && plan.deletedFirst && spec.kind === "environment") {
      const { id } = engine.kept!;
      const wrong = await this.#remove((one) => one.engine.outputs.environmentId === id);
      if (wrong.length > 0) return { then: "failed", error: wrong.join("; ") };
    }
    return engine.up(args);
  }

  async #remove(chosen: (managed: Managed) => boolean): Promise<string[]> {
    const going = this.kept().filter(chosen);
    for (const kinds of backwards) {
      const level = going.filter(({ spec, engine }) => kinds.includes(spec.kind) && engine.kept);
      const wrong = await problems(level.map(({ engine }) => engine.destroy()));
      if (wrong.length > 0) return wrong;
    }
    return [];
  }
}

/** The errors of those that fail. */
async function problems(running: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(running);
  return results.flatMap((result) => (result.status === "rejected" ? [String((result.reason as Error).message)] : []));
}

/** Ends the connections of all the provider processes that were played: there are many. */
export async function disconnect(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is a mock in virtual time, and not called
  const { mock } = jest.mocked(UndiciTransport.prototype.send);
  await Promise.all([...new Set(mock.contexts as UndiciTransport[])].map((transport) => transport.close()));
  mock.contexts.length = 0;
}
