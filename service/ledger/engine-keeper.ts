import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import { Engine, type Host } from "./engine";
import { OutOfOrder } from "./ledger-folder";
import { Replay, stopping } from "./replay";

/** The longest pause between two attempts to start an engine (ms). */
const longest = 30_000;
/** How long a replaced engine may finish its requests (ms). */
const leave = { least: 1_000, most: 60_000 };

/** Starts and watches a chain's engine. Replaces it when it ends, hangs or has grown. */
export class EngineKeeper {
  /** Replaced engines that finish their requests. */
  readonly #leaving = new Set<Engine>();
  readonly #followers = new Set<(socketPath: string) => Promise<void>>();
  /** The engine; it may have ended. */
  engine: Engine | undefined;
  #opening: Engine | undefined;
  #loading = false;
  #outOfOrder: OutOfOrder | undefined;
  /** Why there is no engine, if there is none now. */
  #why: string | undefined;

  /** @param next gives the chain's engine once it has all blocks; the chain starts one when it is idle */
  constructor(
    private readonly host: Host,
    private readonly base: ChainBase,
    private readonly next: () => Promise<Engine>,
  ) {}

  get alive(): Engine | undefined {
    return this.engine?.over === false ? this.engine : undefined;
  }

  follow(hear: (socketPath: string) => Promise<void>): () => void {
    this.#followers.add(hear);
    return () => void this.#followers.delete(hear);
  }

  /** The engine, once it has all blocks. */
  ready(): Promise<Engine> {
    if (this.base.closed) return Promise.reject(stopping());
    return this.alive ? Promise.resolve(this.alive) : this.next();
  }

  /** Starts an engine at the genesis. */
  fresh = () => Engine.start(this.host, this.base.spec, this.base.folder.genesis);

  /** Starts an engine and replays the chain's input. */
  async begin(): Promise<Engine> {
    const { base } = this;
    if (this.#outOfOrder) throw this.#outOfOrder;
    const engine = (this.#opening = await this.fresh());
    const replay = new Replay(engine, base);
    try {
      base.head = await replay.to(base.folder.segments, base.folder.snapshot);
      base.pool.restore(await replay.waiting());
      base.given = replay.given;
      base.tail.measured(replay.loads);
      this.#adopt(engine);
      if (this.#why !== undefined) base.log(`The ledger runs again, at block ${base.head.number}: nothing is lost.`);
      this.#why = undefined;
      return engine;
    } catch (error) {
      engine.end();
      if (error instanceof OutOfOrder) this.#outOfOrder = error;
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

  /** Does something during which an engine cannot answer, and does not count as hanging. */
  async busy(act: () => Promise<void>): Promise<void> {
    this.#loading = true;
    await act().finally(() => (this.#loading = false));
  }

  /** Ends an engine that hangs. */
  async probe(): Promise<void> {
    const engine = this.engine;
    const { stall } = this.base.pace;
    if (!engine || engine.over || this.#loading) return;
    const asked = engine.call("eth_chainId").then(
      () => true,
      () => true, // it ended, which #lost handles
    );
    const answered = await Promise.race([asked, wait(stall, false, { ref: false })]);
    if (answered || engine.over || this.base.closed || this.#loading || engine !== this.engine) return;
    this.#why ??= `it did not answer for ${stall / 1_000} s`;
    engine.end();
  }

  close(): void {
    for (const engine of [this.#opening, this.engine, ...this.#leaving]) engine?.end();
  }

  #adopt(engine: Engine): void {
    this.engine = engine;
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
    const { base } = this;
    if (base.closed || this.engine !== engine) return;
    this.#why ??= why;
    const text = `The ledger ${base.spec.key} is started again: ${this.#why}. What it acknowledged is kept.`;
    base.log(text);
    base.warn(text);
    void this.#revive();
  }

  async #revive(): Promise<void> {
    const { base } = this;
    for (let attempt = 1; !base.closed; attempt++) {
      try {
        return void (await this.ready());
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
