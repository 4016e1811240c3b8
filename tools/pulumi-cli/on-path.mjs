// @ts-check
/** A `pulumi` on PATH that can run this project. */
import { realpathSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { isOlder } from "../lib/node-version.mjs";
import { onPath, run } from "../lib/processes.mjs";

/** @typedef {import("../lib/processes.mjs").Env} Env */

const oldestVersion = "3.150.0";

/** What Pulumi starts for a program, its dynamic resources and its policies. They come with Pulumi. */
export const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"];

/** Set while a candidate is asked for its version, so a wrapper that leads back here gives up. */
export const askingVariable = "PULUMI_CONSORTIUM_ASKING";

/**
 * @param {Env} env
 * @param {{ own: string[], needed: string[], log: import("../lib/terminal.mjs").Log }} where own: real paths of our own copies, which do not count;
 *   needed: what must be beside it or on PATH
 * @returns {Promise<string | undefined>} the first that can be used
 */
export async function pulumiOnPath(env, { own, needed, log }) {
  const candidates = onPath("pulumi", env, process.platform === "win32" ? [".exe"] : [""]);
  const found = new Map(candidates.map((file) => [realpathSync(file), file]));
  for (const [real, file] of found) {
    if (own.includes(real)) continue;
    const fault = await faultOf(file, real, env, needed);
    if (!fault) return file;
    log(`${file} is not used: ${fault}`);
  }
  return undefined;
}

/**
 * @param {string} file
 * @param {string} real
 * @param {Env} env
 * @param {string[]} needed
 */
async function faultOf(file, real, env, needed) {
  const missing = needed.find((name) => !besideOrOnPath(name, [file, real], env));
  if (missing) return `there is no ${missing} beside it or on PATH`;
  const version = await askVersion(file, env);
  if (!version) return 'it does not answer "pulumi version"';
  return isOlder(version, oldestVersion) ? `${version} is older than v${oldestVersion}` : undefined;
}

/**
 * @param {string} name
 * @param {string[]} files
 * @param {Env} env
 */
function besideOrOnPath(name, files, env) {
  const folders = [...files.map((file) => dirname(file)), env.PATH ?? env.Path ?? ""];
  return onPath(name, { PATH: folders.join(delimiter) }).length > 0;
}

/**
 * @param {string} file
 * @param {Env} env
 */
async function askVersion(file, env) {
  const asking = { ...env, PULUMI_SKIP_UPDATE_CHECK: "true", [askingVariable]: "true" };
  const { stdout } = await run(file, ["version"], { env: asking, timeoutMs: 10_000 }).catch(() => ({ stdout: "" }));
  return /^v?\d+\.\d+\.\d+\S*/m.exec(stdout)?.[0];
}
