import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import Sequencer from "@jest/test-sequencer";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";

/** Until this machine has measured them: the files that take longest, longest first. */
const long = [
  ...["install/languages", "install/release", "gitops/forges", "engine/engine"],
  ...["install/npm", "e2e/fleet/life", "stories/languages", "life/backends"],
  ...["life/killed", "plugin/from-terraform", "service/clients"],
  ...["service/geth", "console/many", "console/browser", "gitops/kubernetes", "service/kills"],
];

/** The seconds that each file took, in the user's cache. */
const record = () => join(cacheRoot(), "test-seconds.json");
/** @returns {Record<string, number>} */
function measured() {
  try {
    return JSON.parse(readFileSync(record(), "utf8"));
  } catch {
    return {};
  }
}

/** @param {import("@jest/test-result").Test} test */
const nameOf = ({ path, context }) => relative(context.config.rootDir, path);

/** What takes longest comes first, so that no worker is left with it at the end. */
export default class extends Sequencer {
  /** @param {import("@jest/test-result").Test[]} tests */
  sort(tests) {
    const times = measured();
    const seconds = new Map(tests.map((test) => [test, times[nameOf(test)] ?? guess(test)]));
    return [...tests].sort((one, other) => (seconds.get(other) ?? 0) - (seconds.get(one) ?? 0));
  }

  /** @param {import("@jest/test-result").Test[]} tests @param {import("@jest/test-result").AggregatedResult} results */
  cacheResults(tests, results) {
    super.cacheResults(tests, results);
    const times = measured();
    const names = new Map(tests.map((test) => [test.path, nameOf(test)]));
    for (const { testFilePath, perfStats, numPassingTests, numPendingTests } of results.testResults) {
      const name = names.get(testFilePath);
      const isWhole = numPassingTests > 0 && numPendingTests === 0;
      if (name && isWhole) times[name] = Math.round(perfStats.runtime / 100) / 10;
    }
    mkdirSync(dirname(record()), { recursive: true });
    writeFileSync(record(), JSON.stringify(times));
  }
}

/** @param {import("@jest/test-result").Test} test @returns {number} */
function guess(test) {
  const at = long.findIndex((name) => test.path.endsWith(`/${name}.test.ts`));
  if (at >= 0) return 1_000 - at;
  if (test.path.includes("/e2e/")) return 30;
  return (test.context.hasteFS.getSize(test.path) ?? 0) / 10_000; // a second for each hundred lines or so
}
