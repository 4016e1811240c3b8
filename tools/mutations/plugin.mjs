// @ts-check
/**
 * Stryker's Jest runner, one test file after the other. By itself it loads all files that a source may reach (for the core: nearly all)
 * for each mutant, to run a few tests in them. This one notes once which files execute which mutants, and stops at the first that fails.
 */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { join, relative } from "node:path";
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { CheckStatus } from "@stryker-mutator/api/check";
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";
import { DryRunStatus, MutantRunStatus, TestStatus } from "@stryker-mutator/api/test-runner";
import { strykerPlugins as ofJest } from "@stryker-mutator/jest-runner";
import { root } from "../lib/prepare.mjs";
import { log } from "../lib/terminal.mjs";

/** @typedef {import("@stryker-mutator/api/test-runner").TestRunner} TestRunner */
/** @typedef {import("@stryker-mutator/api/core").StrykerOptions} StrykerOptions */
/** @typedef {{ file: string, mutatorName: string, replacement: string, start: [number, number] }} Place of a mutant: line and column from 0 */
/**
 * @typedef {object} Choice the subject of a run
 * @property {Place[]} drawn
 * @property {number} [until] when the time is up
 * @property {boolean} lazily without a look at all tests first: for a few mutants, that would take longest
 * @property {Record<string, string[]>} near for each source, the tests that may notice it, nearest first
 */

/** @param {StrykerOptions} options @returns {Choice} */
const choiceOf = (options) => /** @type {{ choice: Choice }} */ (/** @type {unknown} */ (options)).choice;

/** @param {import("@stryker-mutator/api/core").Mutant} mutant @returns {Place} */
export const placeOf = ({ fileName, mutatorName, replacement, location: { start } }) => ({
  file: relative(root, fileName),
  mutatorName,
  replacement,
  start: [start.line, start.column],
});

/** Results count from 1. @param {import("@stryker-mutator/api/core").MutantResult} result */
export const placeOfResult = ({ location: { start, end }, ...rest }) =>
  placeOf({ ...rest, location: { start: { line: start.line - 1, column: start.column - 1 }, end } });

/** Why a mutant that a range has besides the drawn one does not run. */
export const notDrawn = "not drawn";

/**
 * @param {StrykerOptions} options
 * @returns {import("@stryker-mutator/api/check").Checker}
 */
function drawn(options) {
  const { drawn } = choiceOf(options);
  const isDrawn = (/** @type {Place} */ place) => drawn.some((one) => isDeepStrictEqual(one, place));
  return {
    init: async () => undefined,
    check: async (mutants) =>
      Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          isDrawn(placeOf(mutant))
            ? { status: CheckStatus.Passed }
            : { status: CheckStatus.CompileError, reason: notDrawn },
        ]),
      ),
  };
}
drawn.inject = tokens(commonTokens.options);

/** How long a test may take: a mutant that makes it wait forever is found by then. */
const testTimeout = 60_000;

/**
 * @param {import("typed-inject").Injector<import("@stryker-mutator/api/plugin").PluginContext>} injector
 * @param {StrykerOptions} options
 * @param {import("@stryker-mutator/api/logging").Logger} logger
 * @returns {TestRunner}
 */
function fileByFile(injector, options, logger) {
  const { near, until = Infinity, lazily } = choiceOf(options);
  process.once("disconnect", () => process.exit(1)); // the run has ended, and so do its tests
  const jest = /** @type {any} */ (options).jest;

  /** Jest, for one file of tests. @param {string} test @returns {Promise<TestRunner>} */
  async function jestFor(test) {
    const config = { ...jest.config, testTimeout, testMatch: [`<rootDir>/${test}`] };
    const inner = injector
      .provideValue(commonTokens.options, { ...options, jest: { ...jest, config } })
      .injectFunction(/** @type {any} */ (ofJest[0]).factory);
    await inner.init();
    return inner;
  }

  /** @type {Map<string, boolean>} */
  const passing = new Map();
  /** Whether a test passes without a mutant. @param {string} test @param {import("@stryker-mutator/api/test-runner").RunOptions} run */
  async function passes(test, run) {
    const known =
      passing.get(test) ??
      failureOf(await (await jestFor(test)).dryRun({ ...run, coverageAnalysis: "off" })) === undefined;
    passing.set(test, known);
    return known;
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async dryRun(run) {
      const none = { id: "", name: "", timeSpentMs: 0, status: /** @type {const} */ (TestStatus.Success) };
      if (lazily) return { status: DryRunStatus.Complete, tests: [none] };
      /** @type {import("@stryker-mutator/api/core").MutantCoverage} */
      const mutantCoverage = { static: {}, perTest: {} };
      const tests = [];
      for (const test of new Set(Object.values(near).flat())) {
        const started = Date.now();
        const inner = await jestFor(test);
        const processes = coverageOfProcesses();
        const result = await inner.dryRun({ ...run, coverageAnalysis: "all" });
        const failure = failureOf(result);
        if (failure !== undefined) logger.warn("Left out, because it fails without a mutant: %s\n%s", test, failure);
        else if (result.status === DryRunStatus.Complete) {
          const counts = result.mutantCoverage?.static ?? {};
          mutantCoverage.perTest[test] = { ...counts, ...processes() };
          const fileName = join(process.cwd(), test);
          const timeSpentMs = Date.now() - started;
          tests.push({
            id: test,
            name: test,
            fileName,
            timeSpentMs,
            status: /** @type {const} */ (TestStatus.Success),
          });
        }
        if (result.status === DryRunStatus.Complete)
          for (const id in result.mutantCoverage?.static) delete result.mutantCoverage.static[id]; // one object for all runs
      }
      return { status: DryRunStatus.Complete, tests, mutantCoverage };
    },

    async mutantRun({ testFilter, ...run }) {
      const all = near[placeOf(run.activeMutant).file] ?? [];
      const tests = testFilter ? all.filter((test) => testFilter.includes(test)) : all;
      for (const [at, test] of tests.entries()) {
        if (Date.now() > until) return { status: MutantRunStatus.Error, errorMessage: "no time" };
        process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE] = run.activeMutant.id; // for the processes that it starts
        const result = await (await jestFor(test)).mutantRun(run).finally(nothingActive);
        if (result.status === MutantRunStatus.Timeout) return result;
        if (result.status === MutantRunStatus.Survived || (lazily && !(await passes(test, run)))) continue;
        // A mutant with which a file cannot even be loaded is noticed, too.
        const failureMessage = "errorMessage" in result ? result.errorMessage : result.failureMessage;
        return { status: MutantRunStatus.Killed, killedBy: lazily ? [""] : [test], failureMessage, nrOfTests: at + 1 };
      }
      return { status: MutantRunStatus.Survived, nrOfTests: tests.length };
    },
  };
}

const nothingActive = () => delete process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE];

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
fileByFile.inject = tokens(commonTokens.injector, commonTokens.options, commonTokens.logger);

/** @param {import("@stryker-mutator/api/test-runner").DryRunResult} result */
function failureOf(result) {
  if (result.status === DryRunStatus.Error) return result.errorMessage;
  if (result.status === DryRunStatus.Timeout) return result.reason ?? "timeout";
  const failed = result.tests.find(({ status }) => status === TestStatus.Failed);
  return failed && "failureMessage" in failed ? failed.failureMessage : undefined;
}

/** Names each survivor at once: a run takes its time. @param {StrykerOptions} options @returns {import("@stryker-mutator/api/report").Reporter} */
function survivors(options) {
  const { drawn } = choiceOf(options);
  let seen = 0;
  return {
    onDryRunCompleted: ({ result }) => log(`${result.tests.length} test files pass without a mutant`),
    onMutantTested: (result) => {
      const place = placeOfResult(result);
      if (!drawn.some((one) => isDeepStrictEqual(one, place))) return; // of an earlier run
      seen += 1;
      if (result.status !== "Survived" && result.status !== "NoCoverage") return;
      const [line, column] = place.start;
      const { file, mutatorName, replacement } = place;
      log(`${seen} of ${drawn.length}: ${file}:${line + 1}:${column + 1} ${mutatorName} → ${replacement.slice(0, 60)}`);
    },
  };
}
survivors.inject = tokens(commonTokens.options);

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.Reporter, "survivors", survivors),
  declareFactoryPlugin(PluginKind.TestRunner, "files", fileByFile),
  declareFactoryPlugin(PluginKind.Checker, "drawn", drawn),
];
