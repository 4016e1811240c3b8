import { path, paths } from "../../../provider/api/paths";

const odd: [string, string][] = [
  ["plain-Id_1", "plain-Id_1"],
  ["a/b", "a%2Fb"],
  ["../x", "..%2Fx"],
  ["a b", "a%20b"],
  ["50%", "50%25"],
  ["%2e%2e", "%252e%252e"],
  ["a?b=c#d", "a%3Fb%3Dc%23d"],
  ["a\\b", "a%5Cb"],
  ["日本", "%E6%97%A5%E6%9C%AC"],
  ["a:b@c", "a%3Ab%40c"],
];

test.each(odd)("%j becomes %s", (value, encoded) => {
  expect(path`/consortia/${value}/nodes`).toBe(`/consortia/${encoded}/nodes`);
  expect(paths.item("/consortia", value)).toBe(`/consortia/${encoded}`);
});

test.each(["", ".", ".."])("%j would lead to another resource: refused", (value) => {
  expect(() => path`/consortia/${value}`).toThrow(/cannot be part of a path/);
});

test("numbers are written as they are", () => expect(path`/reports/${0}`).toBe("/reports/0"));
