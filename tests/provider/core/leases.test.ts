import { type Props } from "../../../provider/core/definition";
import { Run } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";

/* Which resource of the program has which object: the second one is refused. stacks/handover.test.ts has the same in whole runs. */

type Kind = "node" | "appCred" | "tetherService" | "membership";

const inputsOf = (kind: Kind, change: Props = {}): Props => ({
  ...(kind === "tetherService"
    ? { tetherId: "tether0001" }
    : { consortiumId: "c", environmentId: "e", [kind === "membership" ? "orgName" : "name"]: "one" }),
  ...change,
});
const pathOf = (id: string): string => `${definitions.node.place(inputsOf("node")).collection}/${id}`;

/** A program with resources of these names. */
function program() {
  const leases = new Run().leases;
  const resource = (name: string) => ({ key: `${name} of this stack`, name });
  return {
    leases,
    resource,
    /** The engine checks a resource without a state, or with one. */
    declare: (name: string, kind: Kind = "node", change: Props = {}, isNew = true) =>
      leases.declare(resource(name), definitions[kind], isNew, inputsOf(kind, change)),
    /** It compares a node with its state. */
    hold: (name: string, id: string, now: Props = {}, isOver = false) =>
      leases.hold(resource(name), definitions.node, { path: pathOf(id), id, isOver }, inputsOf("node", now)),
    take: (name: string, id: string) => leases.take(resource(name), definitions.node, inputsOf("node"), pathOf(id)),
    giveUp: (name: string, id: string) => leases.giveUp(pathOf(id), resource(name)),
    holder: (id: string, except?: string) =>
      leases.holder(pathOf(id), except === undefined ? undefined : resource(except))?.resource.name,
  };
}

describe("two new ones", () => {
  const same =
    /^remove one of them, or give each its own: "a" of this program asks for the same (node|tether service)\.$/;

  test.each<[Kind, Props, Props, RegExp | undefined]>([
    ["node", {}, {}, same],
    ["node", {}, { name: " one " }, same],
    ["node", {}, { name: "two" }, undefined],
    ["node", {}, { environmentId: "e2" }, undefined],
    ["membership", {}, { orgName: undefined }, undefined],
    ["node", { adopt: "n1" }, { adopt: "n1", name: "two" }, same],
    ["node", { adopt: "n1" }, { adopt: "n2" }, undefined],
    ["node", { adopt: "n1" }, {}, undefined],
    ["node", { adopt: true }, {}, same],
    ["appCred", {}, {}, undefined],
    ["tetherService", {}, {}, same],
  ])("a %s with %j, then %j", (kind, first, second, why) => {
    const { declare } = program();
    expect(declare("a", kind, first)).toBeUndefined();
    expect(declare("b", kind, second)).toEqual(why === undefined ? undefined : expect.stringMatching(why));
    expect(declare("a", kind, first) === undefined || why !== undefined).toBe(true);
  });

  test("of one name, where the first is made already, or has failed, or asks for another one now", () => {
    const { declare, take, leases, resource } = program();
    declare("a");
    take("a", "n1");
    expect(declare("b")).toBeUndefined();
    leases.failed(resource("b"), "made nothing");
    for (const nobody of [resource("nobody"), undefined]) leases.failed(nobody, "made nothing");
    expect(declare("c")).toBeUndefined();
    declare("c", "node", { name: "two" });
    expect(declare("d")).toBeUndefined();
    expect(declare("e", "node", { name: "two" })).toMatch(/"c" of this program asks for the same/);
  });
});

describe("a new one, and one that the stack has", () => {
  const taken =
    /The node n1 is "a" of this program already.* take "a" out of the program, and either give "b" the resource option aliases: \[\{ name: "a" \}\]/;

  test.each<[Props, boolean, Props, RegExp | undefined]>([
    [{}, false, {}, taken],
    [{}, false, { adopt: "n1", name: "two" }, taken],
    [{}, false, { name: "two" }, undefined],
    [{}, true, {}, undefined],
    [{}, true, { adopt: "n1" }, taken],
    [{ name: "two" }, false, {}, undefined],
    [{ name: "two" }, false, { name: "two" }, taken],
  ])("that is now %j (over: %j), with %j: whichever is registered later", (now, isOver, change, why) => {
    const first = program();
    first.declare("a", "node", now, false);
    first.hold("a", "n1", now, isOver);
    expect(first.declare("b", "node", change)).toEqual(why === undefined ? undefined : expect.stringMatching(why));
    expect(first.declare("b", "node", change, false)).toBeUndefined();
    const later = program();
    later.declare("b", "node", change);
    const hold = (): void => later.hold("a", "n1", now, isOver);
    if (why)
      expect(hold).toThrow(/^node "\w+" \(n1\): give each .*The node n1 is "a" of this program already.* give "b"/);
    else expect(hold).not.toThrow();
  });

  test("that is replaced, in each way in which the engine says so, twice", () => {
    const { declare, hold, giveUp, leases } = program();
    for (const again of [1, 2]) {
      hold("a", "n1");
      giveUp("a", "n1");
      expect([again, leases.successor(pathOf("n1"))?.resource.name]).toEqual([again, "a"]);
      expect(declare("b", "node", { adopt: "n1" })).toBeUndefined();
      declare("b", "node", { name: "elsewhere" });
    }
    hold("c", "n2", { name: "c" });
    expect([leases.isGivenUp(pathOf("n1")), leases.isGivenUp(pathOf("n2"))]).toEqual([true, false]);
    // It asks a second time as if it were new.
    expect(declare("c", "node", { name: "c" })).toBeUndefined();
    expect(leases.isGivenUp(pathOf("n2"))).toBe(true);
  });
});

test("one object that two have, or that this run has given to another, is refused, and both are named", () => {
  const { hold, take, giveUp } = program();
  hold("a", "n1");
  const twice = /^node "one" \(n1\): take "a" or "b" out of the program: .* both of them/;
  expect(() => hold("b", "n1")).toThrow(twice);
  take("c", "n2");
  expect(() => hold("b", "n2")).toThrow(/take "c" or "b" out of the program/);
  hold("b", "n3");
  expect(() => take("c", "n3")).toThrow(/^node "one": give each .*The node n3 is "b" of this program already/);
  giveUp("b", "n3");
  take("c", "n3");
  expect(() => take("a", "n3")).toThrow(/is "c" of this program already/);
  giveUp("b", "n3");
  expect(() => take("a", "n3")).toThrow(/is "c" of this program already/);
});

test("who has an object: who took it, or has it in its state, and is not the one that asks", () => {
  const { hold, take, giveUp, holder, leases, resource } = program();
  hold("a", "n1");
  hold("b", "n2");
  giveUp("b", "n2");
  take("c", "n3");
  leases.take(undefined, definitions.node, inputsOf("node"), pathOf("n4"));
  expect(["n1", "n2", "n3", "n4"].map((id) => holder(id))).toEqual(["a", undefined, "c", undefined]);
  expect([holder("n1", "a"), holder("n1", "b"), holder("n3", "c")]).toEqual([undefined, "a", undefined]);
  leases.deleted(pathOf("n1"));
  expect([holder("n1"), holder("n3")]).toEqual([undefined, "c"]);
  leases.failed(resource("c"), "unready");
  expect(holder("n3")).toBe("c");
  leases.failed(resource("c"), "made nothing");
  expect(holder("n3")).toBeUndefined();
});

test("what could not be made, of any kind or of one", () => {
  const { declare, leases, resource } = program();
  declare("a");
  declare("b", "membership");
  expect([leases.unmade(), leases.unmade("Node")]).toEqual([undefined, undefined]);
  leases.failed(resource("b"), "unready");
  expect([leases.unmade()?.resource.name, leases.unmade("Membership")?.resource.name]).toEqual(["b", "b"]);
  expect(leases.unmade("Node")).toBeUndefined();
  leases.failed(resource("a"), "made nothing");
  expect(leases.unmade("Node")?.resource.name).toBe("a");
});
