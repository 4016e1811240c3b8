import { join } from "node:path";
import { send } from "../../support/network";
import { done, failed, type Result, root } from "../support/stack";
import { tetherId, type World, world } from "../support/world";

const pack = ["--policy-pack", "node_modules/pulumi-consortium/policy-pack"];

/** Policies are judged without a call, even for providers with unknown keys. */
const offline = { CONSORTIUM_OFFLINE_PREVIEW: "true" };

/** The violations as the CLI shows them: level, policy and resource, with all lines below. */
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

test("the quickstart is stopped by the example of a company's own pack, with its settings and its own policy", async () => {
  const config = { "quickstart:tetherId": tetherId };
  const w = await world({ example: "examples/quickstart" }, { config, env: offline });
  const text = await failed(preview(w, ["--policy-pack", join(root, "examples/policies")]));
  expect(findings(text)).toEqual([
    expect.stringContaining("which allows only ibft. Use ibft."),
    expect.stringContaining('Environment "ledger" has no description. Set its argument description.'),
    expect.stringContaining("would have 4 nodes"),
  ]);
});

/** Breaks every rule, in a stack with the name `test`. Resources of the Providers, of one organization, break only their own. */
const broken = `
  const { ComponentResource } = require("@pulumi/pulumi");
  const { Consortium, Environment, Membership, Node, Provider, TetherService } = require("pulumi-consortium");
  const [consortium] = ["Trade", "b", "c"].map((name) => new Consortium(name));
  for (const [name, apiKey] of [["d", "key-of-bolt"], ["e", "other-key-of-bolt"]]) {
    const provider = new Provider("bolt-" + name, { apiKey, region: "eu", organization: "o-bolt" });
    new Consortium(name, {}, { provider, protect: true });
  }
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
  "consortia-per-organization": { maxOf: { "o-bolt": 1 } },
  "consensus-for-provider": { allowed: { quorum: ["ibft"] } },
  "node-size": { sizes: ["small", "medium"] },
  "tether-interval": { minHours: 2 },
  "allowed-regions": { enforcementLevel: "advisory", regions: ["eu"] },
  naming: "advisory",
  "protect-ledgers": { stacks: ["test"] },
};

/** How often each policy finds something in that program. Their words: tests/policy. */
const expected = {
  "[mandatory]  consensus-for-provider": 1,
  "[mandatory]  consortia-per-organization": 2,
  "[mandatory]  environments-per-consortium": 1,
  "[mandatory]  node-size": 1,
  "[mandatory]  nodes-per-environment": 1,
  "[mandatory]  tether-after-configuration": 1,
  "[mandatory]  tether-interval": 1,
  "[advisory]  allowed-networks": 1,
  "[advisory]  consortia-per-organization": 1,
  "[advisory]  allowed-regions": 3,
  "[advisory]  balanced-membership": 1,
  "[advisory]  credential-per-member": 1,
  "[advisory]  naming": 1,
  "[advisory]  protect-ledgers": 3,
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

  test("each finds its own violations and no others, in one run, which fails without a create and without a call", async () => {
    const counts: Record<string, number> = {};
    for (const finding of found) {
      const [name = ""] = /^\[\w+\] {2}[\w-]+/.exec(finding)!;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    expect(counts).toEqual(expected);
    expect(result.code).not.toBe(0);
    expect(w.service.calls).toEqual([]);
    expect(await w.stack.resources()).toEqual([]);
    expect(result.text).not.toContain("key-of-bolt");
  });

  test("a setting of the wrong type is refused by Pulumi, with policy and setting", async () => {
    const wrong = { "nodes-per-environment": { max: "many" }, naming: { pattern: { Planet: "^x" } } };
    const text = await failed(preview(w, pack, wrong));
    expect(text).toContain("nodes-per-environment: max: Invalid type. Expected: integer, given: string");
    expect(text).toContain("naming: pattern: Additional property Planet is not allowed");
  });

  test("a wrong setting in a custom pack is refused when the pack is loaded, without a stack trace", async () => {
    w.stack.write("PulumiPolicy.yaml", "runtime: nodejs\nmain: pack.js\n");
    w.stack.write("package.json", JSON.stringify({ name: "e2e", version: "1.0.0", main: "pack.js" }));
    w.stack.write("pack.js", `require("pulumi-consortium/policy").consortiumPolicies({ naming: { pattren: "x" } });`);
    const text = await failed(preview(w, ["--policy-pack", "."]));
    expect(text).toContain('Policy "naming": Unrecognized key: "pattren"; the settings are enforcementLevel, pattern.');
    expect(text).not.toMatch(/^\s+at /m);
  });
});

/** A network with a full environment, and the next version of its program. */
const grown = (nodes: string[], changed: boolean): string => `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const changed = ${changed};
  const consortium = new Consortium("trade");
  const memberships = ["acme", "bolt"].map((name) => new Membership(name, { consortium }));
  const ledger = { consortium, provider: "quorum", consensusType: "raft" };
  const environment = new Environment("ledger", ledger, { protect: changed });
  const nodes = ${JSON.stringify(nodes)}.map((name, i) => new Node(name, { environment, membership: memberships[i % 2] }));
  for (const membership of memberships) new AppCred("app-" + memberships.indexOf(membership), { environment, membership });
  const pin = { tetherId: "${tetherId}", network: changed ? "mainnet" : "rinkeby", intervalHours: 1 };
  new TetherService("pin", pin, { dependsOn: nodes, ignoreChanges: changed ? ["network"] : [] });
`;

test("an existing network: what is deleted, ignored and protected, and what is managed by nobody, or deleted last", async () => {
  const live = { live: true };
  const everywhere = {
    "consortia-per-organization": { ...live, max: 9, maxOf: { local: 2 } }, // the name of the organization
    "environments-per-consortium": live,
    "nodes-per-environment": live,
  };
  const w = await world(grown(["a", "b", "c", "d"], false), { inline: true });
  w.stack.write("rules.json", JSON.stringify(everywhere));
  await done(w.stack.up({}, ...pack, "--policy-pack-config", "rules.json"));
  await send(w.service, "POST", "/consortia", { name: "others" });
  await done(preview(w, pack, everywhere));

  const later = grown(["a", "b", "c", "e"], true);
  w.stack.program(later);
  const { text } = await done(preview(w, pack, { "protect-ledgers": { stacks: ["test"] } }));
  expect(text).toContain("1 to delete");
  expect(findings(text)).toEqual([
    expect.stringMatching(/^\[advisory\] {2}protect-ledgers {2}\(\S+Consortium: trade\)/),
  ]);
  w.stack.program(`${later}; new Consortium("new");`);
  const refused = await failed(preview(w, pack, everywhere));
  expect(refused).toContain(
    'would have 3 consortia (in this stack "new" and "trade", and outside of it "others"), but at most 2 are allowed.',
  );
  expect(refused).toMatch(
    /"ledger" would have 5 nodes \(in this stack "a", "b", "c" and "e", and outside of it "d"\), .* Resources that this run deletes also count/,
  );
  expect(refused).not.toContain("environments-per-consortium");
});
