// @ts-check
/** Imported first by the commands of a fresh clone: ends them with one sentence where Node.js is too old. */
import { readFileSync } from "node:fs";

/**
 * @param {string} range as in `engines`: ">=20.18.1"
 * @param {string} version "20.18.1"
 */
export function isTooOld(range, version) {
  const numbers = (/** @type {string} */ text) => text.replace(/^\D+/, "").split(".").map(Number);
  const [wanted, found] = [numbers(range), numbers(version)];
  const differing = wanted.findIndex((number, index) => number !== (found[index] ?? 0));
  return (wanted[differing] ?? 0) > (found[differing] ?? 0);
}

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
if (isTooOld(engines.node, process.versions.node)) {
  const wanted = engines.node.replace(">=", "");
  console.error(
    `This project needs Node.js ${wanted} or newer, and this is ${process.version}: see https://nodejs.org.`,
  );
  process.exit(1);
}
