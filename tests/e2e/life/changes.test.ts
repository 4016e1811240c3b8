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
    tethers: [{ id: tetherId, funds: { rinkeby: "1000000000000000000", mainnet: "1000000000000000000" } }],
  });
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
});
afterAll(() => w.close());

const writes = (): string[] =>
  w.service.calls.filter(({ method }) => method !== "GET").map(({ method, route }) => `${method} ${route}`);

async function change(shape: Shape): Promise<string> {
  w.stack.program(programOf(shape));
  w.service.clearCalls();
  const { code, text } = await w.stack.run(["up", "--yes"]);
  expect({ code, text }).toMatchObject({ code: 0 });
  return text;
}

const within = "/consortia/:consortiumId";

/** One story: each test changes what the one before it left. */
describe("changes, through the real CLI", () => {
  test("names and descriptions change in place", async () => {
    const ids = await w.stack.ids();
    await change({ description: "second", orgName: "Acme", environmentName: "ledger" });
    expect(writes().sort()).toEqual([
      `PATCH ${within}`,
      `PATCH ${within}/environments/:environmentId`,
      `PATCH ${within}/memberships/:membershipId`,
    ]);
    const { consortia, memberships, environments } = await w.network();
    expect([consortia[0]?.description, memberships[0]?.org_name, environments[0]?.name]).toEqual([
      "second",
      "Acme",
      "ledger",
    ]);
    expect(await w.stack.ids()).toEqual(ids);
  });

  test("leaving the description out takes it away", async () => {
    await change({ orgName: "Acme", environmentName: "ledger" });
    expect((await w.network()).consortia[0]?.description ?? "").toBe("");
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a service without PATCH gets a clear error, and nothing is lost", async () => {
    w.service.setAnswers({ patch: 405 });
    w.stack.program(programOf({ description: "third", orgName: "Acme", environmentName: "ledger" }));
    const { code, text } = await w.stack.up();
    expect(code).not.toBe(0);
    expect(text).toMatch(
      /consortium "c" \(\w+\): this service cannot change description in place .*HTTP 405.*Nothing was changed.*Making a new one would destroy what is in it/,
    );
    w.service.setAnswers({ patch: true });
    await change({ orgName: "Acme", environmentName: "ledger" });
    expect(writes()).toEqual([]);
  });

  test("a keeper makes a new pair, then deletes the old one", async () => {
    const { username } = await w.stack.outputs();
    await change({ orgName: "Acme", environmentName: "ledger", keeper: 2 });
    expect(writes()).toEqual([
      `POST ${within}/environments/:environmentId/appcreds`,
      `DELETE ${within}/environments/:environmentId/appcreds/:credentialId`,
    ]);
    expect((await w.stack.outputs()).username).not.toBe(username);
  });

  test("the tether is stopped before its interval changes, and not deployed again", async () => {
    await change({ orgName: "Acme", environmentName: "ledger", keeper: 2, intervalHours: 6 });
    expect(writes()).toEqual(["deactivate", "interval", "activate"].map((step) => `POST /tether/:tetherId/${step}`));
  });

  test("the tether moves to another network, and back without a second deployment", async () => {
    await change({ orgName: "Acme", environmentName: "ledger", keeper: 2, intervalHours: 6, network: "mainnet" });
    expect(writes()).toEqual(
      ["deactivate", "targetNetwork", "deploy", "activate"].map((step) => `POST /tether/:tetherId/${step}`),
    );
    await change({ orgName: "Acme", environmentName: "ledger", keeper: 2, intervalHours: 6 });
    expect(writes()).toEqual(
      ["deactivate", "targetNetwork", "activate"].map((step) => `POST /tether/:tetherId/${step}`),
    );
  });

  test("another consensus replaces the ledger, loudly, and its children go with it", async () => {
    const before = await w.network();
    const text = await change({
      orgName: "Acme",
      environmentName: "ledger",
      keeper: 2,
      intervalHours: 6,
      consensusType: "ibft",
    });
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
  const shape = { orgName: "Acme", environmentName: "ledger", keeper: 2, intervalHours: 6, consensusType: "ibft" };

  test("a remote rename shows in a refresh, and up puts it right", async () => {
    w.service.store.nodes.patch(w.service.store.nodes.list()[0]!.id, { name: "renamed" });
    expect(await w.stack.run(["refresh", "--preview-only", "--expect-no-changes"])).not.toMatchObject({ code: 0 });
    expect(await w.stack.refresh()).toMatchObject({ code: 0 });
    await change(shape);
    expect(writes()).toEqual([`PATCH ${within}/environments/:environmentId/nodes/:nodeId`]);
    expect((await w.network()).nodes.map(({ name }) => name)).toEqual(["n"]);
  });

  test("what was deleted behind our back is made again by up --refresh", async () => {
    w.service.store.nodes.remove(w.service.store.nodes.list()[0]!.id);
    w.service.clearCalls();
    expect(await w.stack.up({}, "--refresh")).toMatchObject({ code: 0 });
    expect((await w.network()).nodes.map(({ name, state }) => [name, state])).toEqual([["n", "started"]]);
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});

test("a node is made anew at the user's word, as the documentation says", async () => {
  const before = (await w.network()).nodes[0]?._id;
  const urn = (await w.stack.resources()).find(({ type }) => type.endsWith(":Node"))!.urn;
  const { code, text } = await w.stack.up({}, "--replace", urn);
  expect({ code, text }).toMatchObject({ code: 0 });
  const { nodes } = await w.network();
  expect(nodes.map(({ name }) => name)).toEqual(["n"]);
  expect(nodes[0]?._id).not.toBe(before);
});
