import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Wallet } from "ethers";
import { type Chain, type ChainSpec } from "../../../service/ledger/chains";
import { Damaged, Refusal } from "../../../service/errors";
import { rpcCall } from "../../../service/ledger/rpc";
import { Database } from "../../../service/storage/database";
import type { Store } from "../../../service/store/store";
import { drawn } from "../../support/random";
import { containing, matching, newFolder } from "../../service/helpers";
import { until } from "../../support/until";
import {
  allOf,
  chainsAt,
  type Changed,
  closeAll,
  emptyStore,
  enginesOf,
  profile,
  since,
} from "../../service/ledger/chains";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 4, profile };

const chainsIn = (pace: Changed = {}, store?: Store) => chainsAt(dir, pace, store);

const accountsOf = (chain: Chain) => chain.call<string[]>("eth_accounts");
const kill = () => enginesOf(dir).forEach((pid) => process.kill(pid, "SIGKILL"));
/** A contract that stores values of the chain: the hash of an earlier block, the time, and the random number. */
const noting = (() => {
  const code = "60034303404355444362010000015542600052600560206000a100";
  return `0x60${(code.length / 2).toString(16)}600c60003960${(code.length / 2).toString(16)}6000f3${code}`;
})();

const { numbers: pauses, replay } = drawn(6, { min: 0, max: 30 });
test(`an engine that is killed again and again under load (${replay}): all answered transactions exist, in the same blocks`, async () => {
  const { chains, warnings } = chainsIn();
  const chain = await chains.get(spec);
  const accounts = await accountsOf(chain);
  const stranger = Wallet.createRandom().address;
  const answered: string[] = [];
  const receipts = new Map<string, unknown>();
  let given = 0n;
  let ended = false;
  const load = async (from: string) => {
    while (!ended) {
      const call = { from, to: accounts[0], value: "0x1", gasPrice: "0x0" };
      await chain.call<string>("eth_sendTransaction", [call]).then(
        (hash) => answered.push(hash),
        () => undefined,
      );
      const hash = answered.at(-1);
      const receipt = hash && (await chain.call("eth_getTransactionReceipt", [hash]).catch(() => null));
      if (receipt) receipts.set(hash, receipt);
    }
  };
  const give = async () => {
    while (!ended) {
      await chain.give(stranger, 7n).then(
        () => (given += 7n),
        () => undefined,
      );
      await wait(5);
    }
  };
  const loads = [...accounts.map(load), give()];
  for (let round = 0; round < pauses.length; round++) {
    const before = answered.length;
    await until(() => answered.length > before + 5);
    await wait(pauses[round]);
    kill();
  }
  ended = true;
  await Promise.all(loads);
  // recorded but unanswered transactions are soon in a block; the first call may still reach the killed engine
  const pending = () => chain.call<{ pending: string }>("txpool_status").catch(() => ({ pending: "unknown" }));
  await until(async () => Number((await pending()).pending) === 0);
  const seen = await allOf(chain, [...accounts, stranger]);
  await closeAll();
  const again = await chainsIn().chains.get(spec);
  expect(await allOf(again, [...accounts, stranger])).toEqual(seen);
  for (const hash of answered)
    expect(await again.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
  for (const [hash, receipt] of receipts)
    expect(await again.call("eth_getTransactionReceipt", [hash])).toEqual(receipt);
  // there may be money from unanswered transfers, but never less
  expect(BigInt(await again.call<string>("eth_getBalance", [stranger, "latest"]))).toBeGreaterThanOrEqual(given);
  expect(receipts.size).toBeGreaterThan(0);
  expect(warnings.length).toBeGreaterThan(0);
  expect(chain.lines.join("\n")).toMatch(
    /Restarting the ledger \S+: it ended with SIGKILL.*\n.*runs again, at block \d+: nothing is lost/,
  );
});

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

describe("an incomplete or damaged ledger", () => {
  /** A ledger with some blocks, which has started again since. */
  async function made() {
    const store = emptyStore();
    const chain = await chainsIn({}, store).chains.get(spec);
    const [from, to] = await accountsOf(chain);
    const send = (one: Chain) => one.call<string>("eth_sendTransaction", [{ from, to, value: "0x1" }]);
    for (let block = 0; block < 18; block++) await send(chain);
    await closeAll();
    const again = await chainsIn({}, store).chains.get(spec);
    await send(again);
    return { store, again, from, to };
  }

  test("is refused, file by file, and left unchanged", async () => {
    const { store } = await made();
    await closeAll();
    const folder = join(dir, "e1");
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    const needed = names.filter((name) => /(genesis.json|CURRENT|ldb|log|MANIFEST-\d+)$/.test(name));
    expect(needed.length).toBeGreaterThanOrEqual(5);
    const refused = async () => {
      const { chains, warnings } = chainsIn({}, store);
      const said = matching(/^The ledger e1 is out of order: .*is damaged.*Nothing was changed/);
      await expect(chains.get(spec)).rejects.toThrow("The ledger e1 is out of order");
      await chains.close();
      expect(warnings).toEqual([said]);
    };
    for (const name of needed) {
      const file = join(folder, name);
      const whole = readFileSync(file);
      rmSync(file);
      await refused();
      for (const part of [1 / 3, 1 / 2, 2 / 3]) {
        const flipped = Buffer.from(whole);
        flipped[Math.floor(whole.length * part)]! ^= 1;
        writeFileSync(file, flipped);
        await refused();
        expect(readFileSync(file)).toEqual(flipped);
      }
      writeFileSync(file, whole);
    }
    renameSync(folder, join(dir, "elsewhere"));
    await refused();
    renameSync(join(dir, "elsewhere"), folder);
    // Kept blocks are answered at once, before a kept transaction without a block gets one.
    const chain = await chainsIn({}, store).chains.get(spec);
    await until(async () => (await chain.call("eth_blockNumber")) === "0x13");
  });

  test("reports a block that is damaged while it runs, and serves the rest", async () => {
    const { again, from, to } = await made();
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
    await again.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
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
});
