import { stringify } from "yaml";
import { plugins } from "../support/stack";
import { tetherId, wholeTree, type World, world } from "../support/world";

/*
 * A stack of the dynamic provider and one of the plugin are the same network: `consortium:plugin` moves it, and nothing else happens. (A
 * state of an earlier version: tests/e2e/life/upgrade.test.ts.)
 */

const up = ["up", "--yes", "--skip-preview"];
const onPlugin = { CONSORTIUM_PLUGIN: "true" };
const onDynamic = { CONSORTIUM_PLUGIN: "false" };

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
  expect(await w.stack.adapters()).toEqual(["consortium:index:"]);
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
