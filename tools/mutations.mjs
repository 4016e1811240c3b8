// @ts-check
/**
 * npm run mutations [-- --all | --seed N | WORDS OF A RULE]: breaks rules, one at a time, in a copy of the repository, and runs the
 * test file of each. Without an option it draws twenty; the seed that it prints draws the same again. If no test fails, the rule has
 * lost its test: exit code 1. About five minutes; with --all, a quarter of an hour.
 */
import "./lib/node-version.mjs";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { run, tidying } from "./lib/processes.mjs";
import { duration, runMain, log, UserError } from "./lib/terminal.mjs";
import { drawn, rules } from "./mutations/rules.mjs";

/** How many are drawn. */
const usual = 20;

/** @typedef {{ outcome: "passes" | "does not load" | "fails", failed: string[] }} Outcome `failed`: titles */

/** Runs one test file. @param {string} copy @param {string} tests @returns {Promise<Outcome>} */
async function outcomeOf(copy, tests) {
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const args = [
    jest,
    join("tests", tests),
    "--selectProjects",
    "unit",
    "integration",
    "--ci",
    "--maxWorkers",
    "1",
    "--json",
  ];
  const { code, stdout } = await run(process.execPath, args, { cwd: copy });
  if (code === 0) return { outcome: "passes", failed: [] };
  /** @type {{ testResults: { assertionResults: { status: string, fullName: string }[] }[] }} */
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.flatMap(({ status, fullName }) => (status === "failed" ? [fullName] : []));
  return failed.length > 0 ? { outcome: "fails", failed } : { outcome: "does not load", failed: [] };
}

/**
 * Breaks the rules of one test file, one after the other. Returns how many of them make it fail.
 * @param {string} copy @param {string} tests @param {Mutation[]} broken
 */
async function caughtBy(copy, tests, broken) {
  const before = await outcomeOf(copy, tests);
  if (before.outcome === "does not load") {
    log(`FAILED tests/${tests} does not load`);
    return 0;
  }
  // A test that needs a build of these sources fails in a copy: it proves nothing, and the others do.
  for (const title of before.failed) log(`       not counted, because it fails with no rule broken: ${title}`);
  let caught = 0;
  for (const { rule, file, find, put } of broken) {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replace(find, () => put),
    );
    const after = await outcomeOf(copy, tests);
    writeFileSync(path, text);
    const failed = after.failed.filter((title) => !before.failed.includes(title));
    const isCaught = failed.length > 0;
    log(
      `${isCaught ? "ok    " : "FAILED"} ${rule}: broken in ${file}, tests/${tests} ${isCaught ? "fails" : "passes"}`,
    );
    if (isCaught) log(`         ${failed[0]}${failed.length > 1 ? `, and ${failed.length - 1} more` : ""}`);
    caught += Number(isCaught);
  }
  return caught;
}

/** The rules to break. @returns {Mutation[]} */
function chosenRules() {
  const options = /** @type {const} */ ({ all: { type: "boolean" }, seed: { type: "string" } });
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const words = positionals.join(" ");
  const named = rules.filter(({ rule }) => rule.includes(words));
  if (named.length === 0) throw new UserError(`There is no rule with "${words}".`);
  if (values.all || words !== "") return named;
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new UserError(`--seed must be a number, not "${values.seed}".`);
  log(
    `${usual} of ${rules.length} rules, drawn by the seed ${seed}: --seed ${seed} draws them again, --all takes all.`,
  );
  return drawn(rules, usual, seed);
}

/** Breaks rules in a copy of the repository. Returns how many of them make a test fail. @param {string} copy @param {Mutation[]} chosen */
async function caughtIn(copy, chosen) {
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of [...stdout.trim().split("\n"), "dist"])
    cpSync(join(root, file), join(copy, file), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  let caught = 0;
  for (const tests of new Set(chosen.map((one) => one.tests)))
    caught += await caughtBy(
      copy,
      tests,
      chosen.filter((one) => one.tests === tests),
    );
  return caught;
}

await runMain("npm run mutations", async () => {
  const chosen = chosenRules();
  await installPackages();
  await build();
  const startedAt = Date.now();
  const copy = mkdtempSync(join(tmpdir(), "pulumi-consortium-mutations-"));
  const tidy = () => rmSync(copy, { recursive: true, force: true });
  const caught = await tidying(() => caughtIn(copy, chosen), tidy).finally(tidy);
  log(`${caught} of ${chosen.length} broken rules make a test fail (${duration(Date.now() - startedAt)}).`);
  return caught < chosen.length ? 1 : 0;
});

/** @typedef {import("./mutations/rules.mjs").Mutation} Mutation */
