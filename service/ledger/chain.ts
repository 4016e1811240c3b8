import { admitted, failureOf, resultIn, type Sent, sentBy, shownWaiting, signed } from "./admission";
import type { ChainBase } from "./chain-base";
import { type Engine, headOf, type Host } from "./engine";
import { EngineKeeper } from "./engine-keeper";
import type { Listener } from "./feeds";
import type { Entry } from "./ledger-data";
import { Reads } from "./reads";
import { tell } from "./replay";
import { type Answer, type Bounds, Excess, own, resultOf, type RpcCall, rpcCall, written } from "./rpc";
import { Unfit } from "./failures";
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
    presence.enters(listener);
    return () => {
      unsubscribe();
      presence.leaves(listener);
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

  /** Makes a caller's call and returns the line of the answer. */
  ask = (call: RpcCall, bounds: Bounds): Promise<Buffer> => {
    this.#base.presence.calls();
    const asked = this.#ask(call, bounds);
    const late = new Promise<never>((_done, fail) => {
      const timer = setTimeout(() => fail(new Excess("late")), Math.max(0, bounds.ms)).unref();
      void asked.finally(() => clearTimeout(timer)).catch(() => undefined);
    });
    return Promise.race([asked, late]);
  };

  /** Makes one of the service's own calls. It does not wake an idle chain; otherwise, a tether would keep its environment awake forever. */
  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    resultOf<T>(method, await this.#own(method, params));

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
    const ended = this.#sealing.end();
    this.#keeper.close();
    await ended;
    await this.#base.data.close();
  }

  // Calls

  async #ask(call: RpcCall, bounds: Bounds): Promise<Buffer> {
    const { id, method, params } = call;
    if (!takes.test(method)) return this.#reads.answer(call, bounds);
    const answer = await this.#send(method, params, bounds);
    return written({ ...answer, jsonrpc: "2.0", id });
  }

  #own = async (method: string, params: unknown[]): Promise<Answer> =>
    JSON.parse((await this.#ask(rpcCall(method, params), own)).toString()) as Answer;

  /** Accepts a transaction: records it, then answers. */
  async #send(method: string, params: unknown[], { ms, now }: Bounds): Promise<Answer> {
    const { feeds, pool, spec } = this.#base;
    const end = performance.now() + ms;
    const ready = await this.#keeper.ready(now);
    let answer: Answer = { result: null };
    let sent: Sent | undefined;
    try {
      // reads many at the same time, then takes one after the other
      if (method.startsWith("eth_sendRaw")) sent = await sentBy(ready, params[0] as string, spec);
    } catch (error) {
      return failureOf(error);
    }
    await this.#sealing.enqueue(async (engine) => {
      try {
        const own = sent ?? (await sentBy(engine, await signed(engine, params[0], this.#base), spec));
        const [hash, waiting] = await admitted(engine, own, this.#base);
        const full = pool.refuses(waiting);
        if (full !== undefined) throw new Unfit(-32_000, full);
        const { former, ready } = pool.add(hash, waiting);
        answer = { result: hash };
        return {
          entry: { tx: own.raw },
          tx: waiting,
          told: (said) => {
            try {
              if (said) resultIn(said);
              for (const one of ready) feeds.transaction(one.hash, () => shownWaiting(one));
            } catch (error) {
              pool.remove(hash);
              answer = failureOf(error);
            }
          },
          undo: () => {
            pool.remove(hash);
            if (former) pool.add(...former);
          },
        };
      } catch (error) {
        answer = failureOf(error);
        return undefined;
      }
    });
    return method.endsWith("Sync") && "result" in answer ? this.#receipt(answer.result as string, end) : answer;
  }

  async #receipt(hash: string, end: number): Promise<Answer> {
    while (!this.#base.closed && performance.now() < end) {
      const answer = await this.#own("eth_getTransactionReceipt", [hash]);
      if ("error" in answer || answer.result !== null) return answer;
      await this.#sealing.next();
    }
    throw new Excess("late");
  }
}
