// @ts-check
/** The `pulumi` that is on PATH already, if it can run this project. */
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isExecutable, onPath, run } from "./processes.mjs";

/** @typedef {import("./processes.mjs").Env} Env */
/** @typedef {{ command: string } | { skipped: string }} Verdict */

export const oldestVersion = "3.150.0";

/** What Pulumi starts for a program, its dynamic resources and its policies. They come with Pulumi. */
export const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"];

/** Set while a candidate is asked for its version: a wrapper that would come back here gives up instead. */
export const askingVariable = "PULUMI_CONSORTIUM_ASKING";

/**
 * @param {string} version
 * @param {string} oldest
 */
export function isOlder(version, oldest) {
  const [left, right] = [version, oldest].map((text) =>
    text
      .replace(/^[^\d]*/, "")
      .split(".")
      .map((part) => parseInt(part)),
  );
  const at = (left ?? []).findIndex((part, index) => part !== right?.[index]);
  return at >= 0 && Number(left?.[at]) < Number(right?.[at]);
}

/**
 * @param {Env} env
 * @param {{ own: string[], memory: string }} where own: real paths that are ours, so no find; memory: file for answers
 * @returns {Promise<Verdict[]>} ends with the usable one, if any
 */
export async function pulumiOnPath(env, { own, memory }) {
  const candidates = onPath("pulumi", env, process.platform === "win32" ? [".exe"] : [""]);
  const found = new Map(candidates.map((file) => [realpathSync(file), file]));
  /** @type {Verdict[]} */
  const verdicts = [];
  for (const [real, file] of found) {
    if (own.includes(real)) continue;
    const verdict = await judge(file, real, env, memory);
    verdicts.push(verdict);
    if ("command" in verdict) break;
  }
  return verdicts;
}

/**
 * @param {string} file
 * @param {string} real
 * @param {Env} env
 * @param {string} memory
 * @returns {Promise<Verdict>}
 */
async function judge(file, real, env, memory) {
  const missing = companions.find((name) => !besideOrOnPath(name, [file, real], env));
  if (missing) return { skipped: `${file} is not used: there is no ${missing} beside it or on PATH` };
  const known = recall(memory, real);
  const version = known ?? (await askVersion(file, env));
  if (!version) return { skipped: `${file} is not used: it does not answer "pulumi version"` };
  if (isOlder(version, oldestVersion))
    return { skipped: `${file} is not used: ${version} is older than v${oldestVersion}` };
  if (!known) remember(memory, real, version);
  return { command: file };
}

/**
 * @param {string} name
 * @param {string[]} files
 * @param {Env} env
 */
function besideOrOnPath(name, files, env) {
  const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  const beside = files.flatMap((file) => endings.map((ending) => join(dirname(file), name + ending)));
  return beside.some(isExecutable) || onPath(name, env).length > 0;
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

/** @param {string} real an answer holds for as long as the file is the same */
const fingerprint = (real) => {
  const { size, mtimeMs } = statSync(real);
  return `${real} ${size} ${mtimeMs}`;
};

/**
 * @param {string} memory
 * @param {string} real
 * @returns {string | undefined}
 */
function recall(memory, real) {
  try {
    const { key, version } = JSON.parse(readFileSync(memory, "utf8"));
    return key === fingerprint(real) ? version : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} memory
 * @param {string} real
 * @param {string} version
 */
function remember(memory, real, version) {
  try {
    mkdirSync(dirname(memory), { recursive: true });
    const draft = `${memory}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ key: fingerprint(real), version }));
    renameSync(draft, memory);
  } catch {
    // Then it is asked again next time.
  }
}
