import { anyNumber, anyText, FakeClock, listOf, matching, populated, refused, start } from "../helpers";

const iso = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const id = matching(/^[a-z0-9]{10}$/);
const base = { _id: id, _revision: "0", created_at: iso };

test("new objects have exactly the documented fields", async () => {
  const { service, send } = await start({ clock: new FakeClock().now });
  const { id: owner } = service.organizations[0]!;
  const made = async (list: string, body: object, shown: object) => {
    const { status, body: answered } = await send("POST", list, body);
    expect([status, answered]).toEqual([201, { ...base, ...body, ...shown }]);
    expect((await send("GET", list)).body).toEqual([answered]);
    return answered._id;
  };
  const consortium = await made("/consortia", { name: "supply", description: "chain" }, { owner, state: "setup" });
  const inside = `/consortia/${consortium}`;
  const ofMembership = { org_id: owner, state: "active", minimum_nodes: 0, maximum_nodes: 4 };
  const membership_id = await made(`${inside}/memberships`, { org_name: "acme" }, ofMembership);
  const kind = { provider: "geth", consensus_type: "poa" };
  const numbers = { initial_delay: anyNumber, idle_hours: anyNumber, block_period: anyNumber };
  const chosen = { enable_tether: false, node_list: [], region: anyText, release_id: anyText };
  const asked = { name: "prod", description: "d", ...kind, chain_id: 4711 };
  const ofEnvironment = { state: "initializing", ...numbers, ...chosen };
  const environment = await made(`${inside}/environments`, asked, ofEnvironment);
  const ofNode = { ...kind, role: "validator", size: "small", state: "initializing" };
  const path = `${inside}/environments/${environment}`;
  const node = await made(`${path}/nodes`, { membership_id, name: "n1" }, ofNode);
  expect((await send("GET", path)).body.node_list).toEqual([node]);
  const other = await send("POST", `${inside}/environments`, { provider: "quorum", consensus_type: "raft" });
  expect(Number.isInteger(other.body.chain_id) && other.body.chain_id > 0).toBe(true);
  expect(other.body).not.toHaveProperty("name");
});

test("the password of a credential is in the creation response only", async () => {
  const { send, paths, membership } = await populated();
  const list = listOf(paths.credential);
  const asked = { membership_id: membership, name: "app" };
  const { body } = await send("POST", list, asked);
  const ids = { _id: body.username, id: body.username, username: matching(/.+/) };
  const shown = { ...asked, ...ids, auth_type: "basic_auth", _revision: "0" };
  expect(body).toEqual({ ...shown, password: matching(/^.{32,}$/) });
  expect((await send("GET", `${list}/${body.id}`)).body).toEqual(shown);
  expect((await send("GET", list)).body).toContainEqual(shown);
  const changed = await send("PATCH", `${list}/${body.id}`, { name: "b" });
  expect(changed.body).toEqual({ ...shown, name: "b", _revision: "1" });
  expect((await send("GET", list)).text).not.toContain(body.password);
});

test("a description can be changed and removed", async () => {
  const { send, paths } = await populated();
  for (const path of [paths.consortium, paths.environment]) {
    expect((await send("PATCH", path, { description: "x" })).body.description).toBe("x");
    expect((await send("PATCH", path, { description: "" })).body.description).toBe("");
    expect((await send("PATCH", path, { description: null })).body).not.toHaveProperty("description");
  }
  expect((await send("PATCH", paths.membership, { description: "x" })).status).toBe(400);
});

test("only the documented filters filter", async () => {
  const { send, paths, membership } = await populated({ limits: { consortia: 3 } });
  for (let made = 0; made < 2; made++) await send("POST", "/consortia", { name: "other" }); // names need not differ
  await send("POST", `${paths.consortium}/memberships`, { org_name: "bmce" });
  await send("POST", `${paths.consortium}/environments`, { name: "e2", provider: "geth", consensus_type: "poa" });
  await send("POST", `${paths.environment}/nodes`, { name: "n2", membership_id: membership });
  const count = async (path: string) => (await send("GET", path)).body.length;
  expect(await count("/consortia?name=other")).toBe(2);
  expect(await count("/consortia?name=nobody")).toBe(0);
  expect(await count("/consortia?state=nothing")).toBe(3);
  expect(await count(`${paths.consortium}/memberships?org_name=acme`)).toBe(1);
  expect(await count(`${paths.consortium}/environments?name=e2`)).toBe(2);
  expect(await count(`${paths.environment}/nodes?name=n2`)).toBe(1);
});

test.each([
  ["GET", "/"],
  ["GET", "/consortium"],
  ["PUT", "/consortia"],
  ["DELETE", "/consortia"],
  ["POST", "/consortia/x"],
])("%s %s is unknown", async (method, path) => {
  const { send } = await start();
  const { status, body } = await send(method, path, method === "GET" ? undefined : {});
  expect({ status, body }).toEqual(refused(404, path));
});

test("an address that cannot be decoded is refused", async () => {
  const { send } = await start();
  expect(await send("GET", "/consortia/%zz")).toMatchObject(refused(400));
});

test("a body that is too large is refused", async () => {
  const { send } = await start();
  const answer = await send("POST", "/consortia", { name: "x".repeat(2_000_000) });
  expect(answer).toMatchObject(refused(413, "too large"));
});

test("unknown fields of a create are stored and shown, or refused, but never ignored", async () => {
  const { service, send } = await start();
  const { _id: consortium } = (await send("POST", "/consortia", { name: "c", plan: { tier: "gold" } })).body;
  expect((await send("GET", `/consortia/${consortium}`)).body).toMatchObject({ plan: { tier: "gold" } });
  const path = `/consortia/${consortium}/environments`;
  const wanted = { provider: "quorum", consensus_type: "raft" };
  const chosen = { block_period: 7, chain_id: 4_711, release_id: "quorum-0", region: "eu", test_features: { x: 1 } };
  const made = (await send("POST", path, { ...wanted, ...chosen })).body;
  expect(made).toMatchObject(chosen);
  const named = { ...chosen, name: "n" };
  expect((await send("PATCH", `${path}/${made._id}`, named)).body).toMatchObject(named);
  expect((await send("GET", path)).body).toMatchObject([named]);
  const own = { _id: "e1", state: "live", created_at: "now", node_list: [], api_key: "k" };
  for (const [field, value] of Object.entries(own))
    expect(await send("POST", path, { ...wanted, [field]: value })).toMatchObject(refused(400, field));
  for (const period of [0, -1, 1.5, "7", 3_601])
    expect((await send("POST", path, { ...wanted, block_period: period })).status).toBe(400);
  for (const period of [1, 3_600])
    expect((await send("POST", path, { ...wanted, block_period: period })).status).toBe(201);
  expect(service.store.environments.list()).toHaveLength(3);
});
