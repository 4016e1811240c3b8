import { stringify } from "yaml";
import { render } from "../../../cli/report";
import { readPlan } from "../../../inventory/plan/read";
import { type Service } from "../../../service/index";
import { type Golden, goldenStack } from "../support/golden";
import { plugins, type Stack } from "../support/stack";
import { canaryKey, tetherId, type World, wholeTree, world } from "../support/world";

/* A stack of the dynamic provider and one of the plugin are the same network: `consortium:plugin` moves it, and nothing else happens. */

const up = ["up", "--yes", "--skip-preview"];
const onPlugin = { CONSORTIUM_PLUGIN: "true" };
const onDynamic = { CONSORTIUM_PLUGIN: "false" };

const changing = (service: Service): string[] =>
  service.calls.filter(({ method }) => method !== "GET").map(({ method, route }) => `${method} ${route}`);

/** The adapters that the resources of a state are on. */
const adaptersOf = async (stack: Stack): Promise<string[]> => [
  ...new Set((await stack.resources()).map(({ type }) => type.slice(0, type.lastIndexOf(":") + 1))),
];

const report = async (stack: Stack, env: Record<string, string>): Promise<string> =>
  render(
    [
      readPlan(
        (await stack.ok(["preview", "--json"], { ...env, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" })).stdout,
        "plan",
      ),
    ],
    { max: 60_000 },
  );

describe("the state of 0.2.0", () => {
  let kept: Golden;
  let ids: string[];

  beforeAll(async () => {
    kept = await goldenStack("0.2.0", "dynamic", "stack");
    ids = await kept.stack.ids();
  });
  afterAll(() => kept.close());

  test("moves to the plugin: unchanged, without a call; a report says so", async () => {
    const { stack, service } = kept;
    expect(await report(stack, onPlugin)).toContain("Nothing to do: 25 unchanged.");
    service.clearCalls(); // of the preview, which asks for the key
    const { text } = await stack.ok([...up, "--expect-no-changes"], onPlugin);
    expect(text).toMatch(/Resources:\n +25 unchanged/);
    expect(service.calls).toEqual([]);
    expect(await stack.ids()).toEqual(ids);
    expect(await adaptersOf(stack)).toEqual(["consortium:index:"]);
  });

  test("is there as it was, for a refresh and a preview after it", async () => {
    const { stack, service } = kept;
    await stack.ok(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], onPlugin);
    await stack.ok(["preview", "--expect-no-changes"], onPlugin);
    expect((await stack.outputs()).password).toMatch(/\S{8}/);
    expect(changing(service)).toEqual([]);
  });

  test("moves back: unchanged, without a call", async () => {
    const { stack, service } = kept;
    service.clearCalls();
    await stack.ok([...up, "--expect-no-changes"], onDynamic);
    expect(service.calls).toEqual([]);
    expect(await stack.ids()).toEqual(ids);
    expect(await adaptersOf(stack)).toEqual(["pulumi-nodejs:dynamic/consortium:"]);
    await stack.ok(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], onDynamic);
    await stack.ok(["preview", "--expect-no-changes"], onDynamic);
  });
});

/** `wholeTree` in YAML. */
const treeInYaml = `
resources:
  c: { type: consortium:Consortium, properties: { description: first } }
  m: { type: consortium:Membership, properties: { consortiumId: "\${c.id}" } }
  e:
    type: consortium:Environment
    properties: { consortiumId: "\${c.id}", provider: quorum, consensusType: raft }
  n:
    type: consortium:Node
    properties: { consortiumId: "\${c.id}", environmentId: "\${e.id}", membershipId: "\${m.id}" }
  a:
    type: consortium:AppCred
    properties: { consortiumId: "\${c.id}", environmentId: "\${e.id}", membershipId: "\${m.id}" }
  t:
    type: consortium:TetherService
    properties: { tetherId: ${tetherId}, network: rinkeby, intervalHours: 1 }
    options: { dependsOn: ["\${n}"] }
outputs:
  password: \${a.password}
`;

test("a JavaScript program of dynamic resources becomes a YAML program: six unchanged, without a call", async () => {
  const w = await world(wholeTree, { language: "nodejs", plugin: true, env: onDynamic, ledger: false });
  try {
    await w.stack.ok(up);
    const [ids, { password }] = [await w.stack.ids(), await w.stack.outputs()];
    w.stack.write("Pulumi.yaml", `name: e2e\nruntime: yaml\n${stringify({ plugins })}`);
    w.stack.write("Main.yaml", treeInYaml);
    w.service.clearCalls();
    const { text } = await w.stack.ok(up);
    expect(text).toMatch(/Resources:\n +7 unchanged/); // with the stack
    expect(text).not.toMatch(/created|updated|replaced|deleted/);
    expect(w.service.calls).toEqual([]);
    expect(await w.stack.ids()).toEqual(ids);
    expect((await w.stack.outputs()).password).toBe(password);
    expect(await adaptersOf(w.stack)).toEqual(["consortium:index:"]);
    await w.stack.ok(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    await w.stack.ok(["destroy", "--yes", "--skip-preview"]);
    expect((await w.network()).consortia).toEqual([]);
  } finally {
    await w.close();
  }
});

describe("two organizations, a network of a definition, and resources under others", () => {
  const programOf = (key: string, more = ""): string => `
    const pulumi = require("@pulumi/pulumi");
    const { Consortium, Membership, Network, Provider, getConsortiaOutput } = require("pulumi-consortium");
    const globex = new Provider("globex", { apiKey: new pulumi.Config().requireSecret("globex") });
    const spice = new Consortium("spice", {}, { provider: globex });
    new Membership("grower", { consortium: spice }, { parent: spice }); // with its parent's provider
    const { outputs } = new Network("trade", {
      members: ["acme"],
      environments: { ${key} },
    });
    const theirs = getConsortiaOutput({ name: spice.name }, { provider: globex });
    exports.theirs = theirs.apply((all) => all.map(({ id }) => id));
    exports.network = outputs;
    exports.spice = spice.id;
    ${more}
  `;
  const settings = 'name: "ledger", provider: "geth", consensusType: "poa", nodes: { acme: 1 }';
  const first = programOf(`prod: { ${settings} }`);
  const renamed = programOf(`live: { formerly: "prod", ${settings} }`);

  let w: World;
  let globexKey: string;
  let ids: string[];

  beforeAll(async () => {
    w = await world(first, { inline: true, plugin: true, env: { CONSORTIUM_PLUGIN: undefined }, ledger: false });
    globexKey = w.service.addOrganization("globex").apiKey;
    await w.stack.ok(["config", "set", "consortium:plugin", "true"]);
    w.stack.secrets({ globex: globexKey });
  });
  afterAll(() => w.close());

  test("an up on the plugin, where the configuration of the stack says so", async () => {
    const { text } = await w.stack.ok(up);
    expect(await adaptersOf(w.stack)).toEqual(["consortium:index:"]);
    ids = await w.stack.ids();
    const owners = w.service.store.consortia
      .list()
      .map(({ fields, parent }) => [fields.name, w.service.organizations.find(({ id }) => id === parent)?.name]);
    expect(Object.fromEntries(owners)).toEqual({ trade: "local", spice: "globex" });
    const outputs = await w.stack.outputs();
    expect(outputs.theirs).toEqual([outputs.spice]);
    const [, password] = /"password":"([^"]+)"/.exec(JSON.stringify(outputs)) ?? [];
    const state = await w.stack.exported();
    for (const secret of [globexKey, canaryKey, password]) expect(text + state).not.toContain(secret);
    await w.stack.ok(["preview", "--expect-no-changes"]);
  });

  test("to the dynamic provider: only the states change, which get the code of one, even while a key becomes another", async () => {
    w.service.clearCalls();
    w.stack.program(renamed);
    expect(await report(w.stack, onDynamic)).toContain("to the other provider: only its state changes");
    await w.stack.ok(up, onDynamic);
    expect(changing(w.service)).toEqual([]);
    expect(await w.stack.ids()).toEqual(ids);
    expect(await adaptersOf(w.stack)).toEqual(["pulumi-nodejs:dynamic/consortium:"]);
  });

  test("and back, unchanged and without a call but those of the lookup", async () => {
    w.service.clearCalls();
    await w.stack.ok([...up, "--expect-no-changes"]);
    expect(changing(w.service)).toEqual([]);
    expect(await adaptersOf(w.stack)).toEqual(["consortium:index:"]);
    expect(await w.stack.ids()).toEqual(ids);
  });

  test("settings of a Provider that are not known yet are no error of a preview", async () => {
    w.stack.program(
      programOf(
        `live: { formerly: "prod", ${settings} }`,
        `const late = new Provider("late", { apiKey: new Membership("later", { consortium: spice }, { provider: globex }).id });
        new Consortium("after", {}, { provider: late });`,
      ),
    );
    const { text } = await w.stack.ok(["preview"]);
    expect(text).toMatch(/\+ 3 to create/);
  });

  test("all of it is destroyed", async () => {
    w.stack.program(renamed);
    await w.stack.ok(["destroy", "--yes", "--skip-preview"]);
    expect(w.service.store.consortia.list()).toEqual([]);
  });
});
