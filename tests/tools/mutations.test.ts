import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { drawn, rules } from "../../tools/mutations/rules.mjs";

/* The rules of `npm run mutations` are those of the sources as they are; that each fails its test, only the command shows. */

const root = join(__dirname, "../..");

test.each(rules)("$rule: there is one place to break it, and a test", ({ file, find, put, tests }) => {
  expect(readFileSync(join(root, file), "utf8").split(find)).toHaveLength(2);
  expect(put).not.toBe(find);
  expect(existsSync(join(root, "tests", tests))).toBe(true);
});

test("each has a title of its own", () => {
  expect(new Set(rules.map(({ rule }) => rule)).size).toBe(rules.length);
});

test("a seed draws the same each time, another one others, and all are drawn in time", () => {
  expect(drawn(rules, 20, 7)).toEqual(drawn(rules, 20, 7));
  expect(drawn(rules, 20, 7)).toHaveLength(20);
  expect(drawn(rules, 20, 7)).not.toEqual(drawn(rules, 20, 8));
  const seen = Array.from({ length: 100 }, (_, seed) => drawn(rules, 20, seed)).flat();
  expect(new Set(seen).size).toBe(rules.length);
});
