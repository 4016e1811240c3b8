import { type Identified } from "../../../provider/api";
import { type Props } from "../../../provider/core/definition";
import { type Case, found, item, ofStack } from "./adopting";

/* An object that exists and is taken over: whose it is then. What changes with it: reliability/oracle, resources/adoption. */

describe("how it comes to the stack", () => {
  const theirs: Case = { kind: "membership", owner: "p", organization: "o" };
  const members = (...organizations: (string | undefined)[]): Identified[] =>
    organizations.map((org_id, at) => ({ id: `m${at}`, org_id }));
  const utility = { service: "idregistry", adopt: true };
  const registry = (more: Props = {}): Case => ({
    kind: "service",
    inputs: { ...utility, name: "ids" },
    items: [[item("x", "service", { name: "ids", service: "idregistry", service_type: "utility", ...more })]],
  });

  test.each<[string, Case, string]>([
    ["again, if it has it already", { inputs: { adopt: "x" }, items: [[item("x")]], prepare: ofStack("x") }, "x own"],
    [
      "adopted, if the key's organization owns the consortium",
      { inputs: { adopt: true }, items: [[item("x")]], owner: "o", organization: "o" },
      "x adopted",
    ],

    [
      "shared, if it is another member's",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true },
        items: [[item("x", "node", { membership_id: "m0" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is the own member's",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true, membershipId: "m1" },
        items: [[item("x", "node", { membership_id: "m1" })]],
        members: members("p", "o"),
      },
      "x adopted",
    ],
    [
      "shared, if it is the consortium of others",
      {
        kind: "consortium",
        inputs: { adopt: true },
        items: [[item("x", "consortium", { owner: "p" })]],
        organization: "o",
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is an own consortium",
      {
        kind: "consortium",
        inputs: { adopt: true },
        items: [[item("x", "consortium", { owner: "o" })]],
        organization: "o",
      },
      "x adopted",
    ],
    [
      "shared, if it is another member's, though a run recovers, and all agrees",
      {
        ...theirs,
        kind: "node",
        adoptAll: true,
        inputs: { membershipId: "m0" },
        items: [[item("x", "node", { membership_id: "m0" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "shared, if nobody knows whose it is",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true },
        items: [[item("x", "node", { membership_id: "m9" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is the own membership",
      {
        ...theirs,
        inputs: { adopt: true },
        items: [[item("x", "membership", { org_id: "o" })]],
        members: members("p", "o"),
      },
      "x adopted",
    ],
    ["shared, if all members may use it", registry(), "x shared"],
    [
      "its own, if a run recovers it, and all agrees",
      { ...registry(), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x own",
    ],

    ["shared, if the program adopts it in such a run", { ...registry(), adoptAll: true }, "x shared"],
  ])("%s", async (_, given, is) => {
    expect((await found(given)).is).toBe(is);
  });
});
