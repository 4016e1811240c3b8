import { nodesPerEnvironment } from "../../sdk/policy";
import { messages } from "./support/host";
import { idOf, network, Plan, type Planned, unknown } from "./support/plan";

/*
 * Which environment a node belongs to, seen by a limit of one node: two nodes that are found to be in the same environment
 * break it, nodes that are not do not.
 */

type Build = (plan: Plan, environment: Planned, membership: Planned) => void;

const together: [string, Build][] = [
  [
    "made from the same environment, whose id is not known",
    (plan, environment, membership) => {
      for (const name of ["a", "b"]) plan.add("Node", name, { environment, membership });
    },
  ],
  [
    "inside of components",
    (plan, environment, membership) => {
      const outer = plan.component("outer");
      plan.add("Node", "a", { environment, membership }, { parent: plan.component("inner", outer) });
      plan.add("Node", "b", { environment, membership }, { parent: plan.component("other") });
    },
  ],
  [
    "adopted",
    (plan, environment, membership) => {
      for (const name of ["a", "b"]) plan.add("Node", name, { environment, membership, adopt: true });
    },
  ],
  [
    "an id that is not known from anywhere, but the environment is in dependsOn",
    (plan, environment, membership) => {
      plan.add("Node", "a", { environment, membership });
      plan.add("Node", "b", { environmentId: unknown, membership }, { dependsOn: [environment, membership] });
    },
  ],
  [
    "children of the environment",
    (plan, environment, membership) => {
      const parent = plan.component("nodes", environment);
      for (const name of ["a", "b"]) plan.add("Node", name, { environmentId: unknown, membership }, { parent });
    },
  ],
  [
    "one that exists and knows its id, one that is new and does not",
    (plan, environment, membership) => {
      const a = plan.add("Node", "a", { environment, membership });
      a.props.environmentId = idOf(environment);
      plan.add("Node", "b", { environment, membership });
    },
  ],
  [
    "one by resource, one by the id of that resource",
    (plan, environment, membership) => {
      const a = plan.add("Node", "a", { environment, membership });
      a.props.environmentId = idOf(environment);
      plan.add("Node", "b", { environmentId: idOf(environment), membership });
    },
  ],
  [
    "an id that was made from the environment and something else",
    (plan, environment, membership) => {
      const madeFrom = { environmentId: [environment, membership] };
      for (const name of ["a", "b"]) plan.add("Node", name, { environmentId: unknown, membership }, { madeFrom });
    },
  ],
];

const apart: [string, Build][] = [
  [
    "different environments",
    (plan, environment, membership) => {
      const other = plan.add("Environment", "other", { provider: "geth", consensusType: "poa" });
      plan.add("Node", "a", { environment, membership });
      plan.add("Node", "b", { environment: other, membership });
    },
  ],
  [
    "an id that was made from two environments",
    (plan, environment, membership) => {
      const madeFrom = { environmentId: [environment, plan.add("Environment", "other")] };
      for (const name of ["a", "b"]) plan.add("Node", name, { environmentId: unknown, membership }, { madeFrom });
    },
  ],
  [
    "an unknown id, with two environments in dependsOn",
    (plan, environment, membership) => {
      const dependsOn = [environment, plan.add("Environment", "other")];
      for (const name of ["a", "b"]) plan.add("Node", name, { environmentId: unknown, membership }, { dependsOn });
    },
  ],
  [
    "an unknown id, and nothing else",
    (plan, _, membership) => {
      for (const name of ["a", "b"]) plan.add("Node", name, { environmentId: unknown, membership });
    },
  ],
  [
    "a known id of elsewhere, whatever it depends on",
    (plan, environment, membership) => {
      plan.add("Node", "a", { environment, membership });
      plan.add("Node", "b", { environmentId: "e0", membership }, { dependsOn: [environment] });
    },
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
