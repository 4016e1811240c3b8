import type * as Ethers from "ethers";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonFragment } from "ethers";
import type { Signed } from "../store/entities";
import type { Target } from "./targets";
import { Refusal } from "../errors";
import { RpcError } from "../ledger/rpc";

interface Artifact {
  abi: JsonFragment[];
  bytecode: string;
}

let artifact: Artifact | undefined;
function anchor(): Artifact {
  return (artifact ??= JSON.parse(readFileSync(join(__dirname, "../../contracts/Anchor.json"), "utf8")) as Artifact);
}

/** Loaded on first use: it is large, and most services never pin. */
export const library = () => createRequire(__filename)("ethers") as typeof Ethers;

const coder = () => new (library().Interface)(anchor().abi);

export const addressOf = (key: string): string => library().computeAddress(key);
export const keccak = (text: string): string => library().id(text);

export const deployment = () => anchor().bytecode;

/** The address of the contract that an account deploys with this nonce. */
export const contractAddress = (from: string, nonce: number) => library().getCreateAddress({ from, nonce });

export async function isThere(target: Target, address: string): Promise<boolean> {
  const code = await target.call("eth_getCode", [address, "latest"]);
  if (typeof code === "string" && code.startsWith("0x")) return code !== "0x";
  throw strange("eth_getCode");
}

/** The data of a call that pins a hash. The contract accepts each index once, in order. */
export const pinData = (index: number, hash: string) => coder().encodeFunctionData("pin", [index, hash]);

export async function pinCount(target: Target, address: string): Promise<number> {
  const data = coder().encodeFunctionData("count");
  return Number(await quantity(target, "eth_call", [{ to: address, data }, "latest"]));
}

export async function pinnedAt(target: Target, address: string, index: number) {
  const topics = coder().encodeFilterTopics("Pinned", [index]);
  type Log = { transactionHash: string; blockNumber: string };
  const [log] = await target.call<Log[]>("eth_getLogs", [{ address, topics, fromBlock: "0x0", toBlock: "latest" }]);
  if (!log) throw new Error(`the contract ${address} does not show its pin ${index}`);
  return { transaction_hash: log.transactionHash, block_number: Number(log.blockNumber) };
}

export interface Mined {
  transaction_hash: string;
  block_number: number;
}

/** A transaction will not take effect: the network refused it outright, or it failed in a block. */
export class Rejected extends Error {
  override readonly name = "Rejected";
}

/** Signs a transaction, if the account can pay for it. */
export async function signed(target: Target, key: string, what: { to?: string; data: string }): Promise<Signed> {
  const { Wallet, Transaction } = library();
  const wallet = new Wallet(key);
  const from = wallet.address;
  const [nonce, estimate, fees, genesis] = await Promise.all([
    // not the pending count: if an earlier transaction still waits somewhere, only one of the two can be in a block
    usedBy(target, from),
    quantity(target, "eth_estimateGas", [{ from, ...what }]),
    feesOf(target),
    genesisOf(target),
  ]);
  const gasLimit = (estimate * 21n) / 20n;
  const raw = await wallet.signTransaction({ ...what, chainId: target.chainId, nonce, gasLimit, ...fees.fields });
  const cost = gasLimit * fees.most;
  const balance = await balanceOf(target, from);
  if (balance >= cost)
    return {
      nonce,
      raw,
      hash: Transaction.from(raw).hash!,
      ...(genesis === undefined ? {} : { genesis }),
      ...(fees.base === undefined ? {} : { fee: String(fees.most) }),
    };
  const money = `it has ${balance} wei and needs about ${cost}`;
  throw new Refusal(402, `The account ${from} has no funds on ${target.network}: ${money}.`);
}

/** Nodes accept a transaction in place of another one with its nonce if it pays a tenth more. */
const raise = (price: bigint) => (price * 5n) / 4n + 1n;
const higher = (one: bigint, other: bigint) => (one > other ? one : other);

/** The same transaction with a higher fee, if the base fee has risen above the one that it pays; otherwise, no block would have it. */
export async function raised(target: Target, key: string, made: Signed): Promise<Signed | undefined> {
  if (made.fee === undefined) return undefined;
  const { base = 0n, tip = 0n, most } = await feesOf(target);
  if (base <= BigInt(made.fee)) return undefined;
  const { Wallet, Transaction } = library();
  const { to, data, gasLimit, chainId, nonce, maxPriorityFeePerGas } = Transaction.from(made.raw);
  const maxFeePerGas = higher(most, raise(BigInt(made.fee)));
  const wallet = new Wallet(key);
  const cost = gasLimit * maxFeePerGas;
  const balance = await balanceOf(target, wallet.address);
  if (balance < cost) {
    const money = `it has ${balance} wei and needs about ${cost}, because the base fee has risen`;
    throw new Refusal(402, `The account ${wallet.address} has too little on ${target.network}: ${money}.`);
  }
  const fee = { type: 2, maxFeePerGas, maxPriorityFeePerGas: higher(tip, raise(maxPriorityFeePerGas ?? 0n)) };
  const raw = await wallet.signTransaction({ ...(to === null ? {} : { to }), data, gasLimit, chainId, nonce, ...fee });
  const hash = Transaction.from(raw).hash!;
  return { ...made, raw, hash, fee: String(maxFeePerGas), lower: [...(made.lower ?? []), made.hash] };
}

export const balanceOf = (target: Target, account: string) => quantity(target, "eth_getBalance", [account, "latest"]);

export async function usedBy(target: Target, account: string): Promise<number> {
  return Number(await quantity(target, "eth_getTransactionCount", [account, "latest"]));
}

/** A network that hides or does not keep its first block has no such hash. */
async function genesisOf(target: Target): Promise<string | undefined> {
  const block = await target.call<{ hash?: string } | null>("eth_getBlockByNumber", ["0x0", false]).catch(() => null);
  return block?.hash;
}

export async function blockOf(target: Target, at: number | string): Promise<{ number: number; hash: string }> {
  const place = typeof at === "number" ? `0x${at.toString(16)}` : at;
  const block = await target.call<{ number?: string; hash?: string } | null>("eth_getBlockByNumber", [place, false]);
  if (typeof block?.hash !== "string") return { number: -1, hash: "" };
  return { number: Number(block.number), hash: block.hash };
}

/** For how many blocks a network that names no final one may replace them. */
const openBlocks = 128;

/** The newest block that the network never replaces. */
export async function finalBlock(target: Target, head: number): Promise<number> {
  const { number } = await blockOf(target, "finalized").catch(() => ({ number: -1 }));
  return number >= 0 ? number : head - openBlocks;
}

/** Whether the network was reset since a transaction was signed. */
export async function beganAnew(target: Target, { genesis }: Pick<Signed, "genesis">): Promise<boolean> {
  const now = genesis === undefined ? undefined : await genesisOf(target);
  return now !== undefined && now !== genesis;
}

async function feesOf(target: Target) {
  const [block, gasPrice] = await Promise.all([
    target.call<{ baseFeePerGas?: string } | null>("eth_getBlockByNumber", ["latest", false]),
    quantity(target, "eth_gasPrice"),
  ]);
  if (block?.baseFeePerGas === undefined) return { most: gasPrice, fields: { type: 0, gasPrice } };
  const base = BigInt(block.baseFeePerGas);
  const tip = gasPrice > base ? gasPrice - base : 0n;
  const most = 2n * base + tip;
  return { base, tip, most, fields: { type: 2, maxPriorityFeePerGas: tip, maxFeePerGas: most } };
}

/** Makes a call that must return a number, because a proxy may return anything. */
async function quantity(target: Target, method: string, params?: unknown[]): Promise<bigint> {
  const answer = await target.call(method, params);
  if (typeof answer === "string" && /^0x[0-9a-f]{1,64}$/i.test(answer)) return BigInt(answer);
  throw strange(method);
}

const strange = (method: string) => new RpcError(`${method}: the answer has the wrong form`);

/** Time, which tests replace. */
export interface Pace {
  now: () => number;
  rest: (ms: number, signal: AbortSignal) => Promise<void>;
}

const realPace: Pace = {
  now: () => performance.now(),
  rest: (ms, signal) => wait(ms, undefined, { signal }),
};

/** The growing pauses between checks (ms). */
const restAfter = (look: number) => Math.min(4_000, 250 * 1.15 ** look);
/** When to send a transaction again (ms), because a restarted network forgets waiting ones. Sooner after an unclear answer. */
const resend = { accepted: 10_000, unclear: 500 };
/** How long a network may fail to answer (ms). */
const patience = 10_000;
/** For how long (ms), and in how many checks in a row, the account's transaction count must contradict a transaction. */
export const contradicted = { ms: 60_000, looks: 5 };

/** The outcome of a transaction: in a block, in an unknown block, or never, because another one used its nonce. */
export type Outcome = Mined | "done" | "void";

interface Watched {
  /** Whether it was never sent before. Only then does a refusal mean that it waits nowhere. */
  fresh: boolean;
  isDone: () => Promise<boolean>;
  /** Whether its block will probably stay. Default: at once. */
  isDeep?: (block: number) => Promise<boolean>;
  /** The same transaction with a higher fee, if it needs one to get into a block. */
  raise?: (made: Signed) => Promise<Signed | undefined>;
  signal: AbortSignal;
}

/** How many blocks on top make a block one that stays, and for how long a network must make none (ms) if it makes some on demand only. */
export const deep = { blocks: 2, ms: 15_000 };

/** Tells whether blocks of a network will probably stay. */
export function depthOf(target: Target, ms: number, now = () => performance.now()) {
  let [height, since] = [-1, now()];
  return async (block: number) => {
    const head = Number(await quantity(target, "eth_blockNumber"));
    if (head !== height) [height, since] = [head, now()];
    return head >= block + deep.blocks || now() - since >= ms;
  };
}

/**
 * Sends a transaction until its outcome is certain. Unless the first attempt is refused, the network may have accepted it, and some
 * nodes may lag behind. So it sends the same bytes again, until a block has them, or until the network shows for a while that their
 * nonce was used.
 */
export async function settled(
  target: Target,
  from: string,
  first: Signed,
  { fresh, isDone, isDeep, raise, signal }: Watched,
  { now, rest }: Pace = realPace,
): Promise<Outcome> {
  const { nonce } = first;
  let made = first;
  const contradiction = new Lasting(contradicted, now);
  let [unsent, attempts, due, heard] = [fresh, 0, now(), now()];
  for (let look = 0; ; look++) {
    try {
      const next = await usedBy(target, from);
      const mined = await minedAs(target, made);
      if (mined && (!isDeep || (await isDeep(mined.block_number)))) return mined;
      if (!mined && next > nonce && (await isDone())) return "done";
      if (contradiction.holds(!mined && next !== nonce)) return "void";
      heard = now();
      const raised = mined || unsent || next !== nonce ? undefined : await raise?.(made);
      if (raised) [made, due] = [raised, heard];
      if (!mined && heard >= due) {
        if (!unsent && (await beganAnew(target, made))) return "void";
        const accepted = next === nonce && (await send(target, made, unsent));
        if (next === nonce) unsent = false;
        due = now() + (accepted ? resend.accepted : Math.min(resend.accepted, resend.unclear * 2 ** attempts++));
      }
    } catch (error) {
      if (error instanceof Rejected || signal.aborted || now() - heard > patience) throw error;
    }
    await rest(restAfter(look), signal);
  }
}

/** Tracks whether an observation repeats for some time without a break. */
export class Lasting {
  #since = 0;
  #looks = 0;

  constructor(
    private readonly least: { ms: number; looks: number },
    private readonly now = () => performance.now(),
  ) {}

  holds(seen: boolean): boolean {
    this.#looks = seen ? this.#looks + 1 : 0;
    if (this.#looks === 1) this.#since = this.now();
    return this.#looks >= this.least.looks && this.now() - this.#since >= this.least.ms;
  }
}

/** The block of a transaction, whichever of its fees that has. */
export async function minedAs(target: Target, { hash, lower = [] }: Signed): Promise<Mined | undefined> {
  type Receipt = { status: string; blockNumber: string | null } | null;
  for (const transaction_hash of [hash, ...lower]) {
    const receipt = await target.call<Receipt>("eth_getTransactionReceipt", [transaction_hash]);
    if (typeof receipt?.blockNumber !== "string") continue; // it is not in a block yet
    const block_number = Number(receipt.blockNumber);
    if (receipt.status === "0x0")
      throw new Rejected(`the transaction ${transaction_hash} failed in block ${block_number}`);
    return { transaction_hash, block_number };
  }
  return undefined;
}

/** Answers of nodes that refuse a transaction. */
const refusals = [
  /insufficient funds|upfront cost exceeds account balance/i,
  /intrinsic gas|exceeds block gas limit|exceeds the configured cap/i,
  /(?<!replacement )transaction underpriced|max (priority )?fee per gas (less|higher) than/i,
  /transaction type not supported|only replay-protected|invalid (chain id|sender)/i,
  /max initcode size exceeded|oversized data/i,
];

/** Sends a transaction. Returns whether the network confirmed it; otherwise, the outcome is unknown. */
export async function send(target: Target, { raw, hash }: Signed, unsent: boolean): Promise<boolean> {
  try {
    return (await target.call("eth_sendRawTransaction", [raw])) === hash;
  } catch (error) {
    const refused = error instanceof RpcError && refusals.some((refusal) => refusal.test(error.message));
    if (unsent && refused) throw new Rejected(error.message, { cause: error });
    return false;
  }
}
