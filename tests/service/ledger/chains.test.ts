import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { ChainSpec } from "../../../service/ledger/chains";
import { startService } from "../../../service/index";
import { Database } from "../../../service/storage/database";
import { chainsAt, enginesOf, profile } from "./chains";
import { newFolder } from "../helpers";
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
  const database = await Database.open(join(dir, "e1", "database"), (name) => name);
  await database.write([["format", undefined]]);
  await database.close();
  const { chains: again, warnings } = chainsAt(dir);
  for (let time = 0; time < 2; time++)
    await expect(again.get(spec)).rejects.toThrow(/an earlier version of this service made .*delete its environment/);
  expect(warnings).toHaveLength(1);
});
