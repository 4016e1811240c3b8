import type { BlockView, EnvironmentView, TransactionView } from "../protocol";
import type { EnvironmentModel } from "../../inventory/model";

/** Asks a chain. */
export type Ask = (method: string, params: unknown[]) => Promise<unknown>;

const mostSamples = 600;
const mostBlocks = 12;
const mostTransactions = 50;
/** So many looks that did not happen, or failed, are a gap. */
const gap = 4;

interface RpcBlock {
  number: string;
  hash: string;
  timestamp: string;
  transactions: { hash: string; from: string; to: string | null; value: string }[];
}

/** What was seen of one environment while somebody looked: heights of its nodes over time, and its last blocks. */
export class LedgerHistory {
  #times: number[] = [];
  #heights = new Map<string, (number | null)[]>();
  #blocks: BlockView[] = [];

  /** @param periodMs how often somebody looks */
  constructor(private readonly periodMs: number) {}

  /** Notes the heights of the nodes. A time in which nothing was heard stays empty: nobody knows what it was like. */
  note({ nodes }: EnvironmentModel, at: number): void {
    const last = this.#times.at(-1) ?? at;
    const times = (at - last) * 1000 > gap * this.periodMs ? [last + 1, at] : [at];
    const unknown = times.slice(1).map(() => null);
    const before = this.#times.length;
    this.#times = [...this.#times, ...times].slice(-mostSamples);
    const known = new Map<string, (number | null)[]>();
    for (const { id, blockHeight } of nodes) {
      const earlier = this.#heights.get(id) ?? Array.from({ length: before }, () => null);
      known.set(id, [...earlier, ...unknown, blockHeight ?? null].slice(-mostSamples));
    }
    this.#heights = known;
  }

  /** Reads the blocks that are new, a few at most. */
  async read(ask: Ask): Promise<void> {
    const newest = Number(await ask("eth_blockNumber", []));
    const known = this.#blocks[0]?.number ?? -1;
    if (newest < known) this.#blocks = []; // the chain went back
    const from = Math.max(newest < known ? 0 : known + 1, newest - mostBlocks + 1, 0);
    const numbers = Array.from({ length: newest - from + 1 }, (_, index) => newest - index);
    const read = await Promise.all(numbers.map((number) => ask("eth_getBlockByNumber", [toHex(number), true])));
    const fresh = read.flatMap((block) => (block ? [blockOf(block as RpcBlock)] : []));
    this.#blocks = [...fresh, ...this.#blocks].slice(0, mostBlocks);
  }

  view(noBlocks?: string): EnvironmentView {
    const heights = Object.fromEntries(this.#heights);
    return { times: this.#times, heights, blocks: this.#blocks, ...(noBlocks !== undefined && { noBlocks }) };
  }
}

const toHex = (number: number) => `0x${number.toString(16)}`;

function blockOf({ number, hash, timestamp, transactions }: RpcBlock): BlockView {
  const shown = transactions.slice(0, mostTransactions).map((one): TransactionView => ({
    ...{ hash: one.hash, from: one.from, valueWei: BigInt(one.value).toString() },
    ...(one.to !== null && { to: one.to }),
  }));
  return { number: Number(number), hash, time: Number(timestamp), transactions: shown };
}
