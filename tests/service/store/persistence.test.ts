import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Service, startService, type ServiceOptions } from "../../../service/index";
import { Journal } from "../../../service/store/journal";
import { ledger as golden } from "../../golden/service.mjs";
import { basic, client, clocked, furnished, newFolder, populated, start, type Wire } from "../helpers";
import { result } from "../ledgers";
import { ways } from "../tethered";

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

/** Starts a service on the folder, and a client with its key. */
const open = (options: ServiceOptions = {}) => start({ dataDir, ...options });

describe("a restart", () => {
  test("keeps objects, keys, credentials and reports", async () => {
    const options = { tethers: [{ id: "tether0001", environment: "test" }] };
    const before = await furnished({ dataDir, ...options });
    const { all: paths, credential, environment, node, clock } = before;
    clock.pass(10_000);
    const { configure, post } = ways(before.send);
    await configure();
    for (const action of ["/deploy", "/activate"]) await post(action);
    await before.send("PATCH", paths.membership, { org_name: "renamed" });
    const ofTether = ["", "/account", "/reports/0"].map((part) => `/tether/tether0001${part}`);
    const seen = [...Object.values(paths), "/consortia", ...ofTether];
    const look = ({ send, service }: Awaited<ReturnType<typeof open>>) =>
      Promise.all(seen.map(async (path) => (await send("GET", path)).text.replaceAll(`:${service.port}/`, "")));
    const all = await look(before);
    await before.service.close();

    const after = await open({ clock: clock.now, ...options });
    expect(after.service.apiKey).toBe(before.service.apiKey);
    expect(await look(after)).toEqual(all);
    const { username, password } = credential;
    const knock = await fetch(`${after.service.url}/runtime/${environment}/${node}`, {
      headers: basic(username, password),
    });
    expect(knock.status).toBe(501);
  });

  test("keeps the time at which a node will be started", async () => {
    const { service, clock, paths } = await clocked({ dataDir, timing: { nodeStart: 10_000 } });
    clock.pass(6_000);
    await service.close();
    const { send } = await open({ clock: clock.now, timing: { nodeStart: 60_000 } });
    clock.pass(3_999);
    expect((await send("GET", paths.node)).body.state).toBe("initializing");
    clock.pass(1);
    expect((await send("GET", paths.node)).body.state).toBe("started");
  });

  test("keeps organizations that were added, and rotated keys; a given key replaces the kept one", async () => {
    const before = await open();
    const added = before.service.addOrganization("acme");
    const key = before.service.rotateKey("local");
    await before.service.close();
    const after = await open();
    expect(after.service.apiKey).toBe(key);
    expect(after.service.organizations[1]).toEqual(added);
    await after.service.close();
    const given = await open({ organizations: [{ name: "local", apiKey: "given" }] });
    expect((await client(given.service.baseUrl, key)("GET", "/consortia")).status).toBe(401);
    expect((await given.send("GET", "/consortia")).status).toBe(200);
  });

  test("binds a tether to another environment when the options say so, and keeps its money", async () => {
    const before = await open({ tethers: [{ id: "t", environment: "a", funds: { rinkeby: "7" } }] });
    await before.service.close();
    const { service } = await open({ tethers: [{ id: "t", environment: "b", funds: { rinkeby: "9" } }] });
    expect(service.store.tethers.get("t").fields).toMatchObject({ environmentName: "b", balances: { rinkeby: "7" } });
  });
});

const format = { format: "consortium-service", version: 2 };
const whole = {
  kind: "organization",
  id: "o1",
  parent: "",
  organization: "",
  state: "active",
  fields: { name: "local" },
  createdAt: 1,
  changedAt: 1,
  revision: 0,
};

/** The text of a state file with these records, whose checksums are right. */
function stateFile(...records: object[]): string {
  const file = join(dataDir, "made.jsonl");
  Journal.create(file, format, records).close();
  const text = readFileSync(file, "utf8");
  rmSync(file);
  return text;
}

describe("files", () => {
  test("only their owner may read them, and they hold no password", async () => {
    const { service, credential } = await populated({ dataDir });
    service.rotateKey("local");
    const files = readdirSync(dataDir);
    expect(files.sort()).toEqual(["api-key", "api-keys.json", "lock", "lock.held", "state.jsonl"]);
    for (const file of files.filter((name) => name !== "lock.held"))
      expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    expect(readFileSync(join(dataDir, "api-key"), "utf8").trim()).toBe(service.apiKey);
    const state = readFileSync(join(dataDir, "state.jsonl"), "utf8");
    expect(state).not.toContain(credential.password);
    expect(state).not.toContain(service.apiKey);
  });

  test("stay short however often something changes", async () => {
    const { service, membership, paths } = await populated({ dataDir });
    for (let change = 0; change < 3_000; change++)
      service.store.memberships.patch(membership, { org_name: `name ${change}` });
    const lines = readFileSync(join(dataDir, "state.jsonl"), "utf8").trim().split("\n");
    expect(lines.length).toBeLessThan(1_100);
    await service.close();
    const { body } = await (await open()).send("GET", paths.membership);
    expect(body).toMatchObject({ org_name: "name 2999", _revision: "3000" });
    expect(readFileSync(join(dataDir, "state.jsonl"), "utf8").trim().split("\n")).toHaveLength(7);
  });

  test("a line that was torn by a crash is left out, and the next one is whole", async () => {
    const before = await open();
    await before.send("POST", "/consortia", { name: "a" });
    await before.service.close();
    appendFileSync(join(dataDir, "state.jsonl"), '{"kind":"consortium","id":"c1","par');
    const between = await open();
    await between.send("POST", "/consortia", { name: "b" });
    await between.service.close();
    const { send } = await open();
    expect((await send("GET", "/consortia")).body).toMatchObject([{ name: "a" }, { name: "b" }]);
  });

  const former = `{"format":"consortium-service","version":1}\n${JSON.stringify(whole)}\n`;
  const lineOne = /state.jsonl is damaged in line 1: it does not/;
  const noObject = /state.jsonl is damaged in line 3: it is not an object of the service/;

  test.each<[string, () => string, RegExp, file?: string]>([
    ["state.jsonl of another program", () => "hello\n", lineOne],
    ["state.jsonl of version 0.1.0", () => former, lineOne],
    [
      "state.jsonl with a changed letter",
      () => stateFile(whole).replace("local", "lokal"),
      /line 2: its checksum is wrong/,
    ],
    ["state.jsonl without objects", () => stateFile(), /state.jsonl is damaged in line 2: it ends there/],
    ["state.jsonl with half a first line", () => stateFile().trim(), /state.jsonl is damaged: its first line is cut/],
    ["state.jsonl with nothing in a line", () => stateFile(whole, {}, whole), noObject],
    ["state.jsonl with half an object", () => stateFile(whole, { kind: "node", id: "n1" }, whole), noObject],
    ["state.jsonl with an unknown kind", () => stateFile(whole, { ...whole, kind: "chain" }, whole), noObject],
    ["list of API keys", () => "[1]", /api-keys.json is damaged/, "api-keys.json"],
    ["api-keys.json that is no JSON", () => "{", /api-keys.json is damaged/, "api-keys.json"],
  ])("a %s is a clear error, changes nothing, leaves no lock", async (_what, made, message, file = "state.jsonl") => {
    const text = made();
    writeFileSync(join(dataDir, file), text);
    const ledger = join(dataDir, "chains", "e1");
    mkdirSync(ledger, { recursive: true });
    await expect(startService({ dataDir, ledger: true })).rejects.toThrow(message);
    expect(existsSync(ledger)).toBe(true);
    expect(readFileSync(join(dataDir, file), "utf8")).toBe(text);
    rmSync(join(dataDir, file));
    await open();
  });

  test("a folder that cannot be one is a clear error", async () => {
    const file = join(dataDir, "file");
    writeFileSync(file, "");
    await expect(startService({ dataDir: file })).rejects.toThrow(`The data folder ${file} cannot be used`);
  });
});

test("a service that is stopped writes nothing more", async () => {
  const { service, consortium } = await populated({ dataDir });
  await service.close();
  const before = readFileSync(join(dataDir, "state.jsonl"), "utf8");
  expect(() => service.store.consortia.patch(consortium, { name: "late" })).toThrow("the service is stopping");
  expect(readFileSync(join(dataDir, "state.jsonl"), "utf8")).toBe(before);
});

const month = 30 * 24 * 3_600_000;

test("a machine whose clock is set back by 30 days keeps keys and objects, and what is deleted stays deleted, while it runs and after a restart", async () => {
  const before = await clocked({ dataDir, timing: { nodeStart: 1_000 } });
  const { clock, paths, membership } = before;
  clock.pass(1_000);
  expect((await before.send("DELETE", paths.credential)).status).toBe(204);
  const look = async (send: typeof before.send) => {
    expect((await send("GET", paths.node)).body.state).toBe("started");
    expect((await send("GET", paths.credential)).status).toBe(404);
    expect((await send("GET", "/consortia")).body).toHaveLength(1);
  };
  clock.pass(-month);
  await look(before.send);
  await before.service.close();
  const after = await open({ clock: clock.now, timing: { nodeStart: 1_000 } });
  await look(after.send);
  const made = await after.send("POST", `${paths.environment}/nodes`, { membership_id: membership });
  const fresh = `${paths.environment}/nodes/${made.body._id}`;
  expect((await after.send("GET", fresh)).body.state).toBe("initializing");
  clock.pass(1_000);
  expect((await after.send("GET", fresh)).body.state).toBe("started");
});

describe("a folder in which something is missing", () => {
  const opened = () => startService({ dataDir });
  /** The contents of the folder, besides the lock. */
  const content = () =>
    readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("lock") && statSync(join(dataDir, name)).isFile())
      .map((name) => [name, readFileSync(join(dataDir, name)).toString("hex")]);

  test("is refused and left as it is, wherever state.jsonl is cut", async () => {
    const { service } = await populated({ dataDir, tethers: [{ id: "tether0001" }] });
    await service.close();
    const file = join(dataDir, "state.jsonl");
    const whole = readFileSync(file);
    for (let bytes = 0; bytes < whole.length; bytes += 7) {
      writeFileSync(file, whole.subarray(0, bytes));
      expect(() => Journal.read(file, format, () => undefined)).toThrow("is damaged");
    }
    const ends = [...whole.keys()].filter((at) => whole[at] === 10).map((at) => at + 1);
    for (const bytes of [0, ...ends.slice(0, -1), whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, bytes));
      const before = content();
      await expect(opened()).rejects.toThrow(/state.jsonl is damaged/);
      expect(content()).toEqual(before);
    }
    for (const missing of ["state.jsonl", "api-keys.json"]) {
      writeFileSync(file, whole);
      const kept = readFileSync(join(dataDir, missing));
      rmSync(join(dataDir, missing));
      const before = content();
      await expect(opened()).rejects.toThrow(/is damaged: .*Nothing was changed/);
      expect(content()).toEqual(before);
      writeFileSync(join(dataDir, missing), kept);
    }
    await (await opened()).close();
  });

  test("is refused without the key of a tether's account, or with another one", async () => {
    const { service, send } = await open({ ledger: true, tethers: [{ id: "tether0001" }] });
    const { account } = (await send("GET", "/tether/tether0001")).body;
    await service.close();
    const file = join(dataDir, "accounts", "tether0001.key");
    const key = readFileSync(file, "utf8");
    for (const other of [undefined, key.replace(/..$/m, (end) => (end === "00" ? "11" : "00")), "0x12\n"]) {
      if (other === undefined) rmSync(file);
      else writeFileSync(file, other);
      const before = content();
      await expect(startService({ dataDir, ledger: true })).rejects.toThrow(`${file} is damaged`);
      await expect(startService({ dataDir })).rejects.toThrow(`${file} is damaged`);
      expect(content()).toEqual(before);
    }
    writeFileSync(file, key);
    const again = await open({ ledger: true });
    expect((await again.send("GET", "/tether/tether0001")).body.account).toBe(account);
  });
});

test("a link to state.jsonl stays a link, and what is planted beside a file is not followed", async () => {
  const elsewhere = newFolder();
  const before = await open();
  await before.service.close();
  const file = join(dataDir, "state.jsonl");
  renameSync(file, join(elsewhere, "kept.jsonl"));
  symlinkSync(join(elsewhere, "kept.jsonl"), file);
  const victim = join(elsewhere, "victim");
  writeFileSync(victim, "precious");
  for (const name of ["api-keys.json.new", "state.jsonl.new"]) symlinkSync(victim, join(dataDir, name));
  const { service, membership, paths } = await populated({ dataDir });
  for (let change = 0; change < 1_100; change++)
    service.store.memberships.patch(membership, { org_name: `name ${change}` });
  service.rotateKey("local");
  await service.close();
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(victim, "utf8")).toBe("precious");
  const after = await open();
  expect((await after.send("GET", paths.membership)).body).toMatchObject({ org_name: "name 1099" });
});

test("a folder of version 0.3.0 opens with its ledgers, and both go on", async () => {
  const kept = join(__dirname, "../../golden/0.3.0");
  cpSync(join(kept, "ledger"), dataDir, { recursive: true });
  const seen = JSON.parse(readFileSync(join(kept, "ledger.json"), "utf8")) as {
    environment: string;
    node: string;
    username: string;
    password: string;
    blocks: [transaction: string, block: string][];
    report: object;
  };
  const opened = () => open(golden.service);
  const { service, send } = await opened();
  const url = ({ port }: Service) => `http://127.0.0.1:${port}/runtime/${seen.environment}/${seen.node}`;
  const look = async (of: Service) => {
    const receipt = (hash: string) => result<Wire>(url(of), seen, "eth_getTransactionReceipt", hash);
    return Promise.all(seen.blocks.map(async ([hash]) => [hash, (await receipt(hash)).blockHash]));
  };
  expect(await look(service)).toEqual(seen.blocks);
  expect((await send("GET", `/tether/${golden.tetherId}/reports/0`)).body).toEqual(seen.report);
  const [from] = await result<string[]>(url(service), seen, "eth_accounts");
  const sent = await result<string>(url(service), seen, "eth_sendTransaction", { from, to: from });
  await send("POST", "/consortia", { name: "second" });
  await service.close();

  const after = await opened();
  expect(await look(after.service)).toEqual(seen.blocks);
  expect(await result(url(after.service), seen, "eth_getTransactionReceipt", sent)).toMatchObject({ status: "0x1" });
  expect((await after.send("GET", "/consortia")).body).toMatchObject([{ name: "trade" }, { name: "second" }]);
});
