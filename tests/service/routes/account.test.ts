import { dummySecret } from "../../../service/routes/account";
import { FakeClock, anyText, client, containing, start } from "../helpers";

/* Requests of other clients about a key: its organization, the limits, and a token in place of the key. */

const hour = 3_600_000;

async function world(options: Parameters<typeof start>[0] = {}) {
  const clock = new FakeClock();
  const organizations = [{ name: "north", apiKey: "u0abcdefgh-c2VjcmV0" }, { name: "south" }];
  const { service, send } = await start({ clock: clock.now, organizations, ...options });
  const [north, south] = [service.organizations[0]!, service.organizations[1]!];
  const login = async (apikey = north.apiKey, bearer = apikey) =>
    client(service.baseUrl, bearer)("POST", "/authtoken", { apikey });
  const token = async () => (await login()).body.token as string;
  const status = async (bearer: string) => (await client(service.baseUrl, bearer)("GET", "/consortia")).status;
  return { service, send, clock, north, south, login, token, status };
}

describe("a token in place of a key", () => {
  test("is valid for an hour, for the key's own organization", async () => {
    const { service, send, clock, north, token, status } = await world();
    await send("POST", "/consortia", { name: "of north" });
    const good = await token();
    expect((await client(service.baseUrl, good)("GET", "/consortia")).body).toMatchObject([{ owner: north.id }]);
    clock.pass(hour - 1_000);
    expect(await status(good)).toBe(200);
    clock.pass(1_000);
    expect(await status(good)).toBe(401);
  });

  test("contains its organization, the limits and its end, but nothing about the key", async () => {
    const { clock, north, token } = await world({ limits: { nodes: 7 } });
    const [header, body] = (await token()).split(".").map((part) => Buffer.from(part, "base64url").toString());
    expect(JSON.parse(header!)).toEqual({ alg: "HS256", typ: "JWT" });
    const iat = clock.time / 1_000;
    expect(JSON.parse(body!)).toEqual({
      orgs: [north.id],
      org_plans: { [north.id]: expect.objectContaining({ nodes: { per: { environment: 7 } } }) as object },
      iat,
      exp: iat + 3_600,
    });
    expect(body).not.toContain(north.apiKey);
  });

  test.each<[string, (parts: string[]) => string[]]>([
    ["another signature", ([head, body]) => [head!, body!, "A".repeat(43)]],
    ["no signature", ([head, body]) => [head!, body!, ""]],
    ["the header that asks for none", ([, body]) => [encoded({ alg: "none", typ: "JWT" }), body!, ""]],
    ["another header, as it was signed", ([, body, signature]) => [encoded({ alg: "none" }), body!, signature!]],
    ["other claims", ([head, body, signature]) => [head!, encoded({ ...decoded(body!), exp: 9e12 }), signature!]],
    ["a fourth part", (parts) => [...parts, ""]],
  ])("is refused with %s", async (_what, change) => {
    const { token, status } = await world();
    const parts = (await token()).split(".");
    expect(await status(change(parts).join("."))).toBe(401);
    expect(await status(parts.join("."))).toBe(200);
  });

  test("ends with its own key only", async () => {
    const { service, send, token, login, status } = await world();
    const first = await token();
    const { id, key } = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as {
      id: string;
      key: string;
    };
    const further = (await login(key)).body.token as string;
    expect([await status(first), await status(further)]).toEqual([200, 200]);
    service.rotateKey("north");
    expect([await status(first), await status(further)]).toEqual([401, 200]);
    await client(service.baseUrl, further)("DELETE", `/embedded/api-keys/${id}`);
    expect(await status(further)).toBe(401);
  });

  test("is not valid on another service", async () => {
    const [one, other] = [await world(), await world()];
    expect(await other.status(await one.token())).toBe(401);
  });

  test("is issued only for the caller's own key", async () => {
    const { north, south, login } = await world();
    expect((await login(south.apiKey, north.apiKey)).status).toBe(401);
    expect((await login("nobody", north.apiKey)).status).toBe(401);
    expect((await login(north.apiKey, "nobody")).status).toBe(401);
    expect((await login("", north.apiKey)).status).toBe(400);
  });

  test("the call log keeps neither the key nor the token", async () => {
    const { service, north, token } = await world();
    const good = await token();
    const log = JSON.stringify(service.calls);
    expect(log).toContain("/authtoken");
    for (const secret of [north.apiKey, good]) expect(log).not.toContain(secret);
  });
});

test("shows the caller's organization, keys and plan", async () => {
  const { service, send, north, south } = await world({ limits: { consortia: 5 } });
  const other = client(service.baseUrl, south.apiKey);
  const { body: made } = await send("POST", "/embedded/api-keys", { name: "ci" });
  expect(made.key).toMatch(new RegExp(`^${made.id}-.{43}$`));
  expect((await send("GET", "/orgs")).body).toEqual([
    { _id: north.id, name: "north", plan: "starter", created_at: anyText, cognito_client_secret: dummySecret },
  ]);
  expect((await other("GET", "/orgs")).body).toMatchObject([{ _id: south.id, name: "south" }]);
  expect((await send("GET", "/apikeys")).body).toEqual([
    { _id: "u0abcdefgh", org_id: north.id, name: "north" },
    { _id: made.id, org_id: north.id, name: "ci" },
  ]);
  expect((await other("GET", "/apikeys")).body).toEqual([
    { _id: south.apiKey.split("-")[0], org_id: south.id, name: "south" },
  ]);
  service.addOrganization("west", "chosen");
  const west = service.organizations.find(({ name }) => name === "west")!;
  expect((await client(service.baseUrl, "chosen")("GET", "/apikeys")).body).toEqual([
    { _id: west.id, org_id: west.id, name: "west" },
  ]);
  expect((await send("GET", "/regions")).body).toEqual([{ _id: "local", net_host: "127.0.0.1", state: "live" }]);
  const { limits } = (await send("GET", "/plans/starter")).body;
  expect(limits).toEqual({
    consortia: { per: { org: 5 } },
    environments: { per: { consortium: 3 } },
    nodes: { per: { environment: 4 } },
  });
  expect((await send("GET", "/plans/business")).status).toBe(404);
});

describe("?limit= and ?skip=", () => {
  const names = ["a", "b", "c", "d"];
  const list = async (query: string, answers = {}) => {
    const { service, send } = await start();
    const consortium = (await send("POST", "/consortia", { name: "c" })).body._id;
    for (const org_name of names) await send("POST", `/consortia/${consortium}/memberships`, { org_name });
    service.setAnswers(answers);
    const { status, body } = await send("GET", `/consortia/${consortium}/memberships${query}`);
    return status === 200 ? body.map(({ org_name }) => org_name) : body.errorMessage;
  };
  test.each([
    ["?limit=2", ["a", "b"]],
    ["?skip=1", ["b", "c", "d"]],
    ["?limit=2&skip=3", ["d"]],
    ["?skip=9", []],
    ["?limit=1&org_name=c", ["c"]],
    ["?limit=-1", containing("limit must be")],
    ["?skip=1.5", containing("skip must be")],
    ["?limit=1&limit=2", containing("limit must be")],
  ])("%s", async (query, wanted) => {
    expect(await list(query)).toEqual(wanted);
  });

  test("are ignored if the service knows only the specification", async () => {
    expect(await list("?limit=1&skip=1", { extended: false })).toEqual(names);
  });
});

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const decoded = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as object;

const two = { organizations: [{ name: "north" }, { name: "south" }] };

/** A service of two organizations, each with its client. */
async function both() {
  const { service, send } = await start(two);
  return { service, north: send, south: client(service.baseUrl, service.organizations[1]!.apiKey) };
}

test("an additional key gives access to its organization until it is revoked, and is shown once", async () => {
  const { service, north, south } = await both();
  const made = await north("POST", "/embedded/api-keys", { name: "ci" });
  const { id, key } = made.body as unknown as { id: string; key: string };
  expect(made.status).toBe(201);
  const further = client(service.baseUrl, key);
  expect((await further("POST", "/consortia", { name: "trade" })).status).toBe(201);
  expect((await north("GET", "/consortia")).body).toHaveLength(1);
  expect((await south("GET", "/consortia")).body).toEqual([]);

  const listed = await north("GET", "/embedded/api-keys");
  expect(listed.body).toMatchObject([{ id, name: "ci" }]);
  expect(listed.text).not.toContain(key);
  expect((await south("GET", "/embedded/api-keys")).body).toEqual([]);
  expect((await south("DELETE", `/embedded/api-keys/${id}`)).status).toBe(404);
  expect((await further("GET", "/consortia")).status).toBe(200);
  expect((await north("DELETE", `/embedded/api-keys/${id}`)).status).toBe(204);
  expect((await further("GET", "/consortia")).status).toBe(401);
  expect((await north("GET", "/embedded/api-keys")).body).toEqual([]);
});

test("a fault over HTTP hits only its own organization's calls, and nobody else sees or removes it", async () => {
  const { service, north, south } = await both();
  const rule = { kind: "status", status: 500, route: "/consortia", times: null };
  const { status, body } = await north("POST", "/embedded/faults", rule);
  expect([status, body]).toMatchObject([201, { seen: 0, hits: 0 }]);
  expect([(await north("GET", "/consortia")).status, (await south("GET", "/consortia")).status]).toEqual([500, 200]);
  const calls = async (send: typeof north) =>
    ((await send("GET", "/embedded/calls")).body as unknown as { calls: { fault?: string }[] }).calls;
  expect(await calls(north)).toMatchObject([{ path: "/consortia", fault: "status" }]);
  expect((await calls(south)).map(({ fault }) => fault)).toEqual([undefined]);
  const stranger = client(service.baseUrl, "key-of-nobody");
  expect((await stranger("GET", "/consortia/c-of-north?name=secret")).status).toBe(401);
  expect((await north("GET", "/nowhere/north")).status).toBe(404);
  expect([await calls(north), await calls(south)]).toMatchObject([[{}, { path: "/nowhere/north" }], [{}]]);
  service.clearCalls(); // whoever follows the calls goes on from where it was
  await north("GET", "/releases");
  expect((await north("GET", "/embedded/calls?after=4")).body).toMatchObject({
    count: 5,
    calls: [{ path: "/releases" }],
  });
  expect((await south("GET", "/embedded/faults")).body).toMatchObject({ faults: [] });
  expect((await south("DELETE", `/embedded/faults/${body.id}`)).status).toBe(404);
  expect((await south("DELETE", "/embedded/faults")).status).toBe(204);
  expect((await north("GET", "/consortia")).status).toBe(500);
  expect((await north("DELETE", `/embedded/faults/${body.id}`)).status).toBe(204);
  expect((await north("GET", "/consortia")).status).toBe(200);
});

test.each([
  [{ kind: "refuse", ms: 1_000 }, 403],
  [{ kind: "status", status: 500, route: "(a+)+$" }, 400],
  [{ kind: "status", status: 9 }, 400],
  [{ kind: "explode" }, 400],
  [[], 400],
])("an invalid rule, or one that would hit others, is refused: %j", async (rule, status) => {
  const { north } = await both();
  expect((await north("POST", "/embedded/faults", rule)).status).toBe(status);
  expect((await north("GET", "/embedded/faults")).body).toMatchObject({ faults: [] });
});

test("observers are not logged, delayed or hit", async () => {
  const { service, send } = await start({ timing: { latency: 5_000 } });
  service.faults.add({ kind: "status", status: 500, times: Infinity });
  const watching = { "consortium-observer": "1" };
  expect((await send("GET", "/consortia", undefined, watching)).status).toBe(200);
  expect((await send("GET", "/consortia", undefined, { ...watching, authorization: "Bearer x" })).status).toBe(401);
  expect(service.calls).toEqual([]);
});

test("the health check needs no key, and reveals nothing", async () => {
  const { service } = await start({ ...two, timing: { latency: 5_000 } });
  service.faults.add({ kind: "status", status: 500, times: Infinity });
  const answer = await fetch(`${service.url}/health`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ok" }]);
  expect(service.calls).toEqual([]);
});
