import { build, clocked, matching, populated, refused, start } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, result, rpc } from "../ledgers";

/*
 * Fields of environments and nodes beyond the API's specification that other clients use, and changes of a node in place.
 */

const address = matching(/^0x[0-9a-f]{40}$/);
const someone = `0x${"a1".repeat(20)}`;

const wanted = { provider: "quorum", consensus_type: "raft" };
const ids = { kms_id: "kms1", opsmetric_id: "ops1", backup_id: "backup1", networking_id: "net1", baf_id: "baf1" };

describe("an environment", () => {
  test("shows its fields", async () => {
    const asked = {
      block_period: 3,
      release_id: "quorum-0",
      prefunded_accounts: { [someone]: { balance: "0x10" } },
      test_features: { multi_region: true },
    };
    const { send, paths } = await populated({}, { ...wanted, ...asked });
    expect((await send("GET", paths.environment)).body).toMatchObject(asked);
    // clients repeat known values, and send empty ones for unset fields
    const again = { ...asked, name: "renamed", consensus_type: "", labels: {} };
    expect(await send("PATCH", paths.environment, again)).toMatchObject({ status: 200, body: { name: "renamed" } });
    const test_features = { multi_region: true, quick: 1 };
    expect((await send("PATCH", paths.environment, { test_features })).body).toMatchObject({ test_features });
    const changed = await send("PATCH", paths.environment, { block_period: 4 });
    expect(changed).toMatchObject(refused(400, "block_period"));
  });

  test.each<[string, unknown]>([
    ["release_id", "quorum-99"],
    ["release_id", "geth-1"],
    ["block_period", "3"],
    ["test_features", "multi_region"],
    ["prefunded_accounts", [someone]],
    ["prefunded_accounts", { [someone]: "1" }],
    ["prefunded_accounts", { [someone]: { balance: 1 } }],
    ["prefunded_accounts", { [someone]: { balance: "-1" } }],
    ["prefunded_accounts", { [someone]: { balance: "1.5" } }],
    ["prefunded_accounts", { [someone]: { balance: `${2n ** 128n}` } }],
    ["prefunded_accounts", { "0x12": { balance: "1" } }],
    [
      "prefunded_accounts",
      { [someone]: { balance: "1" }, [someone.toUpperCase().replace("X", "x")]: { balance: "2" } },
    ],
    ["prefunded_accounts", { [someone]: { balance: "1" }, [someone.slice(2)]: { balance: "2" } }],
  ])("refuses %s %j", async (field, value) => {
    const { service, send } = await start();
    const consortium = (await send("POST", "/consortia", { name: "c" })).body._id;
    const answer = await send("POST", `/consortia/${consortium}/environments`, { ...wanted, [field]: value });
    expect(answer).toMatchObject(refused(400, field));
    expect(service.store.environments.list()).toEqual([]);
  });

  test("funds its prefunded accounts in the genesis", async () => {
    const other = `0x${"B2".repeat(20)}`;
    const prefunded_accounts = { [someone.slice(2)]: { balance: `${10n ** 21n}` }, [other]: { balance: "0x2a" } };
    const { credential, paths, send, urls } = await ledgered({}, { ...wanted, prefunded_accounts });
    const owns = async (account: string, block: string) =>
      BigInt(await result<string>(urls.rpc, credential, "eth_getBalance", account, block));
    expect(await owns(someone, "latest")).toBe(10n ** 21n);
    expect(await owns(other, "0x0")).toBe(42n);
    expect((await result<string[]>(urls.rpc, credential, "eth_accounts")).length).toBe(1);
    const { body } = await send("GET", `${paths.node}/status`);
    expect(body.user_accounts[0]).not.toBe(someone);
  });
});

test("releases can be listed by provider and version, and the default is one of them", async () => {
  const { send } = await start();
  const all = (await send("GET", "/releases")).body;
  expect(all.length).toBeGreaterThan(1);
  for (const release of all) {
    const { provider, version, _id } = release as typeof release & { provider: string; version: string };
    const found = await send("GET", `/releases?provider=${provider}&version=${version}`);
    expect(found).toMatchObject({ status: 200, body: [release] });
    expect((await send("GET", `/releases/${_id}`)).body).toEqual(release);
    expect(release.release_status).toMatch(/./);
  }
  expect((await send("GET", "/releases?provider=corda")).body).toEqual([]);
  expect((await send("GET", "/releases/quorum-99")).status).toBe(404);
  const { paths } = await build(send, { provider: "geth", consensus_type: "poa" });
  const { release_id } = (await send("GET", paths.environment)).body;
  const geth = (await send("GET", "/releases?provider=geth")).body;
  expect(geth.map(({ _id }) => _id)).toContain(release_id);
});

describe("a node", () => {
  test("is created, changed and reset: its fields, states and accounts", async () => {
    const { service, send, clock, paths, membership } = await clocked();
    const asked = { name: "n2", membership_id: membership, size: "small", role: "observer", database_type: "leveldb" };
    const made = await send("POST", `${paths.environment}/nodes`, { ...asked, ...ids });
    expect(made).toMatchObject({ status: 201, body: { ...asked, ...ids, state: "initializing" } });
    expect(made.body).not.toHaveProperty("first_user_account");
    const path = `${paths.environment}/nodes/${made.body._id}`;
    clock.pass(1_500);
    const started = (await send("GET", path)).body;
    const { user_accounts, urls, block_height } = (await send("GET", `${path}/status`)).body;
    expect(started).toMatchObject({ state: "started", first_user_account: address, urls });
    expect(user_accounts).toEqual([started.first_user_account]);
    const changed = await send("PATCH", path, { size: "medium", kms_id: "kms2", backup_id: null });
    const shown = { state: "started", size: "medium", kms_id: "kms2", opsmetric_id: "ops1" };
    expect(changed).toMatchObject({ status: 200, body: shown });
    expect(changed.body).not.toHaveProperty("backup_id");

    service.setTiming({ nodeStart: 5_000 });
    const reset = await send("PUT", `${path}/reset`, {});
    expect(reset).toMatchObject({ status: 200, body: { state: "initializing", size: "medium", _revision: "2" } });
    expect((await send("GET", `${path}/status`)).status).toBe(409);
    clock.pass(4_999);
    expect((await send("GET", path)).body.state).toBe("initializing");
    expect((await send("GET", paths.environment)).body.state).toBe("live");
    clock.pass(1);
    expect((await send("GET", path)).body).toEqual({ ...reset.body, state: "started" });
    expect((await send("GET", `${path}/status`)).body.block_height).toBe(block_height + 1);
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await send("PUT", `${path}/reset`, {})).status).toBe(404);
  });

  test("a reset keeps the ledger and its account", async () => {
    const { send, service, paths, credential, urls } = await ledgered({}, wanted);
    const from = (await result<string[]>(urls.rpc, credential, "eth_accounts"))[0]!;
    expect((await send("GET", paths.node)).body.first_user_account).toBe(from);
    const hash = await result<string>(urls.rpc, credential, "eth_sendTransaction", { from, to: someone, value: "0x7" });
    const mined = () => result<object | null>(urls.rpc, credential, "eth_getTransactionReceipt", hash);
    await until(async () => (await mined()) !== null);
    service.setTiming({ nodeStart: 600_000 });
    await send("PUT", `${paths.node}/reset`, {});
    expect((await rpc(urls.rpc, credential, eth("eth_chainId"))).status).toBe(503);
    service.store.nodes.setState(paths.node.split("/").at(-1)!, "started");
    expect(await result(urls.rpc, credential, "eth_getBalance", someone, "latest")).toBe("0x7");
    expect((await send("GET", paths.node)).body.first_user_account).toBe(from);
  });

  test.each(["zone_id", "node_config_id", "membership_id"])("%s must belong to this environment", async (field) => {
    const { send, paths, membership, consortium } = await populated();
    const elsewhere = `/consortia/${consortium}/environments`;
    const other = (await send("POST", elsewhere, { provider: "geth", consensus_type: "poa" })).body._id;
    const second = (await send("POST", "/consortia", { name: "other" })).body._id;
    const configuration = { type: "t", membership_id: membership };
    const foreign = {
      zone_id: await send("POST", `${elsewhere}/${other}/zones`, { region: "r", cloud: "c" }),
      node_config_id: await send("POST", `${elsewhere}/${other}/configurations`, configuration),
      membership_id: await send("POST", `/consortia/${second}/memberships`, { org_name: "x" }),
    }[field];
    for (const id of ["nobody", foreign!.body._id]) {
      const wrong = await send("POST", `${paths.environment}/nodes`, { membership_id: membership, [field]: id });
      expect(wrong).toMatchObject(refused(400, `${field}: ${id}`));
    }
    expect((await send("PATCH", paths.node, { [field]: "nobody" })).status).toBe(400);
    expect((await send("GET", `${paths.environment}/nodes`)).body).toHaveLength(1);
  });
});
