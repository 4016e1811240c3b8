import { balancedMembership, credentialPerMember } from "../../sdk/policy";
import { judge, messages } from "./support/host";
import { network, Plan, unknown } from "./support/plan";

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

  test("a membership without nodes needs none", async () => {
    const plan = owned([]);
    expect(await messages(credentialPerMember, plan)).toEqual([]);
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
