import { isUnset, sameValue } from "../../../provider/core/values";

test.each([undefined, null, "", {}, [], { a: undefined }, { a: null }])("%j is not set", (value) =>
  expect(isUnset(value)).toBe(true),
);
test.each([0, false, " ", "x", { a: "" }, [undefined]])("%j is set", (value) => expect(isUnset(value)).toBe(false));

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
  [{ a: [{ b: "x " }] }, { a: [{ b: "x" }] }],
])("%j and %j are the same but for formatting", (a, b) => {
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
])("%j and %j are different", (a, b) => {
  expect(sameValue(a, b)).toBe(false);
  expect(sameValue(b, a)).toBe(false);
});
