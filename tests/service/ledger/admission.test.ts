import fc from "fast-check";
import { Transaction, type TransactionLike, Wallet } from "ethers";
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
type Given = TransactionLike & { gasLimit: bigint };

const data = fc.uint8Array({ maxLength: 300 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
const accessList = [{ address: poor.address, storageKeys: [`0x${"0".repeat(64)}`] }];

interface Sent {
  what: string;
  tx: Partial<TransactionLike>;
  /** Changes the signed transaction. */
  garble?: (raw: string) => string;
  error: RegExp;
}

const signedBy = (tx: TransactionLike) => poor.signingKey.sign(Transaction.from(tx).unsignedHash);
const withSignature = (tx: Given, change: (r: bigint, s: bigint, parity: 0 | 1) => [bigint, bigint]) => {
  const { r, s, yParity } = signedBy(tx);
  const changed = change(BigInt(r), BigInt(s), yParity);
  const [hexR, hexS] = changed.map((part) => part.toString(16)) as [string, string];
  const v = (BigInt(tx.chainId ?? 0) * 2n + 35n + BigInt(1 - yParity)).toString(16);
  return rlp(
    [tx.nonce, tx.gasPrice, tx.gasLimit, tx.to, tx.value, tx.data].map(plain).concat([even(v), even(hexR), even(hexS)]),
  );
};
const even = (hex: string) => (hex === "0" ? "" : hex.length % 2 ? `0${hex}` : hex);
const plain = (value: unknown): string =>
  typeof value === "string" ? value.slice(2) : even(BigInt((value ?? 0) as bigint).toString(16));
function rlp(items: string[]): string {
  const head = (base: number, length: number) => {
    if (length < 56) return (base + length).toString(16);
    const size = even(length.toString(16));
    return (base + 55 + size.length / 2).toString(16) + size;
  };
  const text = items
    .map((hex) => (hex.length === 2 && Number(`0x${hex}`) < 128 ? hex : head(0x80, hex.length / 2) + hex))
    .join("");
  return `0x${head(0xc0, text.length / 2)}${text}`;
}

/** Every kind of transaction that no block of a quorum ledger can include. `next`: the nonce of its sender. */
const invalid = (chainId: bigint, next: number): fc.Arbitrary<Sent> => {
  const base: Given = {
    type: 0,
    chainId,
    nonce: next,
    to: poor.address,
    gasLimit: 100_000n,
    gasPrice: 0n,
    value: 0n,
    data: "0x",
  };
  const of = (what: string, error: RegExp, tx: fc.Arbitrary<Partial<Given>>, garble?: Sent["garble"]) =>
    tx.map((one): Sent => ({ what, error, tx: { ...base, ...one }, ...(garble ? { garble } : {}) }));
  const raw = (what: string, error: RegExp, made: fc.Arbitrary<string>) =>
    made.map((text): Sent => ({ what, error, tx: base, garble: () => text }));
  const below = fc.tuple(data, fc.boolean(), fc.nat(1_000)).map(([bytes, creates, less]) => {
    const tx = { ...base, data: bytes, ...(creates ? { to: null } : {}) };
    const needed = intrinsicGas(Transaction.from(tx), "berlin");
    return { ...tx, gasLimit: needed - 1n - BigInt(less) };
  });
  return fc.oneof(
    of(
      "another chain id",
      /invalid chain id/,
      fc
        .bigInt({ min: 1n, max: 10n ** 9n })
        .filter((id) => id !== chainId)
        .map((id) => ({ chainId: id })),
    ),
    of("no chain id", /replay-protected/, fc.constant({ chainId: 0n })),
    of("too little gas", /intrinsic gas too low/, below),
    of(
      "too little gas for its access list",
      /intrinsic gas too low/,
      fc.integer({ min: 21_000, max: 25_299 }).map((gas) => ({ type: 1, accessList, gasLimit: BigInt(gas) })),
    ),
    of(
      "more gas than a block",
      /exceeds block gas limit/,
      fc.bigInt({ min: BigInt(blockGas) + 1n, max: 2n ** 63n }).map((gasLimit) => ({ gasLimit })),
    ),
    of(
      "value that it does not have",
      /insufficient funds/,
      fc.bigInt({ min: 1n, max: 2n ** 200n }).map((value) => ({ value })),
    ),
    of(
      "a price that it cannot pay",
      /insufficient funds/,
      fc.bigInt({ min: 1n, max: 2n ** 255n }).map((gasPrice) => ({ gasPrice })),
    ),
    ...(next > 0
      ? [
          of(
            "a nonce that is used",
            /nonce too low/,
            fc.nat(next - 1).map((nonce) => ({ nonce })),
          ),
        ]
      : []),
    of(
      "fees of London",
      /type not supported/,
      fc.constant({ type: 2, gasPrice: null, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as never),
    ),
    raw(
      "a type that nobody knows",
      /type not supported/,
      fc.integer({ min: 3, max: 0x7f }).map((type) => `0x${type.toString(16).padStart(2, "0")}c0`),
    ),
    raw("bytes that are no transaction", /rlp|type not supported|too short/, data),
    raw(
      "a signature with a large s",
      /invalid sender/,
      fc.constant(0).map(() => withSignature(base, (r, s) => [r, order - s])),
    ),
    raw(
      "a signature of nothing",
      /invalid sender/,
      fc.constantFrom([0n, 1n], [1n, 0n], [order, 1n]).map(([r, s]) => withSignature(base, () => [r, s])),
    ),
    of("bytes after its end", /rlp/, fc.constant({}), (text) => `${text}00`),
    of(
      "too much data",
      /oversized data/,
      fc.constant({ data: `0x${"00".repeat(131_072)}`, gasLimit: BigInt(blockGas) }),
    ),
  );
};

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
  const seen = new Set<string>();
  const refused = fc.asyncProperty(invalid(chainId, 3), async ({ what, tx, garble, error }) => {
    const raw = (garble ?? ((text: string) => text))(await poor.signTransaction(tx));
    const { result: hash, error: said } = await answer("eth_sendRawTransaction", raw);
    seen.add(what);
    expect({ what, hash, said }).toMatchObject({ what, hash: undefined, said: { code: -32_000 } });
    expect(said!.message).toMatch(error);
  });
  await fc.assert(refused, random(150));
  expect(seen.size).toBe(15);
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
