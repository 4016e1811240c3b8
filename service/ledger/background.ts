import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { Differs, Replay } from "./replay";

/** A job that is retried until it succeeds or is no longer needed. `failure`: the message if it fails. */
interface Task {
  wanted: () => boolean;
  act: () => Promise<void>;
  failure: string;
  failures: number;
}

/** Delay between two attempts (ms); it doubles. */
const pause = { first: 250, longest: 60_000 };
/** Failures before a warning. */
const worrying = 5;

/**
 * Does what a chain need not wait for, one thing at a time and with engines of its own: makes snapshots, and the engine that
 * replaces one that has grown. Reports and retries what fails.
 */
export class Background {
  readonly #stop = new AbortController();
  readonly #tasks: readonly Task[];
  readonly #turns = new Set<() => void>();
  #engine: Engine | undefined;
  #work: Promise<void> | undefined;

  /**
   * @param start starts an engine at the genesis
   * @param hasGrown tells whether the chain's engine has grown, so that another one must take its place
   * @param place installs an engine that has replayed everything
   */
  constructor(
    private readonly base: ChainBase,
    private readonly start: () => Promise<Engine>,
    hasGrown: () => boolean,
    private readonly place: (engine: Engine, replay: Replay) => Promise<void>,
  ) {
    this.#tasks = [
      { failure: "No snapshot is made", wanted: () => base.tail.due > 0, act: this.#compact, failures: 0 },
      { failure: "The chain's process is not renewed", wanted: hasGrown, act: this.#renew, failures: 0 },
    ];
  }

  /** Starts working, if there is something to do. */
  wake(): void {
    if (this.base.closed) return;
    this.#work ??= this.#loop().finally(() => {
      this.#work = undefined;
      this.#tell();
    });
  }

  /** Waits until a task ends, but at most a second. */
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
    for (;;) {
      const wanted = this.#tasks.filter((task) => task.wanted());
      if (this.base.closed || wanted.length === 0) return;
      let rest = 0;
      for (const task of wanted) if (!this.base.closed) rest = Math.max(rest, await this.#try(task));
      if (rest > 0) await wait(rest, undefined, { ref: false, signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Returns how long to rest then (ms), if it failed. */
  async #try(task: Task): Promise<number> {
    const { base } = this;
    let rest = 0;
    try {
      await task.act();
      task.failures = 0;
    } catch (error) {
      if (base.closed) return 0;
      rest = Math.min(pause.longest, pause.first * 2 ** task.failures++);
      const why = (error as Error).message;
      const text = `${task.failure}: ${why}. Nothing is lost; it is tried again in ${rest / 1_000} s.`;
      base.log(text);
      if (task.failures === worrying) base.warn(text);
    }
    this.#tell();
    return rest;
  }

  #tell(): void {
    for (const done of this.#turns) done();
    this.#turns.clear();
  }

  /** Replays the first segments. Their state replaces them if an engine that starts from it makes the same blocks as before. */
  #compact = async (): Promise<void> => {
    const { folder, tail } = this.base;
    const count = tail.due;
    const { segments, snapshot } = folder;
    const { name, after } = segments[count]!;
    const dump = await this.#through(count, snapshot, 0, (engine) => engine.dump());
    try {
      await folder.keep(dump, count, tail.pace.lookback, (file) =>
        this.#through(tail.provenBy(count), file, count, () => Promise.resolve()),
      );
    } catch (error) {
      if (!(error instanceof Differs)) throw error;
      tail.bind(name);
      this.base.log(
        `No snapshot is made at block ${after!.number}: later blocks look further back. Another one is tried.`,
      );
    }
  };

  /** Replays everything on a new engine, which then takes the place of the chain's. */
  #renew = async (): Promise<void> => {
    const { folder } = this.base;
    const engine = (this.#engine = await this.start());
    try {
      const replay = new Replay(engine, this.base);
      await replay.to(folder.segments, folder.snapshot);
      await this.place(engine, replay);
    } catch (error) {
      engine.end();
      throw error;
    } finally {
      this.#engine = undefined;
    }
  };

  /** Replays the segments between `from` and `to` on an engine of its own. */
  async #through<T>(
    to: number,
    begin: string | undefined,
    from: number,
    then: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    const { segments } = this.base.folder;
    const engine = (this.#engine = await this.start());
    try {
      const { hash, number } = await new Replay(engine, this.base).to(segments.slice(from, to), begin);
      if (hash !== segments[to]!.after!.hash) throw new Differs(number);
      return await then(engine);
    } finally {
      this.#engine = undefined;
      engine.end();
    }
  }
}
