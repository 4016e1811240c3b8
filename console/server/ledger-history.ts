import { type EnvironmentModel, secondsOf } from "pulumi-consortium/internal/console";
import { type BlockView, type EnvironmentView, type TransactionView } from "../protocol";

/** Makes a call to a chain. */
export type Ask = (method: string, params: unknown[]) => Promise<unknown>;

const mostSamples = 600;
const mostBlocks = 12;
const mostTransactions = 50;
/** Number of missing polls that make a gap in a chart. */
const gap = 4;

interface RpcBlock {
  number: string;
  hash: string;
  timestamp: string;
  transactions: { hash: string; from: string; to: string | null; value: string }[];
}

/** History of one environment while a page watched: node heights over time, and the last blocks. */
export class LedgerHistory {
  /** The times of the polls, and the nodes' heights then, by their ids. */
  #looks: { at: number; heights: Record<string, number | undefined> }[] = [];
  #blocks: BlockView[] = [];

  /** @param periodMs time between polls */
  constructor(private readonly periodMs: number) {}

  /** Records the heights of the nodes. A time without polls stays empty, because its heights are unknown. */
  note({ nodes }: EnvironmentModel, at: number): void {
    const last = this.#looks.at(-1)?.at ?? at;
    if ((at - last) * 1000 > gap * this.periodMs) this.#looks.push({ at: last + 1, heights: {} });
    this.#looks.push({ at, heights: Object.fromEntries(nodes.map(({ id, blockHeight }) => [id, blockHeight])) });
    this.#looks.splice(0, this.#looks.length - mostSamples);
  }

  /** Reads a few new blocks. */
  async read(ask: Ask): Promise<void> {
    const newest = Number(await ask("eth_blockNumber", []));
    const known = this.#blocks[0]?.number ?? -1;
    if (newest < known) this.#blocks = []; // the chain went back
    const from = Math.max(newest < known ? 0 : known + 1, newest - mostBlocks + 1, 0);
    const numbers = Array.from({ length: newest - from + 1 }, (_, index) => newest - index);
    const blockAt = (number: number) => ask("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
    const read = await Promise.all(numbers.map(blockAt));
    const fresh = read.flatMap((block) => (block ? [blockOf(block as RpcBlock)] : []));
    this.#blocks = [...fresh, ...this.#blocks].slice(0, mostBlocks);
  }

  view(noBlocks?: string): EnvironmentView {
    const nodes = Object.keys(this.#looks.at(-1)?.heights ?? {});
    const heights = nodes.map((id) => [id, this.#looks.map((look) => look.heights[id] ?? null)] as const);
    const times = this.#looks.map(({ at }) => at);
    const shown = noBlocks !== undefined && { noBlocks };
    return { times, heights: Object.fromEntries(heights), blocks: this.#blocks, ...shown };
  }
}

function blockOf({ number, hash, timestamp, transactions }: RpcBlock): BlockView {
  const shown = transactions.slice(0, mostTransactions).map((one): TransactionView => ({
    hash: one.hash,
    from: one.from,
    valueWei: BigInt(one.value).toString(),
    ...(one.to !== null && { to: one.to }),
  }));
  return { number: Number(number), hash, time: secondsOf(timestamp), transactions: shown };
}
