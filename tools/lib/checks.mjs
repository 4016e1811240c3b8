// @ts-check
/** The steps of `npm test`, and how they are counted. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "./processes.mjs";
import { duration, say, Trouble } from "./say.mjs";

/** @typedef {{ passed: number, failed: number }} Tally */
/** @typedef {{ name: string, work: () => Promise<unknown> }} Check its work throws a Trouble when it fails */
/** @typedef {{ name: string, startTime: number, endTime: number }} TestFile its path; ms since 1970 */
/**
 * @typedef {object} JestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numRuntimeErrorTestSuites
 * @property {TestFile[]} testResults
 */

/**
 * Each step counts as one, each test as one. Whatever went wrong with jest itself counts as a failure too.
 * @param {boolean[]} steps
 * @param {{ code: number, report: JestReport | undefined }} [jest] undefined: not reached
 * @returns {Tally}
 */
export function tally(steps, jest) {
  const failedSteps = steps.filter((ok) => !ok).length;
  const tests = jest?.report?.numPassedTests ?? 0;
  const failedTests = (jest?.report?.numFailedTests ?? 0) + (jest?.report?.numRuntimeErrorTestSuites ?? 0);
  const ranNothing = tests + failedTests === 0;
  const jestFailed = jest !== undefined && failedTests === 0 && (jest.code !== 0 || ranNothing);
  const passed = steps.length - failedSteps + tests;
  const failed = failedSteps + failedTests + Number(jestFailed);
  return { passed, failed: jest === undefined ? Math.max(failed, 1) : failed };
}

/** @param {string} file @returns {JestReport | undefined} */
export function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/**
 * The slowest test files, one a line.
 * @param {JestReport} report
 * @param {string} root
 */
export function slowest({ testResults }, root, count = 10) {
  const took = (/** @type {TestFile} */ { startTime, endTime }) => endTime - startTime;
  const files = testResults.toSorted((a, b) => took(b) - took(a)).slice(0, count);
  return files.map((file) => `${duration(took(file)).padStart(12)}  ${relative(root, file.name)}`);
}

/** What the registry did not have when the lock file was made; CONTRIBUTING.md says how npm verifies it then. */
const unpublished = /^node_modules\/@foundry-rs\/anvil-(darwin-(amd64|arm64)|linux-arm64|win32-amd64)$/;

/**
 * Packages that npm would install whatever their content is.
 * @param {import("./prepare.mjs").Lock} lock
 * @returns {string[]} their places
 */
export function withoutIntegrity({ packages }) {
  const anvil = packages["node_modules/@foundry-rs/anvil"]?.version;
  return Object.entries(packages)
    .filter(([place, { integrity, link }]) => place.includes("node_modules/") && !link && !integrity)
    .filter(([place, { version }]) => !(unpublished.test(place) && version === anvil))
    .map(([place]) => place);
}

/**
 * Everything that needs no test runner.
 * @param {string} root
 * @returns {Check[]}
 */
export function staticChecks(root) {
  const bin = (/** @type {string[]} */ ...path) => join(root, "node_modules", ...path);
  const tsc = bin("typescript", "bin", "tsc");
  const tool = (/** @type {string} */ name, /** @type {string} */ file, /** @type {string[]} */ ...args) => ({
    name,
    work: async () => {
      const env = { ...process.env, NO_COLOR: "1" };
      const { code, output } = await run(process.execPath, [file, ...args], { cwd: root, env });
      if (code !== 0) throw new Trouble(output.trim());
    },
  });
  const typed = ["tests", "bench", "console/page", "tools", "examples"];
  const sources = ["bench", "cli", "console", "observe", "provider", "sdk", "service", "tools"];
  const generate = join(root, "tools", "generate.mjs");
  const lockFile = async () => {
    const found = withoutIntegrity(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
    if (found.length > 0) throw new Trouble(`package-lock.json has no integrity for ${found.join(", ")}`);
  };
  return [
    { name: "lock file", work: lockFile },
    tool("eslint", bin("eslint", "bin", "eslint.js"), "."),
    tool("import circles", bin("dependency-cruiser", "bin", "dependency-cruise.mjs"), ...sources),
    ...typed.map((folder) => tool(`types of ${folder}`, tsc, "-p", folder)),
    tool("prettier", bin("prettier", "bin", "prettier.cjs"), "--check", "--log-level", "warn", "."),
    ...(existsSync(generate) ? [tool("generated files", generate, "--check")] : []),
  ];
}

/**
 * Runs the checks, some at a time, and tells of each as it ends.
 * @param {Check[]} checks
 * @param {number} atOnce
 * @returns {Promise<boolean[]>} whether each passed
 */
export async function runChecks(checks, atOnce) {
  /** @type {boolean[]} */
  const results = [];
  const queue = [...checks.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await runCheck(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** @param {Check} check @returns {Promise<boolean>} */
async function runCheck({ name, work }) {
  const started = Date.now();
  const told = (/** @type {string} */ result) => say(`${result.padEnd(6)} ${name} (${duration(Date.now() - started)})`);
  try {
    await work();
    told("ok");
    return true;
  } catch (error) {
    told("FAILED");
    say(error instanceof Trouble ? error.message : String(error instanceof Error ? error.stack : error));
    return false;
  }
}
