import pLimit from "p-limit";
import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { inGethsWords, Unfit } from "./failures";
import { feesOf } from "./fees";
import { shownTransaction, unsealed } from "./header";
import { type Block, OutOfOrder, type Sealed } from "./ledger-data";
import { type Criteria, type Log, matching } from "./logs";
import type { Simulation } from "./params";
import { type Answer, type Bounds, Excess, type RpcCall } from "./rpc";
import { coded, inOrder, mustFollow, simulated } from "./simulation";
import { accessListOf, type Options, traceOf } from "./traces";

type Fields = Record<string, unknown>;

/** Members' calls to an engine at the same time: it sends no answer before it has executed all that it was asked. */
const mostRunning = 8;

/** The bounds of an answer, with its deadline. */
interface Room extends Omit<Bounds, "ms"> {
  end: number;
}

/** Answers calls that change nothing: about blocks and their results from the kept data, all others from the engine. */
export class Reads {
  readonly #running = pLimit(mostRunning);
  /** Warnings that the operator of the service got. */
  readonly #told = new Set<string>();

  /**
   * @param engine gives the engine, once it has all blocks
   * @param settled waits until all that the engine shows is recorded, and its block kept
   */
  constructor(
    readonly base: ChainBase,
    readonly engine: (patient?: boolean) => Promise<Engine>,
    private readonly settled: () => Promise<void>,
  ) {}

  async answer({ method, params }: RpcCall, { ms, ...bounds }: Bounds): Promise<unknown> {
    const room = { ...bounds, end: performance.now() + ms };
    try {
      await this.settled();
      return await (kept[method] ?? engines(method))(this, params, room);
    } catch (error) {
      if (error instanceof OutOfOrder) this.#warn(error.message);
      throw error;
    }
  }

  /** The engine's result. It knows blocks by their numbers, since their hashes are those of the sealed headers. */
  async ask(method: string, params: unknown[], { bytes, end, patient }: Room): Promise<unknown> {
    const at = params.findIndex((one) => typeof (one as { blockHash?: unknown } | null)?.blockHash === "string");
    const number = at < 0 ? undefined : await this.number(params[at]);
    if (at >= 0 && number === undefined) throw new Unfit("header for hash not found");
    const asked = number === undefined ? params : params.with(at, hex(number));
    const engine = await this.engine(patient);
    const send = () => engine.answer(method, asked, { bytes, ms: end - performance.now() });
    return this.result(await (patient ? send() : this.#running(send)), method, params);
  }

  /** The result of an engine's answer. Throws its error in geth's words, because callers must not see the engine's. */
  result(answer: Answer, method: string, [first]: unknown[]): unknown {
    if ("result" in answer) return answer.result;
    const { data, spec } = this.base;
    const kept = { height: data.height, history: spec.profile?.history ?? 1 };
    const { known, code, message, data: more } = inGethsWords(answer.error, kept);
    if (!known) this.#warn(`${method}: ${answer.error.message}`);
    if (method !== "eth_estimateGas" || message !== "out of gas") throw new Unfit(message, code, more);
    throw new Unfit(`gas required exceeds allowance (${Number((first as { gas: string }).gas)})`, code);
  }

  #warn(text: string): void {
    if (!this.#told.has(text)) this.base.warn(text);
    this.#told.add(text);
  }

  /** The number of the block that a call means; undefined if it does not exist. */
  async number(block: unknown): Promise<number | undefined> {
    const { height } = this.base.data;
    const { blockNumber, blockHash } = (typeof block === "object" ? (block ?? {}) : {}) as Fields;
    if (typeof block === "object" && block !== null) return this.number(blockHash ?? blockNumber);
    if (block === undefined || block === null || isNewest(block)) return height;
    if (block === "earliest") return 0;
    if (isHash(block)) return this.base.data.numberOf(block);
    return Number(block) <= height ? Number(block) : undefined;
  }

  async sealed(block: unknown): Promise<Sealed | undefined> {
    if (block === "pending") return this.#pending();
    const number = await this.number(block);
    return number === undefined ? undefined : this.base.data.sealed(number);
  }

  /** The block that the waiting transactions would make: the same one in every call. It has no receipts yet. */
  async #pending(): Promise<Sealed> {
    const { data, spec } = this.base;
    const engine = await this.engine();
    const block = await engine.call<Block>("eth_getBlockByNumber", ["pending", true]);
    const before = Math.min(data.height, Number(block.number) - 1); // the last one may not be kept yet
    return unsealed(block, (await data.sealed(before))!, spec.profile);
  }

  async place(hash: unknown): Promise<{ sealed: Sealed; at: number } | undefined> {
    const place = await this.base.data.placeOf(String(hash));
    return place && { sealed: (await this.base.data.sealed(place.number))!, at: place.at };
  }

  async logs(criteria: Criteria, { bytes, end }: Room): Promise<Log[]> {
    const { blockHash, fromBlock, toBlock } = criteria;
    const [from, to] = await Promise.all([blockHash ?? fromBlock, blockHash ?? toBlock].map((one) => this.number(one)));
    if (blockHash && from === undefined) throw new Unfit("unknown block");
    const fits = matching(criteria);
    const found: Log[] = [];
    let size = 0;
    for await (const text of this.base.data.logs(from ?? Infinity, to ?? this.base.data.height)) {
      if (performance.now() > end) throw new Excess("late");
      const some = (JSON.parse(`[${text.toString()}]`) as Log[]).filter(fits);
      found.push(...some);
      if (some.length > 0) size += text.length;
      if (size > bytes && JSON.stringify(found).length > bytes) throw new Excess("long");
    }
    return found;
  }
}

const isNewest = (block: unknown) => block === "latest" || block === "safe" || block === "finalized";
const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

const hex = (number: number) => `0x${number.toString(16)}`;
const brief = (block: Block) => ({ ...block, transactions: block.transactions.map(({ hash }) => hash) });

type Read = (reads: Reads, params: unknown[], room: Room) => unknown;

const engines =
  (method: string, shape: (result: never, base: ChainBase) => unknown = (result) => result): Read =>
  async (reads, params, room) =>
    shape((await reads.ask(method, params, room)) as never, reads.base);

/** A read of a block. A block that does not exist is null. */
const ofBlock =
  (show: (sealed: Sealed, second: unknown) => unknown): Read =>
  async (reads, [block, second]) => {
    const sealed = await reads.sealed(block);
    return sealed === undefined ? null : show(sealed, second);
  };
/** A read of a transaction. Only the engine has waiting ones, which have no results. */
const ofTransaction =
  (show: (sealed: Sealed, at: number) => unknown, waiting: Read = () => null): Read =>
  async (reads, params, room) => {
    const place = await reads.place(params[0]);
    return place ? show(place.sealed, place.at) : waiting(reads, params, room);
  };

const block = ofBlock(({ block: one, made }, isFull) => {
  const shown = isFull === true ? one : brief(one);
  return made === "" ? { ...shown, hash: null, miner: null, nonce: null } : shown;
});
const receipts = ofBlock(({ block: { transactions }, receipts: all }) => {
  if (transactions.length === all.length) return all;
  throw new Unfit("pending receipts is not available");
});
const count = ofBlock(({ block: { transactions } }) => hex(transactions.length));
const uncles = ofBlock(() => "0x0");
const uncle = ofBlock(() => null);
const byIndex = ofBlock(({ block: { transactions } }, at) => transactions[Number(at)] ?? null);

const changes: Read = ({ base }, [id], { bytes }) => {
  const { news } = base.feeds.used(id);
  if (JSON.stringify(news).length > bytes) throw new Excess("long");
  return news.splice(0);
};
const filtered: Read = (reads, [id], room) => {
  const { criteria } = reads.base.feeds.used(id);
  if (!criteria) throw new Unfit("filter not found");
  return reads.logs(criteria, room);
};
const fees: Read = async (reads, params, room) => {
  const { data, spec } = reads.base;
  const [count, newest, percentiles] = params as [unknown, unknown, number[]];
  const last = newest === "pending" ? data.height + 1 : await reads.number(newest);
  if (last === undefined)
    throw new Unfit(`request beyond head block: requested ${Number(newest)}, head ${data.height}`);
  if (!spec.profile) {
    // with fees, only the engine knows the next ones
    const { reward, ...others } = (await reads.ask("eth_feeHistory", params, room)) as Fields;
    return percentiles.length > 0 ? { ...others, reward } : others;
  }
  const blocks: Sealed[] = [];
  for (let at = Math.max(0, last + 1 - Number(count)); at <= last; at++) {
    if (performance.now() > room.end) throw new Excess("late");
    blocks.push((await reads.sealed(at > data.height ? "pending" : hex(at)))!);
  }
  return feesOf(blocks, percentiles);
};

/** Engines keep the latest transactions only. */
const trace: Read = async (reads, [hash, options], room) => {
  const { data, spec } = reads.base;
  const place = await reads.place(hash);
  if (!place) throw new Unfit("transaction not found");
  const { history = 1 } = spec.profile ?? {};
  if (data.height - Number(place.sealed.block.number) >= history)
    throw new Unfit(`required historical state unavailable: the latest ${history} blocks can be traced`);
  const ask = (method: string, params: unknown[]) => reads.ask(method, params, room);
  return traceOf(ask, place.sealed, place.at, (options ?? {}) as Options);
};
const simulate: Read = async (reads, [asked, block], room) => {
  const parent = await reads.sealed(block === "pending" ? "latest" : block);
  if (!parent) throw new Unfit("header not found");
  const simulation = inOrder(asked as Simulation, parent.block);
  const at = hex(Number(parent.block.number));
  if (simulation.validation)
    await mustFollow(simulation, (from) => reads.ask("eth_getTransactionCount", [from, at], room));
  const blocks = (await reads.ask("eth_simulateV1", [simulation, at], room).catch(coded)) as Block[];
  return simulated(blocks, simulation, parent, reads.base.spec.profile);
};
/** Who may seal the blocks, at any time. */
const sealers: Read = async (reads, [block]) => {
  if ((await reads.sealed(block)) === undefined) throw new Unfit("unknown block");
  return [reads.base.sealer];
};

/** An engine's transaction as one that waits: it may have put it into a block that is not kept yet. */
export const unmined = (one: Fields) => ({
  ...shownTransaction(one),
  gasPrice: one.maxFeePerGas ?? one.gasPrice,
  blockHash: null,
  blockNumber: null,
  transactionIndex: null,
});
const waiting = engines("eth_getTransactionByHash", (one: Fields | null) => one && unmined(one));
const waitingRaw = engines("eth_getRawTransactionByHash", (raw: string | null) => raw ?? "0x");

/** An engine's proof for an empty trie. */
const ofNothing = "0x80";
interface Proof extends Fields {
  storageProof: { proof: string[] }[];
}
const shownProof = engines("eth_getProof", ({ storageProof, ...others }: Proof) => ({
  ...others,
  storageProof: storageProof.map((one) => ({ ...one, proof: one.proof.filter((part) => part !== ofNothing) })),
}));
/** An engine has nothing to prove of the pending state. */
const proof: Read = (reads, [account, keys, block], room) =>
  shownProof(reads, [account, keys, block === "pending" ? "latest" : block], room);

const accessList: Read = (reads, params, room) =>
  accessListOf((method, given) => reads.ask(method, given, room), params, reads.base.sealer);

/** The calls that are not the engine's alone. */
const kept: Partial<Record<string, Read>> = {
  eth_chainId: ({ base }) => hex(base.spec.chainId),
  net_version: ({ base }) => `${base.spec.chainId}`,
  eth_accounts: ({ base }) => base.data.accounts,
  eth_coinbase: (reads, ...given) => reads.base.sealer ?? engines("eth_coinbase")(reads, ...given),
  eth_blockNumber: ({ base }) => hex(base.data.height),
  eth_getBlockByHash: block,
  eth_getBlockByNumber: block,
  eth_getBlockReceipts: receipts,
  eth_getBlockTransactionCountByHash: count,
  eth_getBlockTransactionCountByNumber: count,
  eth_getUncleCountByBlockHash: uncles,
  eth_getUncleCountByBlockNumber: uncles,
  eth_getUncleByBlockHashAndIndex: uncle,
  eth_getUncleByBlockNumberAndIndex: uncle,
  eth_getTransactionByBlockHashAndIndex: byIndex,
  eth_getTransactionByBlockNumberAndIndex: byIndex,
  eth_getTransactionByHash: ofTransaction(({ block: { transactions } }, at) => transactions[at], waiting),
  eth_getRawTransactionByHash: ofTransaction(({ raws }, at) => raws[at], waitingRaw),
  eth_getTransactionReceipt: ofTransaction(({ receipts }, at) => receipts[at]),
  eth_feeHistory: fees,
  eth_getProof: proof,
  eth_createAccessList: accessList,
  eth_newBlockFilter: ({ base }) => base.feeds.filter("newHeads"),
  eth_newPendingTransactionFilter: ({ base }, [isFull]) => base.feeds.filter("newPendingTransactions", isFull),
  eth_newFilter: ({ base }, [criteria = {}]) => base.feeds.filter("logs", criteria),
  eth_getFilterChanges: changes,
  eth_getFilterLogs: filtered,
  eth_uninstallFilter: ({ base }, [id]) => base.feeds.uninstall(id),
  eth_getLogs: (reads, [criteria = {}], room) => reads.logs(criteria as Criteria, room),
  debug_traceTransaction: trace,
  eth_simulateV1: simulate,
  clique_getSigners: sealers,
  clique_getSignersAtHash: sealers,
  istanbul_getValidators: sealers,
  istanbul_getValidatorsAtHash: sealers,
  ibft_getValidatorsByBlockNumber: sealers,
};
