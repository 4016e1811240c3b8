import {
  isUnknown,
  isUnset,
  sameAsked,
  sameName,
  sameValue,
  secretPaths,
  timeOf,
  unknown,
} from "../../../provider/core/values";
import { isPlainName } from "../../../sdk/policy/live";
import { at, groupBy } from "../../../provider/plain";

test.each([undefined, null, "", {}, [], { a: undefined }, { a: null }])("%j is not set", (value) =>
  expect(isUnset(value)).toBe(true),
);
test.each([0, false, " ", "x", { a: "" }, [undefined], { a: undefined, b: 1 }, { a: 1, b: null }])(
  "%j is set",
  (value) => expect(isUnset(value)).toBe(false),
);

test.each<[unknown, unknown]>([
  [undefined, ""],
  [null, {}],
  ["a", " a\n"],
  ["\u00e9", "e\u0301"],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [{ a: 1, b: null }, { a: 1 }],
  [["a "], ["a"]],
  [[null], [null]],
  [{ a: [{ b: "x " }] }, { a: [{ b: "x" }] }],
])("%j and %j are the same except for formatting", (a, b) => {
  expect(sameValue(a, b)).toBe(true);
  expect(sameValue(b, a)).toBe(true);
});

test.each<[unknown, unknown]>([
  ["a", "A"],
  ["a b", "a  b"],
  [0, undefined],
  [false, undefined],
  [1, "1"],
  [true, "true"],
  [
    ["a", "b"],
    ["b", "a"],
  ],
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { a: 1, b: 0 }],
  ["a", ["a"]],
  [["a"], { 0: "a" }],
  [[], ["a"]],
  [{ a: null }, { a: 1 }],
  [{ a: 1, b: null }, { a: null }],
])("%j and %j are different", (a, b) => {
  expect(sameValue(a, b)).toBe(false);
  expect(sameValue(b, a)).toBe(false);
});

test.each<[unknown, unknown, boolean]>([
  ["a", "a ", true],
  [1, 1, true],
  [{ a: "x" }, { a: "x " }, false],
  [{ a: "x" }, { a: "x", b: undefined }, true],
  [{ b: 2, a: 1 }, { a: 1, b: 2 }, true],
  [["x"], ["x "], false],
  [{}, [], true],
  [null, { a: undefined }, true],
  [{}, { a: 1 }, false],
  ["", {}, true],
  ["a", { a: 1 }, false],
])("%j and %j ask for the same: %j", (a, b, same) => {
  expect(sameAsked(a, b)).toBe(same);
  expect(sameAsked(b, a)).toBe(same);
});

test.each<[unknown, unknown, boolean]>([
  ["Trade Finance", "trade-finance", true],
  ["Trade Finance", "trade-finances", false],
  ["ﬁnance", "finance", true],
  ["--", "__", false],
  ["a", undefined, false],
  [undefined, "", true],
  [1, "1", false],
])("%j is a service's form of the name %j: %j", (a, b, same) => {
  expect(sameName(a, b)).toBe(same);
  expect(sameName(b, a)).toBe(same);
});

test.each<[unknown, boolean]>([
  ...["a", "trade-1", "1"].map((name): [string, boolean] => [name, true]),
  ...["", "A", "a-", "-a", "a--b", "a b", "a\n"].map((name): [string, boolean] => [name, false]),
])("every service writes %j like this: %j", (name, plain) => expect(isPlainName(name)).toBe(plain));

test.each<[unknown, boolean]>([
  [unknown, true],
  ["1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", true],
  [{ a: 1, b: [unknown] }, true],
  [{ a: 1 }, false],
  [[], false],
  [null, false],
  [`${unknown as string} `, false],
])("%j holds an unknown value: %j", (value, holds) => expect(isUnknown(value)).toBe(holds));

test.each<[unknown, number | undefined]>([
  ["1970-01-01T00:00:01Z", 1_000],
  ["1970-01-01T00:00:01z", 1_000],
  ["1970-01-01T00:00:01", 1_000],
  [" 1970-01-01T00:00:01 ", 1_000],
  ["1970-01-01T01:00:01+01:00", 1_000],
  ["1970-01-01T01:00:01+0100", 1_000],
  ["1969-12-31T23:00:01-01:00", 1_000],
  ["soon", undefined],
  ["", undefined],
  [1_000, undefined],
])("the time of %j is %j", (text, ms) => expect(timeOf(text)).toBe(ms));

test("paths of secrets: those that are paths", () => {
  expect(secretPaths({ __secrets: [["a", 0], "b", ["c"]] })).toEqual([["a", 0], ["c"]]);
  expect(secretPaths({ __secrets: "a" })).toEqual([]);
  expect(secretPaths({})).toEqual([]);
});

test("a value at a path, also where there is nothing on the way", () => {
  expect(at({ a: [{ b: 0 }] }, ["a", 0, "b"])).toBe(0);
  for (const value of [{ a: null }, { a: undefined }, null]) expect(at(value, ["a", 0, "b"])).toBeUndefined();
});

test("groups are in the order of their first items", () =>
  expect([...groupBy([3, 2, 1, 4], (item) => item % 2)]).toEqual([
    [1, [3, 1]],
    [0, [2, 4]],
  ]));
