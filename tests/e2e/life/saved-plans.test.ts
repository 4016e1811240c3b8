import { join } from "node:path";
import { world } from "../support/world";

/*
 * `pulumi up --plan` after `preview --save-plan`, which docs/gitops.md builds on: what was not known in the preview may be a secret, or
 * none, or nothing at all. And a refresh, in which the real CLI asks for a difference, too, which the double does not. (What counts as a
 * change, whatever form a service stores it in: provider/stacks/asked, stays and restart.)
 */

const program = (more: string, rotation = 1): string => `
  const { AppCred, Configuration, Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
  const common = { environment, membership };
  new Node("n", { ...common, size: "small" });
  const first = new AppCred("first", { ...common, keepers: { rotation: ${rotation} } });
  ${more}
`;
const users = `
  new AppCred("second", { ...common, keepers: { of: first.password, beside: "plain" } });
  new Configuration("settings", { ...common, type: "node_config", details: { of: first.password } });
  new Membership("other", { consortium, extra: { user: first.username, none: first.username.apply(() => undefined) } });
`;

test.each([false, true])(
  "a saved plan is executed (plugin: %s), and shows no password; drift is restored by the up after a refresh",
  async (plugin) => {
    const { stack, service } = await world(program(""), { plugin, inline: true });
    const plan = join(stack.folder, "approved.plan");
    const asPlanned = async (text: string): Promise<void> => {
      stack.program(text);
      const saved = await stack.preview({}, "--save-plan", plan);
      const done = await stack.up({}, "--plan", plan);
      expect([saved.code, done.code, done.text]).toEqual([0, 0, expect.not.stringContaining("violates plan")]);
      expect((await stack.up({}, "--expect-no-changes")).code).toBe(0);
      const { password } = (await stack.outputs()) as { password: string };
      expect(password).toMatch(/^[\w-]{43}$/);
      expect(saved.text + done.text).not.toContain(password);
    };
    await asPlanned(`${program(users)}; module.exports = { password: first.password };`);
    expect(service.store.credentials.list()).toHaveLength(2);
    await asPlanned(`${program(users, 2)}; module.exports = { password: first.password };`);
    expect(service.store.credentials.list()).toHaveLength(2);

    // A refresh announces nothing: the next up restores the changed value.
    service.store.nodes.patch(service.store.nodes.list()[0]!.id, { size: "other" });
    const refreshed = await stack.refresh();
    expect([refreshed.code, refreshed.text]).toEqual([0, expect.not.stringContaining("restarts")]);
    expect((await stack.preview()).text).toContain("restarts, to change size");
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.ok(["preview", "--refresh", "--expect-no-changes"]);
  },
);
