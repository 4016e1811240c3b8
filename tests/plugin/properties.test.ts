import { fromEngine, hasUnknown, toEngine } from "../../plugin/properties";
import { secretSignature, signatureKey } from "../../provider/constants";
import { unknown } from "../../provider/core/values";
import { struct } from "../support/protocol";

/* Values in Pulumi's wire format: plain, secret, unknown, and with dependencies, as a component receives them. */

const output = (more: object) => ({ [signatureKey]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", ...more });
const secret = (more: object) => ({ [signatureKey]: secretSignature, ...more });

test.each<[string, unknown, boolean]>([
  ["text", "a", false],
  ["null", null, false],
  ["the marker of an unknown", unknown, true],
  ["one in a list in an object", { a: ["b", { c: unknown }] }, true],
  ["an object and a list without one", { a: ["b", { c: 1 }], d: null }, false],
  ["an output with a value", output({ value: "a" }), false],
  ["an output whose value is nothing", output({ value: null }), false],
  ["an output with a value that has one inside", output({ value: { a: unknown } }), true],
  ["an output without a value", output({}), true],
  ["an output without a value that is secret", output({ secret: true }), true],
  ["an output without a value beside one with it", { a: output({ value: 1 }), b: [output({})] }, true],
  ["a secret with a value", secret({ value: "a" }), false],
  ["a secret that is unknown", secret({ value: unknown }), true],
])("unknown, or with something unknown in it: %s: %j is %s", (_, value, expected) =>
  expect(hasUnknown(value)).toBe(expected),
);

test("secrets are found by their paths, once for what is inside another, and are marked again", () => {
  const wire = {
    a: secret({ value: { b: secret({ value: 1 }) } }),
    c: ["d", secret({ value: "e" })],
    f: output({ value: "g", secret: true }),
    h: output({ value: "i", secret: false }),
  };
  const { props, secrets, paths } = fromEngine(struct(wire));
  expect(props).toEqual({ a: { b: 1 }, c: ["d", "e"], f: "g", h: "i" });
  expect([secrets, paths]).toEqual([
    ["a", "c", "f"],
    [["a"], ["c", 1], ["f"]],
  ]);
  expect(toEngine(props, paths).toJavaScript()).toEqual({
    a: secret({ value: { b: 1 } }),
    c: ["d", secret({ value: "e" })],
    f: secret({ value: "g" }),
    h: "i",
  });
});
