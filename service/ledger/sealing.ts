import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import { type Engine, headOf } from "./engine";
import type { Entry } from "./ledger-data";

/** Makes a chain's recorded blocks. Keeps them, and sometimes the state after one. */
export class Sealing {
  readonly #waiting = new Set<() => void>();
  /** The block that the engine may already show, but is not kept yet. */
  #making: Promise<void> | undefined;
  #idle = false;
  /** The block after which a snapshot was last tried, and the gas since. */
  #tried = { at: 0, gas: 0 };

  constructor(private readonly base: ChainBase) {}

  /** Waits for the next block, but at most a second. */
  async next(): Promise<void> {
    await atMostASecond(new Promise<void>((done) => this.#waiting.add(done)));
  }

  /** Waits until the current block is kept, but at most a second. */
  async settled(): Promise<void> {
    if (this.#making) await atMostASecond(this.#making);
  }

  /** The entry of the next block, if one is due. An empty block is due only with a period and users. */
  get entry(): Extract<Entry, { seal: unknown }> | undefined {
    const { head, pool, spec } = this.base;
    if (pool.ready === 0 && (spec.period === undefined || this.#isIdle())) return undefined;
    return { seal: [head.number + 1, this.#now()] };
  }

  /** Makes a recorded block. Returns how many transactions it has; if the engine ends, the next one makes it. */
  async make(engine: Engine, { seal: [, timestamp] }: Extract<Entry, { seal: unknown }>): Promise<number> {
    let done = () => {};
    this.#making = new Promise<void>((kept) => (done = kept));
    try {
      await engine.seal(timestamp);
      return await this.#sealed(engine, done);
    } catch (error) {
      this.base.log(`Block not made: ${(error as Error).message}`);
      engine.end();
      await engine.ended;
      return 0;
    } finally {
      done();
      this.#making = undefined;
    }
  }

  async #sealed(engine: Engine, kept: () => void): Promise<number> {
    const { base } = this;
    const sealed = await engine.sealed((hash) => base.pool.rawOf(hash));
    await base.keep(sealed);
    kept();
    const { transactions } = sealed.block;
    base.head = headOf(sealed.block);
    base.presence.gotBlock();
    for (const { hash } of transactions) {
      base.pool.remove(hash);
      base.log(`Executed transaction hash=${hash}`);
    }
    if (transactions.length === 0) await base.pool.clean(engine);
    const { number, hash, gas } = base.head;
    base.log(`Imported block number=${number} hash=${hash} transactions=${transactions.length}`);
    for (const done of this.#waiting) done();
    this.#waiting.clear();
    this.#tried.gas += gas;
    const { snapshot } = base.pace;
    const blocks = number - Math.max(base.data.snapshotAt, this.#tried.at);
    if (blocks >= snapshot.blocks || this.#tried.gas >= snapshot.gas) await this.#snapshot(engine);
    return transactions.length;
  }

  /** Keeps the state after the latest block. Without it, a start takes longer, but nothing is lost. */
  async #snapshot(engine: Engine): Promise<void> {
    const { data, head, pool } = this.base;
    this.#tried = { at: head.number, gas: 0 };
    try {
      await data.snapshot(head, pool.raws, await engine.dump(head.number));
    } catch (error) {
      this.base.log(`Could not make a snapshot at block ${head.number}: ${(error as Error).message}`);
    }
  }

  /** Whether the chain is idle. Logs the reason for missing blocks once. */
  #isIdle(): boolean {
    const { presence } = this.base;
    const before = this.#idle;
    this.#idle = !presence.isSomebody;
    if (this.#idle && !before) this.base.log("Idle: without transactions, the next block follows the next call.");
    return this.#idle;
  }

  #now = () => Math.max(this.base.head.timestamp, Math.floor(this.base.clock.now() * this.base.perMs));
}

const atMostASecond = (work: Promise<void>) => Promise.race([work, wait(1_000, undefined, { ref: false })]);
