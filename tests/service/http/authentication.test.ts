import { Store } from "../../../service/store/store";
import { anyNumber, client, containing, populated, refused, start, type World } from "../helpers";
import { limits } from "../../../provider/constants";

const missing = containing("missing");
const invalid = containing("not valid");

test.each([
  ["no header", {}, missing],
  ["another scheme", { authorization: "Basic abc" }, missing],
  ["an empty key", { authorization: "Bearer " }, missing],
  ["an unknown key", { authorization: "Bearer nobody" }, invalid],
])("%s is refused with 401, without effect", async (_what, headers, errorMessage) => {
  const { service, send } = await start({ tethers: [{ id: "t" }] });
  const anonymous = client(service.baseUrl, "");
  for (const [method, path] of [
    ["GET", "/consortia"],
    ["POST", "/consortia"],
    ["GET", "/tether/t/account"],
    ["GET", "/embedded/calls"],
  ] as const) {
    const answer = await anonymous(method, path, method === "POST" ? { name: "a" } : undefined, headers);
    expect(answer).toMatchObject({ status: 401, body: { errorMessage } });
  }
  expect((await send("GET", "/consortia")).body).toEqual([]);
});

test("without a key, the body is never read", async () => {
  const { service } = await start();
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body: "{ broken" });
  expect(answer.status).toBe(401);
  const large = await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body: " ".repeat(400_000) });
  expect(large.status).toBe(401); // 413 if it were read
});

test("a rotated key is refused; the new one gives access to the same objects", async () => {
  const { service, send } = await start({ organizations: [{ name: "a", apiKey: "old" }] });
  await send("POST", "/consortia", { name: "mine" });
  const key = service.rotateKey("a");
  expect(key).not.toBe("old");
  expect(service.apiKey).toBe(key);
  expect(service.organizations[0]!.apiKey).toBe(key);
  expect((await send("GET", "/consortia")).status).toBe(401);
  expect((await client(service.baseUrl, key)("GET", "/consortia")).body).toMatchObject([{ name: "mine" }]);
  expect(() => service.rotateKey("nobody")).toThrow("no organization nobody");
});

test("finding a key's organization reads no other objects, whether the key is right or wrong", async () => {
  const { service, send } = await start({ organizations: [{ name: "a" }, { name: "b" }] });
  const further = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as Record<string, string>;
  const all = jest.spyOn(Store.prototype, "all");
  const status = async (key: string) => (await client(service.baseUrl, key)("GET", "/releases")).status;
  expect(await Promise.all([status(service.apiKey), status(further.key!), status("nobody")])).toEqual([200, 200, 401]);
  expect(all).not.toHaveBeenCalled();
  all.mockRestore();
  expect((await send("DELETE", `/embedded/api-keys/${further.id}`)).status).toBe(204);
  expect(await status(further.key!)).toBe(401);
});

test("two organizations cannot share a name or a key", async () => {
  const { service, send } = await start({ organizations: [{ name: "a", apiKey: "k" }] });
  const further = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as { key: string };
  expect(() => service.addOrganization("a")).toThrow("The organization a already exists.");
  for (const key of ["k", further.key]) expect(() => service.addOrganization("b", key)).toThrow("API key of a");
  expect(service.organizations).toHaveLength(1);
});

test("the call log has the organization, but no keys or passwords", async () => {
  const { service, send, paths, credential } = await populated();
  service.clearCalls();
  await send("GET", `${paths.environment}/nodes?name=n1&api_key=hush-1`);
  await send("POST", "/consortia", { name: "a", password: "hush-2", inner: [{ clientSecret: "hush-3" }] });
  await client(service.baseUrl, "")("GET", "/consortia");
  await send("GET", "/nowhere");
  expect(service.calls).toEqual([
    {
      method: "GET",
      path: `${paths.environment}/nodes`,
      route: "/consortia/:consortiumId/environments/:environmentId/nodes",
      query: { name: "n1", api_key: "[hidden]" },
      body: undefined,
      status: 200,
      organization: "local",
      at: anyNumber,
    },
    expect.objectContaining({
      route: "/consortia",
      body: { name: "a", password: "[hidden]", inner: [{ clientSecret: "[hidden]" }] },
      status: 400,
    }),
    expect.objectContaining({ status: 401, organization: undefined }),
    expect.objectContaining({ route: "/nowhere", status: 404 }),
  ]);
  const log = JSON.stringify(service.calls);
  for (const secret of [service.apiKey, credential.password, "hush"]) expect(log).not.toContain(secret);
});

test("the call log keeps no bodies without a valid key", async () => {
  const { service, send } = await start();
  const big = { name: "x", description: "y".repeat(200_000) };
  for (const key of ["", "nobody"])
    expect((await client(service.baseUrl, key)("POST", "/consortia", big)).status).toBe(401);
  expect((await client(service.baseUrl, "")("POST", "/nowhere", big)).status).toBe(404);
  expect(service.calls.map(({ status, body }) => [status, body])).toEqual(
    [401, 401, 404].map((status) => [status, undefined]),
  );
  service.clearCalls();
  for (const levels of [60, 100_000]) {
    const deep = "[".repeat(levels) + "]".repeat(levels);
    await send("POST", "/consortia", JSON.stringify({ name: "a", deep: 0 }).replace("0", deep));
  }
  expect(service.calls).toMatchObject([
    { status: 400, body: undefined },
    { status: 400, body: undefined },
  ]);
});

test("the call log can be set to keep no bodies", async () => {
  const { service, send } = await start({ recordBodies: false });
  await send("POST", "/consortia", { name: "a" });
  expect(service.calls).toMatchObject([{ route: "/consortia", status: 201, body: undefined }]);
});

const environment = { provider: "quorum", consensus_type: "raft" };
const environmentsOf = (w: World) => `${w.paths.consortium}/environments`;
const credentialsOf = (w: World) => `${w.paths.environment}/appcreds`;
const nodesOf = (w: World) => `${w.paths.environment}/nodes`;
const cases: [string, (world: World) => string, (world: World) => unknown, RegExp][] = [
  ["a consortium without name", () => "/consortia", () => ({}), /name/],
  ["a consortium with an empty name", () => "/consortia", () => ({ name: " " }), /name: must not be empty/],
  ["a consortium with a number as name", () => "/consortia", () => ({ name: 5 }), /name/],
  ["a number as description", () => "/consortia", () => ({ name: "a", description: 5 }), /description/],
  ["an array", () => "/consortia", () => [], /object/],
  ["a string", () => "/consortia", () => '"a"', /object/],
  ["a membership without org_name", (w) => `${w.paths.consortium}/memberships`, () => ({ name: "a" }), /org_name/],
  ["an environment without provider", environmentsOf, () => ({ consensus_type: "poa" }), /provider/],
  ["an environment without consensus", environmentsOf, () => ({ provider: "geth" }), /consensus_type/],
  ["quorum with poa", environmentsOf, () => ({ ...environment, consensus_type: "poa" }), /raft or ibft/],
  ["geth with raft", environmentsOf, () => ({ ...environment, provider: "geth" }), /use poa/],
  ["pantheon with raft", environmentsOf, () => ({ ...environment, provider: "pantheon" }), /use ibft or poa/],
  ["an unknown provider", environmentsOf, () => ({ ...environment, provider: "besu" }), /provider/],
  ["a chain_id of 0", environmentsOf, () => ({ ...environment, chain_id: 0 }), /chain_id/],
  ["a broken chain_id", environmentsOf, () => ({ ...environment, chain_id: 1.5 }), /chain_id/],
  ["a chain_id as text", environmentsOf, () => ({ ...environment, chain_id: "5" }), /chain_id/],
  ["a node without membership", nodesOf, () => ({ name: "n" }), /membership_id/],
  ["a node of an unknown membership", nodesOf, () => ({ membership_id: "m" }), /membership_id/],
  ["a node with an empty name", nodesOf, (w) => ({ membership_id: w.membership, name: "" }), /name/],
  ["a credential without membership", credentialsOf, () => ({}), /membership_id/],
  ["a credential of an unknown one", credentialsOf, () => ({ membership_id: "m" }), /membership_id/],
];

test.each(cases)("%s is refused", async (_what, path, body, message) => {
  const { send, ...world } = await populated();
  const there = async () => ((await send("GET", path(world))).body as unknown as object[]).length;
  const before = await there();
  expect(await send("POST", path(world), body(world))).toMatchObject(refused(400, message));
  expect(await there()).toBe(before);
});

test.each(['{"name": "a}', "{name: 1}", '{"name": "a",}', "nonsense"])(
  "%s is reported as broken JSON",
  async (text) => {
    const { send } = await start();
    const { status, body } = await send("POST", "/consortia", text);
    expect({ status, body }).toEqual(refused(400, /unexpected token in JSON/i));
  },
);

test("a body without the content type of JSON is refused", async () => {
  const { send } = await start();
  const answer = await send("POST", "/consortia", "name=a", { "content-type": "text/csv" });
  expect(answer).toMatchObject(refused(415));
});

test("limits of consortia, environments and nodes; deleted objects do not count", async () => {
  const { send, paths, membership } = await populated({ timing: { environmentStart: 0 } });
  const full = async (path: string, body: object, most: number) => {
    for (let made = 1; made < most; made++) expect((await send("POST", path, body)).status).toBe(201);
    const why = new RegExp(`at most ${most} .*--limit-\\w+ ${most + 1}`);
    expect(await send("POST", path, body)).toMatchObject(refused(409, why));
    expect((await send("GET", path)).body).toHaveLength(most);
  };
  await full(`${paths.environment}/nodes`, { membership_id: membership }, limits.nodes);
  await full(`${paths.consortium}/environments`, environment, limits.environments);
  await full("/consortia", { name: "c" }, limits.consortia);
  expect((await send("DELETE", paths.environment)).status).toBe(202);
  expect((await send("POST", `${paths.consortium}/environments`, environment)).status).toBe(201);
});
