import fc from "fast-check";
import { encodeRlp, toBeArray, Transaction, type TransactionLike, Wallet } from "ethers";
import { blockGas, intrinsicGas } from "../../../service/ledger/admission";
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

/** Transactions that no block of a quorum ledger can include, beyond those in geth.test.ts. */
const unfit: [string, RegExp, (base: Given) => Promise<string> | string][] = [
  [
    "too little gas for its access list",
    /intrinsic gas too low/,
    (base) => poor.signTransaction({ ...base, type: 1, accessList, gasLimit: 25_299n }),
  ],
  [
    "fees of London",
    /type not supported/,
    (base) => poor.signTransaction({ ...base, type: 2, gasPrice: null, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }),
  ],
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
  const answer = async (method: string, ...params: unknown[]) =>
    (await rpc(urls.rpc, credential, eth(method, ...params))).body as {
      result?: string;
      error?: { code: number; message: string };
    };
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
  const valid = fc.record({
    data,
    creates: fc.boolean(),
    listed: fc.boolean(),
    more: fc.constantFrom(0n, 1n, 10n ** 6n),
  });
  const accepted = fc.asyncProperty(valid, async ({ data, creates, listed, more }) => {
    const to = creates ? null : poor.address;
    const given = { type: listed ? 1 : 0, ...(listed ? { accessList } : {}), chainId, nonce, to, gasPrice: 0n, data };
    const gasLimit = intrinsicGas(Transaction.from(given), "berlin") + more;
    const { result: hash, error } = await answer(
      "eth_sendRawTransaction",
      await poor.signTransaction({ ...given, gasLimit }),
    );
    expect(error).toBeUndefined();
    nonce++;
    await until(async () => (await call("eth_getTransactionReceipt", hash)) !== null);
  });
  await fc.assert(accepted, random(40));
});

test("several transactions of an account cannot spend the same money", async () => {
  const { call, answer, chainId, send } = await account();
  const [own] = await call<string[]>("eth_accounts");
  await answer("eth_sendTransaction", { from: own, to: poor.address, value: "0x64" });
  await until(async () => (await call("eth_getBalance", poor.address)) === "0x64");
  const pay = (nonce: number, value: bigint) =>
    send({ type: 0, chainId, nonce, to: own!, gasLimit: 21_000n, gasPrice: 0n, value });
  expect((await pay(2, 60n)).result).toMatch(/^0x/);
  expect((await pay(1, 60n)).error).toMatchObject({
    code: -32_000,
    message: expect.stringMatching(/insufficient funds/) as string,
  });
  const paid = [await pay(1, 40n), await pay(0, 0n)];
  expect(paid).toEqual(paid.map(() => expect.not.objectContaining({ error: expect.anything() as unknown }) as unknown));
  const hashes = paid.map(({ result: hash }) => hash);
  for (const hash of hashes) await until(async () => (await call("eth_getTransactionReceipt", hash)) !== null);
  expect(await call("eth_getBalance", poor.address)).toBe("0x0");
});

test.each(["privateFor", "privateFrom", "privacyGroupId", "restriction", "privacyFlag"])(
  "%s is refused with one sentence",
  async (field) => {
    const { call, answer } = await account();
    const [from] = await call<string[]>("eth_accounts");
    const { error } = await answer("eth_sendTransaction", {
      from,
      to: from,
      [field]: ["A1aVtMxLCUHmBVHXoZzzBgPbW/wj5axDpW9X8l91SGo="],
    });
    expect(error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining(`${field}: this service has no private transactions`) as string,
    });
  },
);

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
