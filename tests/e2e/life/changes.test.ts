import { tetherId, type World, world } from "../support/world";

interface Shape {
  description?: string;
  orgName?: string;
  consensusType?: string;
  environmentName?: string;
  keeper?: number;
  intervalHours?: number;
  network?: string;
}

const programOf = ({
  description,
  orgName,
  consensusType = "raft",
  environmentName,
  keeper = 1,
  intervalHours = 1,
  network = "rinkeby",
}: Shape): string => `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  // Pulumi ignores the option, as docs/operations.md says: a description still changes in place.
  const consortium = new Consortium("c", ${JSON.stringify({ description })}, { replaceOnChanges: ["description"] });
  const membership = new Membership("m", { consortium, ...${JSON.stringify({ orgName })} });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "${consensusType}", ...${JSON.stringify({ name: environmentName })} });
  const node = new Node("n", { environment, membership });
  const cred = new AppCred("a", { environment, membership, keepers: { turn: ${keeper} } });
  new TetherService("t", { tetherId: "${tetherId}", network: "${network}", intervalHours: ${intervalHours} }, { dependsOn: node });
  exports.username = cred.username;
`;

let w: World;
beforeAll(async () => {
  w = await world(programOf({ description: "first" }), {
    inline: true,
    tethers: [{ id: tetherId, funds: { rinkeby: "1000000000000000000", mainnet: "1000000000000000000" } }],
  });
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
});
afterAll(() => w.close());

/** What was changed in the service, one line each: the calls that are not of the tether, or those of it. */
const writes = (ofTether = false): string[] =>
  w.service.calls
    .filter(({ method, route }) => method !== "GET" && route.startsWith("/tether") === ofTether)
    .map(({ method, route }) => `${method} ${route}`);
const tetherSteps = (...steps: string[]): string[] => steps.map((step) => `POST /tether/:tetherId/${step}`);

async function change(shape: Shape): Promise<string> {
  w.stack.program(programOf(shape));
  w.service.clearCalls();
  const { code, text } = await w.stack.up();
  expect({ code, text }).toMatchObject({ code: 0 });
  return text;
}

const within = "/consortia/:consortiumId";
const shape: Shape = { orgName: "Acme", environmentName: "ledger", keeper: 2, intervalHours: 6 };

/** One story: each test changes what the one before it left. */
describe("changes, through the real CLI", () => {
  test("each in its own way: in place, a new pair before the old one goes, a tether that is stopped meanwhile", async () => {
    const before = await w.stack.resources();
    const { username } = await w.stack.outputs();
    await change({ ...shape, description: "second" });
    const credentials = `${within}/environments/:environmentId/appcreds`;
    expect(writes().filter((call) => call.startsWith("PATCH"))).toHaveLength(3);
    expect(writes().sort()).toEqual([
      `DELETE ${credentials}/:credentialId`,
      `PATCH ${within}`,
      `PATCH ${within}/environments/:environmentId`,
      `PATCH ${within}/memberships/:membershipId`,
      `POST ${credentials}`,
    ]);
    expect(writes().filter((call) => call.includes("appcreds"))).toEqual([
      `POST ${credentials}`,
      `DELETE ${credentials}/:credentialId`,
    ]);
    // Not deployed again:
    expect(writes(true)).toEqual(tetherSteps("deactivate", "interval", "activate"));
    const { consortia, memberships, environments } = await w.network();
    expect([consortia[0]?.description, memberships[0]?.org_name, environments[0]?.name]).toEqual([
      "second",
      "Acme",
      "ledger",
    ]);
    const ids = (all: typeof before) => all.filter(({ type }) => !type.endsWith(":AppCred")).map(({ id }) => id);
    expect(ids(await w.stack.resources()).sort()).toEqual(ids(before).sort());
    expect((await w.stack.outputs()).username).not.toBe(username);
  });

  test("leaving the description out takes it away; the tether moves to another network", async () => {
    await change({ ...shape, network: "mainnet" });
    expect(writes()).toEqual([`PATCH ${within}`]);
    expect((await w.network()).consortia[0]?.description ?? "").toBe("");
    expect(writes(true)).toEqual(tetherSteps("deactivate", "targetNetwork", "deploy", "activate"));
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a service without PATCH gets a clear error, and nothing is lost", async () => {
    w.service.setAnswers({ patch: 405 });
    w.stack.program(programOf({ ...shape, network: "mainnet", description: "third" }));
    const { code, text } = await w.stack.up();
    expect(code).not.toBe(0);
    expect(text).toMatch(
      /consortium "c" \(\w+\): this service cannot change description in place .*HTTP 405.*Nothing was changed.*A replacement would destroy what is in it/,
    );
    w.service.setAnswers({ patch: true });
  });

  test("the tether moves back without a second deployment, and nothing else changes", async () => {
    await change(shape);
    expect(writes()).toEqual([]);
    expect(writes(true)).toEqual(tetherSteps("deactivate", "targetNetwork", "activate"));
  });

  test("another consensus replaces the ledger, loudly, and its children go with it", async () => {
    const before = await w.network();
    const text = await change({ ...shape, consensusType: "ibft" });
    expect(text).toContain('WARNING: environment "ledger": REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER');
    expect(
      writes()
        .filter((call) => call.startsWith("DELETE"))
        .at(-1),
    ).toBe(`DELETE ${within}/environments/:environmentId`);
    const after = await w.network();
    expect([after.environments.length, after.nodes.length, after.appcreds.length]).toEqual([1, 1, 1]);
    expect(after.environments[0]?._id).not.toBe(before.environments[0]?._id);
  });
});

describe("drift, through the real CLI", () => {
  test("a remote rename shows in a refresh, and up puts it right", async () => {
    w.service.store.nodes.patch(w.service.store.nodes.list()[0]!.id, { name: "renamed" });
    expect(await w.stack.run(["refresh", "--preview-only", "--expect-no-changes"])).not.toMatchObject({ code: 0 });
    expect(await w.stack.refresh()).toMatchObject({ code: 0 });
    await change({ ...shape, consensusType: "ibft" });
    expect(writes()).toEqual([`PATCH ${within}/environments/:environmentId/nodes/:nodeId`]);
    expect((await w.network()).nodes.map(({ name }) => name)).toEqual(["n"]);
  });

  test("what was deleted behind our back is made again by up --refresh", async () => {
    w.service.store.nodes.remove(w.service.store.nodes.list()[0]!.id);
    w.service.clearCalls();
    expect(await w.stack.up({}, "--refresh")).toMatchObject({ code: 0 });
    expect((await w.network()).nodes.map(({ name, state }) => [name, state])).toEqual([["n", "started"]]);
  });
});

test("a node is made anew at the user's word, as the documentation says", async () => {
  const before = (await w.network()).nodes[0]?._id;
  const urn = (await w.stack.resources()).find(({ type }) => type.endsWith(":Node"))!.urn;
  const { code, text } = await w.stack.up({}, "--replace", urn);
  expect({ code, text }).toMatchObject({ code: 0 });
  expect(text).toMatch(/\+-1 replaced\n +6 unchanged/); // so what `up --refresh` made needed nothing more
  const { nodes } = await w.network();
  expect(nodes.map(({ name }) => name)).toEqual(["n"]);
  expect(nodes[0]?._id).not.toBe(before);
});
