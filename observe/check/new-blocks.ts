import type { JsonRpcProvider } from "ethers";
import { type EnvironmentModel } from "../../inventory/model";
import { type Clock } from "../../provider/api";
import { inTime } from "../../provider/api/clock";
import { conditionOf } from "../../provider/api/states";
import { secondsOf } from "../../provider/profiles";
import { saidIn } from "../../sdk/runtime/ethers";

/** A node's chain as seen during the check. */
export interface ChainProbe {
  chainId: number;
  /** Heights at the first look and at the last one, and the seconds between them. */
  first: number;
  last: number;
  seconds: number;
  /** Seconds between blocks; absent if no block is due without a transaction. */
  period?: number;
  /** Number of transactions that have been waiting for a block since the first look. */
  waiting: number;
  /** The outcome of our own transaction. */
  written?: Written;
  /** Its last height, and the highest one that a node of its environment had shown before this node was asked. */
  compared?: { height: number; reached: number };
}

/** `skipped`: the node has no account to sign for. */
export type Written =
  | { kind: "mined"; block: number; seconds: number }
  | { kind: "failed"; why: string }
  | { kind: "skipped"; why: string };

/** How long a node may take to answer. */
const patienceMs = 10_000;
const lookEveryMs = 500;

/** Three block periods are enough for one block; two seconds allow for a busy machine. */
const overdueAfterMs = (period: number): number => (3 * period + 2) * 1000;

class TooSlow extends Error {
  override readonly message = `it did not answer within ${patienceMs / 1000} s`;
}

/** One node of a chain, and its answers so far. */
export class ChainNode {
  readonly probe: ChainProbe = { chainId: 0, first: 0, last: 0, seconds: 0, waiting: 0 };

  constructor(
    private readonly provider: JsonRpcProvider,
    private readonly clock: Clock,
  ) {}

  /** Takes the first look. @throws if the node does not answer */
  async meet(): Promise<void> {
    const [chainId, height] = await Promise.all([
      this.#ask<string>("eth_chainId"),
      this.#ask<string>("eth_blockNumber"),
    ]);
    this.probe.chainId = Number(chainId);
    this.probe.first = this.probe.last = Number(height);
  }

  height = async (): Promise<number> => Number(await this.#ask<string>("eth_blockNumber"));

  /**
   * Waits for a new block if one is due, because the chain makes blocks periodically or because transactions are waiting.
   * @param write whether to send a transaction and wait until it is in a block
   */
  async watch(environment: EnvironmentModel, write: boolean): Promise<void> {
    const { probe, clock } = this;
    const startedAt = clock.now();
    const usual = environment.blockPeriod ?? usualPeriod;
    const [blocks, waiting] = await Promise.all([this.#lastBlocks(), this.#waiting()]);
    const period = blocksEvery(environment, blocks);
    if (period !== undefined) probe.period = period;
    const writing = write ? this.#write(usual) : undefined;
    if (period !== undefined || waiting > 0) {
      const end = startedAt + overdueAfterMs(period ?? usual);
      while (probe.last <= probe.first && clock.now() < end) {
        await clock.sleep(lookEveryMs);
        probe.last = await this.height();
      }
      if (probe.last <= probe.first) probe.waiting = Math.min(waiting, await this.#waiting());
    }
    probe.seconds = (clock.now() - startedAt) / 1000;
    if (writing) probe.written = await writing;
  }

  #ask = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    (await inTime(this.clock, patienceMs, this.provider.send(method, params), () => new TooSlow())) as T;

  /** The newest blocks, oldest first, without the chain's first one. */
  async #lastBlocks(): Promise<Block[]> {
    const { last } = this.probe;
    const numbers = Array.from({ length: Math.min(looksBack, last) }, (_, back) => last - back).reverse();
    const read = numbers.map((one) => this.#ask<RpcBlock | null>("eth_getBlockByNumber", [toHex(one), false]));
    return (await Promise.all(read)).flatMap((block) =>
      block ? [{ time: secondsOf(block.timestamp), isEmpty: block.transactions.length === 0 }] : [],
    );
  }

  /** Number of transactions waiting for the next block; 0 if the node does not say. */
  async #waiting(): Promise<number> {
    const next = await this.#ask<RpcBlock | null>("eth_getBlockByNumber", ["pending", false]).catch(() => null);
    // Some nodes return their newest block instead.
    return next?.number && Number(next.number) > this.probe.last ? next.transactions.length : 0;
  }

  /** Sends zero from the node's account to itself, and waits until it is in a block. */
  async #write(period: number): Promise<Written> {
    const startedAt = this.clock.now();
    const end = startedAt + Math.max(patienceMs, overdueAfterMs(period));
    const [from] = await this.#ask<string[]>("eth_accounts").catch(() => []);
    if (from === undefined) return { kind: "skipped", why: "the node signs for no account" };
    let hash: string;
    try {
      hash = await this.#send({ from, to: from, value: "0x0" });
    } catch (error) {
      return { kind: "failed", why: `the node rejects it: ${saidIn(error)}` };
    }
    for (;;) {
      const receipt = await this.#ask<{ blockNumber: string } | null>("eth_getTransactionReceipt", [hash]);
      const seconds = (this.clock.now() - startedAt) / 1000;
      if (receipt) return { kind: "mined", block: Number(receipt.blockNumber), seconds };
      if (this.clock.now() >= end)
        return { kind: "failed", why: `${hash} was sent ${Math.round(seconds)} s ago, and no block contains it` };
      await this.clock.sleep(lookEveryMs);
    }
  }

  /** Gas is free on most ledgers. On others, the node pays its usual price. */
  async #send(transaction: object): Promise<string> {
    try {
      return await this.#ask<string>("eth_sendTransaction", [{ ...transaction, gasPrice: "0x0" }]);
    } catch (error) {
      if (error instanceof TooSlow) throw error; // the node may have accepted it
      return this.#ask<string>("eth_sendTransaction", [transaction]);
    }
  }
}

/**
 * Compares the heights of an environment's nodes. They answer at different moments, and meanwhile there may be blocks. So each is asked
 * once more after all have answered: by then, it must have every block that another node had before.
 */
export async function compareHeights(chains: readonly ChainNode[]): Promise<void> {
  if (chains.length < 2) return;
  const heights = () => Promise.all(chains.map((chain) => chain.height().catch(() => undefined)));
  const reached = Math.max(...(await heights()).map((height) => height ?? 0));
  const now = await heights();
  for (const [at, { probe }] of chains.entries()) {
    const height = now[at];
    if (height !== undefined) probe.compared = { height, reached };
  }
}

interface RpcBlock {
  number: string | null;
  timestamp: string;
  transactions: unknown[];
}

interface Block {
  /** Seconds since 1970. */
  time: number;
  isEmpty: boolean;
}

const toHex = (number: number): string => `0x${number.toString(16)}`;

/** Number of blocks that show a chain's period. */
const looksBack = 6;
/** Seconds between blocks, if the service does not show them. */
const usualPeriod = 5;

/** Seconds between blocks if they also come without transactions; undefined if none is due without one. */
export function blocksEvery(
  { consensusType, blockPeriod, state }: EnvironmentModel,
  blocks: readonly Block[],
): number | undefined {
  // According to the spec (section 2.2), raft makes a block when there is a transaction, and the others do periodically.
  if (conditionOf(state) === "stopped" || !blockPeriod || consensusType === "raft") return undefined;
  // Others may be configured differently, which their blocks show.
  const gaps = blocks.slice(1).map(({ time }, at) => time - blocks[at]!.time);
  const isSteady = gaps.every((seconds) => seconds * 1000 <= overdueAfterMs(blockPeriod));
  const byTime = isSteady || blocks.some(({ isEmpty }) => isEmpty) || blocks.length < looksBack;
  return byTime ? blockPeriod : undefined;
}
