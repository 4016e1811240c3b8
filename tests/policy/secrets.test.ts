import { balancedMembership, naming, withSettings } from "../../sdk/policy";
import { judge } from "./support/host";
import { Plan, unknown } from "./support/plan";

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
