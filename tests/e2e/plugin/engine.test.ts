import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../support/stack";
import { type World, world } from "../support/world";

/* Facts that only the real engine tells of its provider. */

test("Pulumi finds nothing wrong with the schema", () => {
  const args = ["schema", "check", join(root, "schemas/schema.json")];
  expect(execFileSync(join(root, "tools/pulumi"), args, { encoding: "utf8", stdio: "pipe" })).toBe("");
});

/* YAML stands for every language except TypeScript. */
const withProvider = `
config:
  consortium:apiKey: { type: string, secret: true }
resources:
  default:
    type: pulumi:providers:consortium
    properties: { apiKey: "\${consortium:apiKey}" }
  trade: { type: consortium:Consortium, options: { provider: "\${default}" } }
`;

describe("an explicit provider that is called default", () => {
  let w: World;
  beforeAll(async () => {
    w = await world(withProvider, { language: "yaml", inline: true, plugin: true, ledger: false });
    w.stack.secrets({ "consortium:apiKey": w.service.addOrganization("globex").apiKey });
  });

  const owner = (): string | undefined => {
    const [made] = w.service.store.consortia.list();
    return w.service.organizations.find(({ id }) => id === made?.parent)?.name;
  };

  // Only the constant of the schema distinguishes it from the engine's. (A key of its own: tests/plugin/service.test.ts.)
  test("wins over the environment with the key of the stack", async () => {
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(owner()).toBe("globex");
    expect(await w.stack.refresh()).toMatchObject({ code: 0 });
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect(w.service.store.consortia.list()).toEqual([]);
  });

  test("the engine's own takes the key of the environment, as before, for destroy, too", async () => {
    w.stack.program("resources: { trade: { type: consortium:Consortium } }");
    w.stack.secrets({ "consortium:apiKey": "stale" });
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(owner()).toBe("local");
    const rotated = w.service.rotateKey("local");
    expect(await w.stack.destroy({ CONSORTIUM_API_KEY: rotated })).toMatchObject({ code: 0 });
    expect(w.service.store.consortia.list()).toEqual([]);
  });
});

/*
 * Resources move between the two providers while they get a parent, or lose it: nothing is made anew. (Nothing else changes, and back:
 * tests/e2e/life/upgrade.test.ts; into YAML and back: tests/e2e/fleet/life.test.ts; each alias: tests/sdk/resources.test.ts.)
 */

const component = (within: boolean): string => `
  const pulumi = require("@pulumi/pulumi");
  const { Consortium, Membership } = require("pulumi-consortium");
  class Trade extends pulumi.ComponentResource {}
  const trade = new Trade("test:index:Trade", "trade", {}, {});
  const none = pulumi.rootStackResource;
  const [now, before] = ${within} ? [trade, none] : [undefined, trade];
  const consortium = new Consortium("c", {}, { parent: now, aliases: [{ parent: before }] });
  new Membership("m", { consortium }, { parent: now, aliases: [{ parent: before }] });
`;
const on = (plugin: boolean) => ({ CONSORTIUM_PLUGIN: String(plugin) });

test.each([true, false])("into a component and out of it, to the plugin and back (%s first)", async (plugin) => {
  const w = await world(component(false), { inline: true, plugin: true, ledger: false });
  expect(await w.stack.up(on(!plugin))).toMatchObject({ code: 0 });
  w.service.clearCalls();
  const ids = await w.stack.ids();
  for (const within of [true, false]) {
    w.stack.program(component(within));
    const { text } = await w.stack.ok(["up", "--yes", "--skip-preview"], on(within === plugin));
    expect(text).not.toMatch(/created|replaced|deleted/);
    expect([w.service.calls, await w.stack.ids()]).toEqual([[], ids]);
  }
});
