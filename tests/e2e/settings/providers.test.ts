import { done } from "../support/stack";
import { type World, world, writesOf } from "../support/world";

let w: World;
let keys: { acme: string; globex: string };
beforeAll(async () => {
  w = await world("", { inline: true, plugin: true });
  keys = { acme: w.service.addOrganization("acme").apiKey, globex: w.service.addOrganization("globex").apiKey };
  w.stack.program(`
    const pulumi = require("@pulumi/pulumi");
    const { Consortium, Membership, Provider, getConsortia, getConsortiaOutput } = require("pulumi-consortium");
    const config = new pulumi.Config();
    const acme = new Provider("acme", { apiKey: config.requireSecret("acme") });
    const globex = new Provider("globex", { apiKey: config.requireSecret("globex"), maxConcurrency: 2 });
    for (const [name, provider] of Object.entries({ acme, globex })) {
      const consortium = new Consortium(name + "-trade", {}, { provider });
      new Membership(name + "-member", { consortium }, { provider });
      exports[name] = consortium.name.apply((name) => getConsortia({ name }, { provider })).apply((all) => all.map(({ name }) => name));
      exports[name + "Sees"] = getConsortiaOutput({ name: consortium.name.apply(() => undefined) }, { provider }).apply((all) => all.map(({ name }) => name));
    }
    exports.own = new Consortium("own-trade").name;
  `);
  w.stack.secrets(keys);
});

const owners = (): Record<string, string | undefined> =>
  Object.fromEntries(
    w.service.store.consortia
      .list()
      .map(({ fields, parent }) => [fields.name, w.service.organizations.find(({ id }) => id === parent)?.name]),
  );

const onDynamic = { CONSORTIUM_PLUGIN: "false" };

/** One story: it begins on the dynamic provider, and goes on on the plugin. */
describe("several organizations in one program", () => {
  test("each resource is created with the key of its own provider, whatever the environment says", async () => {
    const { text } = await done(w.stack.up(onDynamic));
    expect(owners()).toEqual({ "acme-trade": "acme", "globex-trade": "globex", "own-trade": "local" });
    expect(Object.values(keys).filter((key) => text.includes(key))).toEqual([]);
  });

  test("lookups see one organization each", async () => {
    expect(await w.stack.outputs()).toMatchObject({
      acme: ["acme-trade"],
      globex: ["globex-trade"],
      acmeSees: ["acme-trade"],
      globexSees: ["globex-trade"],
    });
  });

  test("their keys are encrypted in the state", async () => {
    const state = await w.stack.exported();
    expect(Object.values(keys).filter((key) => state.includes(key))).toEqual([]);
    expect(state).toContain('"consortium:apiKey"');
  });

  test("a refresh without the program uses the keys of the state, which are in clear in no log", async () => {
    const looks = ["refresh", "--preview-only", "--expect-no-changes"];
    await w.stack.ok(looks);
    await done(w.stack.up());
    const { text } = await w.stack.ok([...looks, "-v=9", "--logtostderr"]);
    // Pulumi itself prints what it exchanges with providers, as docs/settings.md says.
    const lines = text.split("\n").filter((line) => !/ rpc\.go:\d+\] /.test(line));
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => Object.values(keys).some((key) => line.includes(key)))).toEqual([]);
    expect(owners()).toEqual({ "acme-trade": "acme", "globex-trade": "globex", "own-trade": "local" });
  });

  test("a rotated key of one organization is taken from the program, and replaces nothing", async () => {
    const before = await w.stack.ids();
    w.stack.secrets({ acme: w.service.rotateKey("acme") });
    w.service.clearCalls();
    await done(w.stack.up({}, "--refresh", "--run-program"));
    expect(writesOf(w.service)).toEqual([]);
    expect(await w.stack.ids()).toEqual(before);
  });

  test("destroy, without the program, uses the keys of the state", async () => {
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect(owners()).toEqual({});
  });
});
