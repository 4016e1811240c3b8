import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import { type Engine, weightOf } from "./engine";
import type { Entry } from "./ledger-folder";

/** Makes a chain's blocks: records each with its time, then makes it. Begins a new segment where the current one is long enough. */
export class Sealing {
  readonly #waiting = new Set<() => void>();
  #idle = false;

  /** @param made hears that blocks were made, and that a segment may have ended */
  constructor(
    private readonly base: ChainBase,
    private readonly made: () => void,
  ) {}

  /** Waits for the next block, but at most a second. */
  async next(): Promise<void> {
    const sealed = new Promise<void>((done) => this.#waiting.add(done));
    await Promise.race([sealed, wait(1_000, undefined, { ref: false })]);
  }

  /**
   * Makes the next block; without a period, as many as there are transactions for. Without transactions, it makes one only for
   * those who wait for the period. Returns whether all could be recorded.
   */
  async seal(engine: Engine): Promise<boolean> {
    const { base } = this;
    const onDemand = base.spec.period === undefined;
    do {
      if ((onDemand || this.#isIdle()) && (await pending(engine)) === 0) return true;
      const { hash, gas, number } = base.head;
      const timestamp = this.#now();
      try {
        await base.record([{ seal: [number + 1, timestamp, hash, gas] }]);
      } catch {
        return false;
      }
      const transactions = await this.#make(engine, timestamp, 1);
      if (transactions === undefined) return true;
      if (base.tail.ends) {
        const { quiet } = base.tail;
        // empty blocks if contracts look back in every block, so that a snapshot can come before the new segment
        if ((await this.#rotate(engine)) && quiet > 0) await this.#quiet(engine, quiet);
      }
      this.made();
      if (transactions === 0) return true;
    } while (onDemand);
    return true;
  }

  /**
   * Once no transaction waits, makes as many empty blocks as contracts can look back. A snapshot can then take in all blocks before
   * them.
   */
  async room(engine: Engine): Promise<void> {
    const { tail } = this.base;
    if (tail.due > 0 || (await pending(engine)) > 0) return;
    const quiet = (await this.#rotate(engine)) && (await this.#quiet(engine, tail.pace.lookback));
    if (quiet) await this.#rotate(engine);
    this.made();
  }

  /** Makes empty blocks, unless a transaction waits for its block. Returns whether they were made. */
  async #quiet(engine: Engine, count: number): Promise<boolean> {
    if ((await pending(engine)) > 0) return false;
    const { hash, gas, number } = this.base.head;
    const timestamp = this.#now();
    const entries = Array.from({ length: count }, (_, at): Entry => {
      return { seal: at === 0 ? [number + 1, timestamp, hash, gas] : [number + 1 + at, timestamp, null, 0] };
    });
    try {
      await this.base.record(entries);
    } catch {
      return false;
    }
    return (await this.#make(engine, timestamp, count)) !== undefined;
  }

  /** Makes recorded blocks. Returns how many transactions the last one has; undefined if the engine ended. */
  async #make(engine: Engine, timestamp: number, count: number): Promise<number | undefined> {
    try {
      await (count === 1 ? engine.seal(timestamp) : engine.sealMany(timestamp, count, 0));
      return await this.#sealed(engine, count);
    } catch {
      engine.end(); // they are recorded: the next engine makes them
      await engine.ended;
      return undefined;
    }
  }

  async #sealed(engine: Engine, blocks: number): Promise<number> {
    const { base } = this;
    const { head, transactions } = await engine.latest();
    base.head = head;
    base.presence.gotBlock();
    for (const one of transactions) {
      base.pool.remove(one);
      base.log(`Executed transaction hash=${one}`);
    }
    base.log(`Imported block number=${head.number} hash=${head.hash} transactions=${transactions.length}`);
    for (const done of this.#waiting) done();
    this.#waiting.clear();
    const weight = weightOf(blocks, transactions.length, head.gas);
    base.tail.add({ blocks, weight });
    engine.weight += weight;
    return transactions.length;
  }

  /** Whether nobody uses the chain. The log says once why no blocks come. */
  #isIdle(): boolean {
    const { presence } = this.base;
    const before = this.#idle;
    this.#idle = !presence.isSomebody;
    if (this.#idle && !before) this.base.log("Idle: without transactions, the next block comes once somebody calls.");
    return this.#idle;
  }

  /** Begins a new segment, so that a snapshot can replace those before it. Returns whether it did. */
  async #rotate(engine: Engine): Promise<boolean> {
    const { folder, given, head, pool } = this.base;
    try {
      await pool.clean(engine);
      folder.rotate(head, [{ given: [...given] }, ...pool.raws.map((tx) => ({ tx }))]);
      return true;
    } catch (error) {
      this.base.log(`No new segment is begun: ${(error as Error).message}. It is tried again with the next block.`);
      return false;
    }
  }

  #now = () => Math.max(this.base.head.timestamp, Math.floor(this.base.clock.now() * this.base.perMs));
}

/** Transactions that the next block can have. */
async function pending(engine: Engine): Promise<number> {
  return Number((await engine.call<{ pending: string }>("txpool_status")).pending);
}
