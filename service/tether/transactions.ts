import type * as Ethers from "ethers";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonFragment } from "ethers";
import type { Target } from "./targets";
import { Refusal } from "../errors";
import { RpcError } from "../ledger/rpc";

interface Artifact {
  abi: JsonFragment[];
  bytecode: string;
}

let artifact: Artifact | undefined;
function anchor(): Artifact {
  const root = dirname(createRequire(__filename).resolve("pulumi-consortium/package.json"));
  return (artifact ??= JSON.parse(readFileSync(join(root, "contracts", "Anchor.json"), "utf8")) as Artifact);
}

/** Loaded when first needed: it is large, and most services never pin. */
export const library = () => createRequire(__filename)("ethers") as typeof Ethers;

const coder = () => new (library().Interface)(anchor().abi);

export const addressOf = (key: string): string => library().computeAddress(key);
export const keccak = (text: string): string => library().id(text);

export const deployment = () => anchor().bytecode;

/** The address of the contract that an account deploys with this nonce. */
export const contractAddress = (from: string, nonce: number) => library().getCreateAddress({ from, nonce });

/** Whether there is a contract at the address. */
export async function isThere(target: Target, address: string): Promise<boolean> {
  return (await target.call<string>("eth_getCode", [address, "latest"])) !== "0x";
}

/** The data of a call that pins a hash. The contract accepts each index once, in order. */
export const pinData = (index: number, hash: string) => coder().encodeFunctionData("pin", [index, hash]);

export async function pinCount(target: Target, address: string): Promise<number> {
  const data = coder().encodeFunctionData("count");
  return Number(await target.call<string>("eth_call", [{ to: address, data }, "latest"]));
}

/** The transaction and the block of an earlier pin. */
export async function pinnedAt(target: Target, address: string, index: number) {
  const topics = coder().encodeFilterTopics("Pinned", [index]);
  type Log = { transactionHash: string; blockNumber: string };
  const [log] = await target.call<Log[]>("eth_getLogs", [{ address, topics, fromBlock: "0x0", toBlock: "latest" }]);
  if (!log) throw new Error(`the contract ${address} does not show its pin ${index}`);
  return { transaction_hash: log.transactionHash, block_number: Number(log.blockNumber) };
}

/** A signed transaction. It can be sent again and again: with one nonce, it takes effect at most once. */
interface Signed {
  nonce: number;
  hash: string;
  raw: string;
}

/** The transaction and the block that have something. */
export interface Mined {
  transaction_hash: string;
  block_number: number;
}

/** The network refused a transaction, so it will not take effect. */
export class Rejected extends Error {
  override readonly name = "Rejected";
}

const pollMs = 250;
/** A transaction is sent again after this many polls: a network that restarts forgets what waits. */
const resendEvery = 20;

/** Signs a transaction, if the account can pay for it. */
export async function signed(target: Target, key: string, what: { to?: string; data: string }): Promise<Signed> {
  const { Wallet, Transaction } = library();
  const wallet = new Wallet(key);
  const from = wallet.address;
  const [count, estimate, fees] = await Promise.all([
    target.call<string>("eth_getTransactionCount", [from, "pending"]),
    target.call<string>("eth_estimateGas", [{ from, ...what }]),
    feesOf(target),
  ]);
  const gasLimit = (BigInt(estimate) * 21n) / 20n;
  const nonce = Number(count);
  const raw = await wallet.signTransaction({ ...what, chainId: target.chainId, nonce, gasLimit, ...fees });
  const cost = gasLimit * (fees.maxFeePerGas ?? fees.gasPrice);
  const balance = await balanceOf(target, from);
  if (balance >= cost) return { nonce, raw, hash: Transaction.from(raw).hash! };
  const money = `it owns ${balance} wei and needs about ${cost}`;
  throw new Refusal(402, `The account ${from} has no funds on ${target.network}: ${money}.`);
}

export async function balanceOf(target: Target, account: string): Promise<bigint> {
  return BigInt(await target.call<string>("eth_getBalance", [account, "latest"]));
}

async function feesOf(target: Target) {
  const [block, price] = await Promise.all([
    target.call<{ baseFeePerGas?: string }>("eth_getBlockByNumber", ["latest", false]),
    target.call<string>("eth_gasPrice"),
  ]);
  const gasPrice = BigInt(price);
  if (block.baseFeePerGas === undefined) return { type: 0, gasPrice };
  const base = BigInt(block.baseFeePerGas);
  const tip = gasPrice > base ? gasPrice - base : 0n;
  return { type: 2, maxPriorityFeePerGas: tip, maxFeePerGas: 2n * base + tip };
}

/** Sends a transaction until it is in a block. Returns undefined if it never will be: its nonce is not the account's next one. */
export async function settled(
  target: Target,
  from: string,
  { nonce, hash, raw }: Signed,
  signal: AbortSignal,
): Promise<Mined | undefined> {
  for (let round = 0; ; round++) {
    const next = Number(await target.call<string>("eth_getTransactionCount", [from, "latest"]));
    type Receipt = { status: string; blockNumber: string } | null;
    const receipt = await target.call<Receipt>("eth_getTransactionReceipt", [hash]);
    if (receipt?.status === "0x0") throw new Rejected(`the transaction ${hash} failed in block ${receipt.blockNumber}`);
    if (receipt) return { transaction_hash: hash, block_number: Number(receipt.blockNumber) };
    if (next !== nonce) return undefined;
    if (round % resendEvery === 0) await send(target, raw);
    await wait(pollMs, undefined, { signal });
  }
}

const known = /already (known|imported)|nonce too low/i;

async function send(target: Target, raw: string): Promise<void> {
  try {
    await target.call("eth_sendRawTransaction", [raw]);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (!known.test(error.message)) throw new Rejected(error.message, { cause: error });
  }
}
