import type { CallLimits } from "../settings/settings";
import { type Engine, weightOf } from "./engine";

/** A transaction that waits for a block. */
export interface Waiting {
  raw: string;
  from: string;
  nonce: number;
  /** Its gas limit. */
  gas: number;
  /** The most that it takes from its sender, in wei. */
  cost: bigint;
  /** Whether it waits for a transaction with a lower nonce, which nobody has sent. */
  queued: boolean;
}

/** How many transactions may wait. */
export type PoolLimits = Pick<CallLimits, "accountPool" | "pool">;

/** The part of the pool for transactions that wait for a lower nonce: else they could fill it forever. */
const queuedPart = 1 / 4;

/** In Geth's words. */
const full = "txpool is full";

/** The transactions that wait for a block, by hash, in the order in which they came. */
export class Pool {
  readonly #waiting = new Map<string, Waiting>();
  /** How many each account has. */
  readonly #counts = new Map<string, number>();
  #weight = 0;

  constructor(private readonly limits: PoolLimits) {}

  /** Those of an account. */
  of = (account: string): Waiting[] => [...this.#waiting.values()].filter(({ from }) => from === account);

  has = (hash: string) => this.#waiting.has(hash);

  /** Estimated bytes that an engine will take for them. */
  get weight(): number {
    return this.#weight;
  }

  /** The signed transactions. */
  get raws(): string[] {
    return [...this.#waiting.values()].map(({ raw }) => raw);
  }

  /** Adds a transaction that an engine has accepted. It takes the place of the one with its nonce. */
  add(hash: string, one: Waiting): void {
    const former = this.#sameNonce(one);
    if (former !== undefined) this.remove(former);
    this.#put(hash, one);
  }

  /** Why there is no room for a transaction, if so. */
  refuses(one: Waiting): string | undefined {
    return this.#sameNonce(one) === undefined ? this.#whyFull(one) : undefined;
  }

  #whyFull({ from, queued }: Waiting): string | undefined {
    const { accountPool: account, pool: ledger } = this.limits;
    const waits = (what: string) => `${full}: ${what}, and no more are allowed. Send it again after the next block.`;
    if ((this.#counts.get(from) ?? 0) >= account) return waits(`${account} transactions of ${from} wait for a block`);
    if (!queued) return this.#waiting.size >= ledger ? waits(`${ledger} transactions wait for a block`) : undefined;
    const most = Math.ceil(ledger * queuedPart);
    const found = [...this.#waiting.values()].filter((one) => one.queued).length;
    return found >= most ? waits(`${most} transactions wait for an earlier one of their account`) : undefined;
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

  /** Replaces all by those of an engine that begins now. */
  restore(all: ReadonlyMap<string, Waiting>): void {
    for (const hash of [...this.#waiting.keys()]) this.remove(hash);
    for (const [hash, one] of all) this.#put(hash, { ...one });
  }

  /** Removes those that the engine has dropped. */
  async clean(engine: Engine): Promise<void> {
    const known = await poolOf(engine);
    for (const hash of [...this.#waiting.keys()]) if (!known.has(hash)) this.remove(hash);
  }

  #put(hash: string, one: Waiting): void {
    this.#waiting.set(hash, one);
    if (!one.queued) this.#follow(one);
    this.#weight += weightIn(one);
    this.#counts.set(one.from, (this.#counts.get(one.from) ?? 0) + 1);
  }

  /** Those that waited for its nonce wait for a block now. */
  #follow({ from, nonce }: Waiting): void {
    const queued = [...this.#waiting.values()].filter((one) => one.queued && one.from === from);
    for (let next = nonce + 1; ; next++) {
      const one = queued.find((other) => other.nonce === next);
      if (!one) return;
      one.queued = false;
    }
  }

  /** The hash of the one that it replaces. */
  #sameNonce({ from, nonce }: Waiting): string | undefined {
    if (!this.#counts.has(from)) return undefined;
    for (const [hash, one] of this.#waiting) if (one.from === from && one.nonce === nonce) return hash;
    return undefined;
  }
}

const weightIn = ({ gas }: Waiting) => weightOf(0, 1, gas);

type Known = Record<"hash" | "from" | "nonce" | "gas" | "value", string> & { gasPrice?: string; maxFeePerGas?: string };
const waitingAs = (raw: string, queued: boolean, { from, nonce, gas, value, ...fees }: Known): Waiting => {
  const cost = BigInt(gas) * BigInt(fees.maxFeePerGas ?? fees.gasPrice ?? 0) + BigInt(value);
  return { raw, from: from.toLowerCase(), nonce: Number(nonce), gas: Number(gas), cost, queued };
};

/** Those of the sent transactions that wait in an engine. */
export async function waitingOf(engine: Engine, sent: ReadonlyMap<string, string>): Promise<Map<string, Waiting>> {
  if (sent.size === 0) return new Map();
  const pool = await poolOf(engine);
  const waiting = new Map<string, Waiting>();
  for (const [hash, raw] of sent) {
    const known = pool.get(hash);
    if (known) waiting.set(hash, waitingAs(raw, known.queued, known));
  }
  return waiting;
}

/** All transactions that wait in an engine, by hash. */
async function poolOf(engine: Engine): Promise<Map<string, Known & { queued: boolean }>> {
  type Part = Record<string, Record<string, Known>>;
  const content = await engine.call<Record<"pending" | "queued", Part>>("txpool_content");
  const some = (part: Part, queued: boolean) =>
    Object.values(part).flatMap((one) =>
      Object.values(one).map((known): [string, Known & { queued: boolean }] => [known.hash, { ...known, queued }]),
    );
  return new Map([...some(content.pending, false), ...some(content.queued, true)]);
}
