import { type Engine, weightOf } from "./engine";

/** A transaction that no block has yet. */
export interface Waiting {
  raw: string;
  from: string;
  nonce: number;
  /** What it may use at most. */
  gas: number;
}

/** How many transactions may wait. */
export interface PoolLimits {
  /** Of one account. Default 64. */
  account: number;
  /** Of all accounts of a ledger. Default 1,024. */
  ledger: number;
}

/** As Geth says it. */
const full = "txpool is full";

/** The transactions that no block has yet, by their hash, in the order in which they came. */
export class Pool {
  readonly #waiting = new Map<string, Waiting>();
  /** How many of each account. */
  readonly #counts = new Map<string, number>();
  #weight = 0;

  constructor(private readonly limits: PoolLimits) {}

  has = (hash: string) => this.#waiting.has(hash);

  /** About how many bytes an engine will take for them. */
  get weight(): number {
    return this.#weight;
  }

  /** As they were signed. */
  get raws(): string[] {
    return [...this.#waiting.values()].map(({ raw }) => raw);
  }

  /**
   * Takes one that an engine has taken.
   *
   * @returns why there is no room for it, if there is none
   */
  add(hash: string, one: Waiting): string | undefined {
    const former = this.#sameNonce(one);
    if (former === undefined) {
      const { account, ledger } = this.limits;
      if (this.#waiting.size >= ledger)
        return `${full}: ${ledger} transactions wait for a block, and no more may. Send it again after the next block.`;
      if ((this.#counts.get(one.from) ?? 0) >= account)
        return `${full}: ${account} transactions of ${one.from} wait for a block, and no more may. Send it again after the next block.`;
    } else this.remove(former);
    this.#put(hash, one);
    return undefined;
  }

  remove(hash: string): void {
    const one = this.#waiting.get(hash);
    if (!one) return;
    this.#waiting.delete(hash);
    this.#weight -= weightIn(one);
    const left = this.#counts.get(one.from)! - 1;
    if (left > 0) this.#counts.set(one.from, left);
    else this.#counts.delete(one.from);
  }

  /** Those of an engine that begins now. */
  restore(all: ReadonlyMap<string, Waiting>): void {
    for (const hash of [...this.#waiting.keys()]) this.remove(hash);
    for (const [hash, one] of all) this.#put(hash, one);
  }

  /** Leaves out those that are void: the engine has them no more. */
  async clean(engine: Engine): Promise<void> {
    const known = await poolOf(engine);
    for (const hash of [...this.#waiting.keys()]) if (!known.has(hash)) this.remove(hash);
  }

  #put(hash: string, one: Waiting): void {
    this.#waiting.set(hash, one);
    this.#weight += weightIn(one);
    this.#counts.set(one.from, (this.#counts.get(one.from) ?? 0) + 1);
  }

  /** The one that it takes the place of. */
  #sameNonce({ from, nonce }: Waiting): string | undefined {
    if (!this.#counts.has(from)) return undefined;
    for (const [hash, one] of this.#waiting) if (one.from === from && one.nonce === nonce) return hash;
    return undefined;
  }
}

const weightIn = ({ gas }: Waiting) => weightOf(0, 1, gas);

type Known = Record<"hash" | "from" | "nonce" | "gas", string>;
const waitingAs = (raw: string, { from, nonce, gas }: Known): Waiting => {
  return { raw, from: from.toLowerCase(), nonce: Number(nonce), gas: Number(gas) };
};

/** What an engine knows of a transaction that it just took. */
export async function waitingIn(engine: Engine, hash: string, raw: string): Promise<Waiting> {
  return waitingAs(raw, await engine.call<Known>("eth_getTransactionByHash", [hash]));
}

/** What waits in an engine, of those that it was sent. */
export async function waitingOf(engine: Engine, sent: ReadonlyMap<string, string>): Promise<Map<string, Waiting>> {
  if (sent.size === 0) return new Map();
  const pool = await poolOf(engine);
  return new Map(
    [...sent].flatMap(([hash, raw]) => {
      const known = pool.get(hash);
      return known ? [[hash, waitingAs(raw, known)]] : [];
    }),
  );
}

/** All that waits in an engine, by hash. */
async function poolOf(engine: Engine): Promise<Map<string, Known>> {
  type Content = Record<"pending" | "queued", Record<string, Record<string, Known>>>;
  const { pending, queued } = await engine.call<Content>("txpool_content");
  const all = [pending, queued].flatMap((some) => Object.values(some).flatMap((one) => Object.values(one)));
  return new Map(all.map((one) => [one.hash, one]));
}
