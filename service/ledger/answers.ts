import { hasFork, headerFields, type Profile } from "../profiles";
import { type Failure, inGethsWords } from "./failures";
import { type Answer, engineId, failure, type RpcCall, written } from "./rpc";

/** How every answer of an engine begins. */
const begin = `{"jsonrpc":"2.0","id":"${engineId}",`;
const ofError = '"error"';
/** Fields that only the engine adds. */
const added = ["blockTimestamp"];

type Fields = Record<string, unknown>;
type Shape = (fields: Fields, profile: Profile | undefined, params: unknown[]) => unknown;

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
const transaction: Shape = (fields) => without(fields, added);
/** Values that the pending block does not have yet. */
const pending = { hash: null, miner: null, nonce: null };

/** Fields of later hard forks: the engine's genesis has them. */
function later({ hardFork }: Profile): string[] {
  const own = headerFields(hardFork);
  return headerFields("prague").filter((name) => !own.includes(name));
}

const block: Shape = (fields, profile, params) => {
  const known = params[0] === "pending" ? { ...fields, ...pending } : fields;
  const header = profile ? without(known, later(profile)) : known;
  const { transactions } = header;
  if (!Array.isArray(transactions) || typeof transactions[0] !== "object") return header;
  return { ...header, transactions: (transactions as Fields[]).map((one) => transaction(one, profile, params)) };
};

const notInHeaders = ["transactions", "uncles", "size", "totalDifficulty", "withdrawals"];
/** The fields of a block for subscribers. */
export const headerOf = (fields: Fields, profile: Profile | undefined): Fields =>
  without(fields, [...notInHeaders, ...(profile ? later(profile) : [])]);

const hasBlobs = (profile: Profile | undefined) => !profile || hasFork(profile.hardFork, "cancun");
const receipt: Shape = (fields, profile) =>
  without(fields, hasBlobs(profile) ? added : [...added, "blobGasUsed", "blobGasPrice"]);
const receipts: Shape = (all, profile) => (all as unknown as Fields[]).map((one) => receipt(one, profile, []));
const fees: Shape = (fields, profile, [, , percentiles]) =>
  without(fields, [
    ...(hasBlobs(profile) ? [] : ["baseFeePerBlobGas", "blobGasUsedRatio"]),
    ...((percentiles as unknown[]).length > 0 ? [] : ["reward"]),
  ]);
/** An engine's proof for an empty trie. */
const ofNothing = "0x80";
const proof: Shape = (fields) => ({
  ...fields,
  storageProof: (fields.storageProof as { proof: string[] }[]).map((one) => {
    return { ...one, proof: one.proof.filter((part) => part !== ofNothing) };
  }),
});

const rawOf = "eth_getRawTransactionByHash";
/** Corrections of the results of some calls. */
const shapes = new Map<string, Shape>([
  ...["eth_getBlockByNumber", "eth_getBlockByHash"].map((method) => [method, block] as const),
  ...["ByHash", "ByBlockHashAndIndex", "ByBlockNumberAndIndex"].map(
    (by) => [`eth_getTransaction${by}`, transaction] as const,
  ),
  ["eth_getTransactionReceipt", receipt],
  ["eth_getBlockReceipts", receipts],
  ["eth_feeHistory", fees],
  [rawOf, (bytes) => bytes],
  ["eth_getProof", proof],
]);

/** The chain that a call was made to. */
interface Asked {
  height: number;
  profile: Profile | undefined;
}

/** A chain's answer for a caller: with the caller's id, and geth's words in place of the engine's. */
export function finished(
  { id, method, params }: RpcCall,
  line: Buffer,
  { height, profile }: Asked,
  report: (error: unknown) => void,
): Buffer {
  const isEngines = line.toString("latin1", 0, begin.length) === begin;
  const isError = line.toString("latin1", begin.length, begin.length + ofError.length) === ofError;
  const shape = shapes.get(method);
  if (isEngines && !isError && !shape)
    return Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},`), line.subarray(begin.length)]);
  if (!isEngines && !shape) return line; // the service's own, with the caller's id
  const answer = JSON.parse(line.toString()) as Answer;
  if ("error" in answer) return written(isEngines ? translated(id, method, answer.error) : { ...answer, id });
  const { result } = answer;
  if (result === null && method === rawOf) return written({ jsonrpc: "2.0", id, result: "0x" });
  const shown =
    shape && typeof result === "object" && result !== null ? shape(result as Fields, profile, params) : result;
  return written({ jsonrpc: "2.0", id, result: shown });

  function translated(id: unknown, method: string, given: Failure): object {
    const { known, code, message, data } = inGethsWords(given, { height, history: profile?.history ?? 1 });
    if (!known) report(new Error(`${method}: ${given.message}`));
    if (method === "eth_estimateGas" && message === "out of gas") return failure(id, code, exceeding(params));
    const { error, ...others } = failure(id, code, message);
    return { ...others, error: data === undefined ? error : { ...error, data } };
  }
}

const exceeding = (params: unknown[]) =>
  `gas required exceeds allowance (${Number((params[0] as { gas: string }).gas)})`;
