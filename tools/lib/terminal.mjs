// @ts-check
/** Output of the tools. It goes to stderr, so stdout only has what Pulumi printed. */
import { clearInterval, setInterval } from "node:timers";

/** A problem that the user can solve: one sentence with its remedy, without a stack trace. */
export class UserError extends Error {}

/** @param {string} text */
export const log = (text) => void process.stderr.write(`${text}\n`);

/**
 * @param {number} ms
 * @returns {string} "0.4 s", "42 s", "3 min 05 s"
 */
export function duration(ms) {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/**
 * Reports every 15 seconds that long work is still running.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withProgress(what, work) {
  const started = Date.now();
  const ticker = setInterval(() => log(`  ${what}: ${duration(Date.now() - started)} so far`), 15_000);
  try {
    return await work();
  } finally {
    clearInterval(ticker);
  }
}

/**
 * Runs a command line program's main function: a UserError is one sentence on stderr, and the exit code is 1.
 * @param {string} program
 * @param {() => Promise<number | void>} main its number is the exit code
 */
export async function runMain(program, main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    log(
      error instanceof UserError
        ? `${program}: ${error.message}`
        : String(error instanceof Error ? error.stack : error),
    );
    process.exitCode = 1;
  }
}
