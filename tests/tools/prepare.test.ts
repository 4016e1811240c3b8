import { readFileSync } from "node:fs";
import { join } from "node:path";
import { minVersion, satisfies } from "semver";
import { tally } from "../../tools/lib/checks.mjs";
import { root } from "../../tools/lib/prepare.mjs";

type Entry = {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  engines?: { node?: string };
  dependencies?: object;
  optionalDependencies?: object;
};
const locked = () =>
  JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Entry> };

/** npm writes none for a platform whose package it did not find; `npm ci` then refuses the file on every machine. */
test("the lock file has an entry for every dependency in it", () => {
  const lock = locked();
  const found = (from: string, name: string): boolean =>
    `${from ? `${from}/` : ""}node_modules/${name}` in lock.packages ||
    (from !== "" && found(from.slice(0, Math.max(from.lastIndexOf("/node_modules/"), 0)), name));
  const missing = Object.entries(lock.packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !found(from, name)),
  );
  expect(missing).toEqual([]);
});

/** Installers that hold `engines` against the Node.js that runs (`engine-strict`) see the newest one only. */
test("what users install runs on the oldest Node.js that package.json promises", () => {
  const { packages } = locked();
  const oldest = minVersion(packages[""]!.engines!.node!)!;
  const demanding = Object.entries(packages)
    .filter(([, { dev, engines }]) => !dev && !satisfies(oldest, engines?.node ?? "*"))
    .map(([place, { engines }]) => `${place} wants ${engines?.node}`);
  expect(demanding).toEqual([]);
});

/** npm would install such a package whatever its content is. CONTRIBUTING.md says how it verifies those that the registry did not have. */
test("every package in the lock file has an integrity, but for what CONTRIBUTING.md names", () => {
  const unpublished = /^node_modules\/@foundry-rs\/anvil-(darwin-(amd64|arm64)|linux-arm64|win32-amd64)$/;
  const { packages } = locked();
  const anvil = packages["node_modules/@foundry-rs/anvil"]?.version;
  const without = Object.entries(packages)
    .filter(([place, { integrity, link }]) => place.includes("node_modules/") && !link && !integrity)
    .filter(([place, { version }]) => !(unpublished.test(place) && version === anvil))
    .map(([place]) => place);
  expect(without).toEqual([]);
});

const report = (numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites = 0) => ({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
  testResults: [],
});

test.each([
  ["steps and tests", [true, true], { code: 0, report: report(5, 0) }, { passed: 7, failed: 0 }],
  ["a failed step", [true, false], { code: 0, report: report(5, 0) }, { passed: 6, failed: 1 }],
  ["failed tests", [true], { code: 1, report: report(5, 2) }, { passed: 6, failed: 2 }],
  ["a test file that does not load", [true], { code: 1, report: report(5, 0, 1) }, { passed: 6, failed: 1 }],
  ["a jest that crashed", [true], { code: 134, report: undefined }, { passed: 1, failed: 1 }],
  ["a jest that failed for another reason", [true], { code: 1, report: report(5, 0) }, { passed: 6, failed: 1 }],
  ["a jest that ran nothing", [true], { code: 0, report: report(0, 0) }, { passed: 1, failed: 1 }],
  ["tests that were not reached", [false], undefined, { passed: 0, failed: 1 }],
])("the closing line of npm test counts %s", (_, steps, jest, expected) => {
  expect(tally(steps, jest)).toEqual(expected);
});
