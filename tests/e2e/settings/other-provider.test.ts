import { type World, world } from "../support/world";

/* More of it: tests/provider/stacks/other-provider.test.ts. Here the real engine compares the two providers, too. */

const program = (of: string): string => `
  const pulumi = require("@pulumi/pulumi");
  const { Consortium, Provider } = require("pulumi-consortium");
  const config = new pulumi.Config();
  const acme = new Provider("acme", { apiKey: config.requireSecret("acme") });
  const globex = new Provider("globex", { apiKey: config.requireSecret("globex") });
  new Consortium("trade", {}, { provider: ${of} });
`;

describe.each([false, true])("a resource that gets another provider (on the plugin: %s)", (plugin) => {
  let w: World;
  beforeAll(async () => {
    w = await world(program("acme"), { inline: true, plugin, ledger: false });
    w.stack.secrets({
      acme: w.service.addOrganization("acme").apiKey,
      globex: w.service.addOrganization("globex").apiKey,
    });
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    w.service.clearCalls();
  });
  afterAll(() => w.close());

  test("is a change in the preview, and up says where it belongs, not that it may be deleted", async () => {
    w.stack.program(program("globex"));
    const before = await w.stack.ids();
    const previewed = await w.stack.preview();
    expect(previewed).toMatchObject({ code: 0 });
    expect(previewed.text).toMatch(/the provider "acme" was replaced by the provider "globex"/);
    const { code, text } = await w.stack.up();
    expect({ code, text }).toMatchObject({ code: 255 });
    expect(text).toMatch(/was made with organization .*give it the provider "acme" again/s);
    expect(text).not.toContain("CONSORTIUM_CONFIRM_DELETED");
    expect(w.service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await w.stack.ids()).toEqual(before);
  });

  test("with its own provider nothing changed", async () => {
    w.stack.program(program("acme"));
    expect(await w.stack.up({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
