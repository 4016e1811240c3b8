import { type World, world } from "../support/world";

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
  ["to the plugin", "false", "true"],
  ["back", "true", "false"],
])("%s", (_, from, to) => {
  let w: World;
  beforeAll(async () => {
    w = await world(program(false), { inline: true, plugin: true, ledger: false });
    expect(await w.stack.up({ CONSORTIUM_PLUGIN: from })).toMatchObject({ code: 0 });
    w.service.clearCalls();
  });
  afterAll(() => w.close());

  test("with aliases: [{ parent }], into a component and out of it: unchanged, without a call", async () => {
    const ids = await w.stack.ids();
    const moves = [
      [true, to],
      [false, from],
    ] as const;
    for (const [within, adapter] of moves) {
      w.stack.program(program(within));
      const { text } = await w.stack.ok(["up", "--yes", "--skip-preview"], { CONSORTIUM_PLUGIN: adapter });
      expect(text).not.toMatch(/created|replaced|deleted/);
      expect([w.service.calls, await w.stack.ids()]).toEqual([[], ids]);
    }
  });
});
