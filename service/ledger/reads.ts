import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import { OutOfOrder, type Past } from "./ledger-folder";
import { type Answer, type Bounds, Excess, type RpcCall, rpcCall, written } from "./rpc";

/** The most files of the past that one call may need. Logs are read file by file, so they may need any number. */
const mostFiles = 8;

/** Answers calls that change nothing. Loads blocks of the past into the engine when somebody asks for them. */
export class Reads {
  readonly #loaded = new WeakMap<Engine, Set<string>>();
  /** What whoever runs the service was told: which files of the past are damaged. */
  readonly #told = new Set<string>();

  /**
   * @param ready the engine, once it has all blocks
   * @param still does something while no block is made, if the engine is still the chain's; returns whether it is
   */
  constructor(
    private readonly base: ChainBase,
    private readonly ready: () => Promise<Engine>,
    private readonly still: (engine: Engine, act: () => Promise<void>) => Promise<boolean>,
  ) {}

  async answer(call: RpcCall, bounds: Bounds): Promise<Buffer> {
    try {
      return await this.#answer(call, bounds);
    } catch (error) {
      if (error instanceof OutOfOrder && !this.#told.has(error.message)) this.base.warn(error.message);
      if (error instanceof OutOfOrder) this.#told.add(error.message);
      throw error;
    }
  }

  async #answer(call: RpcCall, bounds: Bounds): Promise<Buffer> {
    const { folder, head, pool } = this.base;
    const end = performance.now() + bounds.ms;
    if (folder.past.length === 0) return (await this.ready()).ask(call.send, bounds);
    const hash = hashIn(call);
    if (call.method === "eth_getLogs" && hash === undefined) return this.#logs(call, bounds, end);
    const wanted = wantedOf(call, folder.past, head.number);
    if (wanted.length > mostFiles) throw new Excess("wide");
    for (;;) {
      const engine = await this.ready();
      if (!(await this.#load(engine, wanted, end))) continue;
      const line = await engine.ask(call.send, { ...bounds, ms: end - performance.now() });
      if (hash === undefined || isSomething(line) || pool.has(hash)) return line;
      const missing = folder.pastOf(hash);
      if (!missing || this.#loaded.get(engine)!.has(missing.name)) return line;
      wanted.push(missing);
    }
  }

  /** Logs: of one file of the past after the other, then of the blocks that every engine has. */
  async #logs(call: RpcCall, bounds: Bounds, end: number): Promise<Buffer> {
    const { folder, head } = this.base;
    const found: unknown[] = [];
    let room = bounds.bytes;
    for (const { past, part } of logsIn(call, folder.past, head.number)) {
      let engine = await this.ready();
      while (past && !(await this.#load(engine, [past], end))) engine = await this.ready();
      const line = await engine.ask(part.send, { ...bounds, bytes: room, ms: end - performance.now() });
      room -= line.length;
      const answer = JSON.parse(line.toString()) as Answer;
      if (!("result" in answer) || !Array.isArray(answer.result)) return line;
      for (const one of answer.result) found.push(one);
    }
    return written({ jsonrpc: "2.0", id: call.id, result: found });
  }

  /** Loads files of the past. Returns whether the engine has them; else another one took its place. */
  async #load(engine: Engine, wanted: readonly Past[], end: number): Promise<boolean> {
    const loaded = this.#loaded.get(engine) ?? new Set();
    this.#loaded.set(engine, loaded);
    for (const past of wanted) {
      if (loaded.has(past.name)) continue;
      if (performance.now() > end) throw new Excess("late"); // nobody waits for the rest any more
      const still = await this.still(engine, async () => {
        if (loaded.has(past.name)) return;
        await engine.loadPast(this.base.folder.fileOf(past), past.last - past.first + 1);
        loaded.add(past.name);
      });
      if (!still) return false;
    }
    return true;
  }
}

/** Whether an answer has a result. Null and lists may lack what is in blocks of the past; a long answer is not null. */
function isSomething(line: Buffer): boolean {
  if (line.length > 1_000) return true;
  const { result = null } = JSON.parse(line.toString()) as { result?: unknown }; // an error may be of an unknown hash
  return result !== null && !Array.isArray(result);
}

/** Calls whose first parameter is the number of a block. */
const byNumber = new Set([
  ...["eth_getBlockByNumber", "eth_getBlockTransactionCountByNumber", "eth_getBlockReceipts"],
  ...["eth_getTransactionByBlockNumberAndIndex", "eth_getUncleByBlockNumberAndIndex", "eth_getUncleCountByBlockNumber"],
]);
const ofLogs = new Set(["eth_getLogs", "eth_newFilter"]);
/** Calls that name a block or a transaction by its hash. */
const byHash = /^eth_(get\w*ByHash|get\w*ByBlockHash\w*|getTransactionReceipt|getBlockReceipts|getLogs|newFilter)$/;
const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

/** The files of the past that a call needs, by the block numbers in it. */
function wantedOf(call: RpcCall, past: readonly Past[], height: number): Past[] {
  const range = rangeOf(call, height);
  if (!range) return [];
  return past.filter(
    ({ first, last, transactions }) =>
      range.from <= last && range.to >= first && (range.of === "blocks" || transactions),
  );
}

/** Splits a call for logs into one call for each file of the past, and one for the blocks after them. */
function logsIn(call: RpcCall, past: readonly Past[], height: number): { past?: Past; part: RpcCall }[] {
  const wanted = wantedOf(call, past, height);
  const range = rangeOf(call, height);
  if (!range || wanted.length === 0) return [{ part: call }];
  const [filter, ...others] = call.params;
  const within = (fromBlock: unknown, toBlock: unknown) =>
    rpcCall(call.method, [{ ...(filter as object), fromBlock, toBlock }, ...others], call.id);
  const parts: { past?: Past; part: RpcCall }[] = wanted.map((one) => {
    const [from, to] = [Math.max(range.from, one.first), Math.min(range.to, one.last)];
    return { past: one, part: within(hex(from), hex(to)) };
  });
  const after = past.at(-1)!.last + 1;
  if (range.to < after) return parts;
  const { toBlock } = filter as { toBlock?: unknown };
  return [...parts, { part: within(hex(Math.max(range.from, after)), toBlock) }];
}

const hex = (number: number) => `0x${number.toString(16)}`;

/** The hash of the block or the transaction that a call asks for. */
function hashIn({ method, params }: RpcCall): string | undefined {
  const first: unknown = byHash.test(method) ? params[0] : undefined;
  if (isHash(first)) return first;
  const { blockHash } = (first ?? {}) as { blockHash?: unknown };
  return isHash(blockHash) ? blockHash : undefined;
}

/** The blocks that a call asks for by their numbers. */
function rangeOf({ method, params: [first, second] }: RpcCall, height: number) {
  if (byNumber.has(method)) {
    const number = numberOf((first as { blockNumber?: unknown } | undefined)?.blockNumber ?? first, -1);
    return { from: number, to: number, of: "blocks" } as const;
  }
  if (method === "eth_feeHistory") {
    const newest = numberOf(second, height);
    return { from: newest - Number(first), to: newest, of: "blocks" } as const;
  }
  if (!ofLogs.has(method)) return undefined;
  const { fromBlock, toBlock, blockHash } = (first ?? {}) as Record<string, unknown>;
  if (blockHash !== undefined) return undefined;
  return { from: numberOf(fromBlock, height), to: numberOf(toBlock, height), of: "logs" } as const;
}

/** A block's number; words such as `latest` stand for blocks that every engine has. */
function numberOf(value: unknown, otherwise: number): number {
  if (value === "earliest") return 0;
  const number = typeof value === "string" && isHash(value) ? NaN : Number(value ?? NaN);
  return Number.isInteger(number) ? number : otherwise;
}
