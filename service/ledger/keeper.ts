import { setTimeout as wait } from "node:timers/promises";
import { type ChainSpec, Engine, type Head, type Host } from "./engine";
import type { LedgerFolder } from "./ledger-folder";
import type { Waiting } from "./pool";
import { Replay, stopping } from "./replay";

/** What an engine needs of the chain that it executes. */
interface Kept {
  spec: ChainSpec;
  folder: LedgerFolder;
  /** An engine that does not answer for this long (ms) is replaced. */
  stall: number;
  closed: () => boolean;
  /** An engine is needed: the chain starts one when it is idle. */
  wanted: () => void;
  log: (text: string) => void;
  warn: (text: string) => void;
}

/** An engine that has all blocks, and what waits in it. */
export interface Begun {
  engine: Engine;
  replay: Replay;
  head: Head;
  waiting: Map<string, Waiting>;
}

/** The longest between two attempts to start an engine, in ms. */
const longest = 30_000;
/** How long a replaced engine may finish its requests, in ms. */
const leave = { least: 1_000, most: 60_000 };

/** Starts and watches a chain's engine; replaces it when it ends, hangs or has grown. */
export class Keeper {
  /** Those who wait for an engine. */
  readonly #readers: { done: (engine: Engine) => void; failed: (error: unknown) => void }[] = [];
  /** Replaced engines that finish their requests. */
  readonly #leaving = new Set<Engine>();
  readonly #followers = new Set<(socketPath: string) => Promise<void>>();
  #engine: Engine | undefined;
  #opening: Engine | undefined;
  #loading = false;
  #attempts = 0;
  #restart: { since: number; why: string } | undefined;

  constructor(
    private readonly host: Host,
    private readonly chain: Kept,
  ) {}

  /** The engine; it may have ended. */
  get engine(): Engine | undefined {
    return this.#engine;
  }

  get alive(): Engine | undefined {
    return this.#engine?.over === false ? this.#engine : undefined;
  }

  /** Since when, and why, there is none, if there is none now. */
  get restarting(): { since: number; why: string } | undefined {
    return this.#restart;
  }

  /** Whether somebody waits for one. */
  get awaited(): boolean {
    return this.#readers.length > 0;
  }

  follow(hear: (socketPath: string) => Promise<void>): () => void {
    this.#followers.add(hear);
    return () => void this.#followers.delete(hear);
  }

  /** The engine, once it has all blocks. */
  ready(): Promise<Engine> {
    if (this.chain.closed()) return Promise.reject(stopping());
    if (this.alive) return Promise.resolve(this.alive);
    return new Promise<Engine>((done, failed) => {
      this.#readers.push({ done, failed });
      this.chain.wanted();
    });
  }

  /** Tells those who wait for it. */
  serve(engine: Engine): void {
    for (const { done } of this.#readers.splice(0)) done(engine);
  }

  fail(error: unknown): void {
    for (const { failed } of this.#readers.splice(0)) failed(error);
  }

  fresh = () => Engine.start(this.host, this.chain.spec, this.chain.folder.genesis);

  /** Starts one and replays the chain's record. */
  async begin(): Promise<Begun> {
    const { folder, closed, log } = this.chain;
    this.#attempts++;
    const engine = (this.#opening = await this.fresh());
    const replay = new Replay(engine, folder, closed);
    try {
      const head = await replay.to(folder.journals, folder.snapshot);
      const waiting = await replay.waiting();
      this.#adopt(engine);
      this.#attempts = 0;
      if (this.#restart) log(`The ledger runs again, at block ${head.number}: nothing is lost.`);
      this.#restart = undefined;
      return { engine, replay, head, waiting };
    } catch (error) {
      engine.end();
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  /** Replaces an engine that has grown by one with the same blocks. */
  async replace(former: Engine, fresh: Engine): Promise<void> {
    await Promise.allSettled([...this.#followers].map((hear) => hear(fresh.socketPath)));
    this.#adopt(fresh);
    void this.#dismiss(former);
  }

  /** Does something during which an engine cannot answer. */
  async busy(act: () => Promise<void>): Promise<void> {
    this.#loading = true;
    await act().finally(() => (this.#loading = false));
  }

  /** An engine may hang without ending. */
  async probe(): Promise<void> {
    const engine = this.#engine;
    const { stall, closed } = this.chain;
    if (!engine || engine.over || this.#loading) return;
    const asked = engine.call("eth_chainId").then(
      () => true,
      () => true, // it ended, which is heard elsewhere
    );
    const answered = await Promise.race([asked, wait(stall, false, { ref: false })]);
    if (answered || engine.over || closed() || this.#loading || engine !== this.#engine) return;
    this.#restart ??= { since: Date.now(), why: `it did not answer for ${stall / 1_000} s` };
    engine.end();
  }

  close(): void {
    this.fail(stopping());
    for (const engine of [this.#opening, this.#engine, ...this.#leaving]) engine?.end();
  }

  #adopt(engine: Engine): void {
    this.#engine = engine;
    void engine.ended.then((why) => this.#lost(engine, why));
  }

  async #dismiss(engine: Engine): Promise<void> {
    this.#leaving.add(engine);
    const end = performance.now() + leave.most;
    do await wait(leave.least, undefined, { ref: false });
    while (engine.busy && !engine.over && performance.now() < end);
    engine.end();
    this.#leaving.delete(engine);
  }

  #lost(engine: Engine, why: string): void {
    const { closed, log, spec, warn } = this.chain;
    if (closed() || this.#engine !== engine) return;
    const reason = this.#restart?.why ?? why;
    this.#restart ??= { since: Date.now(), why };
    const text = `The ledger ${spec.key} is started again: ${reason}. What it acknowledged is kept.`;
    log(text);
    warn(text);
    void this.#revive();
  }

  async #revive(): Promise<void> {
    const { closed, log } = this.chain;
    while (!closed()) {
      try {
        await this.ready();
        return;
      } catch (error) {
        if (closed()) return;
        log((error as Error).message);
        await wait(Math.min(longest, 250 * 2 ** this.#attempts), undefined, { ref: false });
      }
    }
  }
}
