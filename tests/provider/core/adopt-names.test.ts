import { type Case, found, holds, item, newParent, ofStack } from "./adopting";

/* What a new resource finds under its name or id: what is taken, adopted, waited for or refused. */

describe("a name", () => {
  test.each<[string, Case, string | RegExp, number]>([
    ["that nothing has is free", { items: [[item("x", "node", { name: "o" })]] }, "new", 0],

    ["is free where the service lists none", { isListed: false, items: [[item("x")]], adoptAll: true }, "new", 0],
    [
      "that one has is taken, after another look",
      { items: [[item("x")]] },
      /^node "n": set adopt: true \(or adopt: "x"\) to manage it here, or choose another name\. The name is already taken by x\./,
      1_000,
    ],
    ["is free if that was deleted just now", { items: [[item("x"), 0, 500]] }, "new", 1_000],
    [
      "that is being deleted is waited for",
      { items: [[item("x", "node", { state: "deleting" }), 0, 30_000]] },
      "new",
      30_000,
    ],
    [
      "is not waited for longer than a minute",
      { items: [[item("x", "node", { state: "deleting" })]] },
      /run the command again when x is gone.*still being deleted\./,
      61_000,
    ],

    [
      "that another resource gives up is waited for",
      { items: [[item("x"), 0, 20_000]], prepare: holds("x", { name: "o" }) },
      "new",
      20_000,
    ],
    [
      "that another resource keeps is taken",
      { items: [[item("x")]], prepare: holds("x", {}) },
      /give each resource its own name.*The node x is "other" of this program already.*If this update gives x another name, use two runs/,
      1_000,
    ],
    [
      "of the stack's own is taken",
      { items: [[item("x")]], prepare: ofStack("x") },
      /taken by x, which is this stack's own\./,
      1_000,
    ],

    [
      "of something shared is, whoever made it",
      { kind: "environmentZone", items: [[item("x", "environmentZone")]] },
      /set adopt: true .*to use it as it is\. There is one already, which others may share: x\./,
      1_000,
    ],
  ])("%s", async (_, given, outcome, ms) => {
    const { is, took } = await found(given);
    expect(is).toMatch(outcome);
    expect(took).toBe(ms);
  });

  test.each<[string, Case, string | RegExp]>([
    [
      "true takes the one that has it",
      { inputs: { adopt: true }, items: [[item("z", "node", { name: "z" })], [item("x")]] },
      "x adopted",
    ],
    ["so does a run that adopts all", { adoptAll: true, items: [[item("x")]] }, "x adopted"],
    [
      "several are too many",
      { inputs: { adopt: true }, items: [[item("x")], [item("y")]] },
      /set the id of the one to adopt, such as adopt: "x": several have this name \(x, y\)/,
    ],
  ])("with adopt: %s", async (_, given, outcome) => {
    expect((await found(given)).is).toMatch(outcome);
  });

  test("that is to be adopted is waited for where a second ledger would stay, and not in what is new", async () => {
    const late: Case = { kind: "environment", inputs: { adopt: true }, items: [[item("x", "environment"), 3_000]] };
    expect(await found(late)).toEqual({ is: "x adopted", took: 3_000 });
    expect(await found({ ...late, prepare: newParent })).toEqual({ is: "new", took: 0 });
    expect(await found({ ...late, inputs: {} })).toEqual({ is: "new", took: 0 });
    expect(await found({ ...late, kind: "node", items: [[item("x"), 3_000]] })).toEqual({ is: "new", took: 0 });
    const top: Case = { kind: "consortium", inputs: { adopt: true }, items: [[item("x", "consortium"), 3_000]] };
    expect(await found(top)).toEqual({ is: "x adopted", took: 3_000 });
    expect(await found({ ...top, isListed: false })).toEqual({ is: "new", took: 0 });
  });
});

describe("an id", () => {
  const adopted = { inputs: { adopt: "x" } };
  test.each<[string, Case, string | RegExp]>([
    [
      "of what is listed is adopted",
      { ...adopted, items: [[item("y")], [item("x", "node", { name: "z" })]] },
      "x adopted",
    ],
    ["of what is only found by it is, too", { ...adopted, items: [[item("y")]], byId: [item("x")] }, "x adopted"],
    [
      "of nothing is an error",
      { ...adopted, items: [[item("y")]] },
      /check the id, or use adopt: true.*There is no node x under \/consortia\/c\/environments\/e\/nodes to adopt\./,
    ],

    [
      "of what is being deleted is an error",
      { ...adopted, items: [[item("x", "node", { state: "deleting" })]] },
      /use another id, or use adopt: true.*x is being deleted/,
    ],
  ])("%s", async (_, given, outcome) => {
    expect((await found(given)).is).toMatch(outcome);
  });
});

test("the name of what its resource replaces is free", async () => {
  const zone: Case = { kind: "environmentZone", items: [[item("x", "environmentZone")]] };
  expect((await found({ ...zone, prepare: holds("x", {}, true) })).is).toBe("new");
  expect((await found({ items: [[item("x")]], prepare: holds("x", {}, true) })).is).toBe("new");
  expect((await found({ items: [[item("x")]] })).is).toContain("already taken by x");
});
