import type * as Policy from "../../sdk/policy";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { policies, type ConsortiumPolicy, withSettings } from "../../sdk/policy";
import { policyDocs } from "../../tools/generate/markdown.mjs";
import { validateResourceOfType, validateStackResourcesOfType } from "@pulumi/policy";
import { Consortium, Node } from "../../sdk";
import { judge } from "./support/host";
import { network, Plan } from "./support/plan";

describe("the pack", () => {
  const root = join(__dirname, "../..");
  const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as { version: string };

  /** Loads the policies afresh, with modules that must not be loaded. */
  function load(forbidden: readonly string[]): typeof Policy {
    let loaded: typeof Policy | undefined;
    jest.isolateModules(() => {
      for (const name of forbidden) {
        jest.doMock(name, () => {
          throw new Error(`${name} was loaded`);
        });
      }
      loaded = jest.requireActual<typeof Policy>("../../sdk/policy");
    });
    return loaded!;
  }

  const heavy = ["undici", "p-limit", "@pulumi/policy"];
  afterEach(() => heavy.forEach((name) => jest.dontMock(name)));

  test("loading the policies and making a pack's arguments loads neither the client nor the policy host", () => {
    const { consortiumPolicies } = load(heavy);
    expect(consortiumPolicies({ naming: "mandatory" }).policies).toHaveLength(15);
  });

  test("loading has no side effects: no socket, no server, no timer", () => {
    const before = process.getActiveResourcesInfo();
    load([]).consortiumPolicies({ "nodes-per-environment": { live: true } });
    expect(process.getActiveResourcesInfo()).toEqual(before);
  });

  test("the ready pack has the version of the package", () => {
    expect(readJson("policy-pack/package.json").version).toBe(readJson("package.json").version);
  });

  const text = readFileSync(join(root, "docs/reference/policies.md"), "utf8");
  const page = (given: string): string => policyDocs(policies, given)["docs/reference/policies.md"]!;

  test("the table names every policy with its level and settings; the text around it stays", () => {
    const made = page(text.replace(/(-start -->)[^]*(<!-- prettier-ignore-end)/, "$1$2"));
    expect(made).toBe(text);
    for (const { name, enforcementLevel, configSchema } of policies) {
      const row = made.split("\n").find((line) => line.startsWith(`| \`${name}\` | ${enforcementLevel} |`));
      for (const setting of Object.keys(configSchema.properties)) expect(row).toContain(`\`${setting}\``);
    }
  });
});

describe("on the plugin", () => {
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
});
