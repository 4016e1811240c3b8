import { stringify } from "yaml";
import { render } from "../../../cli/report";
import { readPlan } from "../../../inventory/plan/read";
import { type Golden, goldenStack } from "../support/golden";
import { plugins, type Stack } from "../support/stack";
import { callsBesidesKey, tetherId, wholeTree, type World, world, writesOf } from "../support/world";

/* A stack of the dynamic provider and one of the plugin are the same network: `consortium:plugin` moves it, and nothing else happens. */

const up = ["up", "--yes", "--skip-preview"];
const onPlugin = { CONSORTIUM_PLUGIN: "true" };
const onDynamic = { CONSORTIUM_PLUGIN: "false" };

/** The adapters that the resources of a state are on. */
const adaptersOf = async (stack: Stack): Promise<string[]> => [
  ...new Set((await stack.resources()).map(({ type }) => type.slice(0, type.lastIndexOf(":") + 1))),
];

describe("the golden state", () => {
  let kept: Golden;
  let ids: string[];

  beforeAll(async () => {
    kept = await goldenStack("0.3.0", "dynamic", "stack");
    ids = await kept.stack.ids();
  });

  test("moves to the plugin unchanged, with calls only about an unknown key; a report says so", async () => {
    const { stack, service } = kept;
    const streaming = { ...onPlugin, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" };
    const { stdout } = await stack.ok(["preview", "--json"], streaming);
    expect(render([readPlan(stdout, "plan")], { max: 60_000 })).toContain("Nothing to do: 25 unchanged.");
    service.clearCalls(); // of the preview, which asks for the key
    const { text } = await stack.ok([...up, "--expect-no-changes"], onPlugin);
    expect(text).toMatch(/Resources:\n +25 unchanged/);
    expect(callsBesidesKey(service)).toEqual([]);
    expect(await stack.ids()).toEqual(ids);
    expect(await adaptersOf(stack)).toEqual(["consortium:index:"]);
  });

  test("is unchanged for a refresh and a preview after it", async () => {
    const { stack, service } = kept;
    await stack.ok(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], onPlugin);
    await stack.ok(["preview", "--expect-no-changes"], onPlugin);
    expect((await stack.outputs()).password).toMatch(/\S{8}/);
    expect(writesOf(service)).toEqual([]);
  });

  test("moves back unchanged, without a call", async () => {
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
});

/* Moving between the two providers while the resources get a parent, or lose it: nothing is made anew. */
const program = (within: boolean): string => `
  const pulumi = require("@pulumi/pulumi");
  const { Consortium, Membership } = require("pulumi-consortium");
  class Trade extends pulumi.ComponentResource {}
  const trade = new Trade("test:index:Trade", "trade", {}, {});
  const none = pulumi.rootStackResource;
  const [now, before] = ${within} ? [trade, none] : [undefined, trade];
  const consortium = new Consortium("c", {}, { parent: now, aliases: [{ parent: before }] });
  new Membership("m", { consortium }, { parent: now, aliases: [{ parent: before }] });
`;

describe.each([
  ["to the plugin", onDynamic, onPlugin],
  ["back", onPlugin, onDynamic],
])("while the resources change their parent, %s", (_, from, to) => {
  let w: World;
  beforeAll(async () => {
    w = await world(program(false), { inline: true, plugin: true, ledger: false });
    expect(await w.stack.up(from)).toMatchObject({ code: 0 });
    w.service.clearCalls();
  });

  test("with aliases: [{ parent }], into a component and out of it: unchanged, without a call", async () => {
    const ids = await w.stack.ids();
    const moves = [
      [true, to],
      [false, from],
    ] as const;
    for (const [within, adapter] of moves) {
      w.stack.program(program(within));
      const { text } = await w.stack.ok(up, adapter);
      expect(text).not.toMatch(/created|replaced|deleted/);
      expect([w.service.calls, await w.stack.ids()]).toEqual([[], ids]);
    }
  });
});
