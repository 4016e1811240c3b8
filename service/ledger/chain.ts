import { setTimeout as wait } from "node:timers/promises";
import { admitted, sentBy, shownWaiting, signed } from "./admission";
import type { ChainBase } from "./chain-base";
import { type Engine, headOf, type Host } from "./engine";
import { EngineKeeper } from "./engine-keeper";
import type { Listener } from "./feeds";
import type { Entry } from "./ledger-data";
import { Reads } from "./reads";
import { tell } from "./replay";
import { type Bounds, Excess, own, type RpcCall, rpcCall } from "./rpc";
import type { Profile } from "../profiles";
import { Sealing } from "./sealing";

const takes = /^eth_send(Raw)?Transaction(Sync)?$/;

/**
 * A ledger. It records each transaction before answering, and each block with its time before showing it. The engine that executes them
 * can end at any moment: the next one replays the recorded input and has the same blocks.
 */
export class Chain {
  readonly #base: ChainBase;
  #timer: NodeJS.Timeout | undefined;
  readonly #keeper: EngineKeeper;
  readonly #reads: Reads;
  readonly #sealing: Sealing;

  private constructor(host: Host, base: ChainBase) {
    this.#base = base;
    // callers that wait for an engine need not wait for later work with it
    const next = () =>
      new Promise<Engine>((done, failed) => {
        this.#sealing.enqueue((engine) => Promise.resolve(void done(engine))).catch(failed);
      });
    this.#keeper = new EngineKeeper(host, base, next);
    this.#sealing = new Sealing(base, this.#keeper);
    this.#reads = new Reads(
      base,
      (patient) => this.#keeper.ready(patient),
      () => this.#sealing.settled(),
    );
  }

  /**
   * Starts a chain. It is there once it has blocks to show; its engine may still be starting.
   *
   * @param failed called if that fails later
   */
  static async start(host: Host, base: ChainBase, failed: (error: unknown) => void): Promise<Chain> {
    const { data, spec } = base;
    const chain = new Chain(host, base);
    const ready = chain.#keeper.ready(true);
    try {
      if (data.height < 0) await ready;
      else base.head = headOf((await data.sealed(data.height))!.block);
    } catch (error) {
      await data.close();
      throw error;
    }
    ready.catch((error: unknown) => base.closed || failed(error));
    if (base.head.number === 0) base.presence.calls(); // whoever made it is there
    if (spec.period !== undefined) chain.#timer = setInterval(() => chain.#sealing.seal(), spec.period * 1_000).unref();
    return chain;
  }

  /** Adds a subscriber until the returned function is called. */
  subscribe(params: unknown[], listener: Listener): () => void {
    const { feeds, presence } = this.#base;
    const unsubscribe = feeds.subscribe(params, listener);
    presence.subscribers++;
    return () => {
      unsubscribe();
      presence.subscribers--;
      presence.calls();
    };
  }

  /** Recent messages, oldest first. */
  get lines(): readonly string[] {
    return this.#base.lines;
  }

  /** The client that it imitates. */
  get profile(): Profile | undefined {
    return this.#base.spec.profile;
  }

  /** The accounts that it signs for. */
  get accounts(): readonly string[] {
    return this.#base.data.accounts;
  }

  /** The account that seals its blocks. */
  get sealer(): string | undefined {
    return this.#base.sealer;
  }

  get height(): number {
    return this.#base.head.number;
  }

  /** Makes a caller's call. Returns its result, and throws its error. */
  ask = (call: RpcCall, bounds: Bounds): Promise<unknown> => {
    this.#base.presence.calls();
    const over = new AbortController();
    const late = wait(Math.max(0, bounds.ms), undefined, { ref: false, signal: over.signal }).then(() => {
      throw new Excess("late");
    });
    return Promise.race([this.#ask(call, bounds), late]).finally(() => over.abort());
  };

  /** Makes one of the service's own calls. It does not wake an idle chain; otherwise, a tether would keep its environment awake forever. */
  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    (await this.#ask(rpcCall(method, params), own)) as T;

  /** Gives an account money. */
  async give(account: string, wei: bigint): Promise<void> {
    await this.#keeper.ready();
    const entry: Entry = { give: [account, `${wei}`] };
    return this.#sealing.enqueue(async (engine) => {
      await this.#base.record([entry]); // the money is visible at once
      await tell(engine, entry);
      this.#base.accounts.changed([]);
      return undefined;
    });
  }

  /** Stops it; everything is on disk. */
  async close(): Promise<void> {
    this.#base.closed = true;
    clearInterval(this.#timer);
    this.#base.feeds.close();
    await Promise.all([this.#sealing.end(), this.#keeper.close()]);
    await this.#base.data.close();
  }

  async #ask(call: RpcCall, bounds: Bounds): Promise<unknown> {
    if (!takes.test(call.method)) return this.#reads.answer(call, bounds);
    const end = performance.now() + bounds.ms;
    const hash = await this.#send(call, bounds);
    if (!call.method.endsWith("Sync")) return hash;
    while (!this.#base.closed && performance.now() < end) {
      const receipt = await this.call("eth_getTransactionReceipt", [hash]);
      if (receipt !== null) return receipt;
      await this.#sealing.next();
    }
    throw new Excess("late");
  }

  /** Accepts a transaction: records it, then answers. */
  async #send({ method, params }: RpcCall, { patient }: Bounds): Promise<string> {
    const { feeds, pool, spec } = this.#base;
    const ready = await this.#keeper.ready(patient);
    // reads many at the same time, then takes one after the other
    const sent = method.startsWith("eth_sendRaw") && (await sentBy(ready, params[0] as string, spec));
    let hash = "";
    await this.#sealing.enqueue(async (engine) => {
      const call = async (name: string, given: unknown[]) =>
        this.#reads.result(await engine.answer(name, given), name, given);
      const own = sent || (await sentBy(engine, await signed(engine, call, params[0], this.#base), spec));
      const [made, waiting] = await admitted(engine, own, this.#base);
      hash = made;
      const { former, ready } = pool.add(hash, waiting);
      return {
        entry: { tx: own.raw },
        tx: waiting,
        told: (said) => {
          if (said && "error" in said) pool.remove(hash);
          if (said) this.#reads.result(said, method, params);
          for (const one of ready) feeds.transaction(one.hash, () => shownWaiting(one));
        },
        undo: () => {
          pool.remove(hash);
          if (former) pool.add(...former);
        },
      };
    });
    return hash;
  }
}
