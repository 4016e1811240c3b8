import { setTimeout as wait } from "node:timers/promises";
import { type ChainSpec, type Engine, type Head, weightOf } from "./engine";
import type { Entry, LedgerFolder } from "./ledger-folder";
import type { Pool } from "./pool";
import type { Tail } from "./tail";

/** What is needed of a chain to make its blocks. */
interface Sealed {
  spec: ChainSpec;
  folder: LedgerFolder;
  tail: Tail;
  pool: Pool;
  note: (entries: readonly Entry[]) => Promise<void>;
  /** Payments that are made only once. */
  given: () => Iterable<string>;
  /** Blocks were made, and a journal may have ended. */
  made: () => void;
  log: (text: string) => void;
}

/** The blocks of a chain: each is noted with its time, then made. Where a journal is long enough, the next one begins. */
export class Sealing {
  head!: Head;
  readonly #waiting = new Set<() => void>();

  constructor(private readonly chain: Sealed) {}

  /** Waits for the next block, or a moment. */
  async next(): Promise<void> {
    const sealed = new Promise<void>((done) => this.#waiting.add(done));
    await Promise.race([sealed, wait(1_000, undefined, { ref: false })]);
  }

  /**
   * Makes the next block; without a period, as many as there are transactions for.
   *
   * @returns whether all could be noted
   */
  async seal(engine: Engine): Promise<boolean> {
    const onDemand = this.chain.spec.period === undefined;
    do {
      if (onDemand && (await pending(engine)) === 0) return true;
      const { hash, gas } = this.head;
      const timestamp = this.#now();
      try {
        await this.chain.note([{ seal: [this.head.number + 1, timestamp, hash, gas] }]);
      } catch {
        return false;
      }
      const made = await this.#make(engine, timestamp, 1);
      if (made === undefined) return true;
      if (this.chain.tail.ends) await this.#next(engine);
      this.chain.made();
      if (made === 0) return true;
    } while (onDemand);
    return true;
  }

  /** Once no transaction waits, lets a snapshot have all blocks there are: as many follow in which nothing happens as contracts can look back. */
  async room(engine: Engine): Promise<void> {
    const { made, tail } = this.chain;
    if (tail.due > 0 || (await pending(engine)) > 0) return;
    const quiet = (await this.#rotate(engine)) && (await this.#quiet(engine, tail.pace.lookback));
    if (quiet) await this.#rotate(engine);
    made();
  }

  /** Makes blocks in which nothing happens, unless a transaction waits for its block. @returns whether they were made */
  async #quiet(engine: Engine, count: number): Promise<boolean> {
    if ((await pending(engine)) > 0) return false;
    const { hash, gas, number } = this.head;
    const timestamp = this.#now();
    const entries = Array.from({ length: count }, (_, at): Entry => {
      return { seal: at === 0 ? [number + 1, timestamp, hash, gas] : [number + 1 + at, timestamp, null, 0] };
    });
    try {
      await this.chain.note(entries);
    } catch {
      return false;
    }
    return (await this.#make(engine, timestamp, count)) !== undefined;
  }

  /** Makes recorded blocks. @returns how many transactions the last one has; undefined if the engine ended */
  async #make(engine: Engine, timestamp: number, count: number): Promise<number | undefined> {
    try {
      await (count === 1 ? engine.seal(timestamp) : engine.sealMany(timestamp, count, 0));
      return await this.#made(engine, count);
    } catch {
      engine.end(); // they are recorded: the next engine makes them
      await engine.ended;
      return undefined;
    }
  }

  async #made(engine: Engine, blocks: number): Promise<number> {
    const { pool, log, tail } = this.chain;
    const { head, transactions } = await engine.latest();
    this.head = head;
    for (const one of transactions) {
      pool.remove(one);
      log(`Executed transaction hash=${one}`);
    }
    log(`Imported block number=${head.number} hash=${head.hash} transactions=${transactions.length}`);
    for (const done of this.#waiting) done();
    this.#waiting.clear();
    const weight = weightOf(blocks, transactions.length, head.gas);
    tail.add({ blocks, weight });
    engine.gained(weight);
    return transactions.length;
  }

  /** Begins a new journal. Where contracts look back block after block, no snapshot could end one before: blocks without any can. */
  async #next(engine: Engine): Promise<void> {
    const { quiet } = this.chain.tail;
    if ((await this.#rotate(engine)) && quiet > 0) await this.#quiet(engine, quiet);
  }

  /** Begins a new journal, so that those before can become a snapshot. @returns whether it did */
  async #rotate(engine: Engine): Promise<boolean> {
    const { folder, given, pool, log } = this.chain;
    try {
      await pool.clean(engine);
      folder.rotate(this.head, [{ given: [...given()] }, ...pool.raws.map((tx) => ({ tx }))]);
      return true;
    } catch (error) {
      log(`No new journal is begun: ${(error as Error).message}. It is tried again with the next block.`);
      return false;
    }
  }

  #now = () => Math.max(this.head.timestamp, Math.floor(Date.now() / 1_000));
}

/** Transactions that the next block can have. */
async function pending(engine: Engine): Promise<number> {
  return Number((await engine.call<{ pending: string }>("txpool_status")).pending);
}
