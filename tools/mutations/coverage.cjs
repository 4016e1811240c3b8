// @ts-check
/** Loaded by each process that a test starts: notes which mutants it executes. One that is killed notes nothing. */
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");

process.once("exit", () => {
  const executed = /** @type {any} */ (globalThis).__stryker__?.mutantCoverage?.static;
  const folder = process.env.MUTATIONS_COVERAGE;
  if (executed && folder) writeFileSync(join(folder, `${process.pid}-${Date.now()}.json`), JSON.stringify(executed));
});
