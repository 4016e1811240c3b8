import { admitted, sentBy, signed } from "./admission";
import { ChainBase } from "./chain-base";
import { type Engine, headOf, type Host } from "./engine";
import { EngineKeeper } from "./engine-keeper";
import type { Listener } from "./feeds";
import type { Entry } from "./ledger-data";
import { Reads, unmined } from "./reads";
import { tell } from "./replay";
import { type Bounds, Excess, own, type RpcCall, rpcCall } from "./rpc";
import { Sealing } from "./sealing";

const takes = /^eth_send(Raw)?Transaction$/;

/**
 * A ledger. It records each transaction before answering, and each block with its time before showing it. The engine that executes them
 * can end at any moment: the next one replays the recorded input and has the same blocks.
 */
export class Chain extends ChainBase {
  #timer: NodeJS.Timeout | undefined;
  readonly #keeper: EngineKeeper;
  readonly #sealing: Sealing;
  readonly #reads = new Reads(
    this,
    (patient) => this.#keeper.ready(patient),
    () => this.#sealing.settled(),
  );

  constructor(host: Host, ...of: ConstructorParameters<typeof ChainBase>) {
    super(...of);
    // callers that wait for an engine need not wait for later work with it
    const next = () =>
      new Promise<Engine>((done, failed) => {
        this.#sealing.enqueue((engine) => Promise.resolve(void done(engine))).catch(failed);
      });
    this.#keeper = new EngineKeeper(host, this, next);
    this.#sealing = new Sealing(this, this.#keeper);
  }

  /** Starts it. It is there once it has blocks to show; its engine may still be starting. @param failed called if that fails later */
  async start(failed: (error: unknown) => void): Promise<this> {
    const { data, spec } = this;
    const ready = this.#keeper.ready(true);
    try {
      if (data.height < 0) await ready;
      else this.head = headOf((await data.sealed(data.height))!.block);
    } catch (error) {
      await data.close();
      throw error;
    }
    ready.catch((error: unknown) => this.closed || failed(error));
    if (this.head.number === 0) this.presence.calls(); // whoever made it is there
    if (spec.period !== undefined) this.#timer = setInterval(() => this.#sealing.seal(), spec.period * 1_000).unref();
    return this;
  }

  subscribe(params: unknown[], listener: Listener): () => void {
    const unsubscribe = this.feeds.subscribe(params, listener);
    this.presence.subscribers++;
    return () => {
      unsubscribe();
      this.presence.subscribers--;
      this.presence.calls();
    };
  }

  get accounts(): readonly string[] {
    return this.data.accounts;
  }

  get height(): number {
    return this.head.number;
  }

  /** Makes a caller's call. Returns its result, and throws its error. */
  ask = (call: RpcCall, bounds: Bounds): Promise<unknown> => {
    this.presence.calls();
    return new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Excess("late")), Math.max(0, bounds.ms)).unref();
      void this.#ask(call, bounds)
        .then(done, failed)
        .finally(() => clearTimeout(late));
    });
  };

  /** Makes one of the service's own calls. It does not wake an idle chain; otherwise, a tether would keep its environment awake forever. */
  call = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    (await this.#ask(rpcCall(method, params), own)) as T;

  async give(account: string, wei: bigint): Promise<void> {
    await this.#keeper.ready();
    const entry: Entry = { give: [account, `${wei}`] };
    return this.#sealing.enqueue(async (engine) => {
      await this.record([entry]); // the money is visible at once
      await tell(engine, entry);
      this.known.changed([]);
      return undefined;
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.#timer);
    this.feeds.close();
    await Promise.all([this.#sealing.end(), this.#keeper.close()]);
    await this.#keeper.close(); // an engine that started meanwhile
    await this.data.close();
  }

  #ask = (call: RpcCall, bounds: Bounds): Promise<unknown> =>
    takes.test(call.method) ? this.#send(call, bounds) : this.#reads.answer(call, bounds);

  /** Accepts a transaction: records it, then answers. */
  async #send({ method, params }: RpcCall, { patient }: Bounds): Promise<string> {
    const { feeds, pool, spec } = this;
    const ready = await this.#keeper.ready(patient);
    // reads many at the same time, then takes one after the other
    const sent = method.startsWith("eth_sendRaw") && (await sentBy(ready, params[0] as string, spec));
    let hash = "";
    await this.#sealing.enqueue(async (engine) => {
      const call = async (name: string, given: unknown[]) =>
        this.#reads.result(await engine.answer(name, given), name, given);
      const own = sent || (await sentBy(engine, await signed(engine, call, params[0], this), spec));
      const [made, waiting] = await admitted(engine, own, this);
      hash = made;
      const ready = pool.add(hash, waiting);
      return {
        entry: { tx: own.raw },
        tx: waiting,
        told: (said) => {
          if (said && "error" in said) pool.remove(hash);
          if (said) this.#reads.result(said, method, params);
          const full = async (one: string) => unmined(await engine.call("eth_getTransactionByHash", [one]));
          for (const one of ready) feeds.transaction(one, () => full(one));
        },
      };
    });
    return hash;
  }
}
