import { TestEnvironment } from "jest-environment-node";
import { treeOf } from "../../../tools/lib/processes.mjs";
import { zoneOf } from "./zone.mjs";

/** A process runs one file after the other. */
const ofMachine = process.env.TZ;

/** Conditions that a test waits for (tests/support/until.ts). */
const waits = Symbol.for("conditions that a test waits for");

/**
 * Each test file has a time zone, and a test that runs out of time says what it waits for. With the option `programs`: of programs that
 * run in the process of a test (tests/e2e/support/inline.ts), in the time zone of the machine.
 */
export default class extends TestEnvironment {
  #isOfPrograms;

  /**
   * @param {import("@jest/environment").JestEnvironmentConfig} config
   * @param {import("@jest/environment").EnvironmentContext} context
   */
  constructor(config, context) {
    const { rootDir, testEnvironmentOptions } = config.projectConfig;
    const isOfPrograms = testEnvironmentOptions.programs === true;
    const zone = isOfPrograms ? ofMachine : zoneOf(rootDir, context.testPath);
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    super(config, context);
    this.#isOfPrograms = isOfPrograms;
    this.global[waits] = new Set();
  }

  /** @param {import("jest-circus").Circus.AsyncEvent | import("jest-circus").Circus.SyncEvent} event */
  handleTestEvent(event) {
    // The engine answers no more calls once a run has failed: then the program's process would have ended, and nobody would hear of them.
    if (this.#isOfPrograms && event.name === "error" && isRefusedCall(event.error))
      event.promise?.catch(() => undefined);
    if (event.name === "test_start") this.global[waits].clear();
    if (event.name !== "test_fn_failure" && event.name !== "hook_failure") return;
    if (!String(event.error).startsWith("Exceeded timeout")) return;
    const waiting = this.#waiting();
    for (const test of event.test ? [event.test] : testsIn(event.describeBlock))
      test.errors = test.errors.map((one) =>
        Array.isArray(one) && one[0] === event.error ? [`${event.error}\n\n${waiting}`, one[1]] : one,
      );
  }

  #waiting() {
    const processes = treeOf(process.pid).slice(1).filter(({ command }) => !command.startsWith("ps ")); // prettier-ignore
    /** @type {Record<string, number>} */
    const open = {};
    for (const name of process.getActiveResourcesInfo()) open[name] = (open[name] ?? 0) + 1;
    const lines = [
      ...[...this.global[waits]].map((condition) => `until ${condition}`),
      ...processes.map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`),
      `open: ${Object.entries(open).map(([name, count]) => `${count} ${name}`).join(", ") || "nothing, so nobody is left to settle a promise"}`, // prettier-ignore
    ];
    return `It waits for:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  }
}

/** @param {import("jest-circus").Circus.DescribeBlock} block @returns {import("jest-circus").Circus.TestEntry[]} */
const testsIn = (block) => block.children.flatMap((one) => (one.type === "test" ? [one] : testsIn(one)));

/** @param {unknown} error of gRPC */
const isRefusedCall = (error) =>
  typeof error === "object" &&
  error !== null &&
  "metadata" in error &&
  "code" in error &&
  typeof error.code === "number";
