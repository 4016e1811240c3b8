import { validateResourceOfType, validateStackResourcesOfType } from "@pulumi/policy";
import { Consortium, Node } from "../../sdk";
import { balancedMembership, type ConsortiumPolicy, naming, policies, withSettings } from "../../sdk/policy";
import { judge } from "./support/host";
import { network, Plan, unknown } from "./support/plan";

/* Policies judge what a program registers, whichever provider it is on, and in whichever language it is written. */

/** A plan with something wrong for most of the policies. */
function faulty(plugin: boolean, deployed: boolean): Plan {
  const plan = new Plan("prod", deployed, plugin);
  const { environment, node } = network(plan, ["acme", "bolt"]);
  for (const name of ["n1", "n2", "n3", "n4", "N5"]) node(name);
  const [consortium] = environment.propertyDependencies.consortiumId!;
  for (const name of ["e2", "e3", "e4"])
    plan.add("Environment", name, { consortium, provider: "geth", consensusType: "raft" });
  const acme = plan.provider("acme", { apiKey: "k", region: "ko" });
  for (const name of ["a1", "a2", "a3"]) plan.add("Consortium", name, {}, { provider: acme });
  plan.add("TetherService", "pin", { tetherId: "tether0001", network: "mainnet", intervalHours: 0 });
  return plan;
}

const all = policies.map((policy: ConsortiumPolicy) => withSettings(policy, "mandatory"));

test.each([false, true])("all policies find the same on both providers (deployed: %s)", async (deployed) => {
  const config = { "allowed-regions": { regions: ["us"] } };
  const found = await judge(all, faulty(true, deployed), config);
  expect(found).toEqual(await judge(all, faulty(false, deployed), config));
  expect(new Set(found.map(({ policy }) => policy)).size).toBeGreaterThan(8);
});

test.each([false, true])("policies of users match the classes (on the plugin: %s)", async (plugin) => {
  const users = [
    {
      name: "small-nodes",
      description: "Nodes have a name of two letters.",
      enforcementLevel: "mandatory",
      validateResource: validateResourceOfType(Node, ({ name }, _, report) => {
        if (String(name).length > 2) report(`node ${String(name)}`);
      }),
      validateStack: validateStackResourcesOfType(Consortium, (consortia, _, report) =>
        report(`${consortia.length} consortium`),
      ),
    },
  ] as unknown as ConsortiumPolicy[];
  const plan = new Plan("test", false, plugin);
  const { node } = network(plan);
  node("n1");
  node("n10");
  expect((await judge(users, plan)).map(({ message, about }) => [message, about])).toEqual([
    ["node n10", "n10"],
    ["1 consortium", undefined],
  ]);
});

/* The policy host opens secrets; the providers mark where they are. */

test.each([false, true])("a name that is secret is not in a violation (plugin: %s)", async (plugin) => {
  const plan = new Plan("test", false, plugin);
  plan.add("Consortium", "trade", { name: "Zeus & Hera", __secrets: [["name"], ["extra", "token"]] });
  plan.add("Membership", "open", { orgName: "Open Name", extra: { a: unknown }, __secrets: [["extra", "a"]] });
  const found = (await judge([withSettings(naming, "mandatory")], plan)).map(({ message }) => message).join("\n");
  expect(found).toContain('Consortium "trade" has name "[secret]", which does not match');
  expect(found).toContain('"Open Name"');
  expect(found).not.toContain("Zeus");
});

test("nor is any value of a resource whose secrets a preview does not know yet", async () => {
  const plan = new Plan();
  plan.add("Consortium", "trade", { name: "Zeus & Hera", extra: { a: unknown }, __secrets: unknown });
  const found = (await judge([withSettings(naming, "mandatory")], plan)).map(({ message }) => message).join("\n");
  expect(found).toContain('Consortium "trade" has name "[secret]", which does not match');
});

test("nor in one about a whole stack", async () => {
  const plan = new Plan();
  const consortium = plan.add("Consortium", "trade");
  const environment = plan.add("Environment", "ledger", { consortium, provider: "quorum", consensusType: "raft" });
  const membership = plan.add("Membership", "acmecorp", { consortium, orgName: "acmecorp", __secrets: [["orgName"]] });
  for (const name of ["n1", "n2", "n3"]) plan.add("Node", name, { environment, membership });
  const [{ message } = { message: "" }] = await judge([balancedMembership], plan);
  expect(message).toContain("[secret]");
  expect(message).not.toContain("acmecorp");
});
