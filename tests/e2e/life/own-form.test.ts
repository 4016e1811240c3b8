import { world } from "../support/world";

/*
 * The real CLI asks for a difference in a refresh, too, which the double does not. What counts as a change, whatever form a service
 * stores it in: provider/stacks/asked, stays and restart.
 */

const program = `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
  new Node("n", { environment, membership, size: "small" });
`;

test.each([false, true])(
  "a refresh announces nothing: the next up restores the changed value (plugin: %s)",
  async (plugin) => {
    const { service, stack } = await world(program, { plugin, inline: true });
    expect(await stack.up()).toMatchObject({ code: 0 });
    service.store.nodes.patch(service.store.nodes.list()[0]!.id, { size: "other" });
    const refreshed = await stack.refresh();
    expect([refreshed.code, refreshed.text]).toEqual([0, expect.not.stringContaining("restarts")]);
    expect((await stack.preview()).text).toContain("restarts, to change size");
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.ok(["preview", "--refresh", "--expect-no-changes"]);
  },
);
