// @ts-check
/** A `pulumi` on PATH that can run this project. */
import { realpathSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { isOlder } from "../lib/node-version.mjs";
import { onPath, run } from "../lib/processes.mjs";
import { log } from "../lib/terminal.mjs";

const oldestVersion = "3.150.0";

/** Programs that Pulumi starts for a program, its dynamic resources and its policies. They come with Pulumi. */
export const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"];

/** Set while a candidate is asked for its version, so a wrapper that leads back here gives up. */
export const askingVariable = "PULUMI_CONSORTIUM_ASKING";

/**
 * @typedef {object} Wanted
 * @property {string[]} own real paths of our own copies, which do not count
 * @property {string[]} needed what must be beside it or on PATH
 * @property {{ fits: (version: string) => boolean, what: string }} askedFor
 */
/**
 * @param {Wanted} wanted
 * @returns {Promise<string | undefined>} the first that can be used
 */
export async function pulumiOnPath({ own, ...wanted }) {
  const found = new Map(onPath("pulumi").map((file) => [realpathSync(file), file]));
  for (const [real, file] of found) {
    if (own.includes(real)) continue;
    const fault = await faultOf(file, real, wanted);
    if (!fault) return file;
    log(`${file} is not used: ${fault}`);
  }
  return undefined;
}

/** @param {string} file @param {string} real @param {Omit<Wanted, "own">} wanted */
async function faultOf(file, real, { needed, askedFor }) {
  const places = [dirname(file), dirname(real), process.env.PATH].join(delimiter);
  const missing = needed.find((name) => onPath(name, places).length === 0);
  if (missing) return `there is no ${missing} beside it or on PATH`;
  const version = await askVersion(file);
  if (!version) return 'it does not answer "pulumi version"';
  if (isOlder(version, oldestVersion)) return `${version} is older than v${oldestVersion}`;
  return askedFor.fits(version) ? undefined : `it is ${version}, and ${askedFor.what}`;
}

/** @param {string} file */
async function askVersion(file) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", [askingVariable]: "true" };
  const { stdout } = await run(file, ["version"], { env, timeoutMs: 10_000 }).catch(() => ({ stdout: "" }));
  return /^v?\d+\.\d+\.\d+\S*/m.exec(stdout)?.[0];
}
