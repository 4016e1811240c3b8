import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeAddress } from "ethers";
import { startService, type ServiceOptions } from "../../../service/index";
import { SteadyClock } from "../../../service/storage/steady-clock";
import { Store } from "../../../service/store/store";
import { AccountKeys } from "../../../service/tether/accounts";
import { newTether } from "../../../service/tether/tethering";
import {
  FakeClock,
  basic,
  build,
  client,
  clocked,
  containing,
  furnished,
  matching,
  newFolder,
  objectsIn,
  populated,
  start,
} from "../helpers";
import { ways } from "../tethered";
import { built, consortium, serveJson } from "../child";

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

  test("keeps the start time of a node", async () => {
    const { service, clock, paths } = await clocked({ dataDir, timing: { nodeStart: 10_000 } });
    clock.pass(6_000);
    await service.close();
    const { send } = await open({ clock: clock.now, timing: { nodeStart: 60_000 } });
    clock.pass(3_999);
    expect((await send("GET", paths.node)).body.state).toBe("initializing");
    clock.pass(1);
    expect((await send("GET", paths.node)).body.state).toBe("started");
  });

  test("keeps the order of creation, of objects from before and from after it", async () => {
    const clock = new FakeClock();
    const options = { clock: clock.now, limits: { consortia: 20 } };
    const names = Array.from({ length: 18 }, (_, at) => `c${at}`);
    for (let run = 0; run < 3; run++) {
      const { service, send } = await open(options);
      for (const name of names.slice(6 * run, 6 * run + 6)) {
        const { body } = await send("POST", "/consortia", { name });
        if (/^c[0-3]$/.test(name)) await send("DELETE", `/consortia/${body._id}`);
      }
      await service.close();
      clock.pass(2 * 3_600_000); // then what is deleted is forgotten
    }
    const { send } = await open(options);
    expect((await send("GET", "/consortia")).body.map(({ name }) => name)).toEqual(names.slice(4));
  });

  test("keeps added organizations and rotated keys; an explicit key replaces the stored one", async () => {
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

  test("binds a tether to another environment if the options change, even an active one, and keeps its money", async () => {
    const id = "tether0001";
    const before = await open({ tethers: [{ id, environment: "test", funds: { mainnet: "7" } }] });
    const { paths } = await build(before.send);
    const other = { name: "b", provider: "geth", consensus_type: "poa" };
    await before.send("POST", `${paths.consortium}/environments`, other);
    const { configure, post } = ways(before.send);
    await configure();
    for (const action of ["/deploy", "/activate"]) expect((await post(action)).status).toBe(200);
    await before.service.close();
    for (const environment of ["b", "test"]) {
      const { service } = await open({ tethers: [{ id, environment, funds: { mainnet: "9" } }] });
      expect(service.store.tethers.environmentOf(id)?.fields.name).toBe(environment);
      expect(service.store.tethers.get(id).fields.balances.mainnet).toBe("7");
      await service.close();
    }
  });
});

describe("files", () => {
  test("only their owner can read them, and they contain no password", async () => {
    const { service, credential } = await populated({ dataDir });
    service.rotateKey("local");
    await service.close();
    expect(readdirSync(dataDir).sort()).toEqual(["api-key", "objects"]);
    expect(statSync(join(dataDir, "objects")).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "api-key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "api-key"), "utf8").trim()).toBe(service.apiKey);
    const database = await objectsIn(dataDir);
    for await (const [, value] of database.entries("", "~"))
      expect(value.toString()).not.toContain(credential.password);
    await database.close();
  });

  test("the current keys of several organizations are in one file", async () => {
    const file = join(dataDir, "api-keys.json");
    const keysIn = () => JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
    const service = await startService({ dataDir, organizations: [{ name: "acme" }, { name: "globex", apiKey: "g" }] });
    expect(keysIn()).toEqual({ acme: service.apiKey, globex: "g" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const rotated = service.rotateKey("globex");
    expect(keysIn()).toEqual({ acme: service.apiKey, globex: rotated });
    const { apiKey } = service.addOrganization("initech");
    expect(keysIn()).toEqual({ acme: service.apiKey, globex: rotated, initech: apiKey });
    await service.close();
  });

  test.each([
    ["no JSON", "node/n1", "{"],
    ["half an object", "node/n1", '{"kind":"node","id":"n1"}'],
    ["an object of an unknown kind", "chain/c1", JSON.stringify({ kind: "chain", id: "c1" })],
  ])("%s is an error that names it, and changes nothing", async (_what, key, value) => {
    await (await startService({ dataDir })).close();
    const database = await objectsIn(dataDir);
    await database.write([[key, value]]);
    await database.close();
    await expect(startService({ dataDir })).rejects.toThrow(
      `The ${key.replace("/", " ")} is damaged: it is not an object`,
    );
    const again = await objectsIn(dataDir);
    await again.write([[key, undefined]]);
    await again.close();
    await open();
  });

  test("an unusable folder is a clear error", async () => {
    const file = join(dataDir, "file");
    writeFileSync(file, "");
    await expect(startService({ dataDir: file })).rejects.toThrow("cannot be used");
  });
});

test("a stopped service writes nothing more", async () => {
  const { service, consortium } = await populated({ dataDir });
  await service.close();
  expect(() => service.store.consortia.patch(consortium, { name: "late" })).toThrow("the service is stopping");
});

const month = 30 * 24 * 3_600_000;

test("setting the clock back by 30 days keeps keys and objects, and deleted objects stay deleted, also after a restart", async () => {
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

describe("an incomplete folder", () => {
  /** The contents of the folder, except files that LevelDB writes at each start. */
  const content = () =>
    readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("objects/") && statSync(join(dataDir, name)).isFile())
      .map((name) => [name, readFileSync(join(dataDir, name)).toString("hex")]);

  test.each(["objects", "objects/CURRENT"])("is refused and left unchanged without %s", async (missing) => {
    const { service } = await open({ tethers: [{ id: "tether0001" }], ledger: true });
    await service.close();
    rmSync(join(dataDir, missing), { recursive: true });
    const before = content();
    const refusal = { code: "data-damaged", message: matching(/is damaged: .*Nothing was changed/) };
    await expect(startService({ dataDir })).rejects.toMatchObject(refusal);
    expect(content()).toEqual(before);
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

test("a key that was written just before the service was killed is the tether's, and gets no other", async () => {
  await (await open({ tethers: [{ id: "tether0001" }] })).service.close();
  const key = `0x${"1".repeat(64)}`;
  mkdirSync(join(dataDir, "accounts"));
  writeFileSync(join(dataDir, "accounts", "tether0001.key"), `${key}\n`);
  const { send } = await open({ ledger: true });
  expect((await send("GET", "/tether/tether0001")).body.account).toBe(computeAddress(key));
});

test("a tether's account is noted again if that could not be written before: a lost key must be missed", () => {
  const store = new Store(new SteadyClock(Date.now));
  const { id } = store.create(newTether("o1", undefined, {}));
  const keys = new AccountKeys(dataDir, store);
  for (let time = 0; time < 2; time++) {
    store.setFields("tether", id, { keyChecksum: undefined }); // undone
    keys.of(id);
  }
  rmSync(join(dataDir, `${id}.key`));
  expect(() => AccountKeys.check(dataDir, store)).toThrow("it is missing");
});

const inUse = () => `The data folder ${dataDir} is in use by another service.`;

test("a second service is refused, until the first one is closed", async () => {
  const first = await start({ dataDir });
  const refusal = { code: "folder-in-use", message: containing(inUse()) };
  await expect(startService({ dataDir })).rejects.toMatchObject(refusal);
  expect((await first.send("GET", "/consortia")).status).toBe(200);
  await first.service.close();
  await start({ dataDir });
});

test("a service that cannot listen releases the folder", async () => {
  const { service } = await start();
  await expect(startService({ dataDir, port: service.port })).rejects.toThrow("port is in use");
  await start({ dataDir });
});

describe("another process", () => {
  beforeAll(built);
  const args = () => ["--data", dataDir, "--no-ledger", "--no-console"];

  test("that was killed holds no lock: one of many gets the folder at once", async () => {
    const first = await serveJson(args());
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => start({ dataDir })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("that is suspended for a while keeps the folder, and continues", async () => {
    const first = await serveJson(args());
    expect((await first.send("POST", "/consortia", { name: "one" })).status).toBe(201);
    first.child.kill("SIGSTOP");
    const asked = first.send("POST", "/consortia", { name: "two" });
    // as if it had not been there for an hour: no lock has to be renewed
    const hourAgo = Date.now() / 1_000 - 3_600;
    for (const name of readdirSync(dataDir, { recursive: true }))
      utimesSync(join(dataDir, String(name)), hourAgo, hourAgo);
    const second = await consortium(["serve", "--port", "0", ...args()]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining(inUse())]);
    first.child.kill("SIGCONT");
    expect((await asked).status).toBe(201);
    await first.stop();
    const { send } = await start({ dataDir });
    expect((await send("GET", "/consortia")).body).toMatchObject([{ name: "one" }, { name: "two" }]);
  });
});
