import { done, failed } from "../support/stack";
import { canaryKey, wholeTree, type World, world, writesOf } from "../support/world";

/* Which setting counts: tests/provider/core/settings.test.ts. A key of another organization, in every verb: organization.test.ts there. */

const whole = `${wholeTree}
  exports.found = require("pulumi-consortium").getConsortiaOutput({ name: consortium.name }).apply((all) => all.length);`;

test("a key in the stack configuration: a warning if it is in clear, an error that names it if it is refused; the environment wins, without a program, too", async () => {
  const { stack, service, network } = await world(whole, {
    env: { CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined },
  });
  await stack.ok(["config", "set", "consortium:baseUrl", service.baseUrl]);
  const previewed = async (...how: string[]): Promise<string> => {
    await stack.ok(["config", "set", ...how, "consortium:apiKey", canaryKey]);
    const { text } = await done(stack.preview());
    expect(text).not.toContain(canaryKey);
    return text;
  };
  const warning = /The API key is not encrypted.*`pulumi config set --secret consortium:apiKey`/;
  expect(await previewed("--plaintext")).toMatch(warning);
  expect(await previewed("--secret")).not.toMatch(warning);

  const { text } = await done(stack.up());
  expect(text + (await stack.exported())).not.toContain(canaryKey);
  expect(await stack.outputs()).toMatchObject({ found: 1 });
  const CONSORTIUM_API_KEY = service.rotateKey("local");
  const refused = await failed(stack.refresh());
  expect(refused).toMatch(
    /The API key from stack configuration consortium:apiKey was refused .*CONSORTIUM_API_KEY.*--run-program/,
  );
  expect(refused).not.toContain(canaryKey);
  await done(stack.up({ CONSORTIUM_API_KEY }, "--refresh", "--expect-no-changes"));
  await done(stack.destroy({ CONSORTIUM_API_KEY }));
  expect((await network()).consortia).toEqual([]);
});

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
  test("each resource is created with the key of its own provider, which is encrypted in the state; lookups see its organization", async () => {
    const { text } = await done(w.stack.up(onDynamic));
    expect(owners()).toEqual({ "acme-trade": "acme", "globex-trade": "globex", "own-trade": "local" });
    expect(await w.stack.outputs()).toMatchObject({
      acme: ["acme-trade"],
      globex: ["globex-trade"],
      acmeSees: ["acme-trade"],
      globexSees: ["globex-trade"],
    });
    const state = await w.stack.exported();
    expect(Object.values(keys).filter((key) => (text + state).includes(key))).toEqual([]);
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
    // Without the program, it uses the keys of the state.
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect(owners()).toEqual({});
  });
});
