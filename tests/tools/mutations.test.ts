import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changedLines } from "../../tools/mutations/changes.mjs";
import { judge } from "../../tools/mutations/judge.mjs";
import type { Drawable } from "../../tools/mutations/mutants.mjs";
import { nearness } from "../../tools/mutations/near.mjs";
import { recordsIn } from "../../tools/mutations/records.mjs";
import type { Answer, Job } from "../../tools/mutations/worker.mjs";

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

const file = "tests/tools/mutations.test.ts";
const other = "tests/tools/prepare.test.ts";

/** Mutants "1" and so on of one source. */
const drawable = (id: string): Drawable => {
  const mutant = { id, fileName: "cli/sweep.ts", mutatorName: "M", replacement: id };
  const start = { line: 0, column: 0 };
  return {
    key: `cli/sweep.ts\0${id}`,
    place: { file: "cli/sweep.ts", mutatorName: "M", replacement: id, start: [0, 0] },
    text: "",
    mutant: { ...mutant, location: { start, end: start } },
  };
};

type Outcome = Partial<Answer> | "late" | "ended";

/** Judges by a worker with these answers, and says what it was asked. */
async function judged(ids: string[], answer: (job: Job) => Outcome, home = mkdtempSync(join(tmpdir(), "records-"))) {
  const asked: string[] = [];
  const ask = (job: Job): Promise<Answer | "late" | "ended"> => {
    asked.push([job.test === file ? "file" : "other", job.active ?? "-", ...(job.only ?? [])].join(" "));
    const said = answer(job);
    const none = { failed: undefined, message: "", tests: {}, coverage: { static: {}, perTest: {} }, rss: 0 };
    return Promise.resolve(typeof said === "string" ? said : { ...none, ...said });
  };
  const drawn = ids.map(drawable);
  const found = await judge(drawn, {
    nearest: () => [file, other],
    all: drawn,
    workers: [{ ask, stop: () => undefined }],
    records: recordsIn(home),
    until: Infinity,
    force: false,
  });
  return { home, asked, found: found.map(({ status, by }) => [status, by].filter(Boolean).join(" by ")) };
}

/** Two tests: a executes mutants 1 and 2, b executes 2; 3 is executed while the file loads. */
const plain = (ms: number): Outcome => ({
  tests: { a: ms, b: ms },
  coverage: { static: { 3: 1 }, perTest: { a: { 1: 1, 2: 1 }, b: { 2: 1 } } },
});

test("a file runs once without a mutant, then for each mutant it executes; a later run knows all of it", async () => {
  const answer = ({ test, active }: Job): Outcome =>
    test !== file ? {} : active === undefined ? plain(1) : { failed: active === "2" ? "b" : undefined };
  const { asked, found, home } = await judged(["1", "2", "4"], answer);
  expect(found).toEqual(["Survived", `Killed by ${file}`, "NoCoverage"]);
  expect([...asked].sort()).toEqual(["file -", "file 1", "file 2", "other -"]);
  expect(await judged(["1", "2", "4"], answer, home)).toEqual({ home, found, asked: [] });
});

test("of a long file run the tests that execute a mutant, and all if it is executed outside of tests", async () => {
  const { asked } = await judged(["1", "3"], ({ test, active }) =>
    test === file && active === undefined ? plain(1_000) : {},
  );
  expect([...asked].sort()).toEqual(["file -", "file 1 a", "file 3", "other -"]);
});

test("a test that fails alone without a mutant, too, notices nothing: then the whole file runs", async () => {
  const needy = ({ test, active, only }: Job): Outcome =>
    test !== file ? {} : only ? { failed: "a" } : active === undefined ? plain(1_000) : {};
  const { asked, found } = await judged(["1"], needy);
  expect(found).toEqual(["Survived"]);
  expect(asked.filter((one) => one.startsWith("file"))).toEqual(["file -", "file 1 a", "file - a", "file 1"]);
  const sound = await judged(["1"], (job) => (job.active === undefined && job.only ? {} : needy(job)));
  expect(sound.found).toEqual([`Killed by ${file}`]);
});

test("a mutant that hangs is noticed, and so is one that ends the worker twice", async () => {
  let ends = 1;
  const answer = ({ test, active }: Job): Outcome => {
    if (test !== file) return {};
    if (active === undefined) return plain(1);
    if (active === "1") return "late";
    return active === "2" || (ends -= 1) >= 0 ? "ended" : {};
  };
  const { found } = await judged(["1", "2", "3"], answer);
  expect(found).toEqual([`Timeout by ${file}`, `Killed by ${file}`, "Survived"]);
});

test("a file that fails twice without a mutant is left out", async () => {
  const { asked, found } = await judged(["1"], ({ test }) => (test === file ? { failed: "a" } : {}));
  expect(found).toEqual(["NoCoverage"]);
  expect(asked.filter((one) => one.startsWith("file"))).toEqual(["file -", "file -"]);
});
