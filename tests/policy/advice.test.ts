import {
  balancedMembership,
  credentialPerMember,
  tetherAfterConfiguration,
  allowedRegions,
  withSettings,
} from "../../sdk/policy";
import { judge, messages } from "./support/host";
import { network, Plan, unknown, type Planned } from "./support/plan";
import { setEnvironment } from "../support/service";

describe("advice", () => {
  /** An environment with nodes of members by number. */
  function owned(owners: number[], consensusType = "raft"): Plan {
    const plan = new Plan();
    const { environment, node } = network(plan);
    environment.props.consensusType = consensusType;
    owners.forEach((owner, index) => node(`n${index}`, owner));
    return plan;
  }

  describe("balanced-membership", () => {
    test.each<[string, Plan, object, string[]]>([
      ["half each", owned([0, 0, 1, 1]), {}, []],
      [
        "more than half",
        owned([0, 0, 0, 1]),
        {},
        [
          'Membership "acme" would own 3 of 4 nodes of environment "ledger" (75 %), but at most 50 % is advised. ' +
            "Add nodes of other memberships, or remove some of its own.",
        ],
      ],
      ["more than half, if the settings allow it", owned([0, 0, 0, 1]), { maxShare: 0.75 }, []],
      ["three of raft", owned([0, 0, 1]), { maxShare: 1 }, []],
      [
        "two of raft",
        owned([0, 1]),
        {},
        ['Environment "ledger" would have 2 nodes, but raft needs 3 for one of them to fail without harm. Add 1.'],
      ],
      ["four of ibft", owned([0, 0, 1, 1], "ibft"), {}, []],
      [
        "one of ibft",
        owned([0], "ibft"),
        { maxShare: 1 },
        ['Environment "ledger" would have 1 node, but ibft needs 4 for one of them to fail without harm. Add 3.'],
      ],
      ["one of poa", owned([0], "poa"), { maxShare: 1 }, []],
      ["an unknown protocol", owned([0, 1], unknown), {}, []],
      ["no nodes yet", owned([]), {}, []],
    ])("%s", async (_, plan, settings, expected) => {
      expect(await messages(balancedMembership, plan, settings)).toEqual(expected);
    });

    test("it is advice, about the environment", async () => {
      expect(await judge([balancedMembership], owned([0, 0, 0, 1]))).toEqual([
        expect.objectContaining({ level: "advisory", about: "ledger" }),
      ]);
    });

    test("there is no advice while other nodes may exist: unknown environments and owners, other stacks", async () => {
      const environmentless = owned([0]);
      environmentless.add("Node", "u", { environmentId: unknown, membershipId: unknown });
      const ownerless = new Plan();
      const { environment } = network(ownerless);
      for (const name of ["a", "b", "c"]) ownerless.add("Node", name, { environment, membershipId: unknown });
      const elsewhere = new Plan();
      elsewhere.add("Node", "n", { environmentId: "e0", membershipId: "m0" });
      for (const plan of [environmentless, ownerless, elsewhere]) {
        expect(await messages(balancedMembership, plan)).toEqual([]);
      }
    });
  });

  describe("credential-per-member", () => {
    /** Both members own a node; `holders` have a credential. */
    const held = (holders: number[]) => {
      const plan = owned([0, 1]);
      const [environment, first, second] = ["ledger", "acme", "bolt"].map((name) =>
        plan.resources.find((resource) => resource.name === name)!,
      );
      const memberships = [first, second];
      for (const holder of holders)
        plan.add("AppCred", `app-${holder}`, { environment, membership: memberships[holder] });
      return { plan, environment: environment!, memberships };
    };

    test("every owner has one", async () => {
      expect(await messages(credentialPerMember, held([0, 1]).plan)).toEqual([]);
    });

    test("an owner has none", async () => {
      expect(await judge([credentialPerMember], held([0]).plan)).toEqual([
        {
          policy: "credential-per-member",
          level: "advisory",
          about: "bolt",
          message:
            'Membership "bolt" owns nodes of environment "ledger", but has no AppCred there. Add an AppCred with this ' +
            "environment and membership.",
        },
      ]);
    });

    test("a credential in another environment does not count", async () => {
      const { plan, memberships } = held([0]);
      plan.add("AppCred", "elsewhere", { environmentId: "e0", consortiumId: "c0", membership: memberships[1] });
      expect(await messages(credentialPerMember, plan)).toHaveLength(1);
    });

    test("a credential that may count, because a property is unknown", async () => {
      const whose = held([0]);
      whose.plan.add("AppCred", "u", { environment: whose.environment, membershipId: unknown });
      const where = held([0]);
      where.plan.add("AppCred", "u", { environmentId: unknown, membership: where.memberships[1] });
      for (const { plan } of [whose, where]) expect(await messages(credentialPerMember, plan)).toEqual([]);
    });

    test("nodes with unknown properties are not violations", async () => {
      const plan = new Plan();
      const { environment, memberships } = network(plan);
      plan.add("Node", "a", { environment, membershipId: unknown });
      plan.add("Node", "b", { environmentId: unknown, membership: memberships[0] });
      expect(await messages(credentialPerMember, plan)).toEqual([]);
    });
  });
});

describe("a tether", () => {
  const args = { tetherId: "t000000000", network: "rinkeby", intervalHours: 1 };
  const tether = (plan: Plan, dependsOn: Planned[], change: object = {}, parent?: Planned): Planned =>
    plan.add("TetherService", "pin", { ...args, ...change }, { dependsOn, parent });

  /** A network of two nodes in a plan. */
  function start() {
    const plan = new Plan();
    const made = network(plan);
    return { plan, ...made, nodes: [made.node("a", 0), made.node("b", 1)] as const };
  }
  type Started = ReturnType<typeof start>;

  test.each<[string, (started: Started) => void]>([
    ["it depends on every node", ({ plan, nodes }) => tether(plan, [...nodes])],
    [
      "it depends on a resource that depends on every node",
      ({ plan, nodes, environment, memberships: [membership] }) =>
        tether(plan, [plan.add("AppCred", "app", { environment, membership }, { dependsOn: [...nodes] })]),
    ],
    [
      "one of its properties comes from every node",
      ({ plan, nodes }) => plan.add("TetherService", "pin", args, { madeFrom: { intervalHours: [...nodes] } }),
    ],
    ["it is not active", ({ plan }) => tether(plan, [], { active: false })],
    ["it is not known to be active", ({ plan }) => tether(plan, [], { active: unknown })],
    [
      "its environment is not known: there are two, and it depends on neither, or on both",
      ({ plan, consortium, nodes, memberships }) => {
        const environment = plan.add("Environment", "other", { consortium });
        const node = plan.add("Node", "c", { environment, membership: memberships[0] });
        tether(plan, []);
        plan.add("TetherService", "both", args, { dependsOn: [nodes[0], node] });
      },
    ],
    [
      "the nodes are of another organization's environment",
      ({ plan }) => plan.add("TetherService", "pin", args, { provider: plan.provider("acme", { apiKey: "key" }) }),
    ],
  ])("fine: %s", async (_, build) => {
    const started = start();
    build(started);
    expect(await messages(tetherAfterConfiguration, started.plan)).toEqual([]);
  });

  test("fine: the stack has no node, or none with a known environment", async () => {
    const plan = new Plan();
    const { memberships } = network(plan);
    plan.add("Node", "a", { environmentId: unknown, membership: memberships[0] });
    tether(plan, []);
    expect(await messages(tetherAfterConfiguration, plan)).toEqual([]);
  });

  describe("broken", () => {
    test("it depends on some of the nodes", async () => {
      const { plan, nodes } = start();
      tether(plan, [nodes[0]], { active: true });
      expect(await judge([tetherAfterConfiguration], plan)).toEqual([
        {
          policy: "tether-after-configuration",
          level: "mandatory",
          about: "pin",
          message:
            'Tether service "pin" is active, but does not depend on node "b" of environment "ledger". Add "b" to its ' +
            "resource option dependsOn.",
        },
      ]);
    });

    test("it depends on nothing, and the stack has one environment, unless a setting ignores that", async () => {
      const { plan } = start();
      tether(plan, []);
      expect(await messages(tetherAfterConfiguration, plan)).toHaveLength(1);
      expect(await messages(tetherAfterConfiguration, plan, { infer: false })).toEqual([]);
    });

    test("it depends on nothing, and is in a component with one of two environments", async () => {
      const plan = new Plan();
      const inside = plan.component("network");
      for (const [name, parent] of [
        ["here", inside],
        ["there", plan.component("other")],
      ] as const) {
        const environment = plan.add("Environment", name, {}, { parent });
        plan.add("Node", `node-${name}`, { environment, membershipId: "m1" }, { parent });
      }
      tether(plan, [], {}, plan.component("pins", inside));
      expect(await messages(tetherAfterConfiguration, plan)).toEqual([
        expect.stringContaining('does not depend on node "node-here" of environment "here"'),
      ]);
    });

    test("an environment of another stack, known by its id", async () => {
      const plan = new Plan();
      const ids = { consortiumId: "c1", environmentId: "e1", membershipId: "m1" };
      tether(plan, [plan.add("Node", "a", ids)]);
      plan.add("Node", "b", ids);
      expect(await messages(tetherAfterConfiguration, plan)).toEqual([
        expect.stringContaining('does not depend on node "b" of environment "e1"'),
      ]);
    });
  });
});

describe("regions", () => {
  const policy = withSettings(allowedRegions, {
    enforcementLevel: "mandatory",
    regions: ["eu", "ap"],
    hosts: ["eu.proxy.example"],
  });

  const mend = "Set region to eu or ap: as an argument of the Provider, or with `pulumi config set consortium:region`.";

  /** Settings of the default provider (stack configuration), of the environment, of an explicit `Provider`. */
  interface Given {
    stack?: Record<string, string>;
    env?: Record<string, string>;
    own?: Record<string, string>;
  }

  const given: [string, Given, string | undefined][] = [
    ["eu by stack configuration", { stack: { region: "eu" } }, undefined],
    ["us by default", {}, `The default provider works in region us. ${mend}`],
    ["ko by stack configuration", { stack: { region: "ko" } }, `The default provider works in region ko. ${mend}`],
    ["a Provider's own region", { own: { apiKey: "k", region: "us" } }, `Provider "acme" works in region us. ${mend}`],
    [
      "the service's address says more than a region",
      { own: { baseUrl: "https://console-eu.kaleido.io/api/v1" } },
      undefined,
    ],
    [
      "the address of the default region",
      { own: { region: "eu", baseUrl: "https://console.kaleido.io/api/v1" } },
      `Provider "acme" works in region us. ${mend}`,
    ],
    ...[
      ["a proxy of one's own", "https://proxy.acme.example/api/v1", "proxy.acme.example"],
      ["a trailing dot", "https://console-eu.kaleido.io./api/v1", "console-eu.kaleido.io."],
      ["a lookalike", "https://console-eu.kaleido.io.acme.example/api/v1", "console-eu.kaleido.io.acme.example"],
      ["this machine", "http://127.0.0.1:4280/api/v1", "127.0.0.1"],
    ].map(([what, baseUrl, host]): [string, Given, string] => [
      `${what} is none of the known hosts, whatever region is set`,
      { own: { region: "eu", baseUrl: baseUrl! } },
      `Provider "acme" uses the host ${host}, whose region is not known. If it is in an allowed region, add it ` +
        "to the setting hosts of this policy; otherwise remove baseUrl.",
    ]),
    ["a host that the policy's settings name", { own: { baseUrl: "https://eu.proxy.example/api/v1" } }, undefined],
    ["an unknown region", { own: { region: unknown } }, undefined],
    ["a region that does not exist is for the run to say", { own: { region: "moon" } }, undefined],
  ];

  describe.each(["dynamic", "plugin"])("on the %s provider", (adapter) => {
    test.each(given)("%s", async (_, { stack = {}, env = {}, own }, message) => {
      setEnvironment({ CONSORTIUM_API_KEY: undefined, ...env });
      const plan = new Plan("test", false, adapter === "plugin");
      plan.configure(stack);
      plan.add("Consortium", "c", {}, own && { provider: plan.provider("acme", own) });
      const about = own ? "acme" : (expect.stringMatching(/^default/) as string);
      expect(await judge([policy], plan)).toEqual(
        message === undefined ? [] : [{ policy: "allowed-regions", level: "mandatory", message, about }],
      );
    });
  });

  test("each provider instance once, and only if it is used for these resources", async () => {
    const plan = new Plan();
    const acme = plan.provider("acme", { region: "us" });
    plan.provider("unused", { region: "us" });
    for (const name of ["a", "b"]) plan.add("Consortium", name, {}, { provider: acme });
    expect(await judge([policy], plan)).toHaveLength(1);
  });

  test("it is disabled by default, and then allows all regions", async () => {
    const plan = new Plan();
    plan.add("Consortium", "c");
    expect(allowedRegions.enforcementLevel).toBe("disabled");
    expect(await judge([withSettings(allowedRegions, "mandatory")], plan)).toEqual([]);
  });
});
