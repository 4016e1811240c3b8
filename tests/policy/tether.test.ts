import { tetherAfterConfiguration } from "../../sdk/policy";
import { judge, messages } from "./support/host";
import { network, Plan, type Planned, unknown } from "./support/plan";

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

  test("it depends on the environment only", async () => {
    const { plan, environment } = start();
    tether(plan, [environment]);
    expect(await messages(tetherAfterConfiguration, plan)).toEqual([
      'Tether service "pin" is active, but does not depend on nodes "a" and "b" of environment "ledger". Add "a" and "b" ' +
        "to its resource option dependsOn.",
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
