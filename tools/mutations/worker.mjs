// @ts-check
/** Runs one test file after the other with Jest, in the copy of the repository: each time in an environment of its own, with one mutant. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { runCLI } from "jest";
import jest from "../../jest.config.mjs";
import { run } from "./environment.mjs";

/**
 * @typedef {object} Job
 * @property {string} test a file
 * @property {string} [active] a mutant's id
 * @property {string[]} [only] names of tests in the file
 * @property {number} [testTimeout]
 */
/** @typedef {{ static: Record<string, number>, perTest: Record<string, Record<string, number>> }} Coverage */
/** @typedef {{ failed: string | undefined, message: string, tests: Record<string, number>, coverage: Coverage | undefined, rss: number }} Answer */

/** What a mutant's loop without end passes at last. */
const hitLimit = 10_000_000;

const { transform, transformIgnorePatterns, moduleNameMapper, modulePathIgnorePatterns } = jest.projects[0] ?? {};
const common = { transform, transformIgnorePatterns, moduleNameMapper, modulePathIgnorePatterns };

/** @param {Job} job @returns {Promise<Answer>} */
async function answer({ test, active, only, testTimeout = 300_000 }) {
  const { env } = process; // for the processes that tests start
  if (active === undefined) delete env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE];
  else env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE] = active;
  const mutantCoverage = { static: {}, perTest: {} };
  Object.assign(run, { context: { activeMutant: active, hitCount: 0, hitLimit, mutantCoverage }, only, tests: {} });
  run.failed = undefined;
  const processes = active === undefined ? coverageOfProcesses() : undefined;
  const config = {
    ...common,
    rootDir: process.cwd(),
    testEnvironment: join(import.meta.dirname, "environment.mjs"),
    testMatch: [`<rootDir>/${test}`],
    testTimeout,
  };
  const { results } = await runCLI(
    /** @type {any} */ ({ ci: true, silent: true, runInBand: true, reporters: [], config: JSON.stringify(config) }),
    [process.cwd()],
  );
  Object.assign(mutantCoverage.static, processes?.());
  return {
    failed: results.success ? undefined : (run.failed ?? ""), // a file that cannot even be loaded has no tests
    message: results.testResults[0]?.failureMessage ?? "",
    tests: run.tests,
    coverage: processes && mutantCoverage,
    rss: process.memoryUsage().rss,
  };
}

/** Which mutants the processes execute that are started from now on, once all have ended. @returns {() => Record<string, number>} */
function coverageOfProcesses() {
  const folder = mkdtempSync(join(tmpdir(), "coverage-"));
  const { NODE_OPTIONS: before } = process.env;
  const preload = `--require=${join(process.cwd(), "tools", "mutations", "coverage.cjs")}`;
  Object.assign(process.env, { MUTATIONS_COVERAGE: folder, NODE_OPTIONS: [before, preload].filter(Boolean).join(" ") });
  return () => {
    delete process.env.MUTATIONS_COVERAGE;
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
    return Object.assign(
      {},
      ...readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8"))),
    );
  };
}

process.once("disconnect", () => process.exit(1));
process.on("message", (/** @type {Job} */ job) => void answer(job).then((said) => process.send?.(said)));
