import type { JsonRpcProvider } from "ethers";
import { type EnvironmentModel } from "../../inventory/model";
import { type Clock } from "../../provider/api";
import { conditionOf } from "../../provider/api/states";

/** What a node's chain did during the check. */
export interface ChainProbe {
  chainId: number;
  /** Heights at the first look and at the last one, and the seconds between them. */
  first: number;
  last: number;
  seconds: number;
  /** A block is due every so many seconds; absent: none is due without a transaction. */
  period?: number;
  /** How many transactions wait for a block since the first look. */
  waiting: number;
  /** The fate of our own transaction. */
  written?: Written;
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
const windowMs = (period: number): number => (3 * period + 2) * 1000;

class TooSlow extends Error {}

/** Asks a node, in the time that it may take. */
async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = clock.sleep(patienceMs, answered.signal).then(() => {
    throw new TooSlow(`it did not answer within ${patienceMs / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    work.catch(() => undefined);
    answered.abort();
  }
}

/** One node of a chain, and what it has said so far. */
export class ChainNode {
  readonly probe: ChainProbe = { chainId: 0, first: 0, last: 0, seconds: 0, waiting: 0 };

  constructor(
    private readonly provider: JsonRpcProvider,
    private readonly clock: Clock,
  ) {}

  /** The first look. @throws where the node does not answer */
  async meet(): Promise<void> {
    const [chainId, height] = await Promise.all([
      this.#ask<string>("eth_chainId"),
      this.#ask<string>("eth_blockNumber"),
    ]);
    this.probe.chainId = Number(chainId);
    this.probe.first = this.probe.last = Number(height);
  }

  /**
   * Looks until there is a new block, where one is due: because the chain makes them by its period, or because transactions
   * wait for one. And sees whether a transaction of our own gets into one, if `write` says so.
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
      const end = startedAt + windowMs(period ?? usual);
      while (probe.last <= probe.first && clock.now() < end) {
        await clock.sleep(lookEveryMs);
        probe.last = Number(await this.#ask<string>("eth_blockNumber"));
      }
      if (probe.last <= probe.first) probe.waiting = Math.min(waiting, await this.#waiting());
    }
    probe.seconds = (clock.now() - startedAt) / 1000;
    if (writing) probe.written = await writing;
  }

  #ask = async <T>(method: string, params: unknown[] = []): Promise<T> =>
    (await inTime(this.clock, this.provider.send(method, params))) as T;

  /** The newest blocks but the first one of the chain, the oldest first. */
  async #lastBlocks(): Promise<Block[]> {
    const { last } = this.probe;
    const numbers = Array.from({ length: Math.min(looksBack, last) }, (_, back) => last - back).reverse();
    const read = numbers.map((one) => this.#ask<RpcBlock | null>("eth_getBlockByNumber", [toHex(one), false]));
    return (await Promise.all(read)).flatMap((block) =>
      block ? [{ time: secondsIn(block.timestamp), isEmpty: block.transactions.length === 0 }] : [],
    );
  }

  /** How many transactions the next block would have; a node need not say. */
  async #waiting(): Promise<number> {
    const next = await this.#ask<RpcBlock | null>("eth_getBlockByNumber", ["pending", false]).catch(() => null);
    // Some nodes return their newest block instead.
    return next?.number && Number(next.number) > this.probe.last ? next.transactions.length : 0;
  }

  /** Sends zero from the node's account to itself, and waits until it is in a block. */
  async #write(period: number): Promise<Written> {
    const startedAt = this.clock.now();
    const end = startedAt + Math.max(patienceMs, windowMs(period));
    const [from] = await this.#ask<string[]>("eth_accounts").catch(() => []);
    if (from === undefined) return { kind: "skipped", why: "the node signs for no account" };
    let hash: string;
    try {
      hash = await this.#send({ from, to: from, value: "0x0" });
    } catch (error) {
      return { kind: "failed", why: `the node does not take it: ${messageOf(error)}` };
    }
    for (;;) {
      const receipt = await this.#ask<{ blockNumber: string } | null>("eth_getTransactionReceipt", [hash]);
      const seconds = (this.clock.now() - startedAt) / 1000;
      if (receipt) return { kind: "mined", block: Number(receipt.blockNumber), seconds };
      if (this.clock.now() >= end)
        return { kind: "failed", why: `${hash} was sent ${Math.round(seconds)} s ago, and no block has it` };
      await this.clock.sleep(lookEveryMs);
    }
  }

  /** Gas is free on most ledgers; on others, the node pays its usual price. */
  async #send(transaction: object): Promise<string> {
    try {
      return await this.#ask<string>("eth_sendTransaction", [{ ...transaction, gasPrice: "0x0" }]);
    } catch (error) {
      if (error instanceof TooSlow) throw error; // it may have been taken
      return this.#ask<string>("eth_sendTransaction", [transaction]);
    }
  }
}

/** What a node said, without the address and the body that ethers adds. */
export function messageOf(error: unknown): string {
  const { error: inner, shortMessage, message } = error as { error?: Error; shortMessage?: string; message: string };
  return inner?.message ?? shortMessage ?? message;
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

/** Quorum's raft counts nanoseconds. */
const secondsIn = (timestamp: string): number => {
  const time = Number(timestamp);
  return time > 1e15 ? time / 1e9 : time;
};

const toHex = (number: number): string => `0x${number.toString(16)}`;

/** How many blocks to look at for a chain's rhythm. */
const looksBack = 6;
/** Seconds between blocks, where the service does not show them. */
const usualPeriod = 5;

/** Seconds between two blocks where blocks come without transactions too; undefined: none is due without one. */
export function blocksEvery(
  { consensusType, blockPeriod, state }: EnvironmentModel,
  blocks: readonly Block[],
): number | undefined {
  const isAsleep = conditionOf(state) === "stopped" || /idle|sleep/i.test(state ?? "");
  if (isAsleep || !blockPeriod) return undefined;
  const gaps = blocks.slice(1).map(({ time }, at) => time - blocks[at]!.time);
  const isSteady = blocks.length === looksBack && gaps.every((seconds) => seconds * 1000 <= windowMs(blockPeriod));
  // Empty blocks in a burst do not follow the clock: a full ledger may make some to get room.
  const takesTime = gaps.reduce((sum, gap) => sum + gap, 0) >= (gaps.length * blockPeriod) / 2;
  const someEmpty = blocks.some(({ isEmpty }) => isEmpty);
  // By the spec (section 2.2), raft makes a block where there is a transaction, and the others by time; but a chain may be
  // set to do otherwise, and then its blocks tell.
  const byTime =
    consensusType === "raft" ? isSteady && takesTime && someEmpty : isSteady || someEmpty || blocks.length < looksBack;
  return byTime ? blockPeriod : undefined;
}
