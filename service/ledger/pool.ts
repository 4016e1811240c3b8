import type { Engine } from "./engine";

export interface Waiting {
  raw: string;
  from: string;
  nonce: number;
  /** Its maximum cost for the sender, in wei. */
  cost: bigint;
  /** Whether it waits for a missing transaction with a lower nonce. */
  queued: boolean;
}

/** The transactions that wait for a block, by hash, in order of arrival. */
export class Pool {
  readonly #waiting = new Map<string, Waiting>();

  has = (hash: string) => this.#waiting.has(hash);
  rawOf = (hash: string): string | undefined => this.#waiting.get(hash)?.raw;

  of = (account: string): Waiting[] => this.#those((one) => one.from === account);

  /** How many transactions can be in the next block. */
  get ready(): number {
    return this.#those(({ queued }) => !queued).length;
  }

  get raws(): string[] {
    return [...this.#waiting.values()].map(({ raw }) => raw);
  }

  /**
   * Adds a transaction, in place of one with the same nonce. Returns the hashes that can be in the next block now: its own, and those
   * that waited for its nonce.
   */
  add(hash: string, one: Waiting): string[] {
    const others = [...this.#waiting].filter(([, { from }]) => from === one.from);
    for (const [same, { nonce }] of others) if (nonce === one.nonce) this.remove(same);
    this.#waiting.set(hash, one);
    if (one.queued) return [];
    const ready = [hash];
    for (let next = one.nonce + 1; ; next++) {
      const follower = others.find(([, { nonce, queued }]) => queued && nonce === next);
      if (!follower) return ready;
      follower[1].queued = false;
      ready.push(follower[0]);
    }
  }

  remove(hash: string): void {
    this.#waiting.delete(hash);
  }

  /** What waits now, to be restored later. */
  copy = (): Map<string, Waiting> => new Map([...this.#waiting].map(([hash, one]) => [hash, { ...one }]));

  restore(all: ReadonlyMap<string, Waiting>): void {
    this.#waiting.clear();
    for (const [hash, one] of all) this.#waiting.set(hash, one);
  }

  /** Removes transactions that the engine dropped. */
  async clean(engine: Engine): Promise<void> {
    const raws = [...this.#waiting].map(([hash, { raw }]) => [hash, raw] as const);
    const known = await waitingOf(engine, new Map(raws));
    for (const [hash] of raws) if (!known.has(hash)) this.remove(hash);
    for (const [hash, { queued }] of known) if (this.has(hash)) this.#waiting.get(hash)!.queued = queued;
  }

  #those = (are: (one: Waiting) => boolean): Waiting[] => [...this.#waiting.values()].filter(are);
}

type Known = Record<"hash" | "from" | "nonce" | "gas" | "value", string> & { gasPrice?: string; maxFeePerGas?: string };
type Part = Record<string, Record<string, Known>>;

/** Those of the sent transactions that wait in an engine, by hash. */
export async function waitingOf(engine: Engine, sent: ReadonlyMap<string, string>): Promise<Map<string, Waiting>> {
  if (sent.size === 0) return new Map();
  const content = await engine.call<Record<"pending" | "queued", Part>>("txpool_content");
  const all = Object.entries(content).flatMap(([kind, part]) =>
    Object.values(part).flatMap((ofAccount) =>
      Object.values(ofAccount).map(({ hash, from, nonce, gas, value, ...fees }): [string, Waiting] => {
        const cost = BigInt(gas) * BigInt(fees.maxFeePerGas ?? fees.gasPrice ?? 0) + BigInt(value);
        const own = { from: from.toLowerCase(), nonce: Number(nonce), queued: kind === "queued" };
        return [hash, { raw: sent.get(hash) ?? "", cost, ...own }];
      }),
    ),
  );
  const found = new Map(all);
  return new Map([...sent.keys()].flatMap((hash) => (found.has(hash) ? [[hash, found.get(hash)!]] : [])));
}
