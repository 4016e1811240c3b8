import { headerFields, type Profile } from "../profiles";
import { type Failure, inGethsWords } from "./failures";
import { type Answer, engineId, failure, type RpcCall, written } from "./rpc";

/** How every answer of an engine begins. */
const begin = `{"jsonrpc":"2.0","id":"${engineId}",`;
const ofError = '"error"';
/** Fields that an engine adds, and no client has. */
const added = ["blockTimestamp"];

type Fields = Record<string, unknown>;
type Shape = (fields: Fields, profile: Profile | undefined) => unknown;

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
const transaction: Shape = (fields) => without(fields, added);

/** Fields of later hard forks: the engine's genesis has them. */
function later({ hardFork }: Profile): string[] {
  const own = headerFields(hardFork);
  return headerFields("prague").filter((name) => !own.includes(name));
}

const block: Shape = (fields, profile) => {
  const header = profile ? without(fields, later(profile)) : fields;
  const { transactions } = header;
  if (!Array.isArray(transactions) || typeof transactions[0] !== "object") return header;
  return { ...header, transactions: (transactions as Fields[]).map((one) => transaction(one, profile)) };
};
const receipts: Shape = (all) => (all as unknown as Fields[]).map((one) => without(one, added));
const fees: Shape = (fields, profile) =>
  profile && later(profile).includes("blobGasUsed")
    ? without(fields, ["baseFeePerBlobGas", "blobGasUsedRatio"])
    : fields;

/** What the results of some calls must be like. */
const shapes = new Map<string, Shape>([
  ...["eth_getBlockByNumber", "eth_getBlockByHash"].map((method) => [method, block] as const),
  ...["ByHash", "ByBlockHashAndIndex", "ByBlockNumberAndIndex"].map(
    (by) => [`eth_getTransaction${by}`, transaction] as const,
  ),
  ["eth_getTransactionReceipt", transaction],
  ["eth_getBlockReceipts", receipts],
  ["eth_feeHistory", fees],
]);

/** The chain that a call was made to. */
interface Asked {
  height: number;
  profile: Profile | undefined;
}

/** What a caller gets of a chain's answer: its own id, and geth's words in place of the engine's. */
export function finished(
  { id, method }: RpcCall,
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
  const shown = shape && typeof result === "object" && result !== null ? shape(result as Fields, profile) : result;
  return written({ jsonrpc: "2.0", id, result: shown });

  function translated(id: unknown, method: string, given: Failure): object {
    const { known, code, message, data } = inGethsWords(given, { height, history: profile?.history ?? 1 });
    if (!known) report(new Error(`${method}: ${given.message}`));
    const { error, ...others } = failure(id, code, message);
    return { ...others, error: data === undefined ? error : { ...error, data } };
  }
}
