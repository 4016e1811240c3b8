import { randomBytes } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Wallet } from "ethers";
import { type Chain, type ChainSpec } from "../../../service/ledger/chains";
import { rpcCall } from "../../../service/ledger/rpc";
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

/** Flips a bit in the middle of a file. */
function flip(file: string): void {
  const content = readFileSync(file);
  content[content.length >> 1]! ^= 1;
  writeFileSync(file, content);
}

const accountsOf = (chain: Chain) => chain.call<string[]>("eth_accounts");
const kill = () => enginesOf(dir).forEach((pid) => process.kill(pid, "SIGKILL"));
/** A contract that stores what the chain knew then: the hash of an earlier block, the time, and the random number. */
const noting = (() => {
  const code = "60034303404355444362010000015542600052600560206000a100";
  return `0x60${(code.length / 2).toString(16)}600c60003960${(code.length / 2).toString(16)}6000f3${code}`;
})();

const { numbers: pauses, replay } = drawn(6, { min: 0, max: 30 });
test(`an engine that is killed again and again under load (${replay}): all that was answered is there, in the same blocks`, async () => {
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
  // what was recorded but not answered is in a block soon; the first call may still reach the killed engine
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
  // there may be money whose transfer was not answered, but never less
  expect(BigInt(await again.call<string>("eth_getBalance", [stranger, "latest"]))).toBeGreaterThanOrEqual(given);
  expect(receipts.size).toBeGreaterThan(0);
  expect(warnings.length).toBeGreaterThan(0);
  expect(chain.lines.join("\n")).toMatch(
    /started again: it ended with SIGKILL.*\n.*runs again, at block \d+: nothing is lost/,
  );
});

describe.each([
  ["without fees", spec],
  ["with fees", { ...spec, profile: undefined }],
])("snapshots, %s", (_name, kind) => {
  test("come and go in the background, and each block, receipt and log stays as it was", async () => {
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
    const snapshots = () => readdirSync(join(dir, "e1")).filter((name) => name.startsWith("snapshot-"));
    // each is tried after a block, and another one if it does not hold
    for (let block = 60; snapshots().length === 0; block++) await send(block);
    const logs = (one: Chain) => one.call<object[]>("eth_getLogs", [{ address: contract, fromBlock: "0x0" }]);
    const [seen, said] = [await allOf(chain, accounts), await logs(chain)];
    expect(said.length).toBeGreaterThan(15);
    await closeAll();

    const again = await chainsIn(pace).chains.get(kind);
    expect(await again.call("eth_gasPrice")).toEqual(await again.call("eth_gasPrice"));
    expect(await again.call("eth_getTransactionReceipt", [deployed])).toEqual(receipt); // it is in a file of the past
    expect(await again.call("eth_getBlockByHash", [receipt.blockHash, false])).toMatchObject({ number: "0x1" });
    expect(await logs(again)).toEqual(said);
    const { blockHash } = said[0] as { blockHash: string };
    expect(await again.call("eth_getLogs", [{ address: contract, blockHash }])).toEqual([said[0]]);
    const asked = rpcCall("eth_getLogs", [{ address: contract, fromBlock: "0x0" }], "own");
    const line = await again.ask(asked, { bytes: 1e7, ms: 30_000 });
    expect(JSON.parse(line.toString())).toEqual({ jsonrpc: "2.0", id: "own", result: said });
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

test("a transaction that waits for an earlier one, or for its block, waits on after a restart", async () => {
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

test("what cannot be recorded is not done, and its sender gets the error", async () => {
  const { chains, warnings } = chainsIn();
  const chain = await chains.get(spec);
  const [from, to] = await accountsOf(chain);
  await closeAll();
  const again = await chainsIn().chains.get(spec);
  renameSync(join(dir, "e1"), join(dir, "away")); // its segment is not open yet
  const call = [{ from, to, value: "0x1", gasPrice: "0x0" }];
  await expect(again.call("eth_sendTransaction", call)).rejects.toThrow(/cannot be written to .*ENOENT.*Free up space/);
  renameSync(join(dir, "away"), join(dir, "e1"));
  expect(await again.call("eth_getTransactionCount", [from, "pending"])).toBe("0x0");
  await again.call("eth_sendTransaction", call);
  expect(again.lines.filter((line) => line.includes("cannot be written"))).toHaveLength(1);
  expect(await again.call("eth_getTransactionCount", [from, "latest"])).toBe("0x1");
  expect(warnings).toEqual([]);
});

test("a payment under a name is made only once", async () => {
  const chain = await chainsIn({ blocks: 2, lookback: 1 }).chains.get(spec);
  const [from, to] = await accountsOf(chain);
  const account = Wallet.createRandom().address;
  await Promise.all([chain.give(account, 5n, "first"), chain.give(account, 5n, "first")]);
  for (let block = 0; block < 9; block++) await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  await closeAll();
  const again = await chainsIn().chains.get(spec);
  await again.give(account, 5n, "first");
  expect(await again.call("eth_getBalance", [account, "latest"])).toBe("0x5");
});

// a small one by default; LARGE_MB=600 makes a folder that no JavaScript string could hold
const large = Number(process.env.LARGE_MB ?? 10);
const time = 120_000 + 3_000 * large;
test(
  "a large ledger is never read as one text, and opens whatever its size",
  async () => {
    const pace = { blocks: 4, lookback: 2, growth: Infinity };
    const longest = { read: 0, parsed: 0 };
    const real = { parse: JSON.parse, text: Object.getOwnPropertyDescriptor(Buffer.prototype, "toString")! };
    type Text = (this: Buffer, ...how: unknown[]) => string;
    const text = real.text.value as Text;
    JSON.parse = (said: string, ...how: []) => {
      longest.parsed = Math.max(longest.parsed, said.length);
      return real.parse(said, ...how) as unknown;
    };
    const noting: Text = function (...how) {
      const said = text.apply(this, how);
      longest.read = Math.max(longest.read, said.length);
      return said;
    };
    Object.defineProperty(Buffer.prototype, "toString", { ...real.text, value: noting });
    try {
      const chain = await chainsIn(pace).chains.get(spec);
      const [from, to] = await accountsOf(chain);
      const hashes: string[] = [];
      for (let block = 0; block < large; block++) {
        const data = `0x${randomBytes(500_000).toString("hex")}`; // a segment holds it in hexadecimal
        hashes.push(await chain.call<string>("eth_sendTransaction", [{ from, to, data, gas: "0x1c9c380" }]));
      }
      await until(() => readdirSync(join(dir, "e1")).some((name) => name.startsWith("snapshot-")));
      await closeAll();
      const again = await chainsIn(pace).chains.get(spec);
      for (const hash of hashes)
        expect(await again.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1", to });
    } finally {
      JSON.parse = real.parse;
      Object.defineProperty(Buffer.prototype, "toString", real.text);
    }
    // at most one transaction as an engine returns it, never a file of the folder
    expect(longest.read).toBeLessThan(4_000_000);
    expect(longest.parsed).toBeLessThan(4_000_000);
  },
  time,
);

describe("a folder in which something is missing or damaged", () => {
  test("is refused, file by file and byte by byte, and left as it is", async () => {
    const store = emptyStore();
    const chain = await chainsIn({ blocks: 5, lookback: 4 }, store).chains.get(spec);
    const [from, to] = await accountsOf(chain);
    const folder = join(dir, "e1");
    const send = () =>
      chain.call("eth_sendTransaction", [{ from, to, value: "0x1", data: `0x${randomBytes(8).toString("hex")}` }]);
    for (let block = 0; block < 18; block++) await send();
    await until(() => readdirSync(folder).some((name) => name.startsWith("snapshot-")));
    await send();
    await closeAll();
    const refusals = async () => {
      const { chains, warnings } = chainsIn({}, store);
      await chains.close();
      return warnings;
    };
    expect(await refusals()).toEqual([]);
    const names = readdirSync(folder);
    expect(names.length).toBeGreaterThanOrEqual(5);
    for (const name of names) {
      const file = join(folder, name);
      const whole = readFileSync(file);
      const refused = async (content: Buffer | undefined) => {
        if (content) writeFileSync(file, content);
        else rmSync(file);
        expect(await refusals()).toEqual([
          matching(/^The ledger e1 is out of order: .*is damaged.*Nothing was changed/),
        ]);
        expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(content);
      };
      await refused(undefined);
      for (let bytes = 0; bytes < whole.length - 1; bytes += Math.max(1, Math.floor(whole.length / 25)))
        await refused(whole.subarray(0, bytes));
      const flipped = Buffer.from(whole);
      flipped[whole.length >> 1]! ^= 1;
      if (!/^blocks-/.test(name)) await refused(flipped); // those are checked when they are read
      writeFileSync(file, whole);
    }
    renameSync(folder, join(dir, "elsewhere"));
    expect(await refusals()).toEqual([containing("the folder is missing")]);
    renameSync(join(dir, "elsewhere"), folder);
    expect(await refusals()).toEqual([]);
    const again = await chainsIn({}, store).chains.get(spec);
    expect(await again.call("eth_blockNumber")).toBe("0x13");
  });

  test("in a block of the past is said where it is read, and in a running ledger when it starts again", async () => {
    const pace = { blocks: 5, lookback: 4 };
    const store = emptyStore();
    const chain = await chainsIn(pace, store).chains.get(spec);
    const [from, to] = await accountsOf(chain);
    const folder = join(dir, "e1");
    const fileOf = (pattern: RegExp) =>
      join(
        folder,
        readdirSync(folder).find((name) => pattern.test(name))!,
      );
    const hashes: string[] = [];
    for (let block = 0; block < 18; block++)
      hashes.push(await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]));
    await until(() => readdirSync(folder).some((name) => /^blocks-1-.*hashes$/.test(name)));
    await closeAll();
    for (const [pattern, method, params] of [
      [/^blocks-1-.*gz$/, "eth_getBlockByNumber", ["0x1", false]],
      [/^blocks-1-.*hashes$/, "eth_getTransactionReceipt", [hashes[0]]],
    ] as const) {
      const file = fileOf(pattern);
      const whole = readFileSync(file);
      flip(file);
      const { chains, warnings } = chainsIn(pace, store);
      const again = await chains.get(spec);
      for (let time = 0; time < 2; time++)
        await expect(again.call(method, [...params])).rejects.toThrow(`out of order: ${file} is damaged`);
      expect(warnings).toEqual([containing(file)]);
      await again.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
      await closeAll();
      writeFileSync(file, whole);
    }
    const { chains, warnings } = chainsIn(pace, store);
    const again = await chains.get(spec);
    flip(fileOf(/^journal-/));
    kill();
    await until(() => warnings.length === 2);
    expect(warnings).toEqual([containing("is started again"), containing("out of order")]);
    for (let time = 0; time < 2; time++) await expect(again.call("eth_chainId")).rejects.toThrow(warnings[1]);
    await until(() => enginesOf(dir).length === 0); // the second attempt's engine ends, too
  });

  test("keys that are there before anything else stay, and are refused if they are cut", async () => {
    const accounts = await accountsOf(await chainsIn().chains.get(spec));
    await closeAll();
    for (const name of ["ledger.json", "journal-1.jsonl"]) rmSync(join(dir, "e1", name)); // a kill came before these
    const keys = join(dir, "e1", "genesis.json");
    const whole = readFileSync(keys);
    const cut = whole.subarray(0, whole.length >> 1);
    writeFileSync(keys, cut);
    await expect(chainsIn().chains.get(spec)).rejects.toThrow("it must hold the keys of the chain's accounts");
    expect(readFileSync(keys)).toEqual(cut);
    writeFileSync(keys, whole);
    expect(await accountsOf(await chainsIn().chains.get(spec))).toEqual(accounts);
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
