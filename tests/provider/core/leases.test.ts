import { type Props } from "../../../provider/core/definition";
import { isNamesake, Leases, namedId } from "../../../provider/core/leases";
import { definitions } from "../../../provider/resources";

/* Which resource of the program has which object, and what is said where two want one. handover.test.ts has the same in whole runs. */

type Kind = "node" | "appCred" | "tetherService" | "membership";

const inputsOf = (kind: Kind, change: Props = {}): Props => ({
  ...(kind === "tetherService"
    ? { tetherId: "tether0001" }
    : { consortiumId: "c", environmentId: "e", [kind === "membership" ? "orgName" : "name"]: "one" }),
  ...change,
});
const pathOf = (kind: Kind, id: string, inputs: Props): string => `${definitions[kind].place(inputs).collection}/${id}`;

/** A program with resources of these names. */
function program() {
  const leases = new Leases();
  const resource = (name: string) => ({ key: `${name} of this stack`, name });
  return {
    leases,
    resource,
    /** The engine checks a resource without a state, or with one. */
    declare: (name: string, kind: Kind = "node", change: Props = {}, isNew = true) =>
      leases.declare(resource(name), definitions[kind], isNew, inputsOf(kind, change)),
    /** It compares one with its state. */
    hold: (
      name: string,
      id: string,
      { kind = "node", before = {}, now = {}, replaced = false, isOver = false }: Partial<Held> = {},
    ) => {
      const state = inputsOf(kind, before);
      const object = { path: pathOf(kind, id, state), id, isOver };
      return leases.hold(resource(name), definitions[kind], object, state, inputsOf(kind, now), replaced);
    },
    take: (name: string, id: string, kind: Kind = "node", change: Props = {}) => {
      const inputs = inputsOf(kind, change);
      leases.take(resource(name), definitions[kind], inputs, pathOf(kind, id, inputs));
    },
    holder: (id: string, except?: string) =>
      leases.holder(pathOf("node", id, inputsOf("node")), except === undefined ? undefined : resource(except))?.resource
        .name,
    waiting: () =>
      leases.withoutObject(definitions.node.place(inputsOf("node")).collection).map((one) => one.resource.name),
  };
}
interface Held {
  kind: Kind;
  before: Props;
  now: Props;
  replaced: boolean;
  isOver: boolean;
}

test.each<[Kind, Props, boolean]>([
  ["node", {}, true],
  ["node", { name: " one " }, true],
  ["node", { name: "two" }, false],
  ["node", { environmentId: "e2" }, false],
  ["membership", { orgName: undefined }, false],
  ["appCred", {}, false],
])("a %s with %j has the same name in the same place: %j", (kind, change, is) => {
  expect(isNamesake(definitions[kind], inputsOf(kind), inputsOf(kind, change))).toBe(is);
});

test.each<[Kind, Props, string | undefined]>([
  ["node", {}, undefined],
  ["node", { adopt: true }, undefined],
  ["node", { adopt: "n1" }, "n1"],
  ["tetherService", {}, "tether0001"],
])("a %s with %j asks for the id %s", (kind, change, id) => {
  expect(namedId(definitions[kind], inputsOf(kind, change))).toBe(id);
});

describe("two new ones", () => {
  test.each<[Kind, Props, Props, RegExp | undefined]>([
    ["node", {}, {}, /^"a" of this program also has this name in the same place\. Remove one of them/],
    ["node", {}, { name: "two" }, undefined],
    ["node", {}, { environmentId: "e2" }, undefined],
    [
      "node",
      { adopt: "n1" },
      { adopt: "n1", name: "two" },
      /^"a" of this program also adopts this one in the same place/,
    ],
    ["node", { adopt: "n1" }, { adopt: "n2" }, undefined],
    ["node", { adopt: "n1" }, {}, undefined],
    ["node", {}, { adopt: "n1" }, undefined],
    ["node", { adopt: true }, {}, /also has this name in the same place/],
    ["appCred", {}, {}, undefined],
    ["tetherService", {}, {}, /^"a" of this program is for the same tether service\. Remove one of them/],
  ])("a %s with %j, then %j", (kind, first, second, why) => {
    const { declare } = program();
    expect(declare("a", kind, first)).toBeUndefined();
    expect(declare("b", kind, second)).toEqual(why === undefined ? undefined : expect.stringMatching(why));
    expect(declare("a", kind, first) === undefined || why !== undefined).toBe(true);
  });

  test("of one name, where the first is made already, or has failed", () => {
    const { declare, take, leases, resource } = program();
    declare("a");
    take("a", "n1");
    expect(declare("b")).toBeUndefined();
    declare("c");
    leases.failed(resource("c"));
    leases.failed(resource("nobody"));
    leases.failed(undefined);
    expect(declare("d", "node", {})).toMatch(/"b" of this program also has this name/);
  });
});

describe("a new one, and one that the stack has", () => {
  const taken =
    /The node n1 is "a" of this program already.* take "a" out of the program, and either give "b" the resource option aliases: \[\{ name: "a" \}\]/;

  test.each<[Partial<Held>, Props, RegExp | undefined]>([
    [{}, {}, taken],
    [{}, { adopt: "n1", name: "two" }, taken],
    [{}, { name: "two" }, undefined],
    [{ replaced: true }, {}, undefined],
    [{ isOver: true }, {}, undefined],
    [{ isOver: true }, { adopt: "n1" }, taken],
    [{ now: { name: "two" } }, {}, undefined],
    [{ now: { name: "two" } }, { name: "two" }, taken],
  ])("that is %j: with %j", (held, change, why) => {
    const { declare, hold } = program();
    declare("a", "node", held.now, false);
    expect(hold("a", "n1", held)).toBeUndefined();
    expect(declare("b", "node", change)).toEqual(why === undefined ? undefined : expect.stringMatching(why));
    expect(declare("b", "node", change, false)).toBeUndefined();
  });

  test.each<[Partial<Held>, Props, boolean]>([
    [{}, {}, true],
    [{}, { adopt: "n1", name: "two" }, true],
    [{}, { name: "two" }, false],
    [{ replaced: true }, {}, false],
    [{ isOver: true }, {}, false],
    [{ isOver: true }, { adopt: "n1" }, true],
    [{ now: { name: "two" } }, {}, false],
  ])("that is %j, and registered later: with %j it is refused: %j", (held, change, refused) => {
    const { declare, hold } = program();
    declare("b", "node", change);
    const late = (): unknown => hold("a", "n1", held);
    if (refused)
      expect(late).toThrow(/^node "one" \(n1\): give each .*The node n1 is "a" of this program already.* give "b"/);
    else expect(late()).toBeUndefined();
  });

  test("that this run has given to it", () => {
    const { hold, take } = program();
    take("b", "n1");
    expect(() => hold("a", "n1")).toThrow(/\(n1\): Take "b" out of the program.*This run has given it to that, .* "a"/);
    expect(hold("a", "n1", { replaced: true })).toBeUndefined();
    expect(hold("a", "n2")).toBeUndefined();
  });

  test("a replacement is asked for a second time as if it were new: it gives its object up", () => {
    const { declare, hold, leases } = program();
    const path = pathOf("node", "n1", inputsOf("node"));
    hold("a", "n1");
    expect(leases.isGivenUp(path)).toBe(false);
    expect(declare("a")).toBeUndefined();
    expect(leases.isGivenUp(path)).toBe(true);
    expect(declare("b", "node", { adopt: "n1" })).toBeUndefined();
  });
});

test("one object that two have: a warning names both, unless one is replaced", () => {
  const { hold } = program();
  expect(hold("a", "n1")).toBeUndefined();
  expect(hold("b", "n1")).toBe(
    'node "one" (n1) is both "a" and "b". Take "b" out of the program: it leaves the state, and the object stays.',
  );
  expect(hold("a", "n1", { replaced: true })).toBeUndefined();
  expect(hold("b", "n1")).toBeUndefined();
});

describe("names that go round", () => {
  const named = (before: string, now: string): Partial<Held> => ({ before: { name: before }, now: { name: now } });

  test("between two, and between three", () => {
    const two = program();
    expect(two.hold("a", "n1", named("one", "two"))).toBeUndefined();
    expect(two.leases.swapsWith(two.resource("a"))).toBeUndefined();
    expect(() => two.hold("b", "n2", named("two", "one"))).toThrow(
      /^node "one" \(n2\): give it a temporary name.*It swaps names with "a", and one run/,
    );
    const three = program();
    three.hold("a", "n1", named("one", "two"));
    three.hold("b", "n2", named("two", "three"));
    expect(() => three.hold("c", "n3", named("three", "one"))).toThrow(/swaps names with "a"/);
    expect(three.leases.swapsWith(three.resource("a"))?.name).toBe("b");
    expect([three.leases.swapsWith(undefined), three.leases.swapsWith(three.resource("d"))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("a round of others holds up none that waits for it", () => {
    const { hold, leases, resource } = program();
    hold("a", "n1", named("one", "two"));
    expect(() => hold("b", "n2", named("two", "one"))).toThrow("swaps names");
    expect(hold("c", "n3", named("three", "one"))).toBeUndefined();
    expect(leases.swapsWith(resource("c"))).toBeUndefined();
  });

  test.each<[string, Partial<Held>]>([
    ["is replaced", { replaced: true }],
    ["is over", { isOver: true }],
  ])("not with one that %s", (_, more) => {
    const { hold } = program();
    hold("a", "n1", { ...named("one", "two"), ...more });
    expect(hold("b", "n2", named("two", "one"))).toBeUndefined();
  });
});

test("who has an object: who took it, or keeps it, and is not the one that asks", () => {
  const { hold, take, holder, leases } = program();
  hold("a", "n1");
  hold("b", "n2", { replaced: true });
  take("c", "n3");
  expect(["n1", "n2", "n3", "n4"].map((id) => holder(id))).toEqual(["a", undefined, "c", undefined]);
  expect([holder("n1", "a"), holder("n1", "b"), holder("n3", "c")]).toEqual([undefined, "a", undefined]);
  leases.deleted(pathOf("node", "n1", inputsOf("node")));
  expect([holder("n1"), holder("n3")]).toEqual([undefined, "c"]);
});

test("who is without an object in a place: what is new, and what has failed", () => {
  const { declare, hold, take, waiting, leases, resource } = program();
  declare("old", "node", { name: "1" }, false);
  declare("new", "node", { name: "2" });
  declare("elsewhere", "node", { environmentId: "e2" });
  declare("made", "node", { name: "3" });
  take("made", "n3", "node", { name: "3" });
  hold("replaced", "n4", { replaced: true });
  declare("replaced");
  expect(waiting()).toEqual(["new"]);
  for (const name of ["old", "replaced", "elsewhere"]) leases.failed(resource(name));
  expect(waiting().toSorted()).toEqual(["new", "old", "replaced"]);
});

test("a name is wanted as long as another one waits for it", () => {
  const { declare, take, leases, resource } = program();
  const isWanted = (change: Props = {}, except?: string): boolean =>
    leases.isWanted(definitions.node, inputsOf("node", change), except === undefined ? undefined : resource(except));
  declare("old", "node", { name: "two" }, false);
  declare("a");
  declare("b", "appCred");
  expect([isWanted(), isWanted({}, "a"), isWanted({}, "b"), isWanted({ name: "two" })]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(leases.isWanted(definitions.appCred, inputsOf("appCred"))).toBe(false);
  take("a", "n1");
  expect(isWanted()).toBe(false);
});

test("what one releases is there for the next, until it is deleted", () => {
  const { leases } = program();
  leases.release("/p/1", { name: "one" });
  expect([leases.released("/p/1"), leases.released("/p/2")]).toEqual([{ name: "one" }, undefined]);
  leases.deleted("/p/1");
  expect(leases.released("/p/1")).toBeUndefined();
  leases.take(undefined, definitions.node, inputsOf("node"), "/p/1");
  expect(leases.holder("/p/1")).toBeUndefined();
});
