import { setTimeout as wait } from "node:timers/promises";
import { Refusal } from "../errors";
import { type ChainSpec, Engine, type Head, type Host } from "./engine";
import type { Entry, LedgerFolder } from "./ledger-folder";
import { type Call, hashIn, wantedOf } from "./past-calls";
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
}

export const usualPace: Pace = { stall: 15_000, lookback: 256, blocks: 1_000, bytes: 8 * 1_048_576 };

/** Something that a chain is told, and who waits for it. */
interface Job {
  /** Does it, and answers what is to be noted before anybody hears of it. */
  act: (engine: Engine) => Promise<Entry | undefined>;
  /** Takes it back, since it could not be noted. */
  undo?: (engine: Engine) => Promise<unknown>;
  done: () => void;
  failed: (error: unknown) => void;
}

const mostLines = 1_000;
/** How long a block waits that could not be noted, and the longest between two attempts to start an engine, in ms. */
const again = { seal: 1_000, start: 30_000 };

const sends = /"eth_send/;
const takes = (method: string) => /^eth_send(Raw)?Transaction(Sync)?$/.test(method);
/** For the service's own calls. */
const own: Bounds = { bytes: Infinity, ms: 60_000 };

/**
 * A ledger: what was written before it was answered. Each transaction is noted, then answered; each block is noted with its time,
 * then made. The engine that executes them can end at any moment: the next one goes through the same notes and has the same blocks.
 */
export class Chain {
  readonly #lines: string[] = [];
  readonly #jobs: Job[] = [];
  /** Transactions that no block has yet, by their hash, in the order in which they came. */
  readonly #waiting = new Map<string, string>();
  readonly #given = new Set<string>();
  readonly #loaded = new WeakMap<Engine, Set<string>>();
  readonly #sealed = new Set<() => void>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Those who wait for an engine. */
  readonly #readers: { done: (engine: Engine) => void; failed: (error: unknown) => void }[] = [];
  #engine: Engine | undefined;
  #opening: Engine | undefined;
  /** The one that makes a snapshot. */
  #shadow: Engine | undefined;
  #loading = false;
  #head!: Head;
  #blocks = 0;
  #due = false;
  #turning: Promise<void> | undefined;
  #snapshot: Promise<void> | undefined;
  #attempts = 0;
  #restart: { since: number; why: string } | undefined;
  #problem: string | undefined;
  #closed = false;

  private constructor(
    private readonly host: Host,
    private readonly spec: ChainSpec,
    private readonly folder: LedgerFolder,
    private readonly pace: Pace,
    private readonly warn: (text: string) => void,
  ) {}

  static async start(host: Host, spec: ChainSpec, folder: LedgerFolder, pace: Pace, warn: (text: string) => void) {
    const chain = new Chain(host, spec, folder, pace, warn);
    try {
      await chain.#ready();
    } catch (error) {
      folder.close();
      throw error;
    }
    if (spec.period !== undefined) chain.#every(spec.period * 1_000, () => chain.#seal());
    chain.#every(pace.stall / 3, () => void chain.#probe());
    chain.#compact();
    return chain;
  }

  /** The Unix socket where the engine speaks JSON-RPC: a line each way is a message. Transactions go through `ask`. */
  get socketPath(): string {
    return this.#engine?.socketPath ?? "";
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
    return this.#restart;
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
    return this.#told(async (engine) => {
      if (once !== undefined && this.#given.has(once)) return undefined;
      await this.#note([entry]); // everybody sees the money at once
      await replay(engine, entry, this.#given);
      return undefined;
    });
  }

  /** Ends it; what it was told is on the disk. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timers.forEach(clearInterval);
    for (const { failed } of [...this.#jobs.splice(0), ...this.#readers.splice(0)]) failed(stopping());
    this.#opening?.end();
    this.#shadow?.end();
    this.#engine?.end();
    await Promise.all([this.#turning, this.#snapshot]);
    this.folder.close();
  }

  // Calls

  async #ask(text: string, bounds: Bounds): Promise<Buffer> {
    const pass = (engine: Engine) => engine.ask(text, bounds);
    if (this.folder.past.length === 0 && !sends.test(text)) return pass(await this.#ready());
    const call = JSON.parse(text) as Call & { id: unknown };
    const { id, method, params } = call;
    if (!takes(method)) return this.#read(call, pass, (said) => resultIn(said));
    return Buffer.from(JSON.stringify({ ...(await this.#send(method, params ?? [], bounds)), jsonrpc: "2.0", id }));
  }

  #own(method: string, params: unknown[]): Promise<Answer> {
    const ask = (engine: Engine) => engine.answer(method, params);
    return this.#read({ method, params }, ask, (said) => ("result" in said ? said.result : null));
  }

  /** Takes a transaction: it is noted before it is answered. */
  async #send(method: string, params: unknown[], { ms }: Bounds): Promise<Answer> {
    const end = performance.now() + ms;
    let answer: Answer = { result: null };
    await this.#told(
      async (engine) => {
        const unsigned = method.startsWith("eth_sendTransaction");
        const signed = unsigned ? await engine.answer("eth_signTransaction", params) : { result: params[0] };
        answer = "error" in signed ? signed : await engine.answer("eth_sendRawTransaction", [signed.result]);
        if ("error" in answer || "error" in signed) return undefined;
        this.#waiting.set(answer.result as string, signed.result as string);
        return { tx: signed.result as string };
      },
      async (engine) => {
        const { result } = answer as { result: string };
        this.#waiting.delete(result);
        await engine.answer("anvil_dropTransaction", [result]);
      },
    );
    return method.endsWith("Sync") && "result" in answer ? this.#receipt(answer.result as string, end) : answer;
  }

  async #receipt(hash: string, end: number): Promise<Answer> {
    while (!this.#closed && performance.now() < end) {
      const answer = await this.#own("eth_getTransactionReceipt", [hash]);
      if ("error" in answer || answer.result !== null) return answer;
      await Promise.race([new Promise<void>((done) => this.#sealed.add(done)), wait(1_000, undefined, { ref: false })]);
    }
    throw new Excess("late");
  }

  /** Asks what changes nothing. Blocks of the past are given to the engine when somebody wants them. */
  async #read<T>(call: Call, ask: (engine: Engine) => Promise<T>, result: (said: T) => unknown): Promise<T> {
    const engine = await this.#ready();
    await this.#load(engine, wantedOf(call, this.folder.past, this.#head.number));
    const said = await ask(engine);
    const hash = this.folder.past.length === 0 ? undefined : hashIn(call);
    if (hash === undefined || this.#waiting.has(hash) || isSomething(result(said))) return said;
    const missing = this.folder.pastOf(hash);
    return missing && (await this.#load(engine, [missing])) ? ask(engine) : said;
  }

  /** @returns whether there was anything to load */
  async #load(engine: Engine, wanted: Iterable<LedgerFolder["past"][number]>): Promise<boolean> {
    let any = false;
    const loaded = this.#loaded.get(engine)!;
    for (const past of wanted) {
      if (loaded.has(past.name)) continue;
      any = true;
      await this.#told(async (current) => {
        if (current !== engine || loaded.has(past.name)) return undefined;
        this.#loading = true;
        await engine.loadPast(this.folder.fileOf(past)).finally(() => (this.#loading = false));
        loaded.add(past.name);
        return undefined;
      });
    }
    return any;
  }

  // What it is told

  #told(act: Job["act"], undo?: Job["undo"]): Promise<void> {
    if (this.#closed) return Promise.reject(stopping());
    return new Promise<void>((done, failed) => {
      this.#jobs.push({ act, done, failed, ...(undo ? { undo } : {}) });
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
    return !this.#closed && (this.#jobs.length > 0 || this.#due || this.#readers.length > 0);
  }

  /** One thing after the other: no engine begins while something is noted, so that none misses it. */
  async #work(): Promise<void> {
    while (this.#asked) {
      const jobs = this.#jobs.splice(0);
      try {
        const engine = this.#alive ?? (await this.#begin());
        for (const { done } of this.#readers.splice(0)) done(engine);
        const kept = await this.#take(engine, jobs);
        if (this.#due || (kept && this.spec.period === undefined)) await this.#sealNow(engine);
        for (const { done } of jobs) done();
      } catch (error) {
        this.#due = false;
        for (const { failed } of [...jobs, ...this.#readers.splice(0)]) failed(error);
      }
    }
  }

  /** Does some jobs, and notes them together. @returns whether a transaction is among them */
  async #take(engine: Engine, jobs: readonly Job[]): Promise<boolean> {
    const acted: { job: Job; entry: Entry }[] = [];
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
      if (onDemand && (await pending(engine)) === 0) return;
      const timestamp = Math.max(this.#head.timestamp, Math.floor(Date.now() / 1_000));
      try {
        await this.#note([{ seal: [this.#head.number + 1, timestamp, this.#head.hash] }]);
      } catch {
        if (onDemand) setTimeout(() => this.#closed || this.#seal(), again.seal).unref(); // else the next one comes by itself
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
    type Block = { number: string; hash: string; timestamp: string; transactions: string[] };
    const block = await engine.call<Block>("eth_getBlockByNumber", ["latest", false]);
    const { number, hash, timestamp, transactions } = block;
    this.#head = { number: Number(number), hash, timestamp: Number(timestamp) };
    for (const one of transactions) {
      this.#waiting.delete(one);
      this.#say(`Executed transaction hash=${one}`);
    }
    this.#say(`Imported block number=${this.#head.number} hash=${hash} transactions=${transactions.length}`);
    for (const done of this.#sealed) done();
    this.#sealed.clear();
    if (++this.#blocks >= this.pace.blocks || this.folder.bytes >= this.pace.bytes) await this.#rotate(engine);
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

  /** Another engine goes through the first journals; if one that begins with its state has the same blocks, that takes their place. */
  #compact(): void {
    const count = this.folder.due(this.pace.lookback);
    if (this.#snapshot || count === 0) return;
    const { journals } = this.folder;
    const go = async <T>(begin: string | undefined, from: number, to: number, then: (engine: Engine) => Promise<T>) => {
      const engine = await Engine.start(this.host, this.spec, this.folder.genesis);
      this.#shadow = engine;
      try {
        const some = journals.slice(from, to);
        await through(engine, { folder: this.folder, begin, journals: some, stop: () => this.#closed });
        const { hash, number } = await engine.head();
        if (hash !== journals[to]!.after!.hash) throw new Error(`block ${number} does not come out as it was`);
        return await then(engine);
      } finally {
        engine.end();
      }
    };
    const work = async () => {
      const dump = await go(this.folder.snapshot, 0, count, (engine) => engine.dump());
      await this.folder.keep(dump, count, this.pace.lookback, (file) =>
        go(file, count, journals.length - 1, () => Promise.resolve()),
      );
    };
    this.#snapshot = work()
      .catch((error: Error) => {
        if (!this.#closed)
          this.#say(`No snapshot is made: ${error.message}. All is in the journal; it is tried again.`);
      })
      .finally(() => (this.#snapshot = undefined));
  }

  // Its engine

  get #alive(): Engine | undefined {
    return this.#engine?.over === false ? this.#engine : undefined;
  }

  /** The engine, once it has all blocks. */
  #ready(): Promise<Engine> {
    if (this.#closed) return Promise.reject(stopping());
    if (this.#alive) return Promise.resolve(this.#alive);
    return new Promise<Engine>((done, failed) => {
      this.#readers.push({ done, failed });
      this.#turn();
    });
  }

  async #begin(): Promise<Engine> {
    this.#attempts++;
    const engine = await Engine.start(this.host, this.spec, this.folder.genesis);
    this.#opening = engine;
    try {
      this.#given.clear();
      const { folder } = this;
      const { waiting, blocks } = await through(engine, {
        ...{ folder, begin: folder.snapshot, journals: folder.journals },
        ...{ given: this.#given, stop: () => this.#closed },
      });
      this.#waiting.clear();
      for (const [hash, raw] of waiting) this.#waiting.set(hash, raw);
      this.#head = await engine.head();
      this.#blocks = blocks;
      if (this.spec.period === undefined && waiting.size > 0) this.#due = true;
    } catch (error) {
      engine.end();
      throw error;
    } finally {
      this.#opening = undefined;
    }
    this.#loaded.set(engine, new Set());
    this.#engine = engine;
    this.#attempts = 0;
    if (this.#restart) this.#say(`The ledger runs again, at block ${this.#head.number}: nothing is lost.`);
    this.#restart = undefined;
    void engine.ended.then((why) => this.#lost(engine, why));
    return engine;
  }

  #lost(engine: Engine, why: string): void {
    if (this.#closed || this.#engine !== engine) return;
    const reason = this.#restart?.why ?? why;
    this.#restart ??= { since: Date.now(), why };
    const text = `The ledger ${this.spec.key} is started again: ${reason}. What it acknowledged is kept.`;
    this.#say(text);
    this.warn(text);
    void this.#revive();
  }

  async #revive(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#ready();
        return;
      } catch (error) {
        if (this.#closed) return;
        this.#say((error as Error).message);
        await wait(Math.min(again.start, 250 * 2 ** this.#attempts), undefined, { ref: false });
      }
    }
  }

  /** An engine may stand without ending. */
  async #probe(): Promise<void> {
    const engine = this.#engine;
    if (!engine || engine.over || this.#loading) return;
    const asked = engine.call("eth_chainId").then(
      () => true,
      () => true, // it ended, which is heard elsewhere
    );
    const answered = await Promise.race([asked, wait(this.pace.stall, false, { ref: false })]);
    if (answered || engine.over || this.#closed || this.#loading) return;
    this.#restart ??= { since: Date.now(), why: `it did not answer for ${this.pace.stall / 1_000} s` };
    engine.end();
  }

  #every(ms: number, act: () => void): void {
    this.#timers.push(setInterval(act, ms).unref());
  }

  #say(text: string): void {
    this.#lines.push(`${new Date().toISOString()} INFO [geth] ${text}`);
    if (this.#lines.length > 2 * mostLines) this.#lines.splice(0, mostLines);
  }
}

const isSomething = (result: unknown) => result !== null && !Array.isArray(result);
/** What an answer says; a long one says something. */
const resultIn = (said: Buffer): unknown =>
  said.length > 1_000 || (JSON.parse(said.toString()) as { result?: unknown }).result || null;

const stopping = () => new Refusal(503, "The service is stopping.");

/** Transactions that the next block can have. */
async function pending(engine: Engine): Promise<number> {
  return Number((await engine.call<{ pending: string }>("txpool_status")).pending);
}

interface Way {
  folder: LedgerFolder;
  /** The file of the state to begin with; without it, the genesis. */
  begin: string | undefined;
  journals: LedgerFolder["journals"];
  given?: Set<string>;
  stop: () => boolean;
}

/** Takes an engine at its genesis through some journals. */
async function through(engine: Engine, { folder, begin, journals, given = new Set(), stop }: Way) {
  if (begin !== undefined) await engine.load(begin);
  const waiting = new Map<string, string>();
  let blocks = 0;
  let last: { number: number; parent: string } | undefined;
  for (const { name } of journals) {
    blocks = 0;
    for (const entry of folder.entriesOf(name)) {
      if (stop()) throw stopping();
      const hash = await replay(engine, entry, given);
      if (hash !== undefined && "tx" in entry) waiting.set(hash, entry.tx);
      if (!("seal" in entry)) continue;
      last = { number: entry.seal[0], parent: entry.seal[2] };
      blocks++;
    }
  }
  if (last) {
    type Block = { number: string; parentHash: string };
    const { number, parentHash } = await engine.call<Block>("eth_getBlockByNumber", ["latest", false]);
    if (Number(number) !== last.number || parentHash !== last.parent)
      throw new Refusal(503, `The ledger does not start: block ${last.number} does not come out as it was.`);
  }
  const still = await Promise.all([...waiting.keys()].map((hash) => isWaiting(engine, hash)));
  [...waiting.keys()].forEach((hash, index) => still[index] || waiting.delete(hash));
  return { waiting, blocks };
}

async function isWaiting(engine: Engine, hash: string): Promise<boolean> {
  const found = await engine.call<{ blockHash: string | null } | null>("eth_getTransactionByHash", [hash]);
  return found !== null && found.blockHash === null;
}

/** Tells an engine what a chain was told before. @returns the hash of a transaction that it took */
async function replay(engine: Engine, entry: Entry, given: Set<string>): Promise<string | undefined> {
  if ("seal" in entry) await engine.seal(entry.seal[1]);
  else if ("give" in entry) {
    const [account, wei] = entry.give;
    await engine.call("anvil_addBalance", [account, `0x${BigInt(wei).toString(16)}`]);
    if (entry.once !== undefined) given.add(entry.once);
  } else if ("given" in entry) entry.given.forEach((one) => given.add(one));
  else {
    const answer = await engine.answer("eth_sendRawTransaction", [entry.tx]);
    if ("result" in answer) return answer.result as string; // else it waits already: a journal begins with what does
  }
  return undefined;
}
