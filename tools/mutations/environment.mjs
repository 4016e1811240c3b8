// @ts-check
/** Where a worker's tests run: with one mutant, until the first test fails. It notes which tests execute which mutants. */
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { TestEnvironment } from "jest-environment-node";

/** @typedef {import("@jest/types").Circus.TestEntry} TestEntry */

/**
 * The run, which the worker prepares and looks at afterwards.
 * @type {{ context: import("@stryker-mutator/api/core").InstrumenterContext, only: string[] | undefined, tests: Record<string, number>, failed: string | undefined }}
 */
export const run = { context: {}, only: undefined, tests: {}, failed: undefined };

export default class extends TestEnvironment {
  /** @param {ConstructorParameters<typeof TestEnvironment>} all */
  constructor(...all) {
    super(...all);
    Object.assign(this.global, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: run.context });
  }

  /** @param {import("@jest/types").Circus.AsyncEvent | import("@jest/types").Circus.SyncEvent} event */
  handleTestEvent(event) {
    if (event.name === "test_start") {
      const name = nameOf(event.test);
      if (run.failed !== undefined || (run.only && !run.only.includes(name))) event.test.mode = "skip";
      else run.context.currentTestId = name;
    } else if (event.name === "test_done") {
      const name = nameOf(event.test);
      run.context.currentTestId = undefined;
      run.tests[name] = event.test.duration ?? 0;
      if (event.test.errors.length > 0) run.failed ??= name;
    }
  }
}

/** @param {TestEntry} test */
function nameOf(test) {
  const names = [test.name];
  for (let block = test.parent; block.parent; block = block.parent) names.unshift(block.name);
  return names.join(" › ");
}
