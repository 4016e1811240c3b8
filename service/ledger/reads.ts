import type { Engine } from "./engine";
import type { LedgerFolder, Past } from "./ledger-folder";
import { type Answer, Excess } from "./rpc";

/** What reads need of their chain. */
interface Read {
  folder: LedgerFolder;
  /** The engine, once it has all blocks. */
  ready: () => Promise<Engine>;
  /** Does something while no block is made, if this engine is still the chain's. @returns whether it is */
  still: (engine: Engine, act: () => Promise<void>) => Promise<boolean>;
  height: () => number;
  /** Whether a transaction waits for its block. */
  waits: (hash: string) => boolean;
}

/** Files of the past that one call may need. Logs are asked for file by file, so that they may be in any number. */
const mostFiles = 8;

/** Calls that change nothing. Blocks of the past are given to the engine when somebody wants them. */
export class Reads {
  readonly #loaded = new WeakMap<Engine, Set<string>>();

  constructor(private readonly chain: Read) {}

  /**
   * @param ask asks an engine
   * @param result what it answered; null and lists may lack what is in blocks of the past
   * @param end when nobody waits for it any more
   */
  async answer<T>(
    call: Call,
    ask: (engine: Engine) => Promise<T>,
    result: (said: T) => unknown,
    end: number,
  ): Promise<T> {
    const { folder, ready, height, waits } = this.chain;
    const wanted = wantedOf(call, folder.past, height());
    if (wanted.length > mostFiles) throw new Excess("wide");
    for (;;) {
      const engine = await ready();
      if (!(await this.#load(engine, wanted, end))) continue;
      const said = await ask(engine);
      const hash = folder.past.length === 0 ? undefined : hashIn(call);
      if (isSomething(result(said)) || (hash !== undefined && waits(hash))) return said;
      const missing = hash === undefined ? undefined : folder.pastOf(hash);
      if (!missing || this.#has(engine, missing)) return said;
      wanted.push(missing);
    }
  }

  /**
   * Logs, of one file of the past after the other, and then of what every engine has.
   *
   * @param ask asks an engine for those of some blocks
   */
  async logs(call: Call, ask: (engine: Engine, part: Call) => Promise<Answer>, end: number): Promise<Answer> {
    const { folder, ready, height } = this.chain;
    const found: unknown[] = [];
    for (const { past, part } of logsIn(call, folder.past, height())) {
      let engine = await ready();
      while (past && !(await this.#load(engine, [past], end))) engine = await ready();
      const answer = await ask(engine, part);
      if (!("result" in answer) || !Array.isArray(answer.result)) return answer;
      for (const one of answer.result) found.push(one);
    }
    return { result: found };
  }

  #has = (engine: Engine, { name }: Past) => this.#loaded.get(engine)?.has(name) === true;

  /** @returns whether the engine has them; else another one took its place */
  async #load(engine: Engine, wanted: readonly Past[], end: number): Promise<boolean> {
    const loaded = this.#loaded.get(engine) ?? new Set();
    this.#loaded.set(engine, loaded);
    for (const past of wanted) {
      if (loaded.has(past.name)) continue;
      if (performance.now() > end) throw new Excess("late"); // nobody is waiting for the rest
      const still = await this.chain.still(engine, async () => {
        if (loaded.has(past.name)) return;
        await engine.loadPast(this.chain.folder.fileOf(past), past.last - past.first + 1);
        loaded.add(past.name);
      });
      if (!still) return false;
    }
    return true;
  }
}

const isSomething = (result: unknown) => result !== null && !Array.isArray(result);

/** Calls whose first parameter is the number of a block. */
const byNumber = new Set([
  ...["eth_getBlockByNumber", "eth_getBlockTransactionCountByNumber", "eth_getBlockReceipts"],
  ...["eth_getTransactionByBlockNumberAndIndex", "eth_getUncleByBlockNumberAndIndex", "eth_getUncleCountByBlockNumber"],
]);
const ofLogs = new Set(["eth_getLogs", "eth_newFilter"]);
/** Calls that name a block or a transaction by its hash, and answer null where there is none. */
const byHash = /^eth_(get\w*ByHash|get\w*ByBlockHash\w*|getTransactionReceipt|getBlockReceipts|getLogs|newFilter)$/;
export interface Call {
  method: string;
  params?: unknown[];
}

const isHash = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);

/** The files of the past that a call asks for by the numbers of blocks. */
export function wantedOf(call: Call, past: readonly Past[], height: number): Past[] {
  const range = rangeOf(call, height);
  if (!range) return [];
  return past.filter(
    ({ first, last, transactions }) =>
      range.from <= last && range.to >= first && (range.of === "blocks" || transactions),
  );
}

/** Whether a call asks for the logs of a range of blocks. */
export const asksForLogs = (call: Call) => call.method === "eth_getLogs" && hashIn(call) === undefined;

/** A call for logs in parts: those of a file of the past, and of all blocks after these. */
export function logsIn(call: Call, past: readonly Past[], height: number): { past?: Past; part: Call }[] {
  const wanted = wantedOf(call, past, height);
  const range = rangeOf(call, height);
  if (!range || wanted.length === 0) return [{ part: call }];
  const [filter, ...others] = call.params ?? [];
  const within = (fromBlock: unknown, toBlock: unknown): Call => ({
    ...call,
    params: [{ ...(filter as object), fromBlock, toBlock }, ...others],
  });
  const parts: { past?: Past; part: Call }[] = wanted.map((one) => {
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
export function hashIn({ method, params }: Call): string | undefined {
  const first: unknown = byHash.test(method) && Array.isArray(params) ? params[0] : undefined;
  if (isHash(first)) return first;
  const { blockHash } = (first ?? {}) as { blockHash?: unknown };
  return isHash(blockHash) ? blockHash : undefined;
}

function rangeOf({ method, params }: Call, height: number) {
  const [first, second]: unknown[] = Array.isArray(params) ? params : [];
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

/** A block's number; a word such as `latest` stands for one that every engine has. */
function numberOf(value: unknown, otherwise: number): number {
  if (value === "earliest") return 0;
  const number = typeof value === "string" && isHash(value) ? NaN : Number(value ?? NaN);
  return Number.isInteger(number) ? number : otherwise;
}
