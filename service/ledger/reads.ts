import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { type Block, OutOfOrder, type Sealed } from "./ledger-data";
import { type Bounds, Excess, failure, type RpcCall, rpcCall, written } from "./rpc";

/** Filters whose criteria are remembered. */
const mostFilters = 1_000;

type Criteria = Partial<Record<"fromBlock" | "toBlock" | "blockHash", unknown>> & {
  address?: string | string[] | null;
  topics?: (string | (string | null)[] | null)[] | null;
};

/** An answer that the chain's data does not have: the engine may know. */
const unknown = Symbol();

/** Answers calls that change nothing: about blocks and what came of them from what is kept, and all others from the engine. */
export class Reads {
  readonly #filters = new Map<string, Criteria>();
  /** What whoever runs the service was told. */
  readonly #told = new Set<string>();

  /**
   * @param ready the engine, once it has all blocks
   * @param settled waits until every block that the engine shows is kept
   */
  constructor(
    private readonly base: ChainBase,
    private readonly ready: () => Promise<Engine>,
    private readonly settled: () => Promise<void>,
  ) {}

  async answer(call: RpcCall, bounds: Bounds): Promise<Buffer> {
    const end = performance.now() + bounds.ms;
    try {
      const read = this.base.data.height < 0 ? undefined : kept[call.method];
      const criteria = this.#criteriaOf(call);
      // Whoever has a receipt from the engine finds its block and its logs.
      if (read ?? criteria) await this.settled();
      const result = read ? await read(this, call.params) : unknown;
      if (result !== unknown) return within(written({ jsonrpc: "2.0", id: call.id, result }), bounds);
      if (criteria && this.base.data.height >= 0) return await this.#logs(call.id, criteria, bounds, end);
      const beyond = this.#beyond(call);
      if (beyond) return beyond;
      const line = await (await this.ready()).ask(this.#sent(call), { ...bounds, ms: end - performance.now() });
      if (call.method === "eth_newFilter") this.#noteFilter(line, call.params[0] as Criteria);
      return line;
    } catch (error) {
      if (error instanceof OutOfOrder && !this.#told.has(error.message)) this.base.warn(error.message);
      if (error instanceof OutOfOrder) this.#told.add(error.message);
      throw error;
    }
  }

  /** The number of the block that a call means; undefined if there is none, or only the engine has it. */
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

  #noteFilter(line: Buffer, criteria: Criteria): void {
    const { result } = JSON.parse(line.toString()) as { result?: string };
    if (result === undefined) return;
    this.#filters.set(result, criteria);
    if (this.#filters.size > mostFilters) this.#filters.delete(this.#filters.keys().next().value!);
  }

  /** The engine takes fees of blocks that are not there for free ones. */
  #beyond({ id, method, params: [, newest] }: RpcCall): Buffer | undefined {
    const { height } = this.base.data;
    const number = method === "eth_feeHistory" && isNumber(newest) ? Number(newest) : 0;
    if (number <= Math.max(0, height)) return undefined;
    return written(failure(id, -32_000, `request beyond head block: requested ${number}, head ${height}`));
  }

  /** What the engine gets. Its filters would begin with past logs, and those of geth tell of new ones only. */
  #sent(call: RpcCall): string {
    const { fromBlock, ...others } = (call.params[0] ?? {}) as Criteria;
    const isPast = fromBlock === "earliest" || (isNumber(fromBlock) && Number(fromBlock) <= this.base.data.height);
    return call.method === "eth_newFilter" && isPast ? rpcCall(call.method, [others]).send : call.send;
  }

  #criteriaOf({ method, params: [first] }: RpcCall): Criteria | undefined {
    if (method === "eth_getFilterLogs") return this.#filters.get(first as string);
    return method === "eth_getLogs" ? (first ?? {}) : undefined;
  }

  /** The logs that fit, as long as the answer keeps its limits. Blocks without any name that is asked for are not parsed. */
  async #logs(id: unknown, criteria: Criteria, bounds: Bounds, end: number): Promise<Buffer> {
    const { data } = this.base;
    const { blockHash, fromBlock, toBlock } = criteria;
    const [from, to] = await Promise.all([blockHash ?? fromBlock, blockHash ?? toBlock].map((one) => this.number(one)));
    if (blockHash && from === undefined) return written(failure(id, -32_000, "unknown block"));
    const { names, fits } = matching(criteria);
    const comma = Buffer.from(",");
    const found: Buffer[] = [];
    let size = 64;
    const last = typeof to === "number" ? to : data.height;
    const first = typeof from === "number" ? from : from === unknown ? data.height : Infinity;
    if (first > last) return written({ jsonrpc: "2.0", id, result: [] });
    for await (const text of data.logs(first, last)) {
      if (performance.now() > end) throw new Excess("late");
      if (!names.every((some) => some.some((name) => text.includes(name)))) continue;
      const fitting = () => parsed(text).filter(fits);
      const all = names.length === 0 ? [text] : fitting().map((log) => Buffer.from(JSON.stringify(log)));
      for (const one of all) {
        if (found.length > 0) found.push(comma);
        found.push(one);
        size += one.length + 1;
      }
      if (size > bounds.bytes) throw new Excess("long");
    }
    const begin = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},"result":[`);
    return Buffer.concat([begin, ...found, Buffer.from("]}")]);
  }
}

function within(line: Buffer, { bytes }: Bounds): Buffer {
  if (line.length > bytes) throw new Excess("long");
  return line;
}

interface Log {
  address: string;
  topics: string[];
}
const parsed = (text: Buffer) => JSON.parse(`[${text.toString()}]`) as Log[];

/** What a log must have: `names` of which its text must have one each, and whether it fits exactly. */
function matching({ address, topics }: Criteria) {
  const listOf = (some: string | readonly (string | null)[]) => (typeof some === "string" ? [some] : some);
  const lower = (some: string | readonly (string | null)[]) => listOf(some).map((one) => one?.toLowerCase() ?? "");
  const addresses = address === undefined || address === null ? [] : lower(address);
  const wanted = (topics ?? []).map((one) => (one === null ? [] : lower(one)));
  const isAny = (some: readonly string[]) => some.length === 0 || some.includes("");
  const all = [addresses, ...wanted].filter((some) => !isAny(some));
  // even a topic that may be anything must be there
  if (wanted.length > 0 && all.length === 0) all.push(["0x"]);
  const names = all.map((some) => some.map((name) => Buffer.from(name)));
  const fits = (log: Log) =>
    (isAny(addresses) || addresses.includes(log.address.toLowerCase())) &&
    wanted.length <= log.topics.length &&
    wanted.every((some, at) => isAny(some) || some.includes(log.topics[at]!));
  return { names, fits };
}

const isNewest = (block: unknown) => block === "latest" || block === "safe" || block === "finalized";
const isNumber = (value: unknown): value is string => typeof value === "string" && value.startsWith("0x");
const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

const hex = (number: number) => `0x${number.toString(16)}`;
const brief = (block: Block) => ({ ...block, transactions: block.transactions.map(({ hash }) => hash) });

type Read = (reads: Reads, params: unknown[]) => Promise<unknown>;

/** A read of a block. A block that does not exist is null. */
const ofBlock =
  (show: (sealed: Sealed, second: unknown) => unknown): Read =>
  async (reads, [block, second]) => {
    const sealed = await reads.sealed(block);
    return sealed === unknown ? unknown : sealed === undefined ? null : show(sealed, second);
  };
/** A read of a transaction. Only the engine knows those that wait. */
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

/** The calls about what is kept. */
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
  eth_getTransactionByHash: ofTransaction(({ block: { transactions } }, at) => transactions[at]),
  eth_getTransactionReceipt: ofTransaction(({ receipts }, at) => receipts[at]),
  eth_getRawTransactionByHash: ofTransaction(({ raws }, at) => raws[at]),
};
