import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changedLines } from "../../tools/mutations/changes.mjs";
import { nearness } from "../../tools/mutations/near.mjs";

/** A clone with two lines on main. */
function clone() {
  const folder = mkdtempSync(join(tmpdir(), "clone-"));
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const git = (...args: string[]) =>
    execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" }).trim();
  const commit = (text: string): string => {
    writeFileSync(join(folder, "a.ts"), text);
    git("add", ".");
    git("commit", "--quiet", "--message", "m");
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet", "--initial-branch=main");
  return { folder, git, commit, first: commit("one\ntwo\n") };
}

const found = async (folder: string, since?: string) => {
  const { since: from, lines } = await changedLines(since, folder);
  return { from, lines: Object.fromEntries([...lines].map(([file, set]) => [file, [...set]])) };
};

test("a branch is compared with where it left main, with what is not yet committed", async () => {
  const { folder, git, commit, first } = clone();
  git("checkout", "--quiet", "-b", "branch");
  commit("one\ntwo, new\n");
  commit("one\ntwo, new\nthree\nfour\n");
  writeFileSync(join(folder, "b.ts"), "five");
  expect(await found(folder)).toEqual({ from: first, lines: { "a.ts": [1, 2, 3], "b.ts": [0] } });
});

test("main is compared with the commit before, and with any other that is named", async () => {
  const { folder, commit, first } = clone();
  const second = commit("zero\none\ntwo\n");
  commit("zero\ntwo\nthree\n"); // a line that is gone is no line
  expect(await found(folder)).toEqual({ from: second, lines: { "a.ts": [2] } });
  expect(await found(folder, first)).toEqual({ from: first, lines: { "a.ts": [0, 2] } });
  await expect(found(folder, "nowhere")).rejects.toThrow("git knows no commit nowhere");
});

test("the first commit has nothing to be compared with", async () => {
  expect(await found(clone().folder)).toEqual({ from: undefined, lines: {} });
});

test("a test of the same name in the same folder is nearest; one that does not reach a source is not near", () => {
  const near = nearness(["tests/cli/sweep.test.ts", "tests/sdk/yaml/data.test.ts", "tests/sdk/yaml/document.test.ts"]);
  const [first, ...rest] = near("sdk/yaml/document.ts", 9);
  expect(first).toBe("tests/sdk/yaml/document.test.ts");
  expect(rest).toContain("tests/sdk/yaml/data.test.ts");
  expect(near("sdk/yaml/document.ts", 1)).toEqual([first]);
  expect(near("service/http/turns.ts", 9)).not.toContain("tests/sdk/yaml/document.test.ts");
});

test.each([
  ["a command", "cli/sweep.ts", "tests/fleet/run.test.ts"],
  ["a command of another package", "fleet/run.ts", "tests/fleet/run.test.ts"],
  ["a script", "gitops/forge.mjs", "tests/gitops/forge.test.ts"],
])("a test that starts %s as a process is near its sources", (_, source, test) => {
  expect(nearness([test])(source, 9)).toEqual([test]);
  expect(nearness(["tests/sdk/yaml/data.test.ts"])(source, 9)).toEqual([]);
});
