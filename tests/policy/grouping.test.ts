import { environmentsPerConsortium, nodesPerEnvironment } from "../../sdk/policy";
import { messages } from "./support/host";
import { idOf, network, Plan, type Planned, unknown } from "./support/plan";

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
    expect.stringMatching(/^Environment "ledger" would have 2 nodes \(in this stack "a" and "b"\), but at most 1 are/),
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
