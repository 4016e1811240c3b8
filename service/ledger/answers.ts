import { hasFork, type Profile } from "../profiles";
import { type Failure, inGethsWords } from "./failures";
import { shownTransaction } from "./header";
import { failure, isEngines, isError, type RpcCall, withId, written } from "./rpc";

type Fields = Record<string, unknown>;
type Shape = (fields: Fields, profile: Profile | undefined, params: unknown[]) => unknown;

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

const hasBlobs = (profile: Profile | undefined) => !profile || hasFork(profile.hardFork, "cancun");
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

/** Only waiting transactions are the engine's; it may have put one into a block that is not kept yet. */
const waiting: Shape = (fields) => {
  return { ...shownTransaction(fields), blockHash: null, blockNumber: null, transactionIndex: null };
};

/** Corrections of an engine's results. Blocks and what is in them are corrected when they are sealed. */
const shapes = new Map<string, Shape>([
  ["eth_getTransactionByHash", waiting],
  ["eth_feeHistory", fees],
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
  if (!isEngines(line)) return line; // the service's own, with the caller's id
  if (isError(line)) return written(translated((JSON.parse(line.toString()) as { error: Failure }).error));
  const shape = shapes.get(method);
  if (!shape && method !== "eth_getRawTransactionByHash") return withId(line, id);
  const { result } = JSON.parse(line.toString()) as { result: Fields | null };
  const shown = result === null ? (shape ? null : "0x") : shape ? shape(result, profile, params) : result;
  return written({ jsonrpc: "2.0", id, result: shown });

  function translated(given: Failure): object {
    const { known, code, message, data } = inGethsWords(given, { height, history: profile?.history ?? 1 });
    if (!known) report(new Error(`${method}: ${given.message}`));
    if (method === "eth_estimateGas" && message === "out of gas") return failure(id, code, exceeding(params));
    const { error, ...others } = failure(id, code, message);
    return { ...others, error: data === undefined ? error : { ...error, data } };
  }
}

const exceeding = (params: unknown[]) =>
  `gas required exceeds allowance (${Number((params[0] as { gas: string }).gas)})`;
