import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Chain, type ChainSpec } from "../../../service/ledger/chains";
import { Damaged, Refusal } from "../../../service/errors";
import { rpcCall } from "../../../service/ledger/rpc";
import { Database } from "../../../service/storage/database";
import type { Store } from "../../../service/store/store";
import { containing, newFolder } from "../../service/helpers";
import { until } from "../../support/until";
import { allOf, chainsAt, type Changed, closeAll, emptyStore, profile, since } from "../../service/ledger/chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, profile };

const chainsIn = (pace: Changed = {}, store?: Store) => chainsAt(dir, pace, store);

const accountsOf = (chain: Chain) => chain.call<string[]>("eth_accounts");
/** A contract that stores values of the chain: the hash of an earlier block, the time, and the random number. */
const noting = (() => {
  const code = "60034303404355444362010000015542600052600560206000a100";
  return `0x60${(code.length / 2).toString(16)}600c60003960${(code.length / 2).toString(16)}6000f3${code}`;
})();

describe.each([
  ["without fees", spec],
  ["with fees", { ...spec, profile: undefined }],
])("snapshots, %s", (_name, kind) => {
  test("shorten a start, and keep each block, receipt and log", async () => {
    const pace = { blocks: 6, lookback: 4 };
    const { chains } = chainsIn(pace);
    const chain = await chains.get(kind);
    const accounts = await accountsOf(chain);
    const [from, to] = accounts;
    const deployed = await chain.call<string>("eth_sendTransaction", [{ from, data: noting }]);
    type Receipt = { contractAddress: string; blockHash: string };
    const receipt = await chain.call<Receipt>("eth_getTransactionReceipt", [deployed]);
    const contract = receipt.contractAddress;
    const send = (block: number) =>
      chain.call("eth_sendTransaction", [
        block % 3 ? { from, to, value: "0x5" } : { from: to, to: contract, gas: "0x20000" },
      ]);
    for (let block = 0; block < 60; block++) await send(block);
    const logs = (one: Chain) => one.call<object[]>("eth_getLogs", [{ address: contract, fromBlock: "0x0" }]);
    const [seen, said] = [await allOf(chain, accounts), await logs(chain)];
    expect(said.length).toBeGreaterThan(15);
    await closeAll();

    const again = await chainsIn(pace).chains.get(kind);
    expect(await again.call("eth_gasPrice")).toEqual(await again.call("eth_gasPrice"));
    expect(await again.call("eth_getTransactionReceipt", [deployed])).toEqual(receipt);
    expect(await again.call("eth_getBlockByHash", [receipt.blockHash, false])).toMatchObject({ number: "0x1" });
    expect(await logs(again)).toEqual(said);
    const { blockHash } = said[0] as { blockHash: string };
    expect(await again.call("eth_getLogs", [{ address: contract, blockHash }])).toEqual([said[0]]);
    const asked = rpcCall("eth_getLogs", [{ address: contract, fromBlock: "0x0" }], "own");
    expect(await again.ask(asked, { bytes: 1e7, ms: 30_000 })).toEqual(said);
    expect(since(seen, await allOf(again, accounts))).toEqual([]);
    const next = await again.call<string>("eth_sendTransaction", [{ from, to: contract, gas: "0x20000" }]);
    const whole = await allOf(again, accounts);
    expect(since({ ...seen, balances: whole.balances }, whole)).toMatchObject([{ hash: next }]);
    await closeAll();
    const third = await chainsIn(pace).chains.get(kind);
    expect(await third.call("eth_getTransactionReceipt", [next])).toMatchObject({ status: "0x1" });
    expect(since(whole, await allOf(third, accounts))).toEqual([]);
  });
});

test("a transaction that waits for an earlier one, or for its block, still waits after a restart", async () => {
  const slow = { ...spec, period: 3_600 };
  const chain = await chainsIn().chains.get(slow);
  const [from, to] = await accountsOf(chain);
  const call = { from, to, value: "0x1", gasPrice: "0x0", gas: "0x5208" };
  const hashes = await Promise.all(
    ["0x0", "0x1", "0x5"].map((nonce) => chain.call<string>("eth_sendTransaction", [{ ...call, nonce }])),
  );
  await closeAll();
  const again = await chainsIn().chains.get(slow);
  for (const hash of hashes)
    expect(await again.call("eth_getTransactionByHash", [hash])).toMatchObject({ blockHash: null });
  expect(await again.call("eth_getTransactionCount", [from, "pending"])).toBe("0x2");
  await closeAll();
  const quick = await chainsIn().chains.get({ ...spec, period: 1 });
  await until(async () => (await quick.call("eth_getTransactionReceipt", [hashes[1]])) !== null);
  expect(await quick.call("eth_getTransactionReceipt", [hashes[2]])).toBeNull();
});

test("a contract that looks back in every block does not keep a ledger from starting with the same blocks", async () => {
  const pace = { blocks: 6, lookback: 2 };
  const chain = await chainsIn(pace).chains.get(spec);
  const accounts = await accountsOf(chain);
  const [from] = accounts;
  const deployed = await chain.call<string>("eth_sendTransaction", [{ from, data: noting }]);
  const { contractAddress: to } = await chain.call<{ contractAddress: string }>("eth_getTransactionReceipt", [
    deployed,
  ]);
  for (let block = 0; block < 30; block++) await chain.call("eth_sendTransaction", [{ from, to, gas: "0x20000" }]);
  const seen = await allOf(chain, accounts);
  await closeAll();
  const again = await chainsIn(pace).chains.get(spec);
  expect(await allOf(again, accounts)).toEqual(seen);
  expect(again.lines.join("\n")).toContain("because later blocks look further back");
  await again.call("eth_sendTransaction", [{ from, to, gas: "0x20000" }]);
});

test("an unrecordable change is not made, and its sender gets the error", async () => {
  const { chains, warnings } = chainsIn();
  const chain = await chains.get(spec);
  const [from, to] = await accountsOf(chain);
  const full = new Refusal(507, "This cannot be written to disk");
  const write = jest.spyOn(Database.prototype, "write").mockRejectedValue(full);
  const call = [{ from, to, value: "0x1", gasPrice: "0x0" }];
  for (let time = 0; time < 2; time++)
    await expect(chain.call("eth_sendTransaction", call)).rejects.toThrow("cannot be written");
  write.mockRestore();
  expect(await chain.call("eth_getTransactionCount", [from, "pending"])).toBe("0x0");
  await chain.call("eth_sendTransaction", call);
  expect(chain.lines.filter((line) => line.includes("cannot be written"))).toHaveLength(1);
  expect(await chain.call("eth_getTransactionCount", [from, "latest"])).toBe("0x1");
  // the engine, which had begun, is replaced once: the second time, it waits for the record
  expect(warnings).toEqual([containing("cannot be written"), containing("Restarting the ledger")]);
});

test("a block that is damaged while its ledger runs is reported, and the rest is served", async () => {
  const store = emptyStore();
  const first = await chainsIn({}, store).chains.get(spec);
  const [from, to] = await accountsOf(first);
  const send = (one: Chain) => one.call<string>("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  for (let block = 0; block < 18; block++) await send(first);
  await closeAll();
  const again = await chainsIn({}, store).chains.get(spec);
  const real = Object.getOwnPropertyDescriptor(Database.prototype, "get")!.value as Database["get"];
  jest.spyOn(Database.prototype, "get").mockImplementation(function (this: Database, name: string) {
    if (name.startsWith("block/") && name.endsWith("007"))
      throw new Damaged("Block 7 is damaged: its checksum is wrong");
    return real.call(this, name);
  });
  for (let time = 0; time < 2; time++)
    await expect(again.call("eth_getBlockByNumber", ["0x7", false])).rejects.toThrow(
      "out of order: Block 7 is damaged",
    );
  expect(await again.call("eth_getBlockByNumber", ["0x8", false])).toMatchObject({ number: "0x8" });
  await send(again);
  jest.restoreAllMocks();
});

test("planted files and unknown folders stay", async () => {
  const store = emptyStore();
  await chainsIn({}, store).chains.get(spec);
  await closeAll();
  cpSync(join(dir, "e1"), join(dir, "unknown"), { recursive: true });
  await chainsIn({}, store).chains.sweep(() => false);
  expect(readdirSync(dir)).toEqual(["unknown"]);
});
