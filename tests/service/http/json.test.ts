import fc from "fast-check";
import { outlineOf, parseJson, TooMuch, valuesIn } from "../../../service/json";
import { random } from "../../support/random";

const json = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2));

test("JSON within the limits is parsed as usual, whatever its strings contain", () => {
  fc.assert(
    fc.property(json, ([value, indent]) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    random(300),
  );
  expect(() => parseJson('{"a":"\\\\\\"[[,')).toThrow(SyntaxError);
});

test("JSON has at most 64 levels and 50,000 values; brackets in strings do not count", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  parseJson(nested(64));
  expect(() => parseJson(nested(65))).toThrow("too many levels");
  const wide = (values: number) => `[${"0,".repeat(values - 1)}0]`;
  parseJson(wide(49_999));
  for (const text of [wide(50_000), `[${"{},".repeat(25_000)}0]`, `{${'"a":1,'.repeat(50_000)}"b":2}`])
    expect(() => parseJson(text)).toThrow(TooMuch);
  for (const within of ["[".repeat(99), '\\"['.repeat(99), ",".repeat(20_000), "\\\\"])
    expect(parseJson(`{"a":"${within}"}`)).toEqual(JSON.parse(`{"a":"${within}"}`));
});

test("an object's outline has its top-level members, whatever they contain", () => {
  fc.assert(
    fc.property(json, ([value, indent]) => {
      const object = { first: value, "[": 1, last: '"{' };
      const inner = typeof value === "object" ? null : (JSON.parse(JSON.stringify(value)) as unknown);
      expect(outlineOf(JSON.stringify(object, null, indent))).toEqual({ ...object, first: inner });
      if (inner === null)
        expect(valuesIn(JSON.stringify(value))).toBeGreaterThanOrEqual(Object.keys(value ?? {}).length);
    }),
    random(300),
  );
  expect(outlineOf(`{"id":1,"params":${"[".repeat(99_999)}`)).toBeUndefined();
  expect(outlineOf(`{${'"a":1,'.repeat(50_000)}"id":2}`)).toBeUndefined();
});
