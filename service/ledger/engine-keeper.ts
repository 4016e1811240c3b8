import { setTimeout as wait } from "node:timers/promises";
import { Refusal } from "../errors";
import { Accounts } from "./admission";
import type { ChainBase } from "./chain-base";
import { Engine, headOf, type Host } from "./engine";
import { OutOfOrder, type Snapshot } from "./ledger-data";
import { Differs, Replay, stopping } from "./replay";

const longest = 30_000;
/** How long a replaced engine may finish its requests (ms). */
const leave = { least: 1_000, most: 60_000 };

/** Starts and watches a chain's engine. Replaces it when it ends or has grown. */
export class EngineKeeper {
  /** All that run: the one in use, one that starts, and those that finish their calls. */
  readonly #all = new Set<Engine>();
  /** The engine; it may have ended. */
  engine: Engine | undefined;
  #outOfOrder: OutOfOrder | undefined;
  /** Why there is no engine now, if so. */
  #why: string | undefined;
  /** The replay of the current start, and when that began. */
  #replay: Replay | undefined;
  #since = 0;

  /** @param next gives the chain's engine once it has all blocks; the chain starts one when it is idle */
  constructor(
    private readonly host: Host,
    private readonly base: ChainBase,
    private readonly next: () => Promise<Engine>,
  ) {}

  get alive(): Engine | undefined {
    return this.engine?.over === false ? this.engine : undefined;
  }

  /** The engine, once it has all blocks. @param patient whether to wait for a long start, too */
  async ready(patient = false): Promise<Engine> {
    if (this.base.closed) throw stopping();
    if (this.alive) return this.alive;
    if (!patient) await this.#mustBeShort();
    return this.next();
  }

  async #mustBeShort(): Promise<void> {
    const { data, pace, spec } = this.base;
    const [all, left] = [await this.#toReplay(), data.end - (this.#replay?.next ?? 0)];
    if (all <= pace.patience || this.alive) return;
    const done = Math.max(0, all - left);
    const passed = (performance.now() - this.#since) / 1_000;
    const rest = done === 0 ? 1 : Math.ceil((passed * left) / done);
    const which = "Blocks, receipts and logs can be read meanwhile";
    throw new Refusal(
      503,
      `The ledger ${spec.key} is starting: it has executed ${done} of ${all} entries again. ${which}; repeat this call in ${rest} s.`,
      rest,
    );
  }

  async #toReplay(): Promise<number> {
    return this.base.data.end - ((await this.#snapshots())[0]?.next ?? 0);
  }

  /** The snapshots that a start may begin with, the latest first. */
  async #snapshots(): Promise<Snapshot[]> {
    const { data, pace } = this.base;
    return (await data.snapshots()).filter(({ number }) => number <= data.recorded - pace.lookback);
  }

  async begin(): Promise<Engine> {
    const { base } = this;
    if (this.#outOfOrder) throw this.#outOfOrder;
    try {
      const all = await this.#toReplay();
      if (all > base.pace.patience) {
        const text = `The ledger ${base.spec.key} is starting: it executes ${all} entries again. Its blocks can be read meanwhile.`;
        base.log(text);
        base.warn(text);
      }
      [this.#replay, this.#since] = [undefined, performance.now()];
      const replay = await this.#replayed();
      if (all > base.pace.patience) base.log(`The ledger has started, at block ${base.data.height}.`);
      base.head = headOf((await base.data.sealed(base.data.height))!.block);
      base.known = new Accounts();
      base.pool.restore(await replay.waiting());
      const { engine } = replay;
      this.engine = engine;
      void engine.ended.then((why) => this.#lost(engine, why));
      if (this.#why !== undefined) base.log(`The ledger runs again, at block ${base.head.number}: nothing is lost.`);
      this.#why = undefined;
      return engine;
    } catch (error) {
      if (error instanceof OutOfOrder) this.#outOfOrder = error;
      throw error;
    }
  }

  /**
   * Starts an engine and replays all entries after the latest snapshot that is older than contracts can look back: the engine does not
   * know the hashes of blocks before it. If a contract looked back further, the blocks differ, and an older snapshot is tried.
   */
  async #replayed(): Promise<Replay> {
    const { data } = this.base;
    for (const snapshot of await this.#snapshots()) {
      try {
        return await this.#through(snapshot);
      } catch (error) {
        if (!(error instanceof Differs)) throw error;
        this.base.log(
          `Cannot start from block ${snapshot.number}, because later blocks look further back. Trying an earlier one.`,
        );
        await data.forget(snapshot);
      }
    }
    return this.#through(undefined);
  }

  async #through(snapshot: Snapshot | undefined): Promise<Replay> {
    const { base } = this;
    const engine = await Engine.start(this.host, base, this.#all);
    try {
      const replay = await Replay.begin(engine, base, snapshot);
      this.#replay = replay;
      await replay.on();
      return replay;
    } catch (error) {
      engine.end();
      throw error;
    }
  }

  /**
   * Lets go of an engine that has grown, because each block permanently takes some 12 kB of its memory. It finishes its calls, and the chain
   * starts another one with the same blocks, soon if possible: calls wait for that.
   */
  async retire(): Promise<void> {
    const { engine, base } = this;
    const { growth, patience } = base.pace;
    if (!engine || engine.over || engine.blocks <= growth) return;
    if ((await this.#toReplay()) > patience && engine.blocks <= 2 * growth) return;
    this.engine = undefined;
    base.log(`Starting another process for the chain: this one has grown over ${engine.blocks} blocks.`);
    void this.#dismiss(engine);
  }

  async close(): Promise<void> {
    const all = [...this.#all];
    for (const { end } of all) end();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #dismiss(engine: Engine): Promise<void> {
    const end = performance.now() + leave.most;
    do await wait(leave.least, undefined, { ref: false });
    while (engine.busy && !engine.over && performance.now() < end);
    engine.end();
  }

  #lost(engine: Engine, why: string): void {
    const { base } = this;
    if (base.closed || this.engine !== engine) return;
    this.#why ??= why;
    const text = `Restarting the ledger ${base.spec.key}: ${this.#why}. Everything that it acknowledged is kept.`;
    base.log(text);
    base.warn(text);
    void this.#revive();
  }

  async #revive(): Promise<void> {
    const { base } = this;
    for (let attempt = 1; !base.closed; attempt++) {
      try {
        return void (await this.ready(true));
      } catch (error) {
        if (base.closed) return;
        const { message } = error as Error;
        base.log(message);
        if (error instanceof OutOfOrder) return base.warn(message);
        await wait(Math.min(longest, 250 * 2 ** attempt), undefined, { ref: false });
      }
    }
  }
}
