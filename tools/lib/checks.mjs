// @ts-check
/** The steps of `npm test` and `npm run lint`, and their count. */
import { duration, log, UserError } from "./terminal.mjs";

/** @typedef {{ passed: number, failed: number }} Tally */
/** @typedef {{ name: string, work: () => Promise<unknown> }} Check its work throws a UserError when it fails */
/** @typedef {{ numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number }} JestReport */

/**
 * Each step and each test counts as one. If Jest itself fails, that counts as a failure, too.
 * @param {boolean[]} steps
 * @param {{ code: number, report: JestReport | undefined }} [jest] undefined: it did not run
 * @returns {Tally}
 */
export function tally(steps, jest) {
  const failedSteps = steps.filter((ok) => !ok).length;
  const tests = jest?.report?.numPassedTests ?? 0;
  const failedTests = (jest?.report?.numFailedTests ?? 0) + (jest?.report?.numRuntimeErrorTestSuites ?? 0);
  const ranNothing = tests + failedTests === 0;
  const jestFailed = jest !== undefined && failedTests === 0 && (jest.code !== 0 || ranNothing);
  return { passed: steps.length - failedSteps + tests, failed: failedSteps + failedTests + Number(jestFailed) };
}

/**
 * Does the work of a command, then prints its total time and, last, `N passed, N failed`.
 * @param {() => Promise<Tally>} work
 */
export async function close(work) {
  const started = Date.now();
  const { passed, failed } = await work().catch((error) => {
    log(error instanceof Error ? String(error.stack) : String(error));
    return { passed: 0, failed: 1 };
  });
  log(`Total time: ${duration(Date.now() - started)}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/**
 * Runs checks, several at once, and reports each as it ends.
 * @param {Check[]} checks
 * @param {number} atOnce
 * @returns {Promise<boolean[]>} whether each passed
 */
export async function runChecks(checks, atOnce) {
  /** @type {boolean[]} */
  const results = [];
  const queue = checks.entries(); // one for all workers
  const worker = async () => {
    for (const [at, check] of queue) results[at] = await runCheck(check);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** @param {Check} check @returns {Promise<boolean>} */
async function runCheck({ name, work }) {
  const started = Date.now();
  const told = (/** @type {string} */ result) => log(`${result.padEnd(6)} ${name} (${duration(Date.now() - started)})`);
  try {
    await work();
    told("ok");
    return true;
  } catch (error) {
    told("FAILED");
    log(error instanceof UserError ? error.message : String(error instanceof Error ? error.stack : error));
    return false;
  }
}
