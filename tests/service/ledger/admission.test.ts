import fc from "fast-check";
import { encodeRlp, toBeArray, Transaction, type TransactionLike, Wallet } from "ethers";
import { Accounts, admitted, blockGas, intrinsicGas } from "../../../service/ledger/admission";
import { Pool } from "../../../service/ledger/pool";
import { random } from "../../support/random";
import { until } from "../../support/until";
import { newFolder } from "../helpers";
import { ledgered, result, rpc, eth } from "../ledgers";
import { chainsAt, closeAll, profile } from "./chains";

/* A hash is a promise: a transaction that can never be in a block is refused, and any other gets a receipt. */

const poor = Wallet.createRandom();
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const order = 2n * halfOrder + 1n;
type Given = Record<"chainId" | "gasLimit" | "gasPrice" | "value", bigint> & {
  type: number;
  nonce: number;
  to: string;
};

const data = fc.uint8Array({ maxLength: 300 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
const accessList = [{ address: poor.address, storageKeys: [`0x${"0".repeat(64)}`] }];

/** A transaction whose signature somebody has changed. */
function withSignature(tx: Given, change: (r: bigint, s: bigint) => [bigint, bigint]): string {
  const { r, s, yParity } = poor.signingKey.sign(Transaction.from(tx).unsignedHash);
  const v = tx.chainId * 2n + 35n + BigInt(1 - yParity);
  const [nonce, price, gas, value, ...signature] = [
    ...[tx.nonce, tx.gasPrice, tx.gasLimit, tx.value],
    ...[v, ...change(BigInt(r), BigInt(s))],
  ].map((one) => toBeArray(one));
  return encodeRlp([nonce!, price!, gas!, poor.address, value!, "0x", ...signature]);
}

const signs = (more: TransactionLike) => (base: Given) => poor.signTransaction({ ...base, ...more });
const ofLondon = { type: 2, gasPrice: null, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
/** Transactions that no block of a quorum ledger can include, beyond those in geth.test.ts. */
const unfit: [string, RegExp, (base: Given) => Promise<string> | string][] = [
  ["too little gas for its access list", /intrinsic gas too low/, signs({ type: 1, accessList, gasLimit: 25_299n })],
  ["fees of London", /type not supported/, signs(ofLondon)],
  ["a signature with a large s", /invalid sender/, (base) => withSignature(base, (r, s) => [r, order - s])],
  ...[[0n, 1n] as const, [1n, 0n] as const, [order, 1n] as const].map(([r, s]): (typeof unfit)[number] => [
    `the signature ${r}, ${s}`,
    /invalid sender/,
    (base) => withSignature(base, () => [r, s]),
  ]),
  ["bytes after its end", /rlp/, async (base) => `${await poor.signTransaction(base)}00`],
];

async function account() {
  const paid = { quorumLedger: { gasPriceEnabled: true } };
  const { credential, urls } = await ledgered({ answers: paid }, { provider: "quorum", consensus_type: "raft" });
  const call = <T>(method: string, ...params: unknown[]) => result<T>(urls.rpc, credential, method, ...params);
  type Answer = { result?: string; error?: { code: number; message: string } };
  const answer = async (method: string, ...params: unknown[]) =>
    (await rpc(urls.rpc, credential, eth(method, ...params))).body as Answer;
  const chainId = BigInt(await call<string>("eth_chainId"));
  const send = async (tx: TransactionLike) => answer("eth_sendRawTransaction", await poor.signTransaction(tx));
  return { call, answer, chainId, send };
}

test("a transaction that no block can include is refused before it gets a hash, whatever the reason", async () => {
  const { call, answer, chainId, send } = await account();
  for (let nonce = 0; nonce < 3; nonce++)
    await send({ type: 0, chainId, nonce, to: poor.address, gasLimit: 21_000n, gasPrice: 0n });
  await until(async () => (await call("eth_getTransactionCount", poor.address, "latest")) === "0x3");
  const base: Given = { type: 0, chainId, nonce: 3, to: poor.address, gasLimit: 100_000n, gasPrice: 0n, value: 0n };
  for (const [what, error, made] of unfit) {
    const { result: hash, error: said } = await answer("eth_sendRawTransaction", await made(base));
    expect({ what, hash, said }).toMatchObject({ what, hash: undefined, said: { code: -32_000 } });
    expect(said!.message).toMatch(error);
  }
  expect(await call("eth_getTransactionCount", poor.address, "pending")).toBe("0x3");
});

test("a transaction with a hash gets a receipt, even with barely enough gas", async () => {
  const { call, answer, chainId } = await account();
  let nonce = 0;
  const more = fc.constantFrom(0n, 1n, 10n ** 6n);
  const valid = fc.record({ data, creates: fc.boolean(), listed: fc.boolean(), more });
  const accepted = fc.asyncProperty(valid, async ({ data, creates, listed, more }) => {
    const to = creates ? null : poor.address;
    const given = { type: listed ? 1 : 0, ...(listed ? { accessList } : {}), chainId, nonce, to, gasPrice: 0n, data };
    const gasLimit = intrinsicGas(Transaction.from(given), "berlin") + more;
    const raw = await poor.signTransaction({ ...given, gasLimit });
    const { result: hash, error } = await answer("eth_sendRawTransaction", raw);
    expect(error).toBeUndefined();
    nonce++;
    await until(async () => (await call("eth_getTransactionReceipt", hash)) !== null);
  });
  await fc.assert(accepted, random(40));
});

test("several transactions of an account cannot spend the same money; one that replaces another may spend its", async () => {
  const [pool, known] = [new Pool(), new Accounts()];
  const engine = { call: () => Promise.resolve(`0x${(1_000_000).toString(16)}`) } as never;
  const rules = { known, pool, spec: { key: "e1", chainId: 5, accounts: 1 } };
  known.changed([{ from: poor.address, nonce: "-1" }]);
  const pay = async (nonce: number, value: number, gasPrice = 1) => {
    const tx = { type: 0, chainId: 5, nonce, to: poor.address, gasLimit: 21_000, gasPrice, value };
    const raw = await poor.signTransaction(tx);
    const sent = { raw, tx: Transaction.from(raw), from: poor.address.toLowerCase() };
    const [hash, waiting] = await admitted(engine, sent, rules);
    pool.add(hash, waiting);
  };
  await pay(2, 500_000);
  await pay(1, 300_000);
  const why = "balance 1000000, queued cost 842000, tx cost 221000, overshot 63000";
  await expect(pay(0, 200_000)).rejects.toThrow(`insufficient funds for gas * price + value: ${why}`);
  await expect(pay(2, 500_001)).rejects.toThrow("replacement transaction underpriced");
  for (const [value, price] of [[600_000, 2], [550_000, 3]] as const) await pay(2, value, price); // prettier-ignore
  await expect(pay(2, 700_000, 4)).rejects.toThrow("overshot 105000");
  await pay(0, 0);
  expect(pool.of(poor.address.toLowerCase()).map(({ nonce, queued }) => [nonce, queued])).toEqual([[1, false], [2, false], [0, false]]); // prettier-ignore
  known.changed([0, 1, 2].map((nonce) => ({ from: poor.address, nonce: `${nonce}` })));
  await expect(pay(1, 0, 9)).rejects.toThrow("nonce too low: next nonce 3, tx nonce 1");
});

test("queued transactions with a block's gas each block nobody, even after a restart; filling the gap gives each its receipt", async () => {
  const dir = newFolder();
  const spec = { key: "e1", chainId: 4_711, accounts: 2, profile };
  let chain = await chainsAt(dir).chains.get(spec);
  const [from, other] = await chain.call<string[]>("eth_accounts");
  const gas = `0x${blockGas.toString(16)}`;
  const send = (tx: object) => chain.call<string>("eth_sendTransaction", [{ to: poor.address, ...tx }]);
  const receipt = (hash: string) => chain.call<object | null>("eth_getTransactionReceipt", [hash]);
  const hashes: string[] = [];
  for (let nonce = 1; nonce <= 40; nonce++) hashes.push(await send({ from, gas, nonce: `0x${nonce.toString(16)}` }));
  for (let start = 0; start < 2; start++) {
    const paid = await send({ from: other });
    await until(async () => (await receipt(paid)) !== null);
    expect(await Promise.all(hashes.map(receipt))).toEqual(hashes.map(() => null));
    await closeAll();
    chain = await chainsAt(dir).chains.get(spec);
  }
  hashes.push(await send({ from, gas, nonce: "0x0" }));
  await until(async () => (await Promise.all(hashes.map(receipt))).every((one) => one !== null));
});
