import * as objectsOf from "../../../provider/api/generated";
import * as wire from "../../../provider/api/wire";
import { path, paths } from "../../../provider/api/paths";
import { conditionOf } from "../../../provider/api/states";

/* Answers are read tolerantly: absent, null, new or mistyped fields never break a run. */

/** One that stands for all: they are generated. */
const whole = {
  name: "a",
  description: "b",
  provider: "quorum",
  consensus_type: "raft",
  chain_id: 7,
  enable_tether: false,
  block_period: 5,
  state: "setup",
  _revision: "3",
  created_at: "2026-01-01T00:00:00.000Z",
};

describe("an object", () => {
  const read = (value: object): Record<string, unknown> => objectsOf.EnvironmentObject.parse(value);

  test("everything, with _id or id", () => {
    expect(read({ _id: "x1", ...whole })).toEqual({ id: "x1", ...whole });
    expect(read({ id: "x1", ...whole })).toEqual({ id: "x1", ...whole });
    expect(read({ _id: "x1", id: "other", ...whole }).id).toBe("x1");
  });

  test("ids that are numbers are text", () => {
    expect(read({ _id: 7, membership_id: 8, x_id: 9 })).toMatchObject({ id: "7", membership_id: "8", x_id: "9" });
    expect(wire.Anything.parse({ id: 7, zone_id: 8 })).toEqual({ id: "7", zone_id: "8" });
  });

  test("nothing but an id", () => expect(read({ _id: "x1" })).toEqual({ id: "x1" }));

  test("without a valid id, it is not an object", () => {
    for (const value of [{}, { _id: "" }, { _id: null }, { _id: 7.5 }, { _id: 2 ** 53 }, null, "x", [], 7]) {
      expect(objectsOf.EnvironmentObject.safeParse(value).success).toBe(false);
    }
  });

  test.each(Object.keys(whole))("%s: null or of another type counts as absent", (field) => {
    const without = { id: "x1", ...whole, [field]: undefined };
    for (const odd of [{}, [], { a: 1 }, ["a"]]) expect(read({ _id: "x1", ...whole, [field]: odd })).toEqual(without);
    const rest = Object.fromEntries(Object.entries(without).filter(([key]) => key !== field));
    const emptied = field === "description" ? { description: "" } : {};
    expect(read({ _id: "x1", ...whole, [field]: null })).toEqual({ ...rest, ...emptied });
  });
});

describe("numbers", () => {
  test.each([
    [7, 7],
    ["7", 7],
    [0, 0],
    [true, undefined],
    [1.5, undefined],
    ["many", undefined],
    [[7], undefined],
  ])("chain_id %j is %s", (chain_id, value) => {
    expect(objectsOf.EnvironmentObject.parse({ _id: "e", chain_id }).chain_id).toBe(value);
  });

  test.each([
    ["3", "3"],
    [3, "3"],
    [true, undefined],
  ])("_revision %j is %s", (_revision, value) => {
    expect(objectsOf.ConsortiumObject.parse({ _id: "c", _revision })._revision).toBe(value);
  });
});

test("the answer to a new credential needs a password, and nothing else does", () => {
  expect(objectsOf.CreatedAppCredObject.safeParse({ id: "u1" }).success).toBe(false);
  expect(objectsOf.CreatedAppCredObject.safeParse({ id: "u1", password: "" }).success).toBe(false);
  expect(objectsOf.CreatedAppCredObject.parse({ id: "u1", password: "p" })).toEqual({ id: "u1", password: "p" });
});

const odd: [string, string][] = [
  ["a/b", "a%2Fb"],
  ["../x", "..%2Fx"],
  ["%2e%2e", "%252e%252e"],
  ["a?b=c#d", "a%3Fb%3Dc%23d"],
  ["日本", "%E6%97%A5%E6%9C%AC"],
];

test.each(odd)("%j becomes %s", (value, encoded) => {
  expect(path`/consortia/${value}/nodes`).toBe(`/consortia/${encoded}/nodes`);
  expect(paths.item("/consortia", value)).toBe(`/consortia/${encoded}`);
});

test.each(["", ".", ".."])("%j would lead to another resource: refused", (value) => {
  expect(() => path`/consortia/${value}`).toThrow(/cannot be part of a path/);
});

/* The meaning of an object's state, also for check and map (tests/observe). */

test.each([
  ["started", "ready"],
  ["MINING", "ready"],
  ["not_ready", "unknown"],
  ["live", "ready"],
  [undefined, "ready"],
  ["initializing", "pending"],
  ["failed", "failed"],
  ["create_failed", "failed"],
  ["deleteFailed", "failed"],
  ["crashed", "failed"],
  ["stopped with error", "failed"],
  ["stopped", "stopped"],
  ["Deleting", "going"],
  ["delete_pending", "going"],
  ["scheduled for removal", "going"],
  ["delete_protected", "unknown"],
  ["upgrade", "pending"],
  ["configuring", "pending"],
  ["in progress", "pending"],
  ["deployment_pending", "pending"],
  ["setup", "ready"], // of every consortium
  ["Stopping", "stopped"],
  ["DELETED", "gone"],
  ["terminated", "gone"],
  ["DELETE_COMPLETE", "gone"],
  ["undeleted", "unknown"],
  ["deleted_soon", "going"],
  ["pending_delete", "going"],
  [["deleted"], "ready"],
])("%s: %s", (state, condition) => {
  expect(conditionOf(state)).toBe(condition);
});
