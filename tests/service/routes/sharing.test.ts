import { type ServiceOptions } from "../../../service/index";
import { build, client, furnish, quick, refused, start } from "../helpers";

/* Two organizations in one consortium: the invited one sees all objects, and changes its own. */

/** A consortium of north with an object of each kind, and an invitation to south. */
async function invited(options: ServiceOptions = {}) {
  const organizations = [{ name: "north" }, { name: "south" }, { name: "east" }];
  const { service, send: north } = await start({ organizations, timing: quick, ...options });
  const [, south, east] = service.organizations.map(({ apiKey }) => client(service.baseUrl, apiKey)) as [
    typeof north,
    typeof north,
    typeof north,
  ];
  const made = await build(north);
  const more = await furnish(north, made);
  const list = `${made.paths.consortium}/invitations`;
  const { _id } = (await north("POST", list, { org_name: "south", email: "ops@south.example" })).body;
  return { service, north, south, east, ...made, more, invitation: _id };
}

/** The same after south has accepted and created its own node. */
async function shared(options: ServiceOptions = {}) {
  const world = await invited(options);
  const membership_id = world.service.store.invitations.accept(world.invitation).id;
  const nodes = `${world.paths.environment}/nodes`;
  const { status, body } = await world.south("POST", nodes, { membership_id, name: "of south" });
  expect(status).toBe(201);
  return { ...world, theirs: { membership: membership_id, node: body._id } };
}

describe("an invitation", () => {
  test("is visible to and accepted by the named organization only", async () => {
    const { service, north, south, east, consortium, invitation } = await invited();
    const open = async (send: typeof north) => (await send("GET", "/embedded/invitations")).body;
    expect(await open(south)).toMatchObject([
      { id: invitation, org_name: "south", from: "north", consortium: { id: consortium, name: "supply" } },
    ]);
    const accept = (send: typeof north) => send("POST", `/embedded/invitations/${invitation}/accept`);
    for (const other of [north, east]) {
      expect(await open(other)).toEqual([]);
      expect(await accept(other)).toMatchObject(refused(404, invitation));
    }
    expect((await south("GET", "/consortia")).body).toEqual([]);
    expect((await accept(south)).status).toBe(201);
    expect((await accept(south)).status).toBe(404);
    expect(await open(south)).toEqual([]);
    const second = { org_name: "south", email: "it@south.example" };
    const { _id } = (await north("POST", `/consortia/${consortium}/invitations`, second)).body;
    const again = await south("POST", `/embedded/invitations/${_id}/accept`);
    expect(again).toMatchObject(refused(409, "already a member of this consortium"));
    expect((await south("GET", "/consortia")).body).toMatchObject([{ _id: consortium }]);
    expect(service.store.invitations.get(invitation).state).toBe("accepted");
    const members = service.store.memberships.list({ parent: consortium });
    expect(members.map(({ fields }) => fields.org_name)).toEqual(["acme", "south"]);
  });

  test("can be accepted by a test, for any organization, once", async () => {
    const { service, invitation, consortium, north } = await invited();
    const accepts = (id: string, organization?: string) => service.store.invitations.accept(id, organization);
    expect(() => accepts(invitation, "nobody")).toThrow("no organization nobody");
    expect(accepts(invitation, "east").fields.org_id).toBe(service.organizations[2]!.id);
    expect(() => accepts(invitation, "south")).toThrow("it is accepted");
    const second = { org_name: "east", email: "a@b.example" };
    const { _id } = (await north("POST", `/consortia/${consortium}/invitations`, second)).body;
    expect(() => accepts(_id)).toThrow("already a member of this consortium");
  });
});

test("both organizations see all objects in a shared consortium, except possible secrets", async () => {
  const { service, north, south, east, paths, more, theirs, consortium } = await shared();
  const owner = service.organizations[0]!.id;
  expect((await south("GET", "/consortia?name=supply")).body).toMatchObject([{ _id: consortium, owner }]);
  expect((await south("GET", "/memberships")).body).toMatchObject([{ _id: theirs.membership, org_name: "south" }]);
  expect((await north("GET", "/memberships")).body).toMatchObject([{ org_name: "acme" }]);
  const counts: Record<string, [number, number]> = {
    [`${paths.consortium}/memberships`]: [2, 2],
    [`${paths.consortium}/environments`]: [1, 1],
    [`${paths.consortium}/zones`]: [1, 1],
    [`${paths.consortium}/invitations`]: [2, 0],
    [`${paths.environment}/nodes`]: [2, 2],
    [`${paths.environment}/zones`]: [1, 1],
    [`${paths.environment}/services`]: [1, 1],
    [`${paths.environment}/appcreds`]: [1, 0],
    [`${paths.environment}/configurations`]: [1, 0],
  };
  for (const [list, wanted] of Object.entries(counts)) {
    const count = async (send: typeof north) => (await send("GET", list)).body.length;
    expect({ list, counts: [await count(north), await count(south)] }).toEqual({ list, counts: wanted });
    expect((await east("GET", list)).status).toBe(404);
  }
  for (const path of [more.configuration, more.invitation, paths.credential])
    expect((await south("GET", path)).status).toBe(404);
  expect((await south("GET", more.service)).text).not.toContain("s3cr3t");
  expect((await north("GET", more.service)).text).toContain("s3cr3t");
  expect((await south("GET", `${paths.node}/status`)).status).toBe(200);
});

describe("a member cannot change another member's objects", () => {
  test.each([
    ["PATCH", "consortium", { name: "x" }],
    ["PATCH", "membership", { org_name: "x" }],
    ["PATCH", "environment", { state: "paused" }],
    ["PATCH", "node", { name: "x" }],
    ["PATCH", "environmentZone", { name: "x" }],
    ["PATCH", "service", { size: "large" }],
    ["DELETE", "consortium", undefined],
    ["DELETE", "membership", undefined],
    ["DELETE", "environment", undefined],
    ["DELETE", "node", undefined],
    ["DELETE", "service", undefined],
    ["PUT", "node/reset", {}],
    ["PUT", "service/reset", {}],
    ["POST", "membership/verify", { test_certificate: true }],
    ["POST", "consortium/memberships", { org_name: "x" }],
    ["POST", "consortium/environments", { provider: "geth", consensus_type: "poa" }],
    ["POST", "consortium/invitations", { org_name: "x", email: "a@b.example" }],
  ] as const)("%s %s", async (method, what, body) => {
    const { south, north, paths, more } = await shared({ answers: { refuseChildren: false } });
    const [kind = "", ...rest] = what.split("/");
    const path = [({ ...paths, ...more } as Record<string, string>)[kind], ...rest].join("/");
    const seen = async () =>
      (await north("GET", `${paths.consortium}/environments`)).text + (await north("GET", paths.node)).text;
    const before = await seen();
    expect(await south(method, path, body)).toMatchObject(refused(403, "organization"));
    expect(await seen()).toBe(before);
  });

  test("a member cannot create objects in another member's name", async () => {
    const { north, south, paths, membership, theirs, more } = await shared();
    const nodes = `${paths.environment}/nodes`;
    expect((await south("POST", nodes, { membership_id: membership })).status).toBe(403);
    expect((await north("POST", nodes, { membership_id: theirs.membership })).status).toBe(403);
    const node_config_id = more.configuration.split("/").at(-1);
    expect((await south("POST", nodes, { membership_id: theirs.membership, node_config_id })).status).toBe(400);
    const creds = `${paths.environment}/appcreds`;
    expect((await south("POST", creds, { membership_id: membership })).status).toBe(403);
    expect((await south("POST", creds, { membership_id: theirs.membership })).status).toBe(201);
  });
});

test("a member cannot delete another member's objects: the environment stays until that member has left", async () => {
  const { north, south, paths, theirs } = await shared({ answers: { refuseChildren: false } });
  expect(await north("DELETE", paths.environment)).toMatchObject(refused(409, "1 node(s) of other organizations"));
  expect(await north("DELETE", paths.consortium)).toMatchObject(refused(409, "1 membership(s) of other organizations"));
  expect((await south("DELETE", `${paths.environment}/nodes/${theirs.node}`)).status).toBe(204);
  expect((await south("DELETE", `${paths.consortium}/memberships/${theirs.membership}`)).status).toBe(204);
  expect((await south("GET", "/consortia")).body).toEqual([]);
  expect((await south("GET", paths.environment)).status).toBe(404);
  expect((await north("DELETE", paths.environment)).status).toBe(202);
  expect((await north("DELETE", paths.consortium)).status).toBe(202);
});

test("each member registers itself with a shared id registry, and uses no other service of another member", async () => {
  const { north, south, east, paths, membership, theirs } = await shared();
  const asked = { service: "idregistry", membership_id: membership };
  const registry = (await north("POST", `${paths.environment}/services`, asked)).body._id;
  const register = (send: typeof north, membership_id: string) =>
    send("POST", `/idregistry/${registry}/identity`, { membership_id });
  await south("POST", `${paths.consortium}/memberships/${theirs.membership}/verify`, { test_certificate: true });
  expect((await register(south, membership)).status).toBe(403);
  expect((await register(south, theirs.membership)).status).toBe(200);
  expect((await register(east, theirs.membership)).status).toBe(404);
  const documents = { service: "documentstore", membership_id: membership };
  const { _id } = (await north("POST", `${paths.environment}/services`, documents)).body;
  const list = `/documentstore/${_id}/destinations`;
  expect([(await north("GET", list)).status, (await south("GET", list)).status]).toEqual([200, 404]);
});

test("only the organization of an environment gives money on its ledger", async () => {
  const { north, south, paths } = await shared({ ledger: true });
  const [account, other] = ["a1", "b2"].map((two) => `0x${two.repeat(20)}`);
  const fund = (send: typeof north, to?: string) =>
    send("POST", `${paths.environment}/eth/fundaccount`, { account: to, amount: "1" });
  expect(await fund(south, account)).toMatchObject(refused(403, "belongs to another organization"));
  expect((await fund(north, other)).status).toBe(200);
  expect(await fund(south, other)).toMatchObject(refused(403, "belongs to another organization"));
});
