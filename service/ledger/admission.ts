import type { Transaction } from "ethers/transaction";
import { type HardFork, hasFork } from "../profiles";
import type { Engine } from "./engine";
import type { ChainSpec } from "./ledger-data";
import { ethers } from "./ethers";
import { Unfit } from "./failures";
import type { Pool, Waiting } from "./pool";

/** The total gas of a block's transactions. */
export const blockGas = 30_000_000;
/** Half of the order of secp256k1: a signature with a larger s has a twin with a smaller one, and is invalid. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** The hard fork that introduced each transaction type. Others need a network that keeps blobs, or set code for other accounts. */
const typeSince: Readonly<Record<number, HardFork>> = { 1: "berlin", 2: "london" };
/** Bytes of a transaction on a public network. */
const usualSize = 131_072;
const mostNonce = 2n ** 64n - 1n;

const forkOf = ({ profile }: ChainSpec): HardFork => profile?.hardFork ?? "prague";

/** Decodes a signed transaction. Throws problems that do not depend on the chain's state. */
function decoded(raw: string, spec: ChainSpec): Transaction {
  const { Transaction } = ethers();
  const type = Number(raw.slice(0, 4));
  const fork = forkOf(spec);
  if (raw.length < 4) throw new Unfit("typed transaction too short");
  const since = type === 0 || type >= 0xc0 ? "istanbul" : typeSince[type];
  if (type === 0 || since === undefined || !hasFork(fork, since)) throw new Unfit("transaction type not supported");
  let tx: Transaction;
  try {
    tx = Transaction.from(raw);
    if (tx.serialized !== raw.toLowerCase()) throw new Error("not canonical");
  } catch (error) {
    if (/priorityFee cannot be more/.test(String(error)))
      throw new Unfit("max priority fee per gas higher than max fee per gas");
    throw new Unfit("rlp: the transaction cannot be decoded");
  }
  const { signature, chainId } = tx;
  const isSigned = signature !== null && [signature.r, signature._s].every((part) => BigInt(part) > 0n);
  if (!isSigned || BigInt(signature._s) > halfOrder)
    throw new Unfit("invalid sender: invalid transaction v, r, s values");
  if (tx.type === 0 && signature.legacyChainId === null)
    throw new Unfit("only replay-protected (EIP-155) transactions allowed over RPC");
  if (chainId !== BigInt(spec.chainId))
    throw new Unfit(`invalid sender: invalid chain id for signer: have ${chainId} want ${spec.chainId}`);
  fits(tx, raw, spec);
  return tx;
}

function fits(tx: Transaction, raw: string, spec: ChainSpec): void {
  const { gasLimit, to, data } = tx;
  const fork = forkOf(spec);
  const code = spec.profile?.codeSize ?? 24_576;
  const bytes = (raw.length - 2) / 2;
  const { transactionSize = usualSize, gasPriceEnabled = true } = spec.profile ?? {};
  if (bytes > transactionSize) throw new Unfit(`oversized data: transaction size ${bytes}, limit ${transactionSize}`);
  if (!gasPriceEnabled && (tx.maxFeePerGas ?? tx.gasPrice ?? 0n) > 0n) throw new Unfit("Gas price not 0");
  const initial = (data.length - 2) / 2;
  if (to === null && hasFork(fork, "shanghai") && initial > 2 * code)
    throw new Unfit(`max initcode size exceeded: code size ${initial}, limit ${2 * code}`);
  if (gasLimit > blockGas) throw new Unfit(`exceeds block gas limit: have ${gasLimit}, limit ${blockGas}`);
  if (BigInt(tx.nonce) >= mostNonce) throw new Unfit("nonce has max value");
  if (costOf(tx) >= 2n ** 256n) throw new Unfit("insufficient funds for gas * price + value");
  const needed = intrinsicGas(tx, fork);
  if (gasLimit < needed) throw new Unfit(`intrinsic gas too low: gas ${gasLimit}, minimum needed ${needed}`);
}

export function intrinsicGas(tx: Transaction, fork: HardFork): bigint {
  const data = Buffer.from(tx.data.slice(2), "hex");
  const zeros = data.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  const others = data.length - zeros;
  const words = tx.to === null && hasFork(fork, "shanghai") ? Math.ceil(data.length / 32) : 0;
  const keys = (tx.accessList ?? []).reduce((sum, { storageKeys }) => sum + 2_400 + 1_900 * storageKeys.length, 0);
  const base = 21_000 + (tx.to === null ? 32_000 : 0) + 4 * zeros + 16 * others + 2 * words + keys;
  const floor = hasFork(fork, "prague") ? 21_000 + 10 * (zeros + 4 * others) : 0;
  return BigInt(Math.max(base, floor));
}

const costOf = ({ gasLimit, gasPrice, maxFeePerGas, value }: Transaction): bigint =>
  gasLimit * (maxFeePerGas ?? gasPrice ?? 0n) + value;

export interface Sent {
  raw: string;
  tx: Transaction;
  from: string;
}

/** Reads a signed transaction. Throws problems that do not depend on the chain's state. */
export async function sentBy(engine: Engine, raw: string, spec: ChainSpec): Promise<Sent> {
  const tx = decoded(raw, spec);
  return { raw, tx, from: await senderOf(engine, tx) };
}

/** What is known about accounts after the latest change of the state. */
export class Accounts {
  readonly #balances = new Map<string, bigint>();
  /** How many transactions each has in blocks. */
  readonly #used = new Map<string, number>();

  balance = (engine: Engine, account: string): Promise<bigint> =>
    known(this.#balances, account, async () =>
      BigInt(await engine.call<string>("eth_getBalance", [account, "latest"])),
    );

  used = (engine: Engine, account: string): Promise<number> =>
    known(this.#used, account, async () =>
      Number(await engine.call<string>("eth_getTransactionCount", [account, "latest"])),
    );

  /** Notes a change of the state. @param senders all accounts that sent a transaction in it */
  changed(senders: readonly { from: string; nonce: string }[]): void {
    this.#balances.clear();
    for (const { from, nonce } of senders) this.#used.set(from.toLowerCase(), Number(nonce) + 1);
  }
}

async function known<T>(all: Map<string, T>, account: string, ask: () => Promise<T>): Promise<T> {
  const value = all.get(account) ?? (await ask());
  all.set(account, value);
  return value;
}

interface Known {
  known: Accounts;
  pool: Pool;
  spec: ChainSpec;
}

/**
 * Admits a signed transaction that a block can include: every transaction with a hash gets a receipt. Throws the reason otherwise. This
 * happens before the engine's pool, which cannot give back a queued transaction, or one that it replaced.
 */
export async function admitted(
  engine: Engine,
  { raw, tx, from }: Sent,
  { known, pool }: Known,
): Promise<[string, Waiting]> {
  const hash = ethers().keccak256(raw); // tx.hash would serialize it again
  if (pool.has(hash)) throw new Unfit("already known");
  const used = await known.used(engine, from);
  if (tx.nonce < used) throw new Unfit(`nonce too low: next nonce ${used}, tx nonce ${tx.nonce}`);
  const cost = costOf(tx);
  const own = pool.of(from);
  const former = own.find(({ nonce }) => nonce === tx.nonce);
  if (former && !isDearer(tx, former)) throw new Unfit("replacement transaction underpriced");
  const spent = own.reduce((sum, one) => sum + (one === former ? 0n : one.cost), 0n);
  const balance = spent + cost > 0n ? await known.balance(engine, from) : 0n;
  if (balance < spent + cost) {
    const queued = spent > 0n ? `, queued cost ${spent}` : "";
    const least = `tx cost ${cost}, overshot ${spent + cost - balance}`;
    throw new Unfit(`insufficient funds for gas * price + value: balance ${balance}${queued}, ${least}`);
  }
  return [hash, { raw, from, nonce: tx.nonce, cost, queued: tx.nonce > nextNonce(used, own) }];
}

/** The first nonce that no transaction has, neither in a block nor waiting. */
function nextNonce(used: number, waiting: readonly Waiting[]): number {
  let next = used;
  while (waiting.some(({ nonce }) => nonce === next)) next++;
  return next;
}

/** Whether a transaction may replace a waiting one: its fee and its tip must be a tenth higher, as in geth. */
function isDearer(tx: Transaction, { raw }: Waiting): boolean {
  const former = ethers().Transaction.from(raw);
  return (["maxFeePerGas", "maxPriorityFeePerGas"] as const).every((name) => {
    const [now, before] = [tx, former].map((one) => one[name] ?? one.gasPrice ?? 0n) as [bigint, bigint];
    return now > before && now * 10n >= before * 11n;
  });
}

async function senderOf(engine: Engine, tx: Transaction): Promise<string> {
  const { r, s, yParity } = tx.signature!;
  const parts = [tx.unsignedHash.slice(2), (27 + yParity).toString(16).padStart(64, "0"), r.slice(2), s.slice(2)];
  const found = await engine.recover(parts.join(""));
  if (BigInt(found) === 0n) throw new Unfit("invalid sender: invalid transaction v, r, s values");
  return found;
}

/**
 * A transaction that the node signs, with its defaults filled in. Its gas is estimated, so a transaction that reverts is refused.
 *
 * @param call makes a call to the engine, which fails in geth's words
 */
export async function signed(
  engine: Engine,
  call: (method: string, params: unknown[]) => Promise<unknown>,
  asked: unknown,
  { known, pool, spec }: Known,
): Promise<string> {
  const given = asked as Record<string, unknown> & { from: string };
  const { chainId = spec.chainId, to, data = "0x", input = data } = given;
  if (BigInt(chainId as string) !== BigInt(spec.chainId))
    throw new Unfit(`chainId does not match node's (have=${BigInt(chainId as string)}, want=${spec.chainId})`);
  if (to === undefined && input === "0x") throw new Unfit("contract creation without any data provided");
  const from = given.from.toLowerCase();
  const next = async () => nextNonce(await known.used(engine, from), pool.of(from));
  const nonce = given.nonce ?? `0x${(await next()).toString(16)}`;
  const priced = given.gasPrice ?? given.maxFeePerGas ?? given.maxPriorityFeePerGas;
  const free = spec.profile && { gasPrice: `0x${spec.profile.gasPrice.toString(16)}` };
  const whole = { ...given, nonce, ...(priced === undefined ? free : {}) };
  const gas = given.gas ?? (await call("eth_estimateGas", [whole, "latest"]));
  return (await call("eth_signTransaction", [{ ...whole, gas }])) as string;
}
