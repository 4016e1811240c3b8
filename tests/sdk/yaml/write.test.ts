import { parse } from "yaml";
import { yamlForAll } from "../../../sdk/yaml/write";

const words = "no on y N Yes off True null Null ~ = << no-op nodes".split(" ");
const numbers = "0123 1_000 12:30 1:2:3 0o14 0x1F 0b11 1e3 1e-7 .5 .inf -.INF .NaN 2026-01-01".split(" ");
const signs = "&a *a !a %a @a é 🐟 \" ' \\ {a} [a] ${a} a,b ? --- ... \u0085 \u2028 \ufeff".split(" ");
const others = ["", "a: b", "# a", "- a", "a\nb\n", " a", "a ", "tab\there", "a: |", "a #b"];
const texts = [...words, ...numbers, ...signs, ...others];

test.each(["1.1", "1.2"] as const)("readers of version %s read the same texts, as keys and as values", (version) => {
  const value = { list: texts, ...Object.fromEntries(texts.map((text) => [text, { [text]: text }])) };
  expect(parse(yamlForAll(value), { version, merge: true })).toEqual(value);
});

test.each(["1.1", "1.2"] as const)("readers of version %s read the same numbers", (version) => {
  const value = [0, -1, 1.5, 1e21, 1e-7, -2e-9, 1.5e300, Number.MAX_SAFE_INTEGER, true, false, null];
  const text = yamlForAll(value);
  expect(parse(text, { version })).toEqual(value);
  // PyYAML takes a number without a point, but with an exponent, for text.
  expect(text).not.toMatch(/ -?\d+e/);
});

test("plain text stays plain, for people", () => {
  const value = {
    apiVersion: "pulumi.com/v1",
    kind: "Stack",
    spec: { repoDir: "networks/fleet", refresh: true, seconds: 3600 },
  };
  expect(yamlForAll(value)).toBe(
    "apiVersion: pulumi.com/v1\nkind: Stack\nspec:\n  repoDir: networks/fleet\n  refresh: true\n  seconds: 3600\n",
  );
});
