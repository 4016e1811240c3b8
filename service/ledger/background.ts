import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "./engine";
import type { LedgerFolder } from "./ledger-folder";
import { Differs, Replay } from "./replay";
import type { Tail } from "./tail";

/** What the background needs of its chain. */
interface Behind {
  folder: LedgerFolder;
  tail: Tail;
  /** Starts an engine at the genesis. */
  start: () => Promise<Engine>;
  /** Whether the chain's engine has grown, so that another one must take its place. */
  hasGrown: () => boolean;
  /** Installs an engine that has replayed everything. */
  place: (engine: Engine, replay: Replay) => Promise<void>;
  closed: () => boolean;
  log: (text: string) => void;
  warn: (text: string) => void;
}

/** A job that is retried until it succeeds or is no longer needed. */
interface Task {
  wanted: () => boolean;
  act: () => Promise<void>;
  /** The message if it fails. */
  failure: string;
  failures: number;
  /** When it is retried. */
  after: number;
}

/** Delay between two attempts (ms); it doubles. */
const pause = { first: 250, longest: 60_000 };
/** Failures before a warning. */
const worrying = 5;

/**
 * What is made in the background, by engines of its own, one thing at a time, until nothing is left to do: snapshots, and the engine
 * that replaces one that has grown. Failures are reported and retried.
 */
export class Background {
  /** Why there is no later snapshot, if the last attempt failed. */
  problem: string | undefined;
  readonly #stop = new AbortController();
  readonly #tasks: readonly Task[];
  readonly #turns = new Set<() => void>();
  #engine: Engine | undefined;
  #work: Promise<void> | undefined;

  constructor(private readonly chain: Behind) {
    const task = (failure: string, wanted: () => boolean, act: () => Promise<void>): Task => {
      return { failure, wanted, act, failures: 0, after: 0 };
    };
    this.#tasks = [
      task("No snapshot is made", () => chain.tail.due > 0, this.#compact),
      task("The chain's process is not renewed", chain.hasGrown, this.#renew),
    ];
  }

  /** There may be something to do. */
  wake(): void {
    if (this.chain.closed()) return;
    this.#work ??= this.#loop().finally(() => {
      this.#work = undefined;
      this.#tell();
    });
  }

  /** Waits for the next job to end, or a moment. */
  turn(): Promise<void> {
    const turned = new Promise<void>((done) => this.#turns.add(done));
    return Promise.race([turned, wait(1_000, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#engine?.end();
    await this.#work;
  }

  async #loop(): Promise<void> {
    while (!this.chain.closed()) {
      const wanted = this.#tasks.filter((task) => task.wanted());
      if (wanted.length === 0) return;
      const now = performance.now();
      const next = wanted.find(({ after }) => after <= now);
      if (next) await this.#try(next);
      else {
        const rest = Math.min(...wanted.map(({ after }) => after)) - now;
        await wait(rest, undefined, { ref: false, signal: this.#stop.signal }).catch(() => undefined);
      }
    }
  }

  async #try(task: Task): Promise<void> {
    const { closed, log, warn } = this.chain;
    try {
      await task.act();
      task.failures = task.after = 0;
      this.problem = undefined;
    } catch (error) {
      if (closed()) return;
      const rest = Math.min(pause.longest, pause.first * 2 ** task.failures++);
      task.after = performance.now() + rest;
      this.problem = `${task.failure}: ${(error as Error).message}`;
      const text = `${this.problem}. Nothing is lost; it is tried again in ${rest / 1_000} s.`;
      log(text);
      if (task.failures === worrying) warn(text);
    }
    this.#tell();
  }

  #tell(): void {
    for (const done of this.#turns) done();
    this.#turns.clear();
  }

  /** Replays the first journals on another engine. Its state replaces them if an engine that starts from it makes the same blocks. */
  #compact = async (): Promise<void> => {
    const { folder, tail, log } = this.chain;
    const count = tail.due;
    const { journals, snapshot } = folder;
    const { name, after } = journals[count]!;
    const dump = await this.#through(count, snapshot, 0, (engine) => engine.dump());
    try {
      await folder.keep(dump, count, tail.pace.lookback, (file) =>
        this.#through(tail.provenBy(count), file, count, () => Promise.resolve()),
      );
    } catch (error) {
      if (!(error instanceof Differs)) throw error;
      tail.bind(name);
      log(`No snapshot is made at block ${after!.number}: later blocks look further back. Another one is tried.`);
    }
  };

  /** A new engine replays everything. */
  #renew = async (): Promise<void> => {
    const { folder, place, start, closed } = this.chain;
    const engine = (this.#engine = await start());
    try {
      const replay = new Replay(engine, folder, closed);
      await replay.to(folder.journals, folder.snapshot);
      await place(engine, replay);
    } catch (error) {
      engine.end();
      throw error;
    } finally {
      this.#engine = undefined;
    }
  };

  /** Replays the journals up to `to` on a separate engine. */
  async #through<T>(
    to: number,
    begin: string | undefined,
    from: number,
    then: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    const { folder, start, closed } = this.chain;
    const { journals } = folder;
    const engine = (this.#engine = await start());
    try {
      const { hash, number } = await new Replay(engine, folder, closed).to(journals.slice(from, to), begin);
      if (hash !== journals[to]!.after!.hash) throw new Differs(number);
      return await then(engine);
    } finally {
      this.#engine = undefined;
      engine.end();
    }
  }
}
