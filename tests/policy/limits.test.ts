import {
  consortiaPerOrganization,
  environmentsPerConsortium,
  nodesPerEnvironment,
  resourcesPerEnvironment,
} from "../../sdk/policy";
import { judge, messages } from "./support/host";
import { network, Plan, type Props, unknown } from "./support/plan";

const times = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));

describe("consortia-per-organization", () => {
  const plan = (count: number): Plan => {
    const made = new Plan();
    times(count, (number) => made.add("Consortium", `c${number}`, number === 1 ? { adopt: true } : {}));
    return made;
  };

  test("2 are fine", async () => expect(await messages(consortiaPerOrganization, plan(2))).toEqual([]));

  test("3 are not", async () => {
    expect(await judge([consortiaPerOrganization], plan(3))).toEqual([
      {
        policy: "consortia-per-organization",
        level: "mandatory",
        message:
          'The organization of the default provider would have 3 consortia (in this stack "c1", "c2" and "c3"), but at ' +
          "most 2 are allowed. Use fewer, or create some with a Provider of another organization.",
      },
    ]);
  });

  test("another max", async () => {
    expect(await messages(consortiaPerOrganization, plan(3), { max: 3 })).toEqual([]);
    expect(await messages(consortiaPerOrganization, plan(1), { max: 0 })).toHaveLength(1);
  });

  test("each provider instance is counted apart", async () => {
    const made = plan(2);
    const acme = made.provider("acme", { apiKey: "key-of-acme" });
    times(2, (number) => made.add("Consortium", `a${number}`, {}, { provider: acme }));
    expect(await messages(consortiaPerOrganization, made)).toEqual([]);
    made.add("Consortium", "a3", {}, { provider: acme });
    expect(await messages(consortiaPerOrganization, made)).toEqual([
      expect.stringMatching(
        /^The organization of provider "acme" would have 3 consortia \(in this stack "a1", "a2" and "a3"\)/,
      ),
    ]);
  });

  test("unknown names and unknown settings of a provider change nothing", async () => {
    const made = new Plan();
    const acme = made.provider("acme", { apiKey: unknown });
    times(2, (number) => made.add("Consortium", `c${number}`, { name: unknown }, { provider: acme }));
    expect(await messages(consortiaPerOrganization, made)).toEqual([]);
  });
});

describe("environments-per-consortium", () => {
  const fill = (plan: Plan, count: number): Plan => {
    const consortium = plan.add("Consortium", "trade");
    times(count, (number) =>
      plan.add("Environment", `e${number}`, { consortium, provider: "geth", consensusType: "poa" }),
    );
    return plan;
  };

  test("3 are fine, at a first preview and later", async () => {
    expect(await messages(environmentsPerConsortium, fill(new Plan(), 3))).toEqual([]);
    expect(await messages(environmentsPerConsortium, fill(new Plan("test", true), 3))).toEqual([]);
  });

  test.each([false, true])("4 are not (deployed: %s)", async (deployed) => {
    expect(await judge([environmentsPerConsortium], fill(new Plan("test", deployed), 4))).toEqual([
      {
        policy: "environments-per-consortium",
        level: "mandatory",
        about: "trade",
        message:
          'Consortium "trade" would have 4 environments (in this stack "e1", "e2", "e3" and "e4"), but at most 3 are ' +
          "allowed. Remove some, or put them into another consortium.",
      },
    ]);
  });

  test("in a consortium of another stack, given by its id", async () => {
    const plan = new Plan();
    times(4, (number) => plan.add("Environment", `e${number}`, { consortiumId: "c0ffee" }));
    expect(await messages(environmentsPerConsortium, plan)).toEqual([
      expect.stringMatching(/^Consortium "c0ffee" would have 4 environments/),
    ]);
  });

  test("two consortia are two consortia, and unknown ones are nobody's", async () => {
    const plan = fill(new Plan(), 3);
    const other = plan.add("Consortium", "other");
    times(3, (number) => plan.add("Environment", `o${number}`, { consortium: other }));
    times(4, (number) => plan.add("Environment", `u${number}`, { consortiumId: unknown }));
    expect(await messages(environmentsPerConsortium, plan)).toEqual([]);
  });

  test("another max", async () => {
    expect(await messages(environmentsPerConsortium, fill(new Plan(), 2), { max: 1 })).toHaveLength(1);
  });
});

describe("resources-per-environment", () => {
  const kinds = [
    ["services", "Service"],
    ["zones", "EnvironmentZone"],
    ["configurations", "Configuration"],
  ] as const;
  const fill = (plan: Plan, kind: (typeof kinds)[number][1], count: number) => {
    const made = network(plan);
    times(count, (number) => plan.add(kind, `r${number}`, { environment: made.environment }));
    return made;
  };

  test.each(kinds)("%s: any number, unless a setting says how many", async (things, kind) => {
    for (const deployed of [false, true]) {
      const plan = new Plan("test", deployed);
      fill(plan, kind, 2);
      expect(await messages(resourcesPerEnvironment, plan)).toEqual([]);
      expect(await messages(resourcesPerEnvironment, plan, { [things]: 2 })).toEqual([]);
      expect(await messages(resourcesPerEnvironment, plan, { [things]: 1 })).toEqual([
        `Environment "ledger" would have 2 ${things} (in this stack "r1" and "r2"), but at most 1 are allowed. ` +
          `Remove some, or raise the setting ${things}.`,
      ]);
    }
  });

  test("each kind and each environment is counted apart", async () => {
    const plan = new Plan();
    const { consortium } = fill(plan, "Service", 1);
    const environment = plan.add("Environment", "other", { consortium });
    plan.add("Service", "s", { environment });
    plan.add("EnvironmentZone", "z", { environment });
    plan.add("Destination", "d", { environment });
    plan.add("Service", "anywhere", { environmentId: unknown });
    expect(await messages(resourcesPerEnvironment, plan, { services: 1, zones: 1, configurations: 0 })).toEqual([]);
    expect(await messages(resourcesPerEnvironment, plan, { services: 0, zones: 0 })).toHaveLength(3);
  });
});

describe("nodes-per-environment", () => {
  const fill = (plan: Plan, count: number): Plan => {
    const { node } = network(plan);
    times(count, (number) => node(`n${number}`, number % 2));
    return plan;
  };

  test("4 are fine, at a first preview and later", async () => {
    expect(await messages(nodesPerEnvironment, fill(new Plan(), 4))).toEqual([]);
    expect(await messages(nodesPerEnvironment, fill(new Plan("test", true), 4))).toEqual([]);
  });

  test.each([false, true])("5 are not (deployed: %s)", async (deployed) => {
    expect(await judge([nodesPerEnvironment], fill(new Plan("test", deployed), 5))).toEqual([
      {
        policy: "nodes-per-environment",
        level: "mandatory",
        about: "ledger",
        message:
          'Environment "ledger" would have 5 nodes (in this stack "n1", "n2", "n3", "n4" and "n5"), but at most 4 are ' +
          "allowed. Remove some, or put them into another environment.",
      },
    ]);
  });

  test("in an environment of another stack, given by its id", async () => {
    const plan = new Plan();
    times(5, (number) =>
      plan.add("Node", `n${number}`, { consortiumId: "c1", environmentId: "e0", membershipId: "m1" }),
    );
    expect(await messages(nodesPerEnvironment, plan)).toEqual([
      expect.stringMatching(/^Environment "e0" would have 5 nodes/),
    ]);
  });

  test("nodes whose environment is unknown are nobody's", async () => {
    const plan = fill(new Plan(), 3);
    times(5, (number) => plan.add("Node", `u${number}`, { environmentId: unknown, membershipId: unknown }));
    expect(await messages(nodesPerEnvironment, plan)).toEqual([]);
  });

  /** A membership that is there already says how many nodes it must own, and how many it may. */
  const bounded = (bounds: Props, nodes: number): Plan => {
    const plan = new Plan("test", true);
    const { environment } = network(plan, []);
    const membership = plan.add("Membership", "acme", bounds);
    times(nodes, (number) => plan.add("Node", `n${number}`, { environment, membership }));
    return plan;
  };

  test.each<[string, Props, number, string[]]>([
    ["within both bounds", { minimumNodes: 1, maximumNodes: 2 }, 2, []],
    [
      "above its maximum",
      { minimumNodes: 1, maximumNodes: 2 },
      3,
      [
        'Membership "acme" would own 3 of the nodes of environment "ledger", but may own at most 2 (its maximumNodes). ' +
          "Remove some of its nodes.",
      ],
    ],
    [
      "below its minimum",
      { minimumNodes: 2, maximumNodes: 4 },
      1,
      [
        'Membership "acme" would own 1 of the nodes of environment "ledger", but must own at least 2 (its minimumNodes). ' +
          "Add nodes of it.",
      ],
    ],
    ["bounds that are not known", { minimumNodes: unknown, maximumNodes: unknown }, 1, []],
    ["no bounds", {}, 1, []],
  ])("a membership: %s", async (_, bounds, nodes, expected) => {
    expect(await messages(nodesPerEnvironment, bounded(bounds, nodes))).toEqual(expected);
  });

  test("too few is not said while there may be more: unknown environments and memberships, other stacks", async () => {
    const some = (): Plan => bounded({ minimumNodes: 2 }, 1);
    const unknownEnvironment = some();
    unknownEnvironment.add("Node", "u", { environmentId: unknown, membershipId: "id-of-acme" });
    const unknownMembership = some();
    unknownMembership.add("Node", "u", { environmentId: "id-of-ledger", membershipId: unknown });
    const elsewhere = new Plan("test", true);
    const membership = elsewhere.add("Membership", "acme", { minimumNodes: 2 });
    elsewhere.add("Node", "n", { environmentId: "e0", membership });
    for (const plan of [unknownEnvironment, unknownMembership, elsewhere]) {
      expect(await messages(nodesPerEnvironment, plan)).toEqual([]);
    }
  });
});
