// @ts-check
/** Imported first by the commands of a fresh clone: ends them with one sentence if Node.js is too old. */
import { readFileSync } from "node:fs";

/** Works without packages, and with versions that are not semantic, such as Go's. @param {string} version @param {string} oldest */
export function isOlder(version, oldest) {
  const [found = "", wanted = ""] = [version, oldest].map((text) => text.replace(/^\D+/, ""));
  return found.localeCompare(wanted, "en", { numeric: true }) < 0;
}

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
if (isOlder(process.versions.node, engines.node)) {
  const wanted = engines.node.replace(">=", "");
  console.error(
    `This project needs Node.js ${wanted} or newer, and this is ${process.version}: see https://nodejs.org.`,
  );
  process.exit(1);
}
