// @ts-check
/** Imported first by the commands of a fresh clone: ends them with one sentence where Node.js is too old. */
import { readFileSync } from "node:fs";

/**
 * @param {string} range as in `engines`: ">=20.18"
 * @param {string} version "20.18.1"
 */
export function isTooOld(range, version) {
  const numbers = (/** @type {string} */ text) => text.replace(/^\D+/, "").split(".").map(Number);
  const [[wantedMajor = 0, wantedMinor = 0], [major = 0, minor = 0]] = [numbers(range), numbers(version)];
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
if (isTooOld(engines.node, process.versions.node)) {
  const wanted = engines.node.replace(">=", "");
  console.error(
    `This project needs Node.js ${wanted} or newer, and this is ${process.version}: see https://nodejs.org.`,
  );
  process.exit(1);
}
