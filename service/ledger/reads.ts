import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { resultIn } from "./admission";
import { Unfit } from "./failures";
import type { Feeds } from "./feeds";
import { feesOf } from "./fees";
import { unsealed } from "./header";
import { type Block, OutOfOrder, type Sealed } from "./ledger-data";
import { type Criteria, type Log, matching } from "./logs";
import { inOrder, simulated } from "./simulation";
import { type Options, traceOf } from "./traces";
import type { Simulation } from "./params";
import { type Bounds, Excess, type RpcCall, rpcCall, resultOfLine, written } from "./rpc";

/** The chain's data does not have the answer, but the engine may. */
const unknown = Symbol();

/** An engine's whole answer. */
class Line {
  constructor(readonly text: Buffer) {}
}

/** Answers calls that change nothing: about blocks and their results from the kept data, all others from the engine. */
export class Reads {
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

  async answer(call: RpcCall, { bytes, ms, now }: Bounds): Promise<Buffer> {
    const end = performance.now() + ms;
    const read = kept[call.method];
    try {
      await this.settled();
      const room: Room = { bytes, end, now };
      const result = read ? await read(this, call.params, room) : unknown;
      if (result === unknown) return await this.engines(call, room);
      if (result instanceof Line) return result.text;
      const line = Buffer.isBuffer(result)
        ? Buffer.concat([
            Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(call.id ?? null)},"result":`),
            result,
            brace,
          ])
        : written({ jsonrpc: "2.0", id: call.id, result });
      if (line.length > bytes) throw new Excess("long");
      return line;
    } catch (error) {
      if (error instanceof OutOfOrder && !this.#told.has(error.message)) this.base.warn(error.message);
      if (error instanceof OutOfOrder) this.#told.add(error.message);
      throw error;
    }
  }

  /** The engine's answer. It knows blocks by their numbers, since their hashes are those of the sealed headers. */
  async engines(call: RpcCall, { bytes, end, now }: Room): Promise<Buffer> {
    const { method, params } = call;
    const at = params.findIndex((one) => typeof (one as { blockHash?: unknown } | null)?.blockHash === "string");
    const number = at < 0 ? undefined : await this.number(params[at]);
    if (at >= 0 && number === undefined) throw new Unfit(-32_000, "header for hash not found");
    const { send } = number === undefined ? call : rpcCall(method, params.with(at, hex(number)));
    return (await this.engine(now)).ask(send, { bytes, ms: end - performance.now(), now });
  }

  /** The number of the block that a call means; undefined if it does not exist. */
  async number(block: unknown): Promise<number | undefined> {
    const { height } = this.base.data;
    const { blockNumber, blockHash } = (typeof block === "object" ? (block ?? {}) : {}) as Record<string, unknown>;
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
    const block = resultIn(await engine.answer("eth_getBlockByNumber", ["pending", true])) as Block;
    const before = Math.min(data.height, Number(block.number) - 1); // the last one may not be kept yet
    return unsealed(block, (await data.sealed(before))!, spec.profile);
  }

  /** The block of a transaction and its index there. */
  async place(hash: unknown): Promise<{ sealed: Sealed; at: number } | typeof unknown> {
    const place = await this.base.data.placeOf(String(hash));
    if (!place) return unknown;
    return { sealed: (await this.base.data.sealed(place.number))!, at: place.at };
  }

  /**
   * The matching logs as JSON, within the bounds. Skips parsing blocks without any requested name.
   *
   * @param since the first block that a filter did not report yet
   */
  async logs(criteria: Criteria, { bytes, end }: Room, since?: number): Promise<Buffer> {
    const { data } = this.base;
    const { height } = data;
    const { blockHash, fromBlock, toBlock } = criteria;
    const [from, to] = await Promise.all([blockHash ?? fromBlock, blockHash ?? toBlock].map((one) => this.number(one)));
    if (blockHash && from === undefined) throw new Unfit(-32_000, "unknown block");
    const { names, fits } = matching(criteria);
    const found: Buffer[] = [];
    let size = 0;
    const last = to ?? height;
    // what is new is new since the last look, also without a first block
    const isOpen = since !== undefined && (fromBlock ?? "latest") === "latest";
    const first = Math.max(isOpen ? 0 : (from ?? Infinity), since ?? 0);
    if (first > last) return Buffer.from("[]");
    for await (const text of data.logs(first, last)) {
      if (performance.now() > end) throw new Excess("late");
      if (!names.every((some) => some.some((name) => text.includes(name)))) continue;
      const all =
        names.length === 0
          ? [text]
          : parsed(text)
              .filter(fits)
              .map((log) => Buffer.from(JSON.stringify(log)));
      for (const one of all) {
        found.push(found.length > 0 ? comma : bracket, one);
        size += one.length + 1;
      }
      if (size > bytes) throw new Excess("long");
    }
    return Buffer.concat([...(found.length > 0 ? found : [bracket]), Buffer.from("]")]);
  }
}

/** Maximum length of an answer, its deadline, and whether it is the service's own. */
interface Room extends Pick<Bounds, "bytes" | "now"> {
  end: number;
}

const [brace, bracket, comma] = ["}", "[", ","].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
const parsed = (text: Buffer) => JSON.parse(`[${text.toString()}]`) as Log[];

const isNewest = (block: unknown) => block === "latest" || block === "safe" || block === "finalized";
const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

const hex = (number: number) => `0x${number.toString(16)}`;
const brief = (block: Block) => ({ ...block, transactions: block.transactions.map(({ hash }) => hash) });

type Read = (reads: Reads, params: unknown[], room: Room) => unknown;

/** A read of a block. A block that does not exist is null. */
const ofBlock =
  (show: (sealed: Sealed, second: unknown) => unknown): Read =>
  async (reads, [block, second]) => {
    const sealed = await reads.sealed(block);
    return sealed === undefined ? null : show(sealed, second);
  };
/** A read of a transaction. Only the engine has waiting ones, which have no results. */
const ofTransaction =
  (show: (sealed: Sealed, at: number) => unknown, waiting: unknown = unknown): Read =>
  async (reads, [hash]) => {
    const place = await reads.place(hash);
    return place === unknown ? waiting : show((place as { sealed: Sealed }).sealed, (place as { at: number }).at);
  };

const block = ofBlock(({ block: one, made }, isFull) => {
  const shown = isFull === true ? one : brief(one);
  return made === "" ? { ...shown, hash: null, miner: null, nonce: null } : shown;
});
const receipts = ofBlock(({ block: { transactions }, receipts: all }) => {
  if (transactions.length === all.length) return all;
  throw new Unfit(-32_000, "pending receipts is not available");
});
const count = ofBlock(({ block: { transactions } }) => hex(transactions.length));
const uncles = ofBlock(() => "0x0");
const uncle = ofBlock(() => null);
const byIndex = ofBlock(({ block: { transactions } }, at) => transactions[Number(at)] ?? null);

const newFilter =
  (wanted: (params: unknown[]) => Parameters<Feeds["filter"]>[0]): Read =>
  ({ base: { data, feeds } }, params) =>
    feeds.filter(wanted(params), data.height);

/** New entries since the last call. */
const changes: Read = async (reads, [id], room) => {
  const { data, feeds } = reads.base;
  const filter = feeds.used(id);
  if (typeof filter.wanted === "string") return filter.news.splice(0);
  const [since, { height }] = [filter.next, data];
  filter.next = Math.max(since, height + 1); // another look at the same time reports nothing twice
  let reported = since - 1;
  try {
    const logs = await reads.logs(filter.wanted, room, since);
    reported = Math.min(height, data.height); // a block that could not be kept is made again
    return logs;
  } finally {
    if (reported < height) filter.next = Math.max(since, reported + 1);
  }
};
/** All matching logs. */
const filtered: Read = (reads, [id], room) => {
  const { wanted } = reads.base.feeds.used(id);
  if (typeof wanted === "string") throw new Unfit(-32_000, "filter not found");
  return reads.logs(wanted, room);
};
const fees: Read = async (reads, [count, newest, percentiles], { end }) => {
  const { data } = reads.base;
  const last = newest === "pending" ? data.height + 1 : await reads.number(newest);
  if (last === undefined)
    throw new Unfit(-32_000, `request beyond head block: requested ${Number(newest)}, head ${data.height}`);
  if (!reads.base.spec.profile) return unknown; // with fees, only the engine knows the next ones
  const blocks: Sealed[] = [];
  for (let at = Math.max(0, last + 1 - Number(count)); at <= last; at++) {
    if (performance.now() > end) throw new Excess("late");
    blocks.push((await reads.sealed(at > data.height ? "pending" : hex(at)))!);
  }
  return feesOf(blocks, percentiles as number[]);
};

/** Engines keep the latest transactions only. */
const trace: Read = async (reads, [hash, options], { bytes, end }) => {
  const { data, spec } = reads.base;
  const place = await reads.place(hash);
  if (place === unknown) throw new Unfit(-32_000, "transaction not found");
  const { sealed, at } = place;
  const { history = 1 } = spec.profile ?? {};
  if (data.height - Number(sealed.block.number) >= history)
    throw new Unfit(-32_000, `required historical state unavailable: the latest ${history} blocks can be traced`);
  return traceOf(await reads.engine(), sealed, at, (options ?? {}) as Options, { bytes, ms: end - performance.now() });
};
/** Who may seal the blocks, at any time. */
const sealers: Read = async (reads, [block]) => {
  if ((await reads.sealed(block)) === undefined) throw new Unfit(-32_000, "unknown block");
  return [reads.base.sealer];
};

/** The calls about kept data. */
const kept: Partial<Record<string, Read>> = {
  eth_chainId: ({ base }) => hex(base.spec.chainId),
  net_version: ({ base }) => `${base.spec.chainId}`,
  eth_accounts: ({ base }) => base.data.accounts,
  eth_blockNumber: async (reads) => hex((await reads.number("latest")) as number),
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
  eth_feeHistory: fees,
  eth_newBlockFilter: newFilter(() => "blocks"),
  eth_newPendingTransactionFilter: newFilter(([isFull]) => (isFull === true ? "full" : "transactions")),
  eth_newFilter: newFilter(([criteria]) => criteria ?? {}),
  eth_getFilterChanges: changes,
  eth_getFilterLogs: filtered,
  eth_uninstallFilter: (reads, [id]) => reads.base.feeds.uninstall(id),
  eth_getLogs: (reads, [criteria], room) => reads.logs(criteria ?? {}, room),
  eth_getTransactionByHash: ofTransaction(({ block: { transactions } }, at) => transactions[at]),
  eth_getTransactionReceipt: ofTransaction(({ receipts }, at) => receipts[at], null),
  eth_getRawTransactionByHash: ofTransaction(({ raws }, at) => raws[at]),
  debug_traceTransaction: trace,
  eth_simulateV1: async (reads, [asked, block], room) => {
    const parent = await reads.sealed(block === "pending" ? "latest" : block);
    if (!parent) throw new Unfit(-32_000, "header not found");
    const simulation = inOrder(asked as Simulation, parent.block);
    const number = hex(Number(parent.block.number));
    const line = await reads.engines(rpcCall("eth_simulateV1", [simulation, number]), room);
    const result = resultOfLine(line) as Block[] | undefined;
    return result ? simulated(result, simulation, parent, reads.base.spec.profile) : new Line(line);
  },
  eth_coinbase: ({ base }) => base.sealer ?? unknown,
  clique_getSigners: sealers,
  clique_getSignersAtHash: sealers,
  istanbul_getValidators: sealers,
  istanbul_getValidatorsAtHash: sealers,
  ibft_getValidatorsByBlockNumber: sealers,
};
