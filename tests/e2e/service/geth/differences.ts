import type { Step } from "./step";

/** The answer to a step: a message, or a list of them. */
export type Answer = { result?: unknown; error?: { code: number; message: string; data?: unknown } } | null;

interface Around {
  step: Step;
  /** The other ledger's answer. */
  other: Answer | undefined;
}
type Fields = Record<string, unknown>;

/** Changes fields, at every depth. `undefined` leaves one out. */
function changed(value: unknown, change: (name: string, value: unknown, inside: Fields) => unknown): never {
  if (Array.isArray(value)) return value.map((one) => changed(one, change)) as never;
  if (typeof value !== "object" || value === null) return value as never;
  const fields = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, one]) => [name, changed(change(name, one, value as Fields), change)]);
  return Object.fromEntries(fields.filter(([, one]) => one !== undefined)) as never;
}

/** Values that differ between the ledgers, because two blocks are never made at the same time: only their kind counts. */
const own =
  "blockHash parentHash stateRoot difficulty timestamp blockTimestamp miner extraData mixHash size accountProof".split(
    " ",
  );
const byAddress = (one: Fields, other: Fields) => (String(one.address) < String(other.address) ? -1 : 1);
const made = /^(a filter of|another filter|a transfer by the node|a signature of)/;
export const withoutOwn = (answer: Answer, { title }: Step): Answer =>
  changed(answer, (name, value, inside) => {
    const isOwn = own.includes(name) || (name === "hash" && "parentHash" in inside);
    const isMade = name === "result" && made.test(title);
    if (name === "accessList") return [...(value as Fields[])].sort(byAddress); // geth's order is random
    if (name === "result" && /hashes$/.test(title)) return (value as string[]).map(() => "hexadecimal");
    if (!isOwn && !isMade) return value;
    if (typeof value !== "string") return value === null ? null : typeof value;
    return /^0x/.test(value) ? "hexadecimal" : value;
  });

type Without = (answer: Answer, around: Around) => Answer;

const leftOut =
  (...names: string[]): Without =>
  (answer) =>
    changed(answer, (name, value) => (names.includes(name) ? undefined : value));
/** Accepts any answer to these steps. */
const of =
  (titles: RegExp): Without =>
  (answer, { step }) =>
    titles.test(step.title) ? null : answer;
/** Applies `cut` to the text of an error with one of these codes. */
const textOf =
  (codes: number[], cut: (text: string, other: string) => string): Without =>
  (answer, { other }) => {
    const { error } = answer ?? {};
    if (!error || !codes.includes(error.code)) return answer;
    return { ...answer, error: { ...error, message: cut(error.message, other?.error?.message ?? "") } };
  };
/** One text, if the other one has all of it. */
const common = (text: string, other: string) => (other !== "" && text.includes(other) ? other : text);
const noCalls: unknown[] = [-32_700, -32_600];
const argument = /^(invalid argument \d+: ).*/s;

const withoutNulls = (answer: Answer): Answer =>
  changed(answer, (_name, value) => (value === null ? undefined : value));

/** What follows from how simulated transactions are encoded, and the reason of a failure. */
const unlike = "maxUsedGas size transactionsRoot receiptsRoot transactions transactionHash".split(" ");
const withoutTransactions = (answer: Answer): Answer =>
  changed(answer, (name, value, inside) =>
    unlike.includes(name) || (name === "message" && inside.code === -32_015) ? undefined : value,
  );

/** The allowed differences: the first cell of each row in docs/reference/embedded-service.md, and an answer without the difference. */
export const differences: Record<string, Without> = {
  "invalid arguments": textOf([-32_602], (text) => text.replace(argument, "$1")),
  "other errors": textOf([-32_000, -32_601, -32_602], common),
  "storage keys that are none": of(/^storage at (a long word|no digits)$/),
  "messages that are no calls": (answer) =>
    changed(answer, (name, value, { code }) => (name === "message" && noCalls.includes(code) ? "" : value)),
  "bytes that are no transaction": of(/^an empty legacy transaction$/),
  "`totalDifficulty`, `blockTimestamp` of a transaction": leftOut("totalDifficulty", "blockTimestamp"),
  "`eth_mining`, `eth_hashrate`, `eth_protocolVersion`, `eth_blobBaseFee`": of(
    /^(the price of blobs|whether it mines|its hash rate|the version of the protocol)$/,
  ),
  "`eth_gasPrice`, `eth_maxPriorityFeePerGas`": of(/^(the price of gas|a tip)( after blocks)?$/),
  "`eth_feeHistory`": leftOut("baseFeePerBlobGas", "blobGasUsedRatio"),
  "`eth_estimateGas`": of(/^gas of (a deployment|a call that stores|money that nobody has)$/),
  "`eth_getProof`": (answer, around) =>
    of(/^a proof of what was cleared$/)(leftOut("codeHash", "storageHash", "key")(answer, around), around),
  "`movePrecompileToAddress`": of(/^a call of a precompile elsewhere$/),
  "`eth_getLogs`": of(/^logs (beyond the head|up to beyond the head|of a range that ends before it begins)$/),
  "`newHeads`": (answer, { step }) => (step.title === 'notifications of ["newHeads"]' ? withoutNulls(answer) : answer),
  "`eth_simulateV1`": (answer, { step }) => (/^a simulation/.test(step.title) ? withoutTransactions(answer) : answer),
  "errors of `eth_simulateV1`": textOf([-38_010, -38_011, -38_013, -38_014, -38_015], () => ""),
  "`debug_traceTransaction`": (answer, around) =>
    of(/^calls of a contract that needs more gas$/)(
      changed(answer, (name, value) =>
        name === "error" && typeof value === "string" ? value.replace(/^out of gas: /, "") : value,
      ),
      around,
    ),
  "`finalized`": of(/^the final block$/),
  "`eth_signTransaction`": of(/^a signature without gas$/),
};

/** A pair of answers without the differences that make them equal, if they do. Notes which these are. */
export function without(pair: [Answer, Answer], step: Step, used: Set<string>): [Answer, Answer] {
  const isSame = ([one, another]: [Answer, Answer]) => JSON.stringify(one) === JSON.stringify(another);
  let now = pair;
  const needed: string[] = [];
  for (const [name, cut] of Object.entries(differences)) {
    if (isSame(now)) break;
    const [own, other] = now;
    const next: [Answer, Answer] = [cut(own, { step, other }), cut(other, { step, other: own })];
    if (JSON.stringify(next) !== JSON.stringify(now)) needed.push(name);
    now = next;
  }
  if (!isSame(now)) return pair;
  for (const name of needed) used.add(name);
  return now;
}
