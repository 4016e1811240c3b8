import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { findAnvil } from "../../../service/ledger/binary";
import { Chains, type ChainSpec } from "../../../service/ledger/chains";
import { startService } from "../../../service";
import { until } from "../helpers";
import { isAlive } from "../ledgers";

jest.setTimeout(60_000);

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "consortium-chains-test-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

const open: Chains[] = [];
afterEach(() => Promise.all(open.splice(0).map((chains) => chains.close())));

const spec: ChainSpec = { key: "e1", chainId: 4_711, accounts: 32, free: true };

/** Chains in the test's folder. */
function chainsIn(folder = dir) {
  const warnings: string[] = [];
  const chains = new Chains(findAnvil(undefined)!, folder, (text) => warnings.push(text));
  open.push(chains);
  const pid = () => Number(readFileSync(join(folder, spec.key, "pid"), "utf8"));
  return { chains, warnings, pid };
}

const height = async (chain: Awaited<ReturnType<Chains["get"]>>) => Number(await chain.call<string>("eth_blockNumber"));

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

test("whatever a chain is asked, each has its own answer, at once", async () => {
  const { chains } = chainsIn();
  const chain = await chains.get(spec);
  const asked = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "eth_chainId", params: [] });
  const strange = [
    "",
    "{",
    "5",
    "null",
    "[]",
    "[1]",
    "[[",
    '{"a":"}{"}',
    "[".repeat(5_000),
    '{"jsonrpc":"2.0","method":"eth_chainId"}',
  ];
  strange.push(`[${strange.at(-1)!}]`, '{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["\\ud800"]}');
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, id) => [
      JSON.parse(await chain.ask(asked(id))) as unknown,
      JSON.parse(await chain.ask(strange[id % strange.length]!)) as unknown,
    ]),
  );
  answers.forEach(([good, bad], id) => {
    expect(good).toEqual({ jsonrpc: "2.0", id, result: "0x1267" });
    expect(bad).toMatchObject({ error: { code: expect.any(Number) as number } });
  });
});

const onLinux = process.platform === "linux";

test("no web page and no other program reaches a chain by an address", async () => {
  const { chains, pid } = chainsIn();
  const chain = await chains.get(spec);
  expect(await height(chain)).toBe(0);
  if (onLinux) {
    const own = Object.values(networkInterfaces()).flatMap((some) => some!.map(({ address }) => address));
    const places = [...own, "127.0.0.1", "0.0.0.0", "255.255.255.255", "::1"];
    const ports = portsOf(pid());
    expect(ports).toHaveLength(1);
    const reached = await Promise.all(places.map(async (host) => [host, await answers(host, ports[0]!)]));
    expect(reached.filter(([, open]) => open)).toEqual([]);
  }
  const folder = join(chain.socketPath, "..");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a chain's keys are random, the same at each start, and in one file that only its owner reads", async () => {
  const other = mkdtempSync(join(tmpdir(), "consortium-chains-test-"));
  try {
    const [one, two] = [chainsIn(), chainsIn(other)];
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
    const isSecret = (text: string) =>
      keys.some((key) => text.includes(key)) || /mnemonic|junk|private key/i.test(text);
    await until(() => Promise.resolve(chain.lines.join("\n").includes(hash)));
    expect(chain.lines.filter(isSecret)).toEqual([]);
    const processes = execFileSync("ps", ["-eww", "-o", "args="], { encoding: "utf8" });
    expect(processes.split("\n").filter((line) => line.includes("anvil") && isSecret(line))).toEqual([]);
    await one.chains.close();
    const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).map((name) => join(dir, name));
    for (const file of files.filter((name) => statSync(name).isFile())) {
      expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
      if (!file.endsWith("genesis.json")) expect(isSecret(readFileSync(file, "latin1"))).toBe(false);
    }

    const again = await chainsIn().chains.get(spec);
    expect(await again.call("eth_accounts")).toEqual(accounts);
    expect(await again.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1", blockNumber: "0x1" });
  } finally {
    await Promise.all(open.splice(0).map((chains) => chains.close()));
    rmSync(other, { recursive: true, force: true });
  }
});

test("a killed chain loses what was not on disk, and says both heights; nothing older is lost", async () => {
  const { chains, warnings, pid } = chainsIn();
  const first = await chains.get(spec);
  await first.call("anvil_mine", ["0x3"]);
  await until(() => Promise.resolve(existsSync(join(dir, "e1", "state.gz"))));
  await first.call("anvil_mine", ["0x4"]);
  const gone = pid();
  process.kill(gone, "SIGKILL");
  await until(() => Promise.resolve(first.lines.some((line) => line.includes("SIGKILL"))));
  const second = await chains.get(spec);
  const now = await height(second);
  expect(now).toBeGreaterThanOrEqual(3);
  expect(now).toBeLessThan(7);
  const text = `The chain e1 went back from block 7 to block ${now}`;
  expect(warnings).toEqual([expect.stringContaining(text)]);
  expect(second.lines.join("\n")).toContain(text);
});

test("a state that cannot be written is a problem until it can be", async () => {
  const { chains, warnings } = chainsIn();
  const chain = await chains.get(spec);
  renameSync(join(dir, "e1"), join(dir, "away"));
  await chain.call("anvil_mine", ["0x3"]);
  await until(() => Promise.resolve(chain.problem !== undefined));
  expect(chain.problem).toMatch(/The state of the chain e1 cannot be written to .*: ENOENT.*it is tried again/);
  expect(warnings).toEqual([chain.problem]);
  renameSync(join(dir, "away"), join(dir, "e1"));
  await until(() => Promise.resolve(chain.problem === undefined));
  expect(existsSync(join(dir, "e1", "state.gz"))).toBe(true);
});

test("a chain that is ended in good order loses nothing and says nothing", async () => {
  const before = chainsIn();
  await (await before.chains.get({ ...spec, period: 1 })).call("anvil_mine", ["0x9"]);
  await before.chains.close();
  expect(isAlive(before.pid())).toBe(false);
  const { chains, warnings } = chainsIn();
  const chain = await chains.get({ ...spec, period: 1 });
  expect(await height(chain)).toBeGreaterThanOrEqual(9);
  expect([...warnings, ...chain.lines.filter((line) => line.includes("went back"))]).toEqual([]);
  const [last, now] = [await chain.call<{ timestamp: string }>("eth_getBlockByNumber", ["latest", false]), Date.now()];
  expect(Math.abs(Number(last.timestamp) * 1_000 - now)).toBeLessThan(60_000);
});

test("many blocks take little memory and no files beside the state", async () => {
  const { chains, pid } = chainsIn();
  const chain = await chains.get({ ...spec, period: 1 });
  const resident = () => Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid()}`], { encoding: "utf8" }));
  await chain.call("anvil_mine", ["0x64"]);
  const before = resident();
  await chain.call("anvil_mine", ["0x5dc"]);
  expect(resident() - before).toBeLessThan(25_000); // kB; 350,000 with all states
  const block = await chain.call<{ hash: string }>("eth_getBlockByNumber", ["0x5", false]);
  expect(block.hash).toMatch(/^0x/);
  await chains.close();
  const allowed = ["genesis.json", "height", "pid", "state.gz", "state.last.gz"];
  expect(readdirSync(join(dir, "e1")).filter((name) => !allowed.includes(name))).toEqual([]);
});

test.each([
  ["chains", "must be a folder"],
  ["accounts", "must be a folder"],
])("a file in place of the folder %s is said in a sentence", async (name, message) => {
  writeFileSync(join(dir, name), "");
  await expect(startService({ dataDir: dir, ledger: true })).rejects.toThrow(message);
  rmSync(join(dir, name));
  await (await startService({ dataDir: dir, ledger: true })).close();
});

test("damaged keys are said in a sentence, and stay", async () => {
  const service = await startService({ dataDir: dir, ledger: true, tethers: [{ id: "tether0001" }] });
  const account = await fetch(`${service.baseUrl}/tether/tether0001/account`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  expect(account.status).toBe(200);
  await service.close();
  const file = join(dir, "accounts", "tether0001.key");
  writeFileSync(file, "0x12\n");
  await expect(startService({ dataDir: dir, ledger: true })).rejects.toThrow(
    `${file} is damaged: it must hold a private key`,
  );
  expect(readFileSync(file, "utf8")).toBe("0x12\n");
});
