import { RpcError } from "./rpc";

export interface Failure {
  code: number;
  message: string;
  data?: unknown;
}

export class Unfit extends RpcError {
  constructor(
    message: string,
    readonly code = -32_000,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

const words: readonly [RegExp, string][] = [
  [/InvalidFEOpcode/, "invalid opcode: INVALID"],
  [/NotActivated|OpcodeNotFound|InvalidOpcode/, "invalid opcode"],
  [/greater than `max_fee_per_gas`|PriorityFeeGreater/, "max priority fee per gas higher than max fee per gas"],
  [/invalid chain id/i, "chainId does not match node's"],
  [/OutOfGas|out of gas|MemoryLimitOOG|required exceeds allowance/i, "out of gas"],
  [/InvalidJump/, "invalid jump destination"],
  [/StackUnderflow/, "stack underflow"],
  [/StackOverflow|Out of stack/, "stack limit reached 1024"],
  [/OutOfOffset/, "return data out of bounds"],
  [/StaticCall|InsideStatic|StateChangeDuring/, "write protection"],
  [/CreateContractSizeLimit/, "max code size exceeded"],
  [/CreateInitCodeSizeLimit|initcode/i, "max initcode size exceeded"],
  [/CreateContractStartingWithEF/, "invalid code: must not begin with 0xef"],
  [/CreateCollision/, "contract address collision"],
  [/CallTooDeep/, "max call depth exceeded"],
  [/OutOfFunds/, "insufficient balance for transfer"],
  [/insufficient funds|LackOfFund/i, "insufficient funds for gas * price + value"],
  [/intrinsic gas|CallGasCost|floor gas/i, "intrinsic gas too low"],
  [/fee cap|max fee per gas less/i, "max fee per gas less than block base fee"],
  [/nonce too low/i, "nonce too low"],
  [/nonce too high/i, "nonce too high"],
  [/NonceOverflow|max value/i, "nonce has max value"],
  [/PrecompileError|precompile/i, "precompile failed"],
  [/not supported|Eip\d+/i, "transaction type not supported"],
  [/unknown block|block not found|header not found/i, "unknown block"],
  [/Resource not found/i, "header for hash not found"],
  [/gas limit/i, "exceeds block gas limit"],
];

const panics: Readonly<Record<number, string>> = {
  0x00: "generic panic",
  0x01: "assert(false)",
  0x11: "arithmetic underflow or overflow",
  0x12: "division or modulo by zero",
  0x21: "enum overflow",
  0x22: "invalid encoded storage byte array accessed",
  0x31: "out-of-bounds array access; popping on an empty array",
  0x32: "out-of-bounds access of an array or bytesN",
  0x41: "out of memory",
  0x51: "uninitialized function",
};

/** An engine's reason in geth's words, if it is known. */
export const said = (reason: string): string | undefined => words.find(([pattern]) => pattern.test(reason))?.[1];

/** The reason in the data of a reverted call; undefined for a contract's custom error. */
function reasonIn(data: string): string | undefined {
  const bytes = Buffer.from(data.slice(2), "hex");
  const selector = bytes.subarray(0, 4).toString("hex");
  const word = (at: number) => Number(`0x${bytes.subarray(4 + at, 36 + at).toString("hex") || "0"}`);
  if (selector === "4e487b71" && bytes.length >= 36)
    return panics[word(0)] ?? `unknown panic code: 0x${word(0).toString(16)}`;
  if (selector !== "08c379a0" || bytes.length < 68) return undefined;
  const begin = 4 + word(0) + 32;
  const end = begin + word(word(0));
  return end <= bytes.length ? bytes.subarray(begin, end).toString() : undefined;
}

/** An engine's error in geth's words, because callers must not see the engine's. `known`: whether the error was expected. */
export function inGethsWords(
  { code, message, data }: Failure,
  kept: { height: number; history: number },
): Failure & { known: boolean } {
  if (code === 3) {
    const text = typeof data === "string" ? data : "0x";
    const reason = reasonIn(text);
    return { code, message: `execution reverted${reason === undefined ? "" : `: ${reason}`}`, data: text, known: true };
  }
  const [, wanted] = /requested was (\d+)/.exec(message) ?? [];
  const text = said(message);
  if (wanted !== undefined || (text === undefined && /state|historical|persisted/i.test(message)))
    return { code: -32_000, message: unavailable(wanted, kept), known: true };
  // the schema accepted a value that the engine cannot read
  if (text === undefined && code === -32_602) return { code, message: "invalid params", known: false };
  return { code: -32_000, message: text ?? "the ledger cannot execute this call", known: text !== undefined };
}

function unavailable(wanted: string | undefined, { height, history }: { height: number; history: number }): string {
  if (wanted !== undefined && Number(wanted) > height) return "header not found";
  const which = wanted === undefined ? "that block" : `block ${wanted}`;
  return `The state of ${which} is not kept: calls can read the states of the latest ${history} blocks, from block ${Math.max(0, height - history + 1)}.`;
}
