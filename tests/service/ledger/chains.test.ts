import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { Damaged } from "../../../service/errors";
import type { Chain, ChainSpec } from "../../../service/ledger/chains";
import { LedgerData } from "../../../service/ledger/ledger-data";
import { rpcCall } from "../../../service/ledger/rpc";
import { startService } from "../../../service/index";
import { Database } from "../../../service/storage/database";
import { allOf, chainsAt, closeAll, emptyStore, enginesOf, profile, since } from "./chains";
import { containing, newFolder } from "../helpers";
import { until } from "../../support/until";

let dir: string;
beforeEach(() => (dir = newFolder()));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 32, profile };

/** Ports that a process listens on. Linux. */
function portsOf(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  return ["tcp", "tcp6"].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, ...rest]) => state === "0A" && inodes.has(rest[5]))
      .map(([, local]) => parseInt(local!.split(":").at(-1)!, 16)),
  );
}

const answers = (host: string, port: number) =>
  new Promise<boolean>((done) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });

const processes = () => execFileSync("ps", ["-eww", "-o", "args="], { encoding: "utf8" });
const onLinux = process.platform === "linux";

test("web pages and other programs cannot reach a chain by an address", async () => {
  const { chains } = chainsAt(dir);
  const chain = await chains.get(spec);
  expect(chain.height).toBe(0);
  if (onLinux) {
    const own = Object.values(networkInterfaces()).flatMap((some) => some!.map(({ address }) => address));
    const places = [...own, "127.0.0.1", "0.0.0.0", "255.255.255.255", "::1"];
    const ports = portsOf(enginesOf(dir)[0]!);
    expect(ports).toHaveLength(1);
    const reached = await Promise.all(places.map(async (host) => [host, await answers(host, ports[0]!)]));
    expect(reached.filter(([, open]) => open)).toEqual([]);
  }
  const [, folder = ""] = new RegExp(`--init ${dir}.* --ipc (.*)/\\d+`).exec(processes())!;
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a chain's keys are random, the same at each start, and in one file that only its owner can read", async () => {
  const [one, two] = [chainsAt(dir), chainsAt(newFolder())];
  const [chain, elsewhere] = [await one.chains.get(spec), await two.chains.get(spec)];
  const accounts = await chain.call<string[]>("eth_accounts");
  expect(accounts).toHaveLength(32);
  expect((await elsewhere.call<string[]>("eth_accounts")).filter((one) => accounts.includes(one))).toEqual([]);
  const [from, to] = accounts;
  const hash = await chain.call<string>("eth_sendTransaction", [{ from, to, value: "0x5", gasPrice: "0x0" }]);

  const { alloc } = JSON.parse(readFileSync(join(dir, "e1", "genesis.json"), "utf8")) as {
    alloc: Record<string, { secretKey: string }>;
  };
  const keys = Object.values(alloc).map(({ secretKey }) => secretKey.slice(2));
  const isSecret = (text: string) => keys.some((key) => text.includes(key)) || /mnemonic|junk|private key/i.test(text);
  await until(() => chain.lines.join("\n").includes(hash));
  expect(chain.lines.filter(isSecret)).toEqual([]);
  expect(
    processes()
      .split("\n")
      .filter((line) => line.includes("anvil") && isSecret(line)),
  ).toEqual([]);
  await one.chains.close();
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).map((name) => join(dir, name));
  for (const folder of ["e1", "e1/database"]) expect(statSync(join(dir, folder)).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, "e1", "genesis.json")).mode & 0o777).toBe(0o600);
  for (const file of files.filter((name) => statSync(name).isFile())) {
    if (!file.endsWith("genesis.json")) expect(isSecret(readFileSync(file, "latin1"))).toBe(false);
  }

  const again = await chainsAt(dir).chains.get(spec);
  expect(await again.call("eth_accounts")).toEqual(accounts);
  expect(await again.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1", blockNumber: "0x1" });
});

test.each([
  ["chains", "must be a folder"],
  ["accounts", "must be a folder"],
])("a file in place of the folder %s is reported in one sentence", async (name, message) => {
  writeFileSync(join(dir, name), "");
  await expect(startService({ dataDir: dir, ledger: true })).rejects.toThrow(message);
  rmSync(join(dir, name));
  await (await startService({ dataDir: dir, ledger: true })).close();
});

test("a call at the latest block is answered while blocks come, also without a history", async () => {
  const chain = await chainsAt(dir).chains.get({ ...spec, profile: undefined });
  const [from, to] = await chain.call<string[]>("eth_accounts");
  let ended = false;
  const asking = Array.from({ length: 4 }, async () => {
    while (!ended) await chain.call("eth_call", [{ to }, "latest"]);
  });
  for (let block = 0; block < 60; block++) await chain.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  ended = true;
  await Promise.all(asking);
});

test("a chain that is needed while it is ending starts again afterwards", async () => {
  const { chains } = chainsAt(dir);
  const first = await chains.get(spec);
  const ended = chains.stop("e1");
  const [again, same] = await Promise.all([chains.get(spec), chains.get(spec), ended]);
  expect(again).toBe(same);
  expect(again).not.toBe(first);
  expect(again.height).toBe(0);
});

test("a ledger that an earlier build has kept is not read, and the error says so", async () => {
  const { chains } = chainsAt(dir);
  await chains.get(spec);
  await chains.close();
  const database = await Database.open(join(dir, "e1", "database"));
  await database.write([["format", undefined]]);
  await database.close();
  const { chains: again, warnings } = chainsAt(dir);
  for (let time = 0; time < 2; time++)
    await expect(again.get(spec)).rejects.toThrow(/an earlier version of this service made .*delete its environment/);
  expect(warnings).toHaveLength(1);
});

test("of the snapshots that a start could begin with, the three latest are kept", async () => {
  const data = await LedgerData.open(join(dir, "e1"), spec, false);
  for (const number of [10, 20, 30, 40, 50, 60])
    await data.snapshot({ number, hash: "0x", timestamp: 0, gas: 0 }, [], Buffer.from(`${number}`), 15);
  expect((await data.snapshots()).map(({ number }) => number)).toEqual([60, 50, 40, 30, 20]);
  await data.close();
});

/** A contract that stores and logs the hash of an earlier block, the time, and the random number. */
const noting = (() => {
  const code = "60034303404355444362010000015542600052600560206000a100";
  return `0x60${(code.length / 2).toString(16)}600c60003960${(code.length / 2).toString(16)}6000f3${code}`;
})();

test.each([
  ["without fees", spec],
  ["with fees", { ...spec, profile: undefined }],
])("%s, a ledger whose contract looks back in every block starts with the same blocks, twice", async (_, kind) => {
  const start = () => chainsAt(dir, { blocks: 6, lookback: 2 }).chains.get(kind);
  let chain = await start();
  const accounts = await chain.call<string[]>("eth_accounts");
  const [from] = accounts;
  const deployed = await chain.call<string>("eth_sendTransaction", [{ from, data: noting }]);
  type Receipt = { contractAddress: string; blockHash: string };
  const { contractAddress: to, blockHash } = await chain.call<Receipt>("eth_getTransactionReceipt", [deployed]);
  const send = () => chain.call<string>("eth_sendTransaction", [{ from, to, gas: "0x20000" }]);
  for (let block = 0; block < 30; block++) await send();
  for (let time = 0; time < 2; time++) {
    const seen = await allOf(chain, accounts);
    await closeAll();
    chain = await start();
    expect(since(seen, await allOf(chain, accounts))).toEqual([]);
    expect(await chain.call("eth_getBlockByHash", [blockHash, false])).toMatchObject({ number: "0x1" });
    expect(chain.lines.join("\n")).toContain("because later blocks look further back");
    await send();
  }
});

test("a block that is damaged while its ledger runs is reported, and the rest is served", async () => {
  const store = emptyStore();
  const first = await chainsAt(dir, {}, store).chains.get(spec);
  const [from, to] = await first.call<string[]>("eth_accounts");
  const send = (one: Chain) => one.call<string>("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  for (let block = 0; block < 18; block++) await send(first);
  await closeAll();
  const again = await chainsAt(dir, {}, store).chains.get(spec);
  const real = Object.getOwnPropertyDescriptor(Database.prototype, "get")!.value as Database["get"];
  const reading = jest.spyOn(Database.prototype, "get").mockImplementation(function (this: Database, name: string) {
    if (name.startsWith("block/") && name.endsWith("007")) throw new Damaged("Block 7 is damaged");
    return real.call(this, name);
  });
  const block = (number: string) => again.call("eth_getBlockByNumber", [number, false]);
  for (let time = 0; time < 2; time++) await expect(block("0x7")).rejects.toThrow("out of order: Block 7 is damaged");
  expect(await block("0x8")).toMatchObject({ number: "0x8" });
  await send(again);
  reading.mockRestore();
});

test("a sweep leaves folders that no ledger has made", async () => {
  const store = emptyStore();
  await chainsAt(dir, {}, store).chains.get(spec);
  await closeAll();
  cpSync(join(dir, "e1"), join(dir, "unknown"), { recursive: true });
  await chainsAt(dir, {}, store).chains.sweep(() => false);
  expect(readdirSync(dir)).toEqual(["unknown"]);
});

describe("a start that replays much", () => {
  const member = { bytes: 1e6, ms: 60_000 };
  const ask = async (chain: Chain, method: string, ...params: unknown[]) => ({
    result: await chain.ask(rpcCall(method, params), member),
  });
  const starting = { status: 503, retryAfter: expect.any(Number) as number, message: containing("is starting") };

  test("answers at once what is kept, refuses the rest until its end, and says so", async () => {
    const store = emptyStore();
    const first = await chainsAt(dir, {}, store).chains.get(spec);
    const [from, to] = await first.call<string[]>("eth_accounts");
    const hashes: string[] = [];
    for (let sent = 0; sent < 12; sent++)
      hashes.push(await first.call<string>("eth_sendTransaction", [{ from, to, value: "0x1" }]));
    const seen = await allOf(first, []);
    await closeAll();
    const { chains, warnings } = chainsAt(dir, { patience: 12 }, store);
    const chain = await chains.get(spec);
    for (let time = 0; time < 2; time++) {
      expect([chain.height, chain.accounts[0]]).toEqual([12, from]);
      expect(await allOf(chain, [])).toEqual(seen);
      expect(await ask(chain, "eth_getTransactionReceipt", hashes[time])).toMatchObject({ result: { status: "0x1" } });
      expect(await ask(chain, "eth_chainId")).toMatchObject({ result: "0x1267" });
      const refused = [
        ask(chain, "eth_getBalance", to, "latest"),
        ask(chain, "eth_sendTransaction", { from, to }),
        chain.give(to!, 1n),
      ];
      for (const one of refused) await expect(one).rejects.toMatchObject(starting);
      expect(chain.lines.at(-1)).toContain("is starting: it executes 24 entries again");
      expect(await chain.call("eth_getBalance", [to, "0xc"])).toEqual(
        await chain.call("eth_getBalance", [to, "latest"]),
      );
      expect(await ask(chain, "eth_getBalance", to, "latest")).toMatchObject({ result: containing("0x") });
      for (const engine of enginesOf(dir)) process.kill(engine, "SIGKILL");
      await until(() => warnings.length === 2 * time + 3);
    }
    expect(warnings.map((text) => text.replace(/:.*/, ""))).toEqual([
      "The ledger e1 is starting",
      "Restarting the ledger e1",
      "The ledger e1 is starting",
      "Restarting the ledger e1",
      "The ledger e1 is starting",
    ]);
  });

  test("a short one is waited for", async () => {
    const store = emptyStore();
    const first = await chainsAt(dir, {}, store).chains.get(spec);
    const [from, to] = await first.call<string[]>("eth_accounts");
    for (let sent = 0; sent < 2; sent++) await first.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
    await closeAll();
    const chain = await chainsAt(dir, { patience: 4 }, store).chains.get(spec);
    expect(await ask(chain, "eth_getTransactionCount", from, "latest")).toMatchObject({ result: "0x2" });
  });
});
