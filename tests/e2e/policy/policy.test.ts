import { join } from "node:path";
import { type Result, root } from "../support/stack";
import { tetherId, type World, world } from "../support/world";

const pack = ["--policy-pack", "node_modules/pulumi-consortium/policy-pack"];

/** Policies are judged without a call, also of providers whose keys no service knows. */
const offline = { CONSORTIUM_OFFLINE_PREVIEW: "true" };

/** What was found, as the CLI shows it: level, policy and resource, with all lines below. */
function findings(text: string): string[] {
  const shown = text.split("\nPolicies:\n")[1]?.split(/\n\n/)[0] ?? "";
  return shown
    .split(/^ {8}- /m)
    .slice(1)
    .map((finding) => finding.trim().replace(/\n +/g, "\n"));
}

const preview = (w: World, args: string[], config?: object): Promise<Result> => {
  if (config) w.stack.write("rules.json", JSON.stringify(config));
  return w.stack.preview({}, ...args, ...(config ? ["--policy-pack-config", "rules.json"] : []));
};

describe("the quickstart", () => {
  let w: World;
  beforeAll(async () => {
    w = await world({ example: "examples/quickstart" }, { config: { "quickstart:tetherId": tetherId }, env: offline });
  });
  afterAll(() => w.close());

  test("passes the whole pack, without a word and without a call", async () => {
    const { code, text } = await preview(w, pack);
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("pulumi-consortium@v") as string });
    expect(findings(text)).toEqual([]);
    expect(text).toContain("12 to create");
    expect(w.service.calls).toEqual([]);
  });

  test("is stopped by the example of a company's own pack, with its settings and its own policy", async () => {
    const { code, text } = await preview(w, ["--policy-pack", join(root, "examples/policies")]);
    expect(code).not.toBe(0);
    expect(findings(text)).toEqual([
      expect.stringContaining("which allows only ibft. Use ibft."),
      expect.stringContaining('Environment "ledger" has no description. Set its argument description.'),
      expect.stringContaining("would have 4 nodes"),
    ]);
  });
});

/** Breaks every rule, in a stack of the name `test`; what is under the Provider breaks none, because it counts apart. */
const broken = `
  const { ComponentResource } = require("@pulumi/pulumi");
  const { Consortium, Environment, Membership, Node, Provider, TetherService } = require("pulumi-consortium");
  const [consortium] = ["Trade", "b", "c"].map((name) => new Consortium(name));
  const bolt = new Provider("bolt", { apiKey: "key-of-bolt", region: "eu" });
  for (const name of ["d", "e"]) new Consortium(name, {}, { provider: bolt, protect: true });
  const membership = new Membership("m", { consortium });
  const protect = true;
  const raft = { consortium, provider: "quorum", consensusType: "raft" };
  const environments = [
    new Environment("e0", raft, { protect }),
    ...[1, 2, 3].map((n) => new Environment("e" + n, { ...raft, consensusType: "ibft" }, { protect })),
  ];
  const parents = [0, 1].map((n) => new ComponentResource("test:index:Part", "part" + n));
  const args = { environment: environments[0], membership };
  const nodes = [0, 1, 2, 3, 4].map((n) => new Node("n" + n, { ...args, adopt: n > 3, ...(n === 1 && { size: "huge" }) }, { parent: parents[n] }));
  new TetherService("pin", { tetherId: "${tetherId}", network: "mainnet", intervalHours: 1 }, { dependsOn: nodes.slice(1) });
`;
const rules = {
  "consensus-for-provider": { allowed: { quorum: ["ibft"] } },
  "node-size": { sizes: ["small", "medium"] },
  "tether-interval": { minHours: 2 },
  "allowed-regions": { enforcementLevel: "advisory", regions: ["eu"] },
  naming: "advisory",
  "protect-ledgers": { stacks: ["test"] },
};

const stack = "(pulumi:pulumi:Stack: e2e-test)";
const about = (kind: string, name: string): string => `(pulumi-nodejs:dynamic/consortium:${kind}: ${name})`;
const consortiumIs = (name: string): string =>
  `Consortium "${name}" is not protected in stack "test". Add the resource option protect: true.`;

/** Every finding of a policy in that program, word for word. */
const expected: Record<string, string[]> = {
  "node-size": [
    `[mandatory]  node-size  ${about("Node", "n1")}
Nodes and services have an allowed size.
Node "n1" has size huge, which is not allowed. Set size to small or medium.`,
  ],
  "consortia-per-organization": [
    `[mandatory]  consortia-per-organization  ${stack}
An organization owns no more consortia than the service allows.
The organization of the default provider would have 3 consortia (in this stack "Trade", "b" and "c"), but at most 2 are allowed. Use fewer, or create some with a Provider of another organization.`,
  ],
  "environments-per-consortium": [
    `[mandatory]  environments-per-consortium  ${about("Consortium", "Trade")}
A consortium holds no more environments than the service allows.
Consortium "Trade" would have 4 environments (in this stack "e0", "e1", "e2" and "e3"), but at most 3 are allowed. Remove some, or put them into another consortium.`,
  ],
  "nodes-per-environment": [
    `[mandatory]  nodes-per-environment  ${about("Environment", "e0")}
An environment holds no more nodes than the service allows, and each membership owns no fewer and no more than it may.
Environment "e0" would have 5 nodes (in this stack "n0", "n1", "n2", "n3" and "n4"), but at most 4 are allowed. Remove some, or put them into another environment.`,
  ],
  "consensus-for-provider": [
    `[mandatory]  consensus-for-provider  ${about("Environment", "e0")}
The consensus protocol of an environment is allowed for its client.
Environment "e0" uses consensusType raft with provider quorum, which allows only ibft. Use ibft.`,
  ],
  "tether-interval": [
    `[mandatory]  tether-interval  ${about("TetherService", "pin")}
A tether service pins neither too often nor too rarely.
Tether service "pin" has intervalHours 1, but at least 2 is allowed. Set 2 or more.`,
  ],
  "tether-after-configuration": [
    `[mandatory]  tether-after-configuration  ${about("TetherService", "pin")}
An active tether service depends on every node of its environment, so that it starts after them.
Tether service "pin" is active, but does not depend on node "n0" of environment "e0". Add "n0" to its resource option dependsOn.`,
  ],
  "allowed-networks": [
    `[advisory]  allowed-networks  ${about("TetherService", "pin")}
Only listed stacks pin to mainnet, where each pin costs money.
Tether service "pin" uses network mainnet in stack "test". Use another network, or add "test" to the setting mainnetStacks.`,
  ],
  "allowed-regions": ["bolt", "default"].map(
    (name) => `[advisory]  allowed-regions  (pulumi:providers:pulumi-nodejs: ${name})
Every provider in use works in an allowed region.
${name === "default" ? "The default provider" : `Provider "${name}"`} uses the host 127.0.0.1, whose region is not known. If it is in an allowed region, add it to the setting hosts of this policy; otherwise remove baseUrl.`,
  ),
  naming: [
    `[advisory]  naming  ${about("Consortium", "Trade")}
Names match the pattern for their resource type.
Consortium "Trade" has name "Trade", which does not match ^[a-z][a-z0-9-]*$. Change name.`,
  ],
  "protect-ledgers": ["Trade", "b", "c"].map(
    (name) => `[advisory]  protect-ledgers  ${about("Consortium", name)}
Environments and consortia are protected in the listed stacks, because deleting one destroys ledgers.
${consortiumIs(name)}`,
  ),
  "balanced-membership": [
    `[advisory]  balanced-membership  ${about("Environment", "e0")}
No membership owns too many nodes of an environment, and one node may fail.
Membership "m" would own 5 of 5 nodes of environment "e0" (100 %), but at most 50 % is advised. Add nodes of other memberships, or remove some of its own.`,
  ],
  "credential-per-member": [
    `[advisory]  credential-per-member  ${about("Membership", "m")}
Every membership that owns nodes in an environment has a credential there; without one, nobody can use them.
Membership "m" owns nodes of environment "e0", but has no AppCred there. Add an AppCred with this environment and membership.`,
  ],
};

describe("a program that breaks every rule", () => {
  let w: World;
  let found: string[];
  let result: Result;
  beforeAll(async () => {
    w = await world(broken, { inline: true, env: offline });
    result = await preview(w, pack, rules);
    found = findings(result.text);
  });
  afterAll(() => w.close());

  test.each(Object.entries(expected))("%s says what must hold, what was found, and how to mend it", (name, words) => {
    expect(found.filter((finding) => finding.includes(`]  ${name}  `)).sort()).toEqual(words);
  });

  test("that is all, in one run, which fails; nothing is created, and nobody was called", async () => {
    expect(found).toHaveLength(Object.values(expected).flat().length);
    expect(result.code).not.toBe(0);
    expect(w.service.calls).toEqual([]);
    expect(await w.stack.resources()).toEqual([]);
    expect(result.text).not.toContain("key-of-bolt");
  });

  test("a setting of the wrong type is refused by Pulumi, with policy and setting", async () => {
    const { code, text } = await preview(w, pack, {
      "nodes-per-environment": { max: "many" },
      naming: { pattern: { Planet: "^x" } },
    });
    expect(code).not.toBe(0);
    expect(text).toContain("nodes-per-environment: max: Invalid type. Expected: integer, given: string");
    expect(text).toContain("naming: pattern: Additional property Planet is not allowed");
  });

  test("a setting that does not exist is refused by the policy, whatever its level", async () => {
    const { code, text } = await preview(w, pack, {
      all: "advisory",
      "nodes-per-environment": { maximum: 5 },
      "allowed-networks": { stacks: ["test"] },
    });
    expect(code).not.toBe(0);
    expect(findings(text).filter((finding) => finding.startsWith("[mandatory]"))).toEqual([
      `[mandatory]  allowed-networks  ${stack}\nPolicy "allowed-networks": Unrecognized key: "stacks"; the settings are enforcementLevel, mainnetStacks.`,
      `[mandatory]  nodes-per-environment  ${stack}\nPolicy "nodes-per-environment": Unrecognized key: "maximum"; the settings are enforcementLevel, max, live.`,
    ]);
  });

  test("a setting that a pack of one's own gets wrong is refused when the pack is loaded, without a stack trace", async () => {
    w.stack.write("PulumiPolicy.yaml", "runtime: nodejs\nmain: pack.js\n");
    w.stack.write("package.json", JSON.stringify({ name: "e2e", version: "1.0.0", main: "pack.js" }));
    w.stack.write("pack.js", `require("pulumi-consortium/policy").consortiumPolicies({ naming: { pattren: "x" } });`);
    const { code, text } = await preview(w, ["--policy-pack", "."]);
    expect(code).not.toBe(0);
    expect(text).toContain('Policy "naming": Unrecognized key: "pattren"; the settings are enforcementLevel, pattern.');
    expect(text).not.toMatch(/^\s+at /m);
  });
});

describe("a program in YAML", () => {
  const inYaml = `
resources:
  eu: { type: "pulumi:providers:consortium", properties: { apiKey: key-of-bolt, region: eu } }
  theirs: { type: consortium:Consortium, options: { provider: "\${eu}" } }
  c: { type: consortium:Consortium }
  m: { type: consortium:Membership, properties: { consortiumId: "\${c.id}" } }
  e: { type: consortium:Environment, properties: { consortiumId: "\${c.id}", provider: quorum, consensusType: raft } }
${[0, 1, 2, 3, 4]
  .map(
    (n) =>
      `  n${n}: { type: consortium:Node, properties: { consortiumId: "\${c.id}", environmentId: "\${e.id}", membershipId: "\${m.id}" } }`,
  )
  .join("\n")}
  pin:
    type: consortium:TetherService
    properties: { tetherId: ${tetherId}, network: rinkeby, intervalHours: 2 }
    options: { dependsOn: ["\${n1}", "\${n2}", "\${n3}", "\${n4}"] }
`;
  let w: World;
  beforeAll(async () => {
    w = await world(inYaml, { language: "yaml", inline: true, plugin: true, env: offline });
  });
  afterAll(() => w.close());

  test("is judged by what its resources are made from, and each provider by its own settings", async () => {
    const { code, text } = await preview(w, ["--policy-pack", join(root, "policy-pack")], {
      ...rules,
      all: "mandatory",
    });
    expect(code).not.toBe(0);
    const found = findings(text).join("\n");
    expect(found).toContain('Environment "e" would have 5 nodes');
    expect(found).toContain('Tether service "pin" is active, but does not depend on node "n0" of environment "e"');
    expect(found).toContain("allows only ibft");
    expect(found.match(/uses the host 127\.0\.0\.1, whose region is not known/g)).toHaveLength(2);
    expect(found).not.toContain("naming");
    expect(w.service.calls).toEqual([]);
  });
});
