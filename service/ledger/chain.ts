import { setTimeout as wait } from "node:timers/promises";
import { Background } from "./background";
import { type ChainSpec, type Engine, type Head, type Host, weightOf } from "./engine";
import { Keeper } from "./keeper";
import type { Entry, LedgerFolder } from "./ledger-folder";
import { asksForLogs, type Call } from "./past-calls";
import { Reads } from "./reads";
import { stopping, tell } from "./replay";
import { type Answer, type Bounds, Excess, RpcError } from "./rpc";

/** How a chain is run; times are in ms. */
export interface Pace {
  /** An engine that says nothing for so long is ended, and another one takes its place. */
  stall: number;
  /** Blocks and bytes of a journal, from which on it becomes a snapshot. */
  blocks: number;
  bytes: number;
  /**
   * How many blocks a contract can look back. An engine that begins with a state knows the hashes of those alone that it made itself:
   * so a state becomes a snapshot only if as many blocks follow it, and come out as they were.
   */
  lookback: number;
  /** Bytes that an engine may grow by before another one takes its place. */
  growth: number;
  /** Bytes that every engine has to hold, from which on no transactions are taken until there is a later snapshot. */
  room: number;
}

const MiB = 1_048_576;
export const usualPace: Pace = {
  stall: 15_000,
  lookback: 256,
  blocks: 256,
  bytes: 8 * MiB,
  growth: 32 * MiB,
  room: 1_024 * MiB,
};

/** Something that a chain is told. */
interface Job {
  /** Does it, and answers what is to be noted before anybody hears of it. */
  act: (engine: Engine) => Promise<Entry | undefined>;
  /** Takes it back, since it could not be noted. */
  undo?: (engine: Engine) => Promise<unknown>;
  /** Whether all that was told before has to be noted first. */
  alone?: boolean;
}

/** One of them, and who waits for it. */
interface Awaited extends Job {
  done: () => void;
  failed: (error: unknown) => void;
}

const mostLines = 1_000;
/** How long a block waits that could not be noted (ms). */
const again = 1_000;
/** How long filters keep an engine in its place after they were used (ms). */
const filterLife = 300_000;

const sends = /"eth_send/;
const filters = /"eth_(new\w*Filter|getFilter)/;
const takes = (method: string) => /^eth_send(Raw)?Transaction(Sync)?$/.test(method);
/** For the service's own calls. */
const own: Bounds = { bytes: Infinity, ms: 60_000 };

/**
 * A ledger: what was written before it was answered. Each transaction is noted, then answered; each block is noted with its time,
 * then made. The engine that executes them can end at any moment: the next one goes through the same notes and has the same blocks.
 */
export class Chain {
  readonly #lines: string[] = [];
  readonly #jobs: Awaited[] = [];
  /** Transactions that no block has yet, by their hash, in the order in which they came. */
  readonly #waiting = new Map<string, string>();
  /** What was given once only. */
  #given = new Set<string>();
  readonly #sealed = new Set<() => void>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #keeper: Keeper;
  readonly #background: Background;
  readonly #reads: Reads;
  #filtersUsed = 0;
  #head!: Head;
  #blocks = 0;
  /** About how many bytes an engine takes for what is in each journal. */
  #weights = new Map<string, number>();
  #due = false;
  /** Whether a block is made although there is no transaction for it. */
  #empty = false;
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
    const say = (text: string) => this.#say(text);
    const wanted = () => this.#turn();
    this.#keeper = new Keeper(host, { spec, folder, stall: pace.stall, closed, wanted, say, warn });
    this.#background = new Background(this.#keeper.fresh, folder, pace.lookback, closed, say);
    this.#reads = new Reads({
      folder,
      ready: () => this.#keeper.ready(),
      still: async (engine, act) => {
        let still = false;
        const load = async (current: Engine) => {
          still = current === engine;
          if (still) await this.#keeper.busy(act);
          if (this.#hasGrown(current)) this.#renew();
          return undefined;
        };
        await this.#told({ act: load });
        return still;
      },
      height: () => this.#head.number,
      waits: (hash) => this.#waiting.has(hash),
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
    chain.#compact();
    return chain;
  }

  /** The Unix socket where the engine speaks JSON-RPC: a line each way is a message. Transactions go through `ask`. */
  get socketPath(): string {
    return this.#keeper.engine?.socketPath ?? "";
  }

  /**
   * For whoever talks to the engine itself: hears where the next one is before it takes its place. The former one tells nothing new.
   *
   * @returns ends it
   */
  follow(hear: (socketPath: string) => Promise<void>): () => void {
    return this.#keeper.follow(hear);
  }

  /** What the chain has to tell lately, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Why nothing can be noted now, if so: a sentence. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Since when, and why, it has no engine, if it has none now. */
  get restarting(): { since: number; why: string } | undefined {
    return this.#keeper.restarting;
  }

  get height(): number {
    return this.#head.number;
  }

  /** Sends it a call of somebody's, and answers its line. */
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
    const answer = takes(method) ? await this.#send(method, params, own) : await this.#own(method, params);
    if ("error" in answer) throw new RpcError(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };

  /**
   * Gives an account money.
   *
   * @param once it is given once only, however often it is asked for by this name
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

  /** Ends it; what it was told is on the disk. */
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
    if (takes(method)) return told(await this.#send(method, params ?? [], bounds));
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

  /** Takes a transaction: it is noted before it is answered. */
  async #send(method: string, params: unknown[], { ms }: Bounds): Promise<Answer> {
    const end = performance.now() + ms;
    if (this.#isFull) return this.#refused();
    let answer: Answer = { result: null };
    await this.#told({
      act: async (engine) => {
        const unsigned = method.startsWith("eth_sendTransaction");
        const signed = unsigned ? await engine.answer("eth_signTransaction", params) : { result: params[0] };
        answer = "error" in signed ? signed : await engine.send(signed.result as string);
        if ("error" in answer || "error" in signed) return undefined;
        this.#waiting.set(answer.result as string, signed.result as string);
        return { tx: signed.result as string };
      },
      undo: async (engine) => {
        const { result } = answer as { result: string };
        this.#waiting.delete(result);
        await engine.answer("anvil_dropTransaction", [result]);
      },
    });
    return method.endsWith("Sync") && "result" in answer ? this.#receipt(answer.result as string, end) : answer;
  }

  /** What every engine has to hold: a chain whose last blocks did too much would take the memory of all others. */
  get #needed(): number {
    return this.folder.journals.reduce((sum, { name }) => sum + (this.#weights.get(name) ?? 0), 0);
  }

  get #isFull(): boolean {
    return this.#needed > this.pace.room;
  }

  /** Room comes with blocks, which a chain without a period would not make; with those that a snapshot can have now, it makes no more. */
  async #refused(): Promise<Answer> {
    if (this.spec.period === undefined) {
      if (this.folder.due(this.pace.lookback) > 0) this.#compact();
      else {
        this.#empty = true;
        this.#seal();
      }
      await this.#block();
    }
    const why = `The last ${this.pace.lookback} blocks did more than a ledger can hold in memory`;
    return { error: { code: -32_000, message: `${why}. Send the transaction again after as many blocks.` } };
  }

  async #receipt(hash: string, end: number): Promise<Answer> {
    while (!this.#closed && performance.now() < end) {
      const answer = await this.#own("eth_getTransactionReceipt", [hash]);
      if ("error" in answer || answer.result !== null) return answer;
      await this.#block();
    }
    throw new Excess("late");
  }

  /** The next block, or a moment. */
  async #block(): Promise<void> {
    await Promise.race([new Promise<void>((done) => this.#sealed.add(done)), wait(1_000, undefined, { ref: false })]);
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

  /** One thing after the other: no engine begins while something is noted, so that none misses it. */
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

  /** Does some jobs, and notes them together. @returns whether a transaction is among them */
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

  /** Notes the next block with its time, then makes it. Nobody sees it before it is noted. */
  async #sealNow(engine: Engine): Promise<void> {
    this.#due = false;
    const onDemand = this.spec.period === undefined;
    do {
      if (onDemand && !this.#empty && (await pending(engine)) === 0) return;
      this.#empty = false;
      const timestamp = Math.max(this.#head.timestamp, Math.floor(Date.now() / 1_000));
      const { number, hash, gas } = this.#head;
      try {
        await this.#note([{ seal: [number + 1, timestamp, hash, gas] }]);
      } catch {
        if (onDemand) setTimeout(() => this.#closed || this.#seal(), again).unref(); // else the next one comes by itself
        return;
      }
      try {
        await engine.seal(timestamp);
        if ((await this.#made(engine)) === 0) return;
      } catch {
        engine.end(); // it is noted: the next engine makes it
        await engine.ended;
        return;
      }
    } while (onDemand);
  }

  /** @returns how many transactions the new block has */
  async #made(engine: Engine): Promise<number> {
    const { head, transactions } = await engine.latest();
    this.#head = head;
    for (const one of transactions) {
      this.#waiting.delete(one);
      this.#say(`Executed transaction hash=${one}`);
    }
    this.#say(`Imported block number=${head.number} hash=${head.hash} transactions=${transactions.length}`);
    for (const done of this.#sealed) done();
    this.#sealed.clear();
    const weight = weightOf(1, transactions.length, head.gas);
    const { name } = this.folder.journals.at(-1)!;
    const written = (this.#weights.get(name) ?? 0) + weight;
    this.#weights.set(name, written);
    engine.gained(weight);
    const { blocks, bytes, growth, lookback } = this.pace;
    const enough = ++this.#blocks >= (this.#isFull ? lookback / 4 : blocks);
    if (enough || this.folder.bytes >= bytes || written >= growth) await this.#rotate(engine);
    if (this.#hasGrown(engine)) this.#renew();
    return transactions.length;
  }

  async #note(entries: readonly Entry[]): Promise<void> {
    try {
      await this.folder.append(entries);
      this.#problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (this.#problem !== message) {
        this.#say(message);
        this.warn(message);
      }
      this.#problem = message;
      throw error;
    }
  }

  // Snapshots, which only shorten the start

  async #rotate(engine: Engine): Promise<void> {
    if (this.#closed) return;
    type Pool = Record<"pending" | "queued", Record<string, Record<string, { hash: string }>>>;
    const { pending, queued } = await engine.call<Pool>("txpool_content");
    const pool = new Set(
      [pending, queued]
        .flatMap((some) => Object.values(some).flatMap((one) => Object.values(one)))
        .map(({ hash }) => hash),
    );
    for (const hash of this.#waiting.keys()) if (!pool.has(hash)) this.#waiting.delete(hash); // replaced, or void
    const entries: Entry[] = [...this.#waiting.values()].map((tx) => ({ tx }));
    try {
      this.folder.rotate(this.#head, [{ given: [...this.#given] }, ...entries]);
      this.#blocks = 0;
      this.#compact();
    } catch (error) {
      this.#say(`No snapshot is made: ${(error as Error).message}. It is tried again.`);
    }
  }

  // Its engine

  async #begin(): Promise<Engine> {
    const { engine, replay, head, waiting } = await this.#keeper.begin();
    this.#head = head;
    this.#waiting.clear();
    for (const [hash, raw] of waiting) this.#waiting.set(hash, raw);
    this.#given = replay.given;
    this.#weights = replay.weights;
    this.#blocks = replay.blocks;
    if (this.spec.period === undefined && waiting.size > 0) this.#due = true;
    return engine;
  }

  /** Whether it takes too much memory; somebody's filters, which would end, keep it for longer. */
  #hasGrown({ weight }: Engine): boolean {
    const filtered = Date.now() < this.#filtersUsed + filterLife;
    const needed = this.#needed;
    return weight - needed > Math.max(this.pace.growth, needed / 2) * (filtered ? 3 : 1);
  }

  #compact(): void {
    this.#background.compact(() => {
      if (this.#closed) return;
      const engine = this.#keeper.alive;
      if (engine && this.#hasGrown(engine)) this.#renew();
      else this.#compact(); // there may be more to do
    });
  }

  /** Puts another engine in its place, which has the same blocks; nobody notices but those with filters. */
  #renew(): void {
    this.#background.renew((fresh, replay) =>
      this.#told({
        alone: true,
        act: async (former) => {
          const { number, hash } = await replay.to(this.folder.journals);
          if (hash !== this.#head.hash) throw new Error(`block ${number} does not come out as it was`);
          await this.#keeper.replace(former, fresh);
          return undefined;
        },
      }),
    );
  }

  #every(ms: number, act: () => void): void {
    this.#timers.push(setInterval(act, ms).unref());
  }

  #say(text: string): void {
    this.#lines.push(`${new Date().toISOString()} INFO [geth] ${text}`);
    if (this.#lines.length > 2 * mostLines) this.#lines.splice(0, mostLines);
  }
}

/** What an answer says; a long one says something. */
const resultIn = (said: Buffer): unknown => {
  if (said.length > 1_000) return said;
  return (JSON.parse(said.toString()) as { result?: unknown }).result ?? null; // an error may be of a hash that is not known
};

/** Transactions that the next block can have. */
async function pending(engine: Engine): Promise<number> {
  return Number((await engine.call<{ pending: string }>("txpool_status")).pending);
}
