import { encodeRlp, id, keccak256, stripZerosLeft, toBeHex, Transaction, Wallet } from "ethers";
import { call, ending, gwei, hashOf, nobody, other, reverting, sends, signed, stores, storing, zero } from "./step";
import type { Params, Row, Seen, Sent, Step } from "./step";

/* Transactions: refused ones, ones in blocks, and waiting ones. */

const poor = new Wallet(id("poor"));
const simple = { value: 5n };
const tipped = (maxPriorityFeePerGas: bigint, maxFeePerGas: bigint) => {
  return { type: 2, gasPrice: null, maxPriorityFeePerGas, maxFeePerGas };
};
const accessList = [{ address: other, storageKeys: [zero] }];
const refused: [string, Params][] = [
  ["bytes that are no transaction", ["0x1234"]],
  ["no bytes", ["0x"]],
  ["no digits", ["0xzz"]],
  ["an odd digit", ["0x123"]],
  ["nothing", []],
  ["a type that nobody knows", ["0x7fc0"]],
  ["an empty legacy transaction", ["0xc0"]],
  ["another chain's transaction", signed({ chainId: 5, nonce: 0 })],
  ["an unprotected transaction", unprotected],
  ["too little gas", signed({ nonce: 0, gasLimit: 20_999 })],
  ["too little gas for its data", signed({ nonce: 0, data: `0x${"ff".repeat(100)}` })],
  ["too little gas for a contract", signed({ nonce: 0, to: null, data: "0x00", gasLimit: 53_003 })],
  ["more gas than a block has", signed({ nonce: 0, gasLimit: 30_000_001 })],
  ["nobody's money", signed({ nonce: 0, value: 1n }, poor)],
  ["more than the sender has", signed({ nonce: 0, value: 10n ** 30n })],
  ["a tip above the fee", tippedTooMuch],
  ["too much data", signed({ nonce: 0, gasLimit: 5_000_000, data: `0x${"00".repeat(131_072)}` })],
  ["the largest nonce", signed({ nonce: Number.MAX_SAFE_INTEGER })],
];

/** ethers makes none. */
function tippedTooMuch({ chainId, rich }: Seen): string[] {
  const fields = [toBeHex(chainId), "0x", "0x02", "0x01", "0x5208", nobody, "0x", "0x", []];
  const { yParity, r, s } = rich.signingKey.sign(keccak256(`0x02${encodeRlp(fields).slice(2)}`));
  const parts = [yParity === 0 ? "0x" : "0x01", ...[r, s].map((part) => stripZerosLeft(part))];
  return [`0x02${encodeRlp([...fields, ...parts]).slice(2)}`];
}

/** Signed as before EIP-155. */
function unprotected({ rich }: Seen): string[] {
  const tx = Transaction.from({ type: 0, nonce: 0, gasLimit: 21_000, gasPrice: gwei, to: nobody, chainId: 0 });
  tx.signature = rich.signingKey.sign(tx.unsignedHash);
  return [tx.serialized];
}

export const made: Step[] = [
  ...refused.map(([title, params]) => call([title, "eth_sendRawTransaction", params])),
  sends("a transfer", { nonce: 0, ...simple }),
  call(["a nonce that is used", "eth_sendRawTransaction", signed({ nonce: 0, value: 6n })]),
  sends("a deployment", { nonce: 1, to: null, data: storing, gasLimit: 200_000 }),
  call(["the receipt of the deployment", "eth_getTransactionReceipt", hashOf("a deployment")]),
  stores("a call of the contract", 2, 7),
  sends("a transfer with an access list", { nonce: 3, type: 1, gasLimit: 30_000, accessList }),
  sends("a transfer with fees", { nonce: 4, ...tipped(gwei, 2n * gwei) }),
  sends("a contract that reverts", { nonce: 5, to: null, data: reverting(""), gasLimit: 100_000 }),
  sends("a contract of an invalid opcode", { nonce: 6, to: null, data: "0xfe", gasLimit: 100_000 }),
  sends("a contract that needs more gas", { nonce: 7, to: null, data: storing, gasLimit: 60_000 }),
  sends("a contract that begins with EF", { nonce: 8, to: null, data: ending("f3", "ef00"), gasLimit: 100_000 }),
  sends("a transfer with data", { nonce: 9, data: "0x1234", gasLimit: 30_000 }),
  sends("a second deployment", { nonce: 10, to: null, data: storing, gasLimit: 200_000 }),
];

const waits = "a transaction that waits for another";
const replacing = "another in its place at a higher price";
const raw = (title: string, request: Sent) => call([title, "eth_sendRawTransaction", signed(request)]);
const told = (title: string, of: string, what = "TransactionByHash") => call([title, `eth_get${what}`, hashOf(of)]);
export const waiting: Step[] = [
  raw(waits, { nonce: 19, value: 1n }),
  told("what waits: as it is", waits),
  told("what waits: its receipt", waits, "TransactionReceipt"),
  told("what waits: its bytes", waits, "RawTransactionByHash"),
  raw("what waits, again", { nonce: 19, value: 1n }),
  raw("another in its place at the same price", { nonce: 19, value: 2n }),
  raw(replacing, { nonce: 19, value: 3n, gasPrice: 2n * gwei }),
  raw("another with the same tip", { nonce: 19, ...tipped(2n * gwei, 9n * gwei) }),
  call(["the count with what waits", "eth_getTransactionCount", ({ rich }) => [rich.address, "pending"]]),
  sends("what fills the gap", { nonce: 18, value: 4n }),
  told("the receipt of what waited", replacing, "TransactionReceipt"),
  told("what was replaced", waits),
  raw("a transaction with fees that waits", { nonce: 99, ...tipped(1n, 2n) }),
  told("its fees while it waits", "a transaction with fees that waits"),
];

/** By the account of the node. */
const byNode =
  (more: object): Params =>
  ({ account }) => [{ from: account, to: nobody, value: "0x1", ...more }];
export const signs: Row[] = [
  ["a transfer by the node", "eth_sendTransaction", byNode({ gas: "0x5208", gasPrice: "0x3b9aca00" })],
  ["too little gas by the node", "eth_sendTransaction", byNode({ gas: "0x5207", gasPrice: "0x3b9aca00" })],
  ["a contract that reverts by the node", "eth_sendTransaction", byNode({ to: null, data: reverting("") })],
  ["a deployment of nothing by the node", "eth_sendTransaction", byNode({ to: null, gas: "0x5208" })],
  ["input that is not data by the node", "eth_sendTransaction", byNode({ input: "0x12", data: "0x34" })],
  ["two kinds of fees by the node", "eth_sendTransaction", byNode({ gasPrice: "0x1", maxFeePerGas: "0x1" })],
  ["another chain's transaction by the node", "eth_sendTransaction", byNode({ chainId: "0x5" })],
  ["a used nonce by the node", "eth_sendTransaction", byNode({ nonce: "0x0", gas: "0x5208" })],
  ["another account's transaction", "eth_sendTransaction", [{ from: nobody, to: nobody, gas: "0x5208" }]],
  ["a signature without gas", "eth_signTransaction", byNode({})],
  ["a signature of two words", "eth_sign", ({ account }) => [account, "0x1234"]],
  ["another account's signature", "eth_sign", [nobody, "0x1234"]],
];
