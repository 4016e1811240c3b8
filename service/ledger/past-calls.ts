import type { Past } from "./ledger-folder";

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
