import { type Identified } from "../../../provider/api";
import { type Props } from "../../../provider/core/definition";
import { adopt } from "../../../provider/core/lifecycle/adopt";
import { type Case, found, item, ofStack, place } from "./adopting";

/* An object that exists and is taken over: whose it is then, and what changes with it. */

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
      "adopted, if nobody knows the organization",
      { inputs: { adopt: true }, items: [[item("x")]], owner: "p" },
      "x adopted",
    ],
    [
      "adopted, if nobody knows the owner",
      { inputs: { adopt: true }, items: [[item("x")]], organization: "o" },
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
    [
      "shared, if a run recovers, and something differs",
      { ...registry({ membership_id: "m2" }), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x shared",
    ],
    [
      "shared, if a run recovers what shows no name",
      { ...registry({ name: undefined }), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x shared",
    ],
    ["shared, if the program adopts it in such a run", { ...registry(), adoptAll: true }, "x shared"],
  ])("%s", async (_, given, is) => {
    expect((await found(given)).is).toBe(is);
  });
});

describe("what changes with it", () => {
  async function adopting(given: Case, how?: "adopted" | "shared", isContinued?: true) {
    const { collection, said, sent } = place(given);
    const [one] = given.items![0]!;
    const outcome = await adopt(collection, { item: one, how, isContinued }).catch(({ message }: Error) => message);
    return { outcome, said: said.join("\n"), sent };
  }
  const nothing = { shown: {}, open: [] };

  test.each<[string, Case, Props, string]>([
    ["nothing that is as it should be", { items: [[item("x")]] }, {}, "adopts x (exists already; nothing is created)"],
    ["the name", { items: [[item("x", "node", { name: "z" })]] }, { name: "n" }, "; changes name)"],
    [
      "a description that is not shown",
      { kind: "consortium", inputs: { description: "d" }, items: [[item("x", "consortium")]] },
      { description: "d" },
      "; changes description)",
    ],
    [
      "no description that is not given",
      { kind: "consortium", items: [[item("x", "consortium", { description: "d" })]] },
      {},
      "nothing is created)",
    ],
    [
      "no empty one either",
      { kind: "consortium", inputs: { description: "" }, items: [[item("x", "consortium")]] },
      {},
      "nothing is created)",
    ],
    [
      "no size that the service is to choose",
      { inputs: { size: "" }, items: [[item("x", "node", { size: "large" })]] },
      {},
      "nothing is created)",
    ],
    [
      "no role that it does not show",
      { inputs: { role: "validator" }, items: [[item("x")]] },
      {},
      "nothing is created)",
    ],
    [
      "a name in another form",
      { inputs: { name: "N 1" }, items: [[item("x", "node", { name: "n-1" })]] },
      { name: "N 1" },
      "; changes name)",
    ],
    [
      "no zone in another spelling",
      { kind: "environmentZone", inputs: { cloud: "AWS" }, items: [[item("x", "environmentZone")]] },
      {},
      "nothing is created)",
    ],
    [
      "no role in another spelling",
      { inputs: { role: "Validator" }, items: [[item("x", "node", { role: "validator" })]] },
      {},
      "nothing is created)",
    ],
    [
      "a description in another spelling",
      {
        kind: "consortium",
        inputs: { description: "Mine" },
        items: [[item("x", "consortium", { description: "mine" })]],
      },
      { description: "Mine" },
      "; changes description)",
    ],
    [
      "no time-outs",
      { inputs: { customTimeouts: { create: 1 }, adopt: true }, items: [[item("x")]] },
      {},
      "nothing is created)",
    ],
  ])("%s", async (_, given, change, line) => {
    const { outcome, sent, said } = await adopting(given, "adopted");
    expect(sent).toEqual(Object.keys(change).length > 0 ? [change] : []);
    if (sent.length === 0) expect(outcome).toEqual(nothing);
    expect(said).toContain(line);
  });

  test.each<[string, Case, "adopted" | "shared", RegExp]>([
    [
      "another member",
      { items: [[item("x", "node", { membership_id: "m2" })]] },
      "adopted",
      /x cannot be adopted, because membershipId is m2, not m\. Change the program/,
    ],
    [
      "another region",
      { kind: "environmentZone", items: [[item("x", "environmentZone", { region: "r2" })]] },
      "shared",
      /because region is r2, not r/,
    ],
    [
      "another type, unless others share it",
      { kind: "environmentZone", items: [[item("x", "environmentZone", { type: "other" })]] },
      "adopted",
      /because type is other, not kaleido/,
    ],
  ])("it is refused for %s", async (_, given, how, why) => {
    const { outcome, sent } = await adopting(given, how);
    expect(outcome).toMatch(why);
    expect(sent).toEqual([]);
  });

  test("what others share stays as it is, and what differs is named", async () => {
    const zone = item("x", "environmentZone", { name: "theirs", type: "other" });
    const { outcome, said, sent } = await adopting({ kind: "environmentZone", items: [[zone]] }, "shared");
    expect([outcome, sent]).toEqual([nothing, []]);
    expect(said).toContain('others share it, so it stays as it is: name is "theirs", type is "other")');
    const same = await adopting({ kind: "environmentZone", items: [[item("x", "environmentZone")]] }, "shared");
    expect(same.said).toContain("nothing is created; others share it)");
    const bridged: Case = {
      kind: "environmentZone",
      inputs: { bridgeId: "b" },
      items: [[item("x", "environmentZone")]],
    };
    expect((await adopting(bridged, "shared")).said).toBe(same.said);
    const owned = await adopting({ items: [[item("x", "node", { name: "z" })]] }, "adopted");
    expect(owned.said).not.toContain("stays as it is");
  });

  test("what a killed run made is continued with", async () => {
    const { said } = await adopting({ items: [[item("x", "node", { name: "z" })]] }, undefined, true);
    expect(said).toContain("goes on with x, which an earlier run of this stack created; changes name");
  });

  test("what takes effect after a restart is to be restarted, if the service has changed it", async () => {
    const larger = (answer: Props): Case => ({
      inputs: { size: "large" },
      items: [[item("x", "node", { size: "small" })]],
      answer: { id: "x", _revision: 2, name: "n", membership_id: "m", ...answer },
    });
    const made = await adopting(larger({ size: "large" }), "adopted");
    expect(made.outcome).toMatchObject({ shown: { size: "large" }, open: ["restart"] });
    const ignored = await adopting(larger({ size: "small" }), "adopted");
    expect(ignored.outcome).toMatchObject({ open: [] });
    expect(ignored.said).toContain("accepted another size, but still shows the old one");
    const renamed = await adopting({ items: [[item("x", "node", { name: "z" })]] }, "adopted");
    expect(renamed.outcome).toMatchObject({ shown: { name: "n" }, open: [] });
  });
});
