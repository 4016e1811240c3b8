import {
  consortiaPerOrganization,
  type ConsortiumPolicy,
  environmentsPerConsortium,
  nodesPerEnvironment,
  resourcesPerEnvironment,
  withSettings,
} from "../../sdk/policy";
import { judge, messages } from "./support/host";
import { containing } from "../service/helpers";
import { network, Plan, type Props, unknown, idOf, type Planned } from "./support/plan";

describe("limits", () => {
  const times = <T>(count: number, make: (number: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index + 1));

  const quoted = (count: number): string =>
    times(count, (number) => `"r${number}"`)
      .join(", ")
      .replace(/, (?=[^,]*$)/, " and ");

  type Limit = [ConsortiumPolicy, most: number, begin: string, end: string, about: string | undefined];
  const limits: [Limit, fill: (plan: Plan, add: (how: (name: string, number: number) => unknown) => void) => void][] = [
    [
      [
        consortiaPerOrganization,
        2,
        "The organization of the default provider would have 3 consortia",
        "Use fewer, or create some with a Provider of another organization.",
        undefined,
      ],
      (plan, add) => add((name, number) => plan.add("Consortium", name, number === 1 ? { adopt: true } : {})),
    ],
    [
      [
        environmentsPerConsortium,
        3,
        'Consortium "trade" would have 4 environments',
        "Remove some, or put them into another consortium.",
        "trade",
      ],
      (plan, add) => {
        const consortium = plan.add("Consortium", "trade");
        add((name) => plan.add("Environment", name, { consortium }));
      },
    ],
    [
      [
        nodesPerEnvironment,
        4,
        'Environment "ledger" would have 5 nodes',
        "Remove some, or put them into another environment.",
        "ledger",
      ],
      (plan, add) => {
        const { node } = network(plan);
        add((name, number) => node(name, number % 2));
      },
    ],
  ];

  test.each(
    limits.flatMap(([one, fill]) => [false, true].map((deployed) => [one[0].name, deployed, one, fill] as const)),
  )(
    "%s: as many as are allowed, and one more (deployed: %s)",
    async (_, deployed, [policy, most, begin, end, about], fill) => {
      const filled = (count: number): Plan => {
        const plan = new Plan("test", deployed);
        fill(plan, (add) => times(count, (number) => add(`r${number}`, number)));
        return plan;
      };
      expect(await messages(policy, filled(most))).toEqual([]);
      const message = `${begin} (in this stack ${quoted(most + 1)}), but at most ${most} are allowed. ${end}`;
      const found = { policy: policy.name, level: "mandatory", ...(about && { about }), message };
      expect(await judge([policy], filled(most + 1))).toEqual([found]);
    },
  );

  test("each provider instance has its own consortia, even if its settings and their names are unknown", async () => {
    const plan = new Plan();
    times(2, (number) => plan.add("Consortium", `c${number}`));
    const provider = plan.provider("acme", { apiKey: unknown });
    times(2, (number) => plan.add("Consortium", `a${number}`, { name: unknown }, { provider }));
    expect(await messages(consortiaPerOrganization, plan)).toEqual([]);
    plan.add("Consortium", "a3", {}, { provider });
    expect(await messages(consortiaPerOrganization, plan)).toEqual([
      expect.stringMatching(
        /^The organization of provider "acme" would have 3 consortia \(in this stack "a1", "a2" and "a3"\)/,
      ),
    ]);
  });

  describe("providers of one organization are counted together:", () => {
    const [one, other] = [{ apiKey: "key-1" }, { apiKey: "key-2" }];
    const acme = { organization: "acme-1" };
    const eu = { region: "eu" };

    test.each<[string, Record<string, string>, Record<string, string>, boolean]>([
      ["with one key", one, one, true],
      ["with two keys", one, other, false],
      ["with two keys of one organization", { ...one, ...acme }, { ...other, ...acme }, true],
      ["with one key, if one of them names the organization", { ...one, ...acme }, one, true],
      ["with one key in two regions", one, { ...one, ...eu }, false],
    ])("%s", async (_, first, second, areOne) => {
      const plan = new Plan();
      for (const [name, given] of Object.entries({ first, second }))
        times(2, (number) => plan.add("Consortium", `${name}-${number}`, {}, { provider: plan.provider(name, given) }));
      const found = 'The organization of provider "first" and provider "second" would have 4 consortia';
      expect(await messages(consortiaPerOrganization, plan)).toEqual(areOne ? [containing(found)] : []);
      expect(JSON.stringify(await messages(consortiaPerOrganization, plan))).not.toContain("key-");
    });

    test("and one may have a maximum of its own", async () => {
      const plan = new Plan();
      const provider = plan.provider("acme", { ...one, ...acme });
      times(3, (number) => plan.add("Consortium", `a${number}`, {}, { provider }));
      expect(await messages(consortiaPerOrganization, plan)).toHaveLength(1);
      expect(await messages(consortiaPerOrganization, plan, { maxOf: { "acme-1": 3 } })).toEqual([]);
      expect(await messages(consortiaPerOrganization, plan, { maxOf: { other: 3 } })).toHaveLength(1);
      expect(await messages(consortiaPerOrganization, plan, { max: 9, maxOf: { "acme-1": 2 } })).toHaveLength(1);
      const byName = () => withSettings(consortiaPerOrganization, { maxOf: { "Acme Ltd": 3 } });
      expect(byName).toThrow(
        'Policy "consortia-per-organization": maxOf has "Acme Ltd", and only the service knows the names of organizations: set live, or ' +
          "use the id, which `consortium doctor` shows.",
      );
    });

    test("whose provider does not say it, has no maximum of its own, which is said", async () => {
      const plan = new Plan();
      times(3, (number) => plan.add("Consortium", `a${number}`, {}, { provider: plan.provider("acme", one) }));
      const limited = withSettings(consortiaPerOrganization, { max: 9, maxOf: { "acme-1": 2 } });
      expect(await judge([limited], plan)).toEqual([
        {
          policy: "consortia-per-organization",
          level: "advisory",
          message:
            'The organization of provider "acme" is not known, so that it has no maximum of maxOf. ' +
            "Set `organization` of its provider to the id that `consortium doctor` shows.",
          about: "a1",
        },
      ]);
      expect(await judge([withSettings(consortiaPerOrganization, { max: 9 })], plan)).toEqual([]);
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

    test("each kind and each environment is counted separately", async () => {
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

  describe("nodes and memberships", () => {
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
            "Add nodes of this membership.",
        ],
      ],
      ["bounds that are not known", { minimumNodes: unknown, maximumNodes: unknown }, 1, []],
      ["no bounds", {}, 1, []],
    ])("a membership: %s", async (_, bounds, nodes, expected) => {
      expect(await messages(nodesPerEnvironment, bounded(bounds, nodes))).toEqual(expected);
    });

    test("too few is no violation while there may be more: unknown environments and memberships, other stacks", async () => {
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
});

describe("which environment a node belongs to", () => {
  /*
   * Which environment a node belongs to, seen by a limit of one node: two nodes that are found to be in the same environment
   * break it, nodes that are not do not.
   */

  type Build = (plan: Plan, environment: Planned, membership: Planned) => void;
  type Node = [args?: object, options?: Parameters<Plan["add"]>[3]];

  /** Two nodes of a member: the second is like the first, unless it is given. */
  const two =
    (of: (environment: Planned, plan: Plan, membership: Planned) => [first: Node, second?: Node]): Build =>
    (plan, environment, membership) => {
      const [first, second = first] = of(environment, plan, membership);
      plan.add("Node", "b", { membership, ...first[0] }, first[1]);
      plan.add("Node", "a", { membership, ...second[0] }, second[1]);
    };

  /** A node that was made from an environment in an earlier run, so that its id is known. */
  const existing: Build = (plan, environment, membership) =>
    void (plan.add("Node", "a", { environment, membership }).props.environmentId = idOf(environment));
  const other = (plan: Plan): Planned => plan.add("Environment", "other");
  const unknownId = { environmentId: unknown };

  const together: [string, Build][] = [
    ["made from the same environment, with an unknown id", two((environment) => [[{ environment }]])],
    [
      "inside of components",
      two((environment, plan) => [
        [{ environment }, { parent: plan.component("inner", plan.component("outer")) }],
        [{ environment }, { parent: plan.component("other") }],
      ]),
    ],
    ["adopted", two((environment) => [[{ environment, adopt: true }]])],
    [
      "an id that is not known from anywhere, but the environment is in dependsOn",
      two((environment, _, membership) => [[{ environment }], [unknownId, { dependsOn: [environment, membership] }]]),
    ],
    [
      "children of the environment",
      two((environment, plan) => [[unknownId, { parent: plan.component("nodes", environment) }]]),
    ],
    [
      "children of the environment, which is itself in another one",
      two((environment, plan) => {
        environment.parent = other(plan);
        return [[unknownId, { parent: environment }]];
      }),
    ],
    [
      "one that exists and knows its id, one that is new and does not",
      (plan, environment, membership) => {
        existing(plan, environment, membership);
        plan.add("Node", "b", { environment, membership });
      },
    ],
    [
      "one by resource, one by the id of that resource",
      (plan, environment, membership) => {
        existing(plan, environment, membership);
        plan.add("Node", "b", { environmentId: idOf(environment), membership });
      },
    ],
    [
      "an id that was made from the environment and something else",
      two((environment, _, membership) => [[unknownId, { madeFrom: { environmentId: [environment, membership] } }]]),
    ],
  ];

  const apart: [string, Build][] = [
    ["different environments", two((environment, plan) => [[{ environment }], [{ environment: other(plan) }]])],
    [
      "an id that was made from two environments",
      two((environment, plan) => [[unknownId, { madeFrom: { environmentId: [environment, other(plan)] } }]]),
    ],
    [
      "an unknown id, with two environments in dependsOn",
      two((environment, plan) => [[unknownId, { dependsOn: [environment, other(plan)] }]]),
    ],
    ["an unknown id, and nothing else", two(() => [[unknownId]])],
    [
      "a known id of elsewhere, whatever it depends on",
      two((environment) => [[{ environment }], [{ environmentId: "e0" }, { dependsOn: [environment] }]]),
    ],
  ];

  const found = async (build: Build): Promise<string[]> => {
    const plan = new Plan();
    const { environment, memberships } = network(plan);
    build(plan, environment, memberships[0]!);
    return messages(nodesPerEnvironment, plan, { max: 1 });
  };

  test.each(together)("together: %s", async (_, build) => {
    expect(await found(build)).toEqual([
      expect.stringMatching(
        /^Environment "ledger" would have 2 nodes \(in this stack "a" and "b"\), but at most 1 are/,
      ),
    ]);
  });

  test.each(apart)("apart: %s", async (_, build) => {
    expect(await found(build)).toEqual([]);
  });

  test("an environment whose consortium's id comes from another environment, beside other things, is in that one's", async () => {
    const plan = new Plan();
    const { environment } = network(plan);
    const component = plan.component("names");
    plan.add(
      "Environment",
      "beside",
      { consortiumId: unknown },
      { madeFrom: { consortiumId: [component, environment] } },
    );
    expect(await messages(environmentsPerConsortium, plan, { max: 1 })).toEqual([
      expect.stringMatching(/^Consortium "trade" would have 2 environments \(in this stack "beside" and "ledger"\)/),
    ]);
  });
});
