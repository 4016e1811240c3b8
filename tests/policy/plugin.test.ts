import { validateResourceOfType, validateStackResourcesOfType } from "@pulumi/policy";
import { Consortium, Node } from "../../sdk";
import { type ConsortiumPolicy, policies, withSettings } from "../../sdk/policy";
import { judge } from "./support/host";
import { network, Plan } from "./support/plan";

/* Policies judge the resources of a program on either provider, in any language. */

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

test("a violation shows no free text of a program, because Pulumi does not tell which text is secret", async () => {
  const plan = new Plan();
  const consortium = plan.add("Consortium", "trade", { name: "Zeus & Hera", description: "Secret text" });
  const environment = plan.add("Environment", "ledger", {
    consortium,
    name: "Secret Ledger",
    provider: "quorum",
    consensusType: "raft",
  });
  const membership = plan.add("Membership", "acme", { consortium, orgName: "Secret Corp" });
  for (const name of ["n1", "n2", "n3", "n4", "n5"])
    plan.add("Node", name, { environment, membership, name: `Secret ${name}` });
  const found = (await judge(all, plan)).map(({ message }) => message).join("\n");
  expect(found).toContain('The name of Consortium "trade" does not match ^[a-z][a-z0-9-]*$. Change it.');
  expect(found).toContain('Membership "acme" would own');
  expect(found).not.toMatch(/Zeus|Secret/);
});
