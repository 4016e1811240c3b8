import {
  consortiaPerOrganization,
  environmentsPerConsortium,
  nodesPerEnvironment,
  resourcesPerEnvironment,
  withSettings,
} from "../../sdk/policy";
import { network as networkOf, type Network, others, send } from "../support/network";
import { type ServiceOptions } from "../../service";
import { setEnvironment, start, startAnother } from "../support/service";
import { judge, messages } from "./support/host";
import { network, Plan, type Planned, unknown } from "./support/plan";

const consortia = withSettings(consortiaPerOrganization, { live: true });
const environments = withSettings(environmentsPerConsortium, { live: true });
const nodes = withSettings(nodesPerEnvironment, { live: true });
const quorum = { provider: "quorum", consensus_type: "ibft" };

/** A service with a consortium, two environments and a node. */
async function begin(options?: ServiceOptions) {
  const started = await start(options);
  const there = await networkOf(started.service, started.time);
  const post = async (path: string, body: object): Promise<string> =>
    (await send(started.service, "POST", path, body))._id;
  const within = `/consortia/${there.consortiumId}`;
  const nodesThere = async (names: string[]): Promise<void> => {
    const nodes = `${within}/environments/${there.environmentId}/nodes`;
    for (const name of names) await post(nodes, { name, membership_id: there.membershipId });
  };
  return { ...started, there, post, nodesThere, within };
}

/** Resources of this stack in the existing consortium. */
function inside(there: Network) {
  const { consortiumId, environmentId, membershipId } = there;
  const plan = new Plan();
  const environment = (name: string): Planned => plan.add("Environment", name, { consortiumId });
  const node = (name: string, more: object = {}): Planned =>
    plan.add("Node", name, { consortiumId, environmentId, membershipId, ...more });
  return { plan, environment, node };
}

describe("objects of the organization outside this stack count", () => {
  test("consortia", async () => {
    const { post } = await begin();
    await post("/consortia", { name: "second" });
    const plan = new Plan();
    plan.add("Consortium", "mine");
    expect(await judge([consortia], plan)).toEqual([
      {
        policy: "consortia-per-organization",
        level: "mandatory",
        message:
          'The organization of the default provider would have 3 consortia (in this stack "mine", and outside of it ' +
          '"fixture" and "second"), but at most 2 are allowed. Use fewer, or create some with a Provider of another organization. ' +
          "Resources that this run deletes also count, because Pulumi deletes last.",
      },
    ]);
    expect(await messages(consortia, plan, { live: false })).toEqual([]);
  });

  test("consortia of an organization with a maximum of its own, by id or name", async () => {
    const { post, service } = await begin({ organizations: [{ name: "Acme Ltd" }] });
    await post("/consortia", { name: "second" });
    const { id } = service.organizations[0]!;
    const plan = new Plan();
    plan.add("Consortium", "mine");
    for (const whose of [id, "Acme Ltd"])
      expect(await messages(consortia, plan, { maxOf: { [whose]: 3, "Somebody else": 0 } })).toEqual([]);
    expect(await messages(consortia, plan, { maxOf: { "Somebody else": 3 } })).toHaveLength(1);
    expect(await messages(consortia, plan, { max: 9, maxOf: { "Acme Ltd": 2 } })).toEqual([
      expect.stringContaining("but at most 2 are allowed"),
    ]);
  });

  test("a name is shown as a terminal can print it", async () => {
    const { post } = await begin();
    await post("/consortia", { name: "\u001b[31mred\u202e" });
    const plan = new Plan();
    plan.add("Consortium", "mine");
    const [message] = await messages(consortia, plan);
    expect(message).toContain("red");
    // eslint-disable-next-line no-control-regex
    expect(message).not.toMatch(/[\u001b\u202e]/);
  });

  test("environments", async () => {
    const { there } = await begin();
    const { plan, environment } = inside(there);
    environment("mine");
    expect(await messages(environments, plan)).toEqual([]);
    environment("mine-too");
    expect(await messages(environments, plan)).toEqual([
      expect.stringContaining(
        'would have 4 environments (in this stack "mine" and "mine-too", and outside of it "main" and "spare")',
      ),
    ]);
  });

  test("services, zones and configurations, but not those that this stack shares or adopts", async () => {
    const { there, post, service, time } = await begin();
    const { configurationId } = await others(service, time, there);
    const { consortiumId, environmentId, membershipId } = there;
    const within = { consortiumId, environmentId };
    const far = { region: "far-1", cloud: "aws" };
    await post(`/consortia/${consortiumId}/environments/${environmentId}/zones`, { name: "far", ...far });
    const limited = withSettings(resourcesPerEnvironment, { live: true, services: 2, zones: 2, configurations: 1 });
    const plan = new Plan();
    plan.add("Service", "ids", { ...within, service: "idregistry", adopt: true });
    plan.add("EnvironmentZone", "away", { ...within, ...far, adopt: true });
    plan.add("Configuration", "mine", { ...within, membershipId, adopt: configurationId });
    expect(await messages(limited, plan)).toEqual([]);
    plan.add("Service", "files", { ...within, service: "ipfs" });
    plan.add("EnvironmentZone", "new", { ...within, region: "new-1", cloud: "aws" });
    plan.add("Configuration", "more", within);
    expect(await messages(limited, plan)).toEqual([
      expect.stringContaining('would have 3 services (in this stack "files" and "ids", and outside of it "documents")'),
      expect.stringContaining('would have 3 zones (in this stack "away" and "new", and outside of it "ohio")'),
      expect.stringContaining('would have 2 configurations (in this stack "mine" and "more"), but at most 1 are'),
    ]);
    expect(await messages(limited, plan, { live: false })).toEqual([
      expect.stringContaining('would have 2 configurations (in this stack "mine" and "more")'),
    ]);
  });

  test("nodes, and those of a membership", async () => {
    const { there, nodesThere } = await begin();
    await nodesThere(["x", "y"]);
    const { plan, node } = inside(there);
    node("mine");
    expect(await messages(nodes, plan)).toEqual([]);
    node("mine-too");
    expect(await messages(nodes, plan)).toEqual([
      expect.stringContaining(
        'would have 5 nodes (in this stack "mine" and "mine-too", and outside of it "node-0", "x" and "y")',
      ),
    ]);
    const bounded = new Plan("test", true);
    const membership = bounded.add("Membership", "acme", { consortiumId: there.consortiumId, maximumNodes: 3 });
    const { consortiumId, environmentId, membershipId } = there;
    const ids = { consortiumId, environmentId, membershipId };
    bounded.add("Node", "mine", ids, { madeFrom: { membershipId: [membership] } });
    expect(await messages(nodes, bounded)).toEqual([
      expect.stringContaining('Membership "acme" would own 4 of the nodes'),
    ]);
    membership.props = { ...membership.props, minimumNodes: 5, maximumNodes: 9 };
    expect(await messages(nodes, bounded)).toEqual([expect.stringContaining("must own at least 5 (its minimumNodes)")]);
    expect(await messages(nodes, bounded, { live: false })).toEqual([]); // others may be there
  });

  test("not objects that are deleted, or being deleted", async () => {
    const { there, service, within, post } = await begin();
    service.setTiming({ deletedVisible: 60_000 });
    await send(service, "DELETE", `${within}/environments/${there.otherEnvironmentId}`);
    for (const state of ["deleting", "delete_pending"])
      service.store.environments.setState(await post(`${within}/environments`, { name: state, ...quorum }), state);
    const { plan, environment } = inside(there);
    for (const name of ["a", "b"]) environment(name);
    expect(await messages(environments, plan)).toEqual([]);
  });
});

describe("nothing is counted twice", () => {
  test.each<[string, there: string[], mine: [name: string, args?: object][], max: number, outside: string[]]>([
    ["found by its name", ["a", "b", "c"], [["node-0"], ["a"], ["b"], ["c"]], 4, []],
    [
      "with another form of the name in the service; a plain name must be equal",
      ["node 1", "node-2", "node3"],
      [["Node 1"], ["Node_2"], ["node-3"]],
      3,
      ["node-0", "node3"],
    ],
    [
      "that gets its own name in this run, found by its logical name",
      [],
      [["node-0", { name: "Node zero" }], ["a"], ["b"], ["c"]],
      4,
      [],
    ],
    ["with a name that is not known yet, which may be any", [], [["u", { name: unknown }], ["a"], ["b"], ["c"]], 4, []],
  ])("an object of this stack %s", async (_, names, mine, max, outside) => {
    const { there, nodesThere } = await begin();
    const { plan, node } = inside(there);
    for (const [name, args] of mine) node(name, args);
    await nodesThere(names);
    const told = outside.map((name) => `"${name}"`).join(" and ");
    const found = told === "" ? [] : [expect.stringContaining(`outside of it ${told})`) as string];
    expect(await messages(nodes, plan, { live: true, max })).toEqual(found);
  });

  test("an object that is renamed in this run, found by its children's id", async () => {
    const { there } = await begin();
    const plan = new Plan();
    const consortium = plan.add("Consortium", "c", { name: "new name" });
    const membership = plan.add("Membership", "m", { consortium });
    membership.props.consortiumId = there.consortiumId;
    plan.add("Consortium", "second");
    expect(await messages(consortia, plan)).toEqual([]);
  });

  test("an adopted object, by name or by id, and its contents", async () => {
    const { there, post, within } = await begin();
    await post(`${within}/environments`, { name: "third", ...quorum });
    for (const adopt of [true, there.consortiumId]) {
      const plan = new Plan();
      const consortium = plan.add("Consortium", "c", { name: adopt === true ? "fixture" : "other", adopt });
      plan.add("Consortium", "second");
      plan.add("Environment", "mine", { consortium });
      expect(await judge([consortia, environments], plan)).toEqual([
        expect.objectContaining({
          message: expect.stringMatching(/^Consortium "c" would have 4 environments/) as string,
        }),
      ]);
    }
  });

  test("nodes of an environment that is adopted", async () => {
    const { there } = await begin();
    const plan = new Plan();
    const consortium = plan.add("Consortium", "fixture", { adopt: true });
    const environment = plan.add("Environment", "main", { consortium, adopt: true });
    for (const name of ["a", "b", "c", "d"]) plan.add("Node", name, { environment, membershipId: there.membershipId });
    expect(await messages(nodes, plan)).toEqual([
      expect.stringContaining('would have 5 nodes (in this stack "a", "b", "c" and "d", and outside of it "node-0")'),
    ]);
  });

  test("a new environment has no nodes, whatever the organization has", async () => {
    await begin();
    const plan = new Plan();
    const { node } = network(plan);
    for (const name of ["a", "b", "c", "d"]) node(name);
    expect(await messages(nodes, plan)).toEqual([]);
  });
});

test("each list is requested once a run for all policies", async () => {
  const { there, calls } = await begin();
  const { plan, environment, node } = inside(there);
  environment("mine");
  node("mine");
  plan.add("Consortium", "fixture", { adopt: true });
  await judge([consortia, environments, nodes], plan);
  await judge([consortia, environments, nodes], plan);
  expect(calls().sort()).toEqual([
    "GET /consortia",
    "GET /consortia/:consortiumId/environments",
    "GET /consortia/:consortiumId/environments/:environmentId/nodes",
  ]);
});

test("explicit Providers ask with their own keys", async () => {
  const { service } = await begin();
  const bolt = service.addOrganization("bolt", "key-of-bolt");
  const plan = new Plan();
  const given = { apiKey: bolt.apiKey, baseUrl: service.baseUrl };
  const provider = plan.provider("bolt", given);
  for (const name of ["a", "b"]) plan.add("Consortium", name, {}, { provider });
  for (const name of ["c", "d"]) plan.add("Consortium", name);
  expect(await messages(consortia, plan)).toEqual([
    expect.stringMatching(/^The organization of the default provider .*outside of it "fixture"/),
  ]);
});

test("two services with the same key are two organizations", async () => {
  const { service: first } = await begin();
  const second = await startAnother({ organizations: [{ name: "acme", apiKey: first.apiKey }] });
  await send(second, "POST", "/consortia", { name: "theirs" });
  await send(second, "POST", "/consortia", { name: "too" });
  const plan = new Plan();
  for (const [name, { baseUrl }] of Object.entries({ first, second }))
    plan.add("Consortium", name, {}, { provider: plan.provider(name, { apiKey: first.apiKey, baseUrl }) });
  expect(await messages(consortia, plan)).toEqual([
    expect.stringMatching(/^The organization of provider "second" .*outside of it "theirs" and "too"/),
  ]);
});

describe("if the organization cannot be asked, that is advice, and only this stack is counted", () => {
  const three = (): Plan => {
    const plan = new Plan();
    for (const name of ["a", "b", "c"]) plan.add("Consortium", name);
    return plan;
  };

  test.each<[string, Record<string, string | undefined>, RegExp]>([
    ["no key", { CONSORTIUM_API_KEY: undefined }, /^Only this stack was counted\. Set the environment variable/],
    [
      "nobody there",
      { CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" },
      /^Only this stack was counted\. The service at .* cannot be reached.*GET \/consortia: the connection was refused\./,
    ],
    [
      "a refused key",
      { CONSORTIUM_API_KEY: "secret-of-nobody" },
      /^Only this stack was counted\. The API key from environment variable CONSORTIUM_API_KEY was refused.*HTTP 401: /,
    ],
  ])("%s", async (_, env, message) => {
    await begin();
    setEnvironment(env);
    const found = await judge([consortia], three());
    expect(found.map(({ level }) => level)).toEqual(["advisory", "mandatory"]);
    expect(found[0]!.message).toMatch(message);
    expect(found[1]!.message).toContain('would have 3 consortia (in this stack "a", "b" and "c")');
    expect(JSON.stringify(found)).not.toContain("secret-of-nobody");
  });

  test("settings of a Provider that are not known yet", async () => {
    const plan = new Plan();
    const provider = plan.provider("acme", { apiKey: unknown });
    plan.add("Consortium", "c", {}, { provider });
    expect(await messages(consortia, plan)).toEqual([
      'Only this stack was counted. The settings of provider "acme" are not known before the run.',
    ]);
  });
});
