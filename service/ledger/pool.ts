import type { Engine } from "./engine";

/** A transaction that waits for a block. */
export interface Waiting {
  raw: string;
  from: string;
  nonce: number;
  /** Its gas limit. */
  gas: number;
  /** Its maximum cost for the sender, in wei. */
  cost: bigint;
  /** Whether it waits for a missing transaction with a lower nonce. */
  queued: boolean;
}

/** A transaction that the next block can include. */
type Ready = Waiting & { hash: string };

/** The transactions that wait for a block, by hash, in order of arrival. */
export class Pool {
  readonly #waiting = new Map<string, Waiting>();

  has = (hash: string) => this.#waiting.has(hash);
  rawOf = (hash: string): string | undefined => this.#waiting.get(hash)?.raw;

  /** The transactions of an account. */
  of = (account: string): Waiting[] => this.#those((one) => one.from === account);

  /** How many transactions can be in the next block. */
  get ready(): number {
    return this.#those(({ queued }) => !queued).length;
  }

  /** The signed transactions. */
  get raws(): string[] {
    return [...this.#waiting.values()].map(({ raw }) => raw);
  }

  /** Adds a transaction. Returns the one with the same nonce that it replaces, and those that can be in the next block now. */
  add(hash: string, one: Waiting): { former: [hash: string, one: Waiting] | undefined; ready: Ready[] } {
    const same = this.#sameNonce(one);
    const replaced = same === undefined ? undefined : this.#waiting.get(same);
    if (same !== undefined) this.remove(same);
    return { former: replaced && [same!, replaced], ready: this.#put(hash, one) };
  }

  remove(hash: string): void {
    this.#waiting.delete(hash);
  }

  /** Replaces all by the transactions of a new engine. */
  restore(all: ReadonlyMap<string, Waiting>): void {
    for (const hash of [...this.#waiting.keys()]) if (!all.has(hash)) this.remove(hash);
    for (const [hash, one] of all) this.#put(hash, { ...one });
  }

  /** Removes transactions that the engine dropped. */
  async clean(engine: Engine): Promise<void> {
    if (this.#waiting.size === 0) return;
    const known = await poolOf(engine);
    for (const [hash, one] of [...this.#waiting]) {
      const now = known.get(hash);
      if (now) one.queued = now.queued;
      else this.remove(hash);
    }
  }

  /** Returns the hashes that can be in the next block now: its own, and those that waited for its nonce. */
  #put(hash: string, one: Waiting): Ready[] {
    this.#waiting.set(hash, one);
    if (one.queued) return [];
    const ready = [{ ...one, hash }];
    const queued = [...this.#waiting].filter(([, other]) => other.queued && other.from === one.from);
    for (let next = one.nonce + 1; ; next++) {
      const follower = queued.find(([, { nonce }]) => nonce === next);
      if (!follower) return ready;
      follower[1].queued = false;
      ready.push({ ...follower[1], hash: follower[0] });
    }
  }

  /** The hash of the transaction that it replaces. */
  #sameNonce({ from, nonce }: Waiting): string | undefined {
    for (const [hash, one] of this.#waiting) if (one.from === from && one.nonce === nonce) return hash;
    return undefined;
  }

  #those = (are: (one: Waiting) => boolean): Waiting[] => [...this.#waiting.values()].filter(are);
}

type Known = Record<"hash" | "from" | "nonce" | "gas" | "value", string> & { gasPrice?: string; maxFeePerGas?: string };
const waitingAs = (raw: string, queued: boolean, { from, nonce, gas, value, ...fees }: Known): Waiting => {
  const cost = BigInt(gas) * BigInt(fees.maxFeePerGas ?? fees.gasPrice ?? 0) + BigInt(value);
  return { raw, from: from.toLowerCase(), nonce: Number(nonce), gas: Number(gas), cost, queued };
};

/** The sent transactions that wait in an engine. */
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
