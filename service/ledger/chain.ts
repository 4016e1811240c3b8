import { Background } from "./background";
import type { ChainSpec, Engine, Host } from "./engine";
import { Keeper } from "./keeper";
import type { Entry, LedgerFolder } from "./ledger-folder";
import { asksForLogs, type Call, Reads } from "./reads";
import { Pool, type PoolLimits } from "./pool";
import { Differs, type Replay, stopping, tell } from "./replay";
import { type Answer, type Bounds, Excess, RpcError } from "./rpc";
import { Sealing } from "./sealing";
import { type Job, Sending } from "./sending";
import { Tail, type TailPace, usualTail } from "./tail";

/** How a chain is run. */
export interface Pace extends TailPace {
  /** An engine that does not answer for this long (ms) is replaced. */
  stall: number;
  /** Memory growth, in bytes, after which an engine is replaced. */
  growth: number;
  /** Transactions that may wait for a block. */
  pool: PoolLimits;
  /** How long after its start (ms) a chain begins background work, so that other chains start first. */
  rest: number;
}

export const usualPace: Pace = {
  ...usualTail,
  stall: 15_000,
  growth: 32 * 1_048_576,
  pool: { account: 256, ledger: 4_096 },
  rest: 5_000,
};

/** A job and its waiter. */
interface Awaited extends Job {
  done: () => void;
  failed: (error: unknown) => void;
}

const mostLines = 1_000;
/** Delay before a block that could not be recorded is retried (ms). */
const again = 1_000;
/** How long a used filter keeps its engine (ms). */
const filterLife = 300_000;

const sends = /"eth_send/;
const filters = /"eth_(new\w*Filter|getFilter)/;
const takes = (method: string) => /^eth_send(Raw)?Transaction(Sync)?$/.test(method);
/** For the service's own calls. */
const own: Bounds = { bytes: Infinity, ms: 60_000 };

/**
 * A ledger. Each transaction is recorded, then answered; each block is recorded with its time,
 * then made. The engine that executes them can end at any moment: the next one replays the record and has the same blocks.
 */
export class Chain {
  readonly #lines: string[] = [];
  readonly #jobs: Awaited[] = [];
  /** Payments that are made only once. */
  #given = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #keeper: Keeper;
  readonly #background: Background;
  readonly #pool: Pool;
  readonly #reads: Reads;
  readonly #sealing: Sealing;
  readonly #sending: Sending;
  readonly #tail: Tail;
  #filtersUsed = 0;
  #due = false;
  #turning: Promise<void> | undefined;
  #problem: string | undefined;
  #closed = false;

  private constructor(
    host: Host,
    private readonly spec: ChainSpec,
    private readonly folder: LedgerFolder,
    private readonly pace: Pace,
    private readonly warn: (text: string) => void,
  ) {
    const closed = () => this.#closed;
    const log = (text: string) => this.#log(text);
    const wanted = () => this.#turn();
    this.#keeper = new Keeper(host, { spec, folder, stall: pace.stall, closed, wanted, log, warn });
    const tail = (this.#tail = new Tail(folder, pace));
    const pool = (this.#pool = new Pool(pace.pool));
    const made = () => this.#background.wake();
    const note = (entries: readonly Entry[]) => this.#note(entries);
    this.#sealing = new Sealing({ spec, folder, tail, pool, note, given: () => this.#given, made, log });
    const hasGrown = () => this.#hasGrown(this.#keeper.alive);
    const place = (engine: Engine, replay: Replay) => this.#place(engine, replay);
    const { fresh: start } = this.#keeper;
    this.#background = new Background({ folder, tail, start, hasGrown, place, closed, log, warn });
    this.#sending = new Sending({
      pool,
      tail,
      sealing: this.#sealing,
      background: this.#background,
      closed,
      told: (job) => this.#told(job),
      ask: (method, params) => this.#own(method, params),
    });
    this.#reads = new Reads({
      folder,
      ready: () => this.#keeper.ready(),
      still: async (engine, act) => {
        let still = false;
        const load = async (current: Engine) => {
          still = current === engine;
          if (still) await this.#keeper.busy(act);
          this.#background.wake();
          return undefined;
        };
        await this.#told({ act: load });
        return still;
      },
      height: () => this.height,
      waits: pool.has,
    });
  }

  static async start(host: Host, spec: ChainSpec, folder: LedgerFolder, pace: Pace, warn: (text: string) => void) {
    const chain = new Chain(host, spec, folder, pace, warn);
    try {
      await chain.#keeper.ready();
    } catch (error) {
      folder.close();
      throw error;
    }
    if (spec.period !== undefined) chain.#every(spec.period * 1_000, () => chain.#seal());
    chain.#every(pace.stall / 3, () => void chain.#keeper.probe());
    setTimeout(() => chain.#background.wake(), pace.rest).unref();
    return chain;
  }

  /** The Unix socket where the engine speaks JSON-RPC: a line each way is a message. Transactions go through `ask`. */
  get socketPath(): string {
    return this.#keeper.engine?.socketPath ?? "";
  }

  /**
   * For direct connections to the engine: is told of the next engine before it takes over. The former one sends nothing new.
   *
   * @returns a function that stops it
   */
  follow(hear: (socketPath: string) => Promise<void>): () => void {
    return this.#keeper.follow(hear);
  }

  /** Recent messages, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Why nothing can be recorded now, if so: a sentence. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Since when, and why, it has no engine, if it has none now. */
  get restarting(): { since: number; why: string } | undefined {
    return this.#keeper.restarting;
  }

  get height(): number {
    return this.#sealing.head.number;
  }

  /** Forwards a caller's request and returns the response line. */
  ask = (text: string, bounds: Bounds): Promise<Buffer> => {
    const asked = this.#ask(text, bounds);
    const late = new Promise<never>((_done, fail) => {
      const timer = setTimeout(() => fail(new Excess("late")), Math.max(0, bounds.ms)).unref();
      void asked.finally(() => clearTimeout(timer)).catch(() => undefined);
    });
    return Promise.race([asked, late]);
  };

  /** A call of the service's own. */
  call = async <T>(method: string, params: unknown[] = []): Promise<T> => {
    const answer = takes(method) ? await this.#sending.send(method, params, own) : await this.#own(method, params);
    if ("error" in answer) throw new RpcError(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };

  /**
   * Gives an account money.
   *
   * @param once a name under which it is given only once
   */
  give(account: string, wei: bigint, once?: string): Promise<void> {
    const entry: Entry = { give: [account, `${wei}`], ...(once === undefined ? {} : { once }) };
    const act = async (engine: Engine) => {
      if (once !== undefined && this.#given.has(once)) return undefined;
      await this.#note([entry]); // everybody sees the money at once
      await tell(engine, entry, this.#given);
      return undefined;
    };
    return this.#told({ act });
  }

  /** Stops it; everything is on disk. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timers.forEach(clearInterval);
    for (const { failed } of this.#jobs.splice(0)) failed(stopping());
    this.#keeper.close();
    await Promise.all([this.#turning, this.#background.close()]);
    this.folder.close();
  }

  // Calls

  async #ask(text: string, bounds: Bounds): Promise<Buffer> {
    const pass = (engine: Engine) => engine.ask(text, bounds);
    if (filters.test(text)) this.#filtersUsed = Date.now();
    if (this.folder.past.length === 0 && !sends.test(text)) return pass(await this.#keeper.ready());
    const call = JSON.parse(text) as Call & { id: unknown };
    const { id, method, params } = call;
    const end = performance.now() + bounds.ms;
    const told = (answer: Answer) => Buffer.from(JSON.stringify({ ...answer, jsonrpc: "2.0", id }));
    if (takes(method)) return told(await this.#sending.send(method, params ?? [], bounds));
    if (!asksForLogs(call)) return this.#reads.answer(call, pass, resultIn, end);
    let room = bounds.bytes;
    const part = async (engine: Engine, some: Call) => {
      const line = await engine.ask(JSON.stringify(some), { bytes: room, ms: end - performance.now() });
      room -= line.length;
      return JSON.parse(line.toString()) as Answer;
    };
    return told(await this.#reads.logs(call, part, end));
  }

  #own(method: string, params: unknown[]): Promise<Answer> {
    const ask = (engine: Engine) => engine.answer(method, params);
    const end = performance.now() + own.ms;
    const part = (engine: Engine, some: Call) => engine.answer(method, some.params ?? []);
    if (asksForLogs({ method, params })) return this.#reads.logs({ method, params }, part, end);
    return this.#reads.answer({ method, params }, ask, (said) => ("result" in said ? said.result : null), end);
  }

  // What it is told

  #told(job: Job): Promise<void> {
    if (this.#closed) return Promise.reject(stopping());
    return new Promise<void>((done, failed) => {
      this.#jobs.push({ ...job, done, failed });
      this.#turn();
    });
  }

  #seal(): void {
    this.#due = true;
    this.#turn();
  }

  #turn(): void {
    this.#turning ??= this.#work().finally(() => {
      this.#turning = undefined;
      if (this.#asked) this.#turn();
    });
  }

  get #asked(): boolean {
    return !this.#closed && (this.#jobs.length > 0 || this.#due || this.#keeper.awaited);
  }

  /** Serializes work: no engine starts while something is being recorded, so none misses it. */
  async #work(): Promise<void> {
    while (this.#asked) {
      const jobs = this.#next();
      try {
        const engine = this.#keeper.alive ?? (await this.#begin());
        this.#keeper.serve(engine);
        const kept = await this.#take(engine, jobs);
        const due = this.#due || (kept && this.spec.period === undefined);
        if (due) await this.#sealNow(this.#keeper.engine!); // a job may have replaced it
        for (const { done } of jobs) done();
      } catch (error) {
        this.#due = false;
        for (const { failed } of jobs) failed(error);
        this.#keeper.fail(error);
      }
    }
  }

  /** Jobs that are done together. */
  #next(): Awaited[] {
    const alone = this.#jobs.findIndex((job) => job.alone);
    return this.#jobs.splice(0, alone < 0 ? this.#jobs.length : Math.max(1, alone));
  }

  /** Performs jobs and records them together. @returns whether a transaction is among them */
  async #take(engine: Engine, jobs: readonly Awaited[]): Promise<boolean> {
    const acted: { job: Awaited; entry: Entry }[] = [];
    for (const job of jobs) {
      try {
        const entry = await job.act(engine);
        if (entry) acted.push({ job, entry });
      } catch (error) {
        job.failed(error);
      }
    }
    if (acted.length === 0) return false;
    try {
      await this.#note(acted.map(({ entry }) => entry));
    } catch (error) {
      for (const { job } of acted) {
        await job.undo?.(engine).catch(() => undefined);
        job.failed(error);
      }
      return false;
    }
    return true;
  }

  async #sealNow(engine: Engine): Promise<void> {
    this.#due = false;
    const noted = await this.#sealing.seal(engine);
    if (noted || this.spec.period !== undefined) return; // else the next one comes by itself
    setTimeout(() => this.#closed || this.#seal(), again).unref();
  }

  async #note(entries: readonly Entry[]): Promise<void> {
    try {
      await this.folder.append(entries);
      this.#problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (this.#problem !== message) {
        this.#log(message);
        this.warn(message);
      }
      this.#problem = message;
      throw error;
    }
  }

  // Its engine

  async #begin(): Promise<Engine> {
    const { engine, replay, head, waiting } = await this.#keeper.begin();
    this.#sealing.head = head;
    this.#pool.restore(waiting);
    this.#given = replay.given;
    this.#tail.measured(replay.loads);
    if (this.spec.period === undefined && waiting.size > 0) this.#due = true;
    return engine;
  }

  /** Whether it uses too much memory. Filters in use, which a replacement would end, raise the limit. */
  #hasGrown(engine: Engine | undefined): boolean {
    if (!engine) return false;
    const filtered = Date.now() < this.#filtersUsed + filterLife;
    const needed = this.#tail.load.weight;
    return engine.weight - needed > Math.max(this.pace.growth, needed / 2) * (filtered ? 3 : 1);
  }

  /** Replaces an engine that has grown by one with the same blocks. Only filters are lost. */
  #place(fresh: Engine, replay: Replay): Promise<void> {
    const act = async (former: Engine) => {
      const { number, hash } = await replay.to(this.folder.journals);
      if (hash !== this.#sealing.head.hash) throw new Differs(number);
      await this.#keeper.replace(former, fresh);
      return undefined;
    };
    return this.#told({ alone: true, act });
  }

  #every(ms: number, act: () => void): void {
    this.#timers.push(setInterval(act, ms).unref());
  }

  #log(text: string): void {
    this.#lines.push(`${new Date().toISOString()} INFO [geth] ${text}`);
    if (this.#lines.length > 2 * mostLines) this.#lines.splice(0, mostLines);
  }
}

/** Parses an answer; a long one is not null. */
const resultIn = (said: Buffer): unknown => {
  if (said.length > 1_000) return said;
  return (JSON.parse(said.toString()) as { result?: unknown }).result ?? null; // an error may be of a hash that is not known
};
