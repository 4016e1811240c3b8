import { codedMessage } from "../../../provider/errors";
import { type Identified } from "../../../provider/api";
import { type Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { findExisting } from "../../../provider/core/lifecycle/adopt";
import { type Session } from "../../../provider/core/session";
import { type Listed, own } from "../../support/by-kind";
import { me, placed, type Prepare } from "./placed";

/*
 * What a new resource finds under its name or id: what is taken, adopted, waited for or refused, and whose it is then. What changes with it:
 * reliability/oracle, resources/adoption.
 */

interface Case {
  kind?: Listed;
  inputs?: Props;
  /** What is there from a time on, and until when. */
  items?: [item: Identified, fromMs?: number, untilMs?: number][];
  /** Objects that are found by their id alone. */
  byId?: Identified[];
  /** undefined: the service lists none. */
  isListed?: boolean;
  adoptAll?: boolean;
  owner?: string;
  /** The organization of the key. */
  organization?: string;
  members?: Identified[];
  prepare?: Prepare;
}

const item = (id: string, kind: Listed = "node", more: Props = {}): Identified => ({ id, ...own[kind], ...more });

/** The id of what is found and how it comes to the stack; "new"; or an error. */
async function found(given: Case): Promise<{ is: string; took: number }> {
  const { kind = "node", items = [], byId = [], members = [], owner, isListed = true, adoptAll = false } = given;
  const listedAt = (now: number): Identified[] =>
    items.filter(([, from = 0, until = Infinity]) => from <= now && now < until).map(([one]) => one);
  const { collection, clock } = placed(
    { kind, inputs: given.inputs, prepare: given.prepare },
    (clock) => ({
      listed: () => listedAt(clock.now()),
      elsewhere: (where) => (where.endsWith("/memberships") ? members : [{ id: "c", owner }, { id: "e" }]),
      find: (where: string) => Promise.resolve(byId.find(({ id }) => where.endsWith(`/${id}`))),
      organizationOfKey: () => Promise.resolve(given.organization),
    }),
    { adoptAll },
  );
  const is = await findExisting(collection, isListed ? listedAt(clock.now()) : undefined).then(
    (one) => (one ? `${one.item.id} ${one.how ?? "own"}` : "new"),
    codedMessage,
  );
  return { is, took: clock.now() };
}

const other = { key: "other", name: "other" };
/** Another resource of the program has the object, and asks for these inputs. */
const holds =
  (id: string, inputs: Props, replaced = false) =>
  ({ run }: Session, collection: Collection): void => {
    const path = collection.pathOf(id);
    if ("name" in inputs) run.leases.declare(me, collection.definition, true, collection.inputs);
    run.leases.hold(other, collection.definition, { path, id }, { ...collection.inputs, ...inputs });
    if (replaced) run.leases.giveUp(path, other);
  };
const ofStack =
  (id: string) =>
  ({ run }: Session, collection: Collection): void =>
    void run.shown.add(collection.pathOf(id));
const newParent = ({ run }: Session, { place: { parent } }: Collection): void => void run.createdAt.set(parent!.id, 0);

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
