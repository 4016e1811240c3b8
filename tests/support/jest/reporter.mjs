import { DefaultReporter, VerboseReporter } from "@jest/reporters";
import { zoneOf } from "./zone.mjs";

const isLate = (/** @type {string} */ message) => message.includes("Exceeded timeout of");

/** A red file says first whether it ran out of time; only such a file shows what its tests printed. @param {typeof DefaultReporter} Reporter */
const telling = (Reporter) =>
  class extends Reporter {
    /**
     * @param {string} path
     * @param {import("@jest/types").Config.ProjectConfig} config
     * @param {import("@jest/test-result").TestResult} result
     */
    printTestFileHeader(path, config, result) {
      const failed = result.testResults.filter(({ status }) => status === "failed");
      if (failed.length === 0 && !result.testExecError)
        return super.printTestFileHeader(path, config, { ...result, console: undefined });
      const late = failed.filter(({ failureMessages }) => failureMessages.some(isLate)).length;
      const zone = config.testEnvironmentOptions.programs ? "" : `, TEST_TZ=${zoneOf(config.rootDir, path)}`;
      const time = late > 0 ? `RAN OUT OF TIME: ${late} of ${failed.length} failed tests` : "Did not run out of time";
      this.log(`${time}${zone}`);
      return super.printTestFileHeader(path, config, result);
    }
  };

/** Jest asks for verbose output when it runs a single file. */
export default class {
  /** @param {import("@jest/types").Config.GlobalConfig} config */
  constructor(config) {
    return new (telling(config.verbose ? VerboseReporter : DefaultReporter))(config);
  }
}
