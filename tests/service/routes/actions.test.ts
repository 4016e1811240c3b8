import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { clocked, newFolder, populated, quick, refused, start } from "../helpers";
import { until } from "../../support/until";
import { blockNumber, blocks, chainsBelow, eth, ledgered, result, rpc, webSocket } from "../ledgers";

/* Actions of other clients of this API beyond its specification. */

const someone = `0x${"a1".repeat(20)}`;
const raft = { provider: "quorum", consensus_type: "raft" };

async function world(options: Parameters<typeof start>[0] = {}) {
  const made = await clocked(options, raft);
  made.clock.pass(1_500);
  const { send, paths } = made;
  const state = () => made.state(paths.environment);
  const patch = (body: object) => send("PATCH", paths.environment, body);
  const height = async () => (await send("GET", `${paths.node}/status`)).body.block_height;
  return { ...made, state, patch, height };
}

test("an environment that changes before it has nodes starts no ledger", async () => {
  const dataDir = newFolder();
  const { send, paths, environment, credential, urls } = await ledgered({ dataDir }, raft);
  const { _id } = (await send("POST", `${paths.consortium}/environments`, { name: "empty", ...raft })).body;
  expect((await send("PATCH", `${paths.consortium}/environments/${_id}`, { name: "still" })).status).toBe(200);
  await blockNumber(urls.rpc, credential);
  expect(readdirSync(join(dataDir, "chains"))).toEqual([environment]);
});

describe("a paused environment", () => {
  test("makes no blocks and accepts no new objects; its nodes stay, and everything continues after resuming", async () => {
    const { send, clock, state, patch, height, paths, membership } = await world();
    clock.pass(10_000);
    expect([await state(), await height()]).toEqual(["live", 10]);
    const resting = { state: "paused", name: "resting" };
    expect(await patch(resting)).toMatchObject({ status: 200, body: resting });
    clock.pass(60_000);
    expect((await send("GET", paths.node)).body.state).toBe("started");
    const paused = refused(409, "is paused");
    expect(await send("GET", `${paths.node}/status`)).toMatchObject(paused);
    expect(await send("POST", `${paths.environment}/nodes`, { membership_id: membership })).toMatchObject(paused);
    const service = { membership_id: membership, service: "ipfs" };
    expect(await send("POST", `${paths.environment}/services`, service)).toMatchObject(paused);
    expect((await patch({ state: "paused" })).status).toBe(200);
    expect((await patch({ state: "live" })).body.state).toBe("live");
    expect(await height()).toBe(10);
    clock.pass(5_000);
    expect(await height()).toBe(15);
    for (const wanted of ["paused", "live"]) {
      expect((await patch({ state: wanted })).status).toBe(200);
      clock.pass(3_000);
    }
    expect(await height()).toBe(18);
  });

  test.each([
    ["paused", "setup"],
    ["live", "setup"],
    ["paused", "upgrade"],
    ["live", "upgrade"],
  ])("cannot be %s out of turn: from %s", async (wanted, from) => {
    const { service, environment, state, patch, send, paths } = await world();
    await send("DELETE", paths.node);
    service.store.environments.setState(environment, from);
    expect(await patch({ state: wanted })).toMatchObject(refused(409, `is ${from}`));
    expect(await state()).toBe(from);
  });

  test("has a ledger that stands still, even after a restart, and then continues", async () => {
    const dataDir = newFolder();
    const made = await ledgered({ dataDir }, { provider: "geth", consensus_type: "poa", block_period: 1 });
    const { credential, paths } = made;
    await blocks(made.urls.rpc, credential, 2);
    expect((await made.send("PATCH", paths.environment, { state: "paused" })).status).toBe(200);
    const refusal = refused(503, "is paused");
    expect(await rpc(made.urls.rpc, credential, eth("eth_blockNumber"))).toMatchObject(refusal);
    await made.service.close();

    const { service, send } = await start({ dataDir, ledger: true, timing: quick });
    const url = () => made.urls.rpc.replace(made.service.url, service.url);
    expect(await rpc(url(), credential, eth("eth_blockNumber"))).toMatchObject(refusal);
    // at once, so the chain may still be ending
    for (const state of ["live", "paused", "live"])
      expect((await send("PATCH", paths.environment, { state })).body.state).toBe(state);
    await until(() => chainsBelow(process.pid).chains.length > 0); // before anybody calls
    const at = await blockNumber(url(), credential);
    expect(at).toBeGreaterThanOrEqual(2);
    expect(await result(url(), credential, "eth_getBlockByNumber", "0x2", false)).not.toBeNull();
    await blocks(url(), credential, at + 1);
  });
});

describe("a release", () => {
  test("can be changed in place: upgrade, then live", async () => {
    const { clock, state, patch, service, height } = await world({ timing: { upgrade: 2_000 } });
    expect(await patch({ release_id: "quorum-0" })).toMatchObject({
      status: 200,
      body: { state: "upgrade", release_id: "quorum-0", _revision: "1" },
    });
    expect(await patch({ release_id: "quorum-1" })).toMatchObject(refused(409, "is upgrade"));
    clock.pass(1_999);
    expect(await state()).toBe("upgrade");
    clock.pass(1);
    expect([await state(), await height()]).toEqual(["live", 2]);
    service.setTiming({ upgrade: 0 });
    expect((await patch({ release_id: "quorum-1" })).body).toMatchObject({ state: "live", release_id: "quorum-1" });
  });

  test.each([
    [{ release_id: "geth-1" }, "release_id"],
    [{ release_id: "quorum-99" }, "release_id"],
    [{ release_id: null }, "release_id"],
    [{ release_id: "quorum-0", state: "paused" }, "state and release_id"],
  ])("%j is refused", async (body, why) => {
    const { patch, state, send, paths } = await world();
    const before = (await send("GET", paths.environment)).text;
    expect(await patch(body)).toMatchObject(refused(400, why));
    expect([await state(), (await send("GET", paths.environment)).text]).toEqual(["live", before]);
  });
});

const specified = { initial_delay: 3, idle_hours: 5 };
const others = { autopause_init_delay: 3, autopause_idle_hours: 5 };
test.each([
  ["specification", specified],
  ["other clients", others],
])("autopause fields are accepted under the names of the %s", async (_whose, fields) => {
  const { send, paths } = await populated({}, { ...raft, ...fields });
  const { body } = await send("GET", paths.environment);
  expect(body).toMatchObject(specified);
  expect(Object.keys(body)).not.toContain("autopause_idle_hours");
  const again = Object.fromEntries(Object.keys(fields).map((name) => [name, 9]));
  expect((await send("PATCH", paths.environment, again)).body).toMatchObject({ initial_delay: 9, idle_hours: 9 });
  const wrong = Object.fromEntries(Object.keys(fields).map((name) => [name, -1]));
  expect((await send("PATCH", paths.environment, wrong)).status).toBe(400);
  expect((await send("PATCH", paths.environment, { name: "n" })).body).toMatchObject({ idle_hours: 9 });
});

test("pantheon is unknown if the service knows only the specification", async () => {
  const { send } = await start({ answers: { extended: false } });
  const list = `/consortia/${(await send("POST", "/consortia", { name: "c" })).body._id}/environments`;
  const made = await send("POST", list, { provider: "pantheon", consensus_type: "ibft" });
  expect(made).toMatchObject(refused(400, "pantheon"));
});

describe("fundaccount", () => {
  test("gives an account of the ledger ether, or wei by the unit, permanently", async () => {
    const dataDir = newFolder();
    const made = await ledgered({ dataDir }, raft);
    const { credential, paths } = made;
    const owns = (url: string) => result<string>(url, credential, "eth_getBalance", someone, "latest");
    const fund = (account: string, amount: unknown, unit?: string) =>
      made.send("POST", `${paths.environment}/eth/fundaccount`, { account, amount, unit });
    expect((await fund(someone, "40", "wei")).body).toEqual({ account: someone, amount: "40", unit: "wei" });
    expect((await fund(someone.slice(2), "1.5")).body).toMatchObject({ amount: "1.5", unit: "ether" });
    for (const [account, amount, unit] of [
      ["0x12", "1"],
      [someone, "-1"],
      [someone, 1],
      [someone, undefined],
      [someone, "1", "gwei"],
      [someone, "1.5", "wei"],
      [someone, "0.1234567890123456789"],
      [someone, "340282366920938463464"],
    ] as const)
      expect((await fund(account, amount, unit)).status).toBe(400);
    const owned = `0x${(15n * 10n ** 17n + 40n).toString(16)}`;
    expect(await owns(made.urls.rpc)).toBe(owned);
    await made.service.close();
    const { service } = await start({ dataDir, ledger: true, timing: quick });
    await until(async () => (await owns(made.urls.rpc.replace(made.service.url, service.url))) === owned);
  });

  test("needs a ledger", async () => {
    const { send, paths } = await world();
    const call = { account: someone, amount: "1" };
    expect((await send("POST", `${paths.environment}/eth/fundaccount`, call)).status).toBe(501);
  });
});

test("a credential's new password replaces the old one; its user name stays", async () => {
  const { urls, credential, send, paths } = await ledgered({}, raft);
  const status = async ({ username, password }: { username: string; password: string }) =>
    (await rpc(urls.rpc, { username, password }, eth("eth_chainId"))).status;
  const { socket } = await webSocket(urls.wss, credential);
  const closed = once(socket, "close");
  const { status: answered, body } = await send("POST", `${paths.credential}/regenerate`);
  await closed;
  expect([answered, body]).toMatchObject([200, { username: credential.username, _revision: "1" }]);
  expect(body.password).not.toBe(credential.password);
  expect([await status(credential), await status(body)]).toEqual([401, 200]);
  expect((await send("GET", paths.credential)).text).not.toContain(body.password);
});

test("an environment's status shows its own and its nodes' states", async () => {
  const { send, paths, environment, node } = await world();
  expect((await send("GET", `${paths.environment}/status`)).body).toMatchObject({
    _id: environment,
    state: "live",
    release_id: "quorum-1",
    nodes: [{ _id: node, state: "started" }],
  });
});
