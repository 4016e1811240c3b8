import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { Unfit } from "./failures";
import { type Block, OutOfOrder, type Sealed } from "./ledger-data";
import type { Feeds } from "./feeds";
import { type Criteria, type Log, matching } from "./logs";
import { type Bounds, Excess, type RpcCall, written } from "./rpc";

/** The chain's data does not have the answer, but the engine may. */
const unknown = Symbol();

/** Answers calls that change nothing: about blocks and their results from the kept data, all others from the engine. */
export class Reads {
  /** Warnings that the operator of the service got. */
  readonly #told = new Set<string>();

  /**
   * @param ready the engine, once it has all blocks
   * @param settled waits until all that the engine shows is recorded, and its block kept
   */
  constructor(
    readonly base: ChainBase,
    private readonly ready: () => Promise<Engine>,
    private readonly settled: () => Promise<void>,
  ) {}

  async answer(call: RpcCall, { bytes, ms }: Bounds): Promise<Buffer> {
    const end = performance.now() + ms;
    const read = kept[call.method];
    try {
      await this.settled();
      const result = read ? await read(this, call.params, { bytes, end }) : unknown;
      if (result === unknown) return await (await this.ready()).ask(call.send, { bytes, ms: end - performance.now() });
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

  /** The number of the block that a call means; undefined if it does not exist, or only the engine has it. */
  async number(block: unknown): Promise<number | undefined | typeof unknown> {
    const { height } = this.base.data;
    const { blockNumber, blockHash } = (typeof block === "object" ? (block ?? {}) : {}) as Record<string, unknown>;
    if (typeof block === "object" && block !== null) return this.number(blockHash ?? blockNumber);
    if (block === "pending") return unknown;
    if (block === undefined || block === null || isNewest(block)) return height;
    if (block === "earliest") return 0;
    if (isHash(block)) return this.base.data.numberOf(block);
    return Number(block) <= height ? Number(block) : undefined;
  }

  async sealed(block: unknown): Promise<Sealed | undefined | typeof unknown> {
    const number = await this.number(block);
    return typeof number === "number" ? this.base.data.sealed(number) : number;
  }

  /** The block of a transaction and its index there. */
  async place(hash: unknown): Promise<{ sealed: Sealed; at: number } | typeof unknown> {
    const place = await this.base.data.placeOf(String(hash));
    if (!place) return unknown;
    return { sealed: (await this.base.data.sealed(place.number))!, at: place.at };
  }

  /** The matching logs as JSON, within the bounds. Skips parsing blocks without any requested name. */
  async logs(criteria: Criteria, { bytes, end }: Room, least = 0): Promise<Buffer> {
    const { data } = this.base;
    const { height } = data;
    const { blockHash, fromBlock, toBlock } = criteria;
    const [from, to] = await Promise.all([blockHash ?? fromBlock, blockHash ?? toBlock].map((one) => this.number(one)));
    if (blockHash && from === undefined) throw new Unfit(-32_000, "unknown block");
    const { names, fits } = matching(criteria);
    const found: Buffer[] = [];
    let size = 0;
    const last = typeof to === "number" ? to : height;
    const first = typeof from === "number" ? from : from === unknown ? height : Infinity;
    if (first > last) return Buffer.from("[]");
    for await (const text of data.logs(Math.max(first, least), last)) {
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

/** Maximum length of an answer, and its deadline. */
interface Room {
  bytes: number;
  end: number;
}

const [brace, bracket, comma] = ["}", "[", ","].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
const parsed = (text: Buffer) => JSON.parse(`[${text.toString()}]`) as Log[];

const isNewest = (block: unknown) => block === "latest" || block === "safe" || block === "finalized";
const isNumber = (value: unknown): value is string => typeof value === "string" && value.startsWith("0x");
const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

const hex = (number: number) => `0x${number.toString(16)}`;
const brief = (block: Block) => ({ ...block, transactions: block.transactions.map(({ hash }) => hash) });

type Read = (reads: Reads, params: unknown[], room: Room) => unknown;

/** A read of a block. A block that does not exist is null. */
const ofBlock =
  (show: (sealed: Sealed, second: unknown) => unknown): Read =>
  async (reads, [block, second]) => {
    const sealed = await reads.sealed(block);
    return sealed === unknown ? unknown : sealed === undefined ? null : show(sealed, second);
  };
/** A read of a transaction. Only the engine has waiting ones. */
const ofTransaction =
  (show: (sealed: Sealed, at: number) => unknown): Read =>
  async (reads, [hash]) => {
    const place = await reads.place(hash);
    return place === unknown ? unknown : show((place as { sealed: Sealed }).sealed, (place as { at: number }).at);
  };

const block = ofBlock(({ block: one }, isFull) => (isFull === true ? one : brief(one)));
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
  if (typeof filter.wanted === "string") return filter.hashes.splice(0);
  const { height } = data;
  const logs = await reads.logs(filter.wanted, room, filter.next);
  filter.next = height + 1;
  return logs;
};
/** All matching logs. */
const filtered: Read = (reads, [id], room) => {
  const { wanted } = reads.base.feeds.used(id);
  if (typeof wanted === "string") throw new Unfit(-32_000, "filter not found");
  return reads.logs(wanted, room);
};
/** The engine would answer zero fees for blocks that do not exist. */
const fees: Read = ({ base: { data } }, [, newest]) => {
  if (!isNumber(newest) || Number(newest) <= data.height) return unknown;
  throw new Unfit(-32_000, `request beyond head block: requested ${Number(newest)}, head ${data.height}`);
};

/** The calls about kept data. */
const kept: Partial<Record<string, Read>> = {
  eth_blockNumber: async (reads) => hex((await reads.number("latest")) as number),
  eth_getBlockByHash: block,
  eth_getBlockByNumber: block,
  eth_getBlockReceipts: ofBlock(({ receipts }) => receipts),
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
  eth_newPendingTransactionFilter: newFilter(() => "transactions"),
  eth_newFilter: newFilter(([criteria]) => criteria ?? {}),
  eth_getFilterChanges: changes,
  eth_getFilterLogs: filtered,
  eth_uninstallFilter: (reads, [id]) => reads.base.feeds.uninstall(id),
  eth_getLogs: (reads, [criteria], room) => reads.logs(criteria ?? {}, room),
  eth_getTransactionByHash: ofTransaction(({ block: { transactions } }, at) => transactions[at]),
  eth_getTransactionReceipt: ofTransaction(({ receipts }, at) => receipts[at]),
  eth_getRawTransactionByHash: ofTransaction(({ raws }, at) => raws[at]),
};
