import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import { type Engine, headOf } from "./engine";
import type { Entry, Sealed } from "./ledger-data";
import type { Waiting } from "./pool";
import type { EngineKeeper } from "./engine-keeper";
import { stopping, tell } from "./replay";
import type { Answer } from "./rpc";

interface Change {
  entry: Entry;
  tx?: Pick<Waiting, "from" | "nonce">;
  /** Called once it is recorded, with the engine's answer to a transaction; without one if the engine ended, because the next replays it. */
  told: (answer?: Answer) => void;
}

/** Checks or does something, in its turn. Returns the change to make, if any. */
export type Act = (engine: Engine) => Promise<Change | undefined>;

interface Job {
  act: Act;
  done: () => void;
  failed: (error: unknown) => void;
}
type Changing = Change & Pick<Job, "done" | "failed">;
type Seal = Extract<Entry, { seal: unknown }>;

/**
 * What a chain does. It does one thing at a time: no engine starts during a record, so none misses an entry.
 *
 * - resting: nothing is asked of it
 * - working: it starts an engine, checks changes, or keeps a snapshot
 * - recording: the engine may already show what is not on disk yet
 * - making: the block is recorded, but not kept yet; its reads wait for that, at most a second
 */
type State = { at: "resting" | "working" } | { at: "recording" | "making"; until: Promise<unknown> };

/** Delay before a block that could not be recorded is retried (ms). */
const again = 1_000;

/** Does what is asked of a chain, turn by turn: records changes and blocks, lets the engine make them, and keeps the blocks. */
export class Sealing {
  #jobs: Job[] = [];
  #state: State = { at: "resting" };
  #turns: Promise<void> = Promise.resolve();
  /** Whether the next turn should make a block. */
  #due = false;
  #idle = false;
  /** The block after which a snapshot was last tried, and the gas and the transactions since. */
  #tried = { at: 0, gas: 0, transactions: 0 };

  constructor(
    private readonly base: ChainBase,
    private readonly keeper: EngineKeeper,
  ) {}

  enqueue(act: Act): Promise<void> {
    if (this.base.closed) return Promise.reject(stopping());
    return new Promise<void>((done, failed) => {
      this.#jobs.push({ act, done, failed });
      this.#go();
    });
  }

  /** Makes a block, if there is one to make. */
  seal(): void {
    this.#due = true;
    this.#go();
  }

  /** Ends after the current turn. The chain is closed. */
  async end(): Promise<void> {
    for (const { failed } of this.#jobs.splice(0)) failed(stopping());
    await this.#turns;
  }

  #go(): void {
    if (this.#state.at === "resting" && this.#isAsked) this.#turns = this.#work();
  }

  get #isAsked(): boolean {
    return !this.base.closed && (this.#jobs.length > 0 || this.#due);
  }

  async #work(): Promise<void> {
    while (this.#isAsked) {
      this.#state = { at: "working" };
      const jobs = this.#jobs.splice(0);
      try {
        await this.keeper.retire();
        await this.#turn(this.keeper.alive ?? (await this.#begin()), jobs);
      } catch (error) {
        this.#due = false;
        for (const { failed } of jobs) failed(error);
      }
    }
    this.#state = { at: "resting" };
  }

  async #begin(): Promise<Engine> {
    const engine = await this.keeper.begin();
    const { pool, spec } = this.base;
    if (spec.period === undefined && pool.raws.length > 0) this.#due = true;
    return engine;
  }

  /** Performs jobs, then records their changes and the due block with one sync; without a period, blocks until none is left. */
  async #turn(engine: Engine, jobs: readonly Job[]): Promise<void> {
    const { pool, spec } = this.base;
    const before = pool.copy();
    let made = 0;
    for (let changes = await perform(engine, jobs); ; changes = []) {
      const isDue = this.#due || (spec.period === undefined && (changes.length > 0 || made > 0) && pool.ready > 0);
      this.#due = false;
      const seal = isDue ? this.#next() : undefined;
      if (changes.length === 0 && !seal) return;
      const carried = await this.#carry(engine, changes, seal, before);
      this.#state = { at: "working" };
      if (carried === undefined && spec.period === undefined && pool.ready > 0)
        setTimeout(() => this.base.closed || this.seal(), again).unref(); // with a period, the next one comes by itself
      if (!carried || !seal || spec.period !== undefined || engine.over) return;
      made = carried;
    }
  }

  /** Waits until all that the engine shows is recorded, and at most a second until its block is kept. */
  async settled(): Promise<void> {
    if (this.#state.at === "recording") await this.#state.until;
    if (this.#state.at === "making") await atMostASecond(this.#state.until);
  }

  /** The entry of the next block, if one is due. An empty block is due only with a period and users. */
  #next(): Seal | undefined {
    const { head, pool, spec } = this.base;
    if (pool.ready === 0 && (spec.period === undefined || this.#isIdle())) return undefined;
    return { seal: [head.number + 1, this.#now()] };
  }

  /**
   * Records changes and a block with one sync, and acknowledges them. The engine makes them at the same time, but nobody sees them before
   * they are on disk; if the last record failed, it waits for this one.
   *
   * @param before what waited before the changes, and does again if they cannot be recorded
   * @returns how many transactions the block has; undefined if nothing could be recorded
   */
  async #carry(
    engine: Engine,
    changes: readonly Changing[],
    seal: Seal | undefined,
    before: ReadonlyMap<string, Waiting>,
  ): Promise<number | undefined> {
    const { base } = this;
    const isAhead = !base.fails;
    const entries = changes.map(({ entry }) => entry);
    const recorded = base.record(seal ? [...entries, seal] : entries).catch(async (error: unknown) => {
      if (isAhead) await endOf(engine);
      throw error;
    });
    const told = (isAhead ? Promise.resolve() : recorded).then(() => tellAll(engine, changes));
    const sealed = told.then(() => seal && blockOf(engine, seal, base));
    sealed.catch(() => undefined);
    this.#state = { at: "recording", until: recorded.catch(() => undefined) };
    let kept = () => {};
    try {
      await recorded;
      this.#state = { at: "making", until: new Promise<void>((done) => (kept = done)) };
      const answers = await told.catch(() => []);
      changes.forEach(({ told, done, failed }, at) => {
        try {
          told(answers[at]);
          done();
        } catch (error) {
          failed(error); // the engine has refused it
        }
      });
      return await this.#kept(engine, sealed, kept);
    } catch (error) {
      if (changes.length > 0) base.pool.restore(before);
      for (const { failed } of changes) failed(error);
      return undefined;
    } finally {
      kept();
    }
  }

  /** Keeps a recorded block. Returns how many transactions it has. If the engine ends, the next one makes it. */
  async #kept(engine: Engine, making: Promise<Sealed | undefined>, done: () => void): Promise<number> {
    const { base } = this;
    try {
      const sealed = await making;
      if (!sealed) return 0;
      base.keep(sealed);
      await this.#noted(engine, sealed);
      done();
      await this.#snapshot(engine);
      return sealed.block.transactions.length;
    } catch (error) {
      base.log(`Block not made: ${(error as Error).message}`);
      await endOf(engine);
      return 0;
    }
  }

  async #noted(engine: Engine, { block }: Sealed): Promise<void> {
    const { base } = this;
    base.head = headOf(block);
    base.known.changed(block.transactions);
    base.presence.gotBlock();
    for (const { hash } of block.transactions) {
      base.pool.remove(hash);
      base.log(`Executed transaction hash=${hash}`);
    }
    if (block.transactions.length === 0) await base.pool.clean(engine);
    const { number, hash, gas } = base.head;
    base.log(`Imported block number=${number} hash=${hash} transactions=${block.transactions.length}`);
    this.#tried.gas += gas;
    this.#tried.transactions += block.transactions.length;
  }

  /** Keeps the state after the latest block, if enough happened. Without it, a start takes longer, but nothing is lost. */
  async #snapshot(engine: Engine): Promise<void> {
    const { data, head, pace, pool } = this.base;
    const blocks = head.number - Math.max(data.snapshotAt, this.#tried.at);
    const { blocks: most, gas, transactions } = pace.snapshot;
    // a start needs one of some age: more of them would only be in the way
    const isFull = this.#tried.transactions >= transactions && blocks >= pace.lookback / 4;
    if (blocks < most && this.#tried.gas < gas && !isFull) return;
    this.#tried = { at: head.number, gas: 0, transactions: 0 };
    try {
      await data.snapshot(head, pool.raws, await engine.dump(head.number), pace.lookback);
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

async function perform(engine: Engine, jobs: readonly Job[]): Promise<Changing[]> {
  const changes: Changing[] = [];
  for (const { act, done, failed } of jobs) {
    try {
      const change = await act(engine);
      if (change) changes.push({ ...change, done, failed });
      else done();
    } catch (error) {
      failed(error);
    }
  }
  return changes;
}

const atMostASecond = (work: Promise<unknown>) => Promise.race([work, wait(1_000, undefined, { ref: false })]);

async function endOf(engine: Engine): Promise<void> {
  engine.end();
  await engine.ended;
}

/** Tells an engine changes in their order. Transactions of one account share a message: their nonces order them in any case. */
async function tellAll(engine: Engine, changes: readonly Change[]): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = [];
  while (answers.length < changes.length) {
    const begin = answers.length;
    let end = begin + 1;
    while (end < changes.length && follows(changes[end]!, changes[end - 1]!)) end++;
    answers.push(...(await Promise.all(changes.slice(begin, end).map(({ entry }) => tell(engine, entry)))));
  }
  return answers;
}

const follows = ({ tx }: Change, { tx: before }: Change) =>
  tx !== undefined && tx.from === before?.from && tx.nonce > before.nonce;

/** Makes a block. Asked for in the same message, it would not be there yet. */
async function blockOf(engine: Engine, { seal: [number, timestamp] }: Seal, base: ChainBase): Promise<Sealed> {
  await engine.seal(timestamp);
  return base.seal(await engine.made(number, base.pool.rawOf));
}
