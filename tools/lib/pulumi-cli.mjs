// @ts-check
/** Finds a Pulumi CLI that can run this project, or makes one in a folder of the user's cache. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWithGo, refreshScripts } from "../pulumi-cli/build.mjs";
import { downloadHostAnswers, installOfficial } from "../pulumi-cli/download.mjs";
import { askingVariable, companions, pulumiOnPath } from "../pulumi-cli/on-path.mjs";
import { withLock } from "./lock.mjs";
import { installPackages } from "./prepare.mjs";
import { interruptible, isAlive, isExecutable, run, runAttached } from "./processes.mjs";
import { duration, runMain, say as sayOnStderr, Trouble, withProgress } from "./say.mjs";

/** @typedef {import("./processes.mjs").Env} Env */
/** @typedef {import("./say.mjs").Say} Say */
/**
 * @typedef {object} PulumiCli
 * @property {string} command full path of the CLI
 * @property {{ PATH: string, PULUMI_SKIP_UPDATE_CHECK: string }} env to be laid over the environment that it runs in
 */
/**
 * @typedef {object} Options
 * @property {Env} [env] instead of this process's environment
 * @property {Say} [say] where progress goes instead of stderr
 * @property {() => Promise<boolean>} [canDownload] instead of asking the download host
 * @property {string} [automation] instead of @pulumi/pulumi/automation
 */

/** Newest release that runs policy packs with the language host that can still be built (see tools/pulumi-cli). */
export const pulumiVersion = "3.220.0";

const launcher = fileURLToPath(new URL("../pulumi", import.meta.url));
const executable = (/** @type {string} */ bin, /** @type {string} */ name) =>
  process.platform === "win32" ? join(bin, `${name}.exe`) : join(bin, name);

/**
 * @param {Env} env
 * @returns {string} the folder of this user that holds what the tools make once
 */
export function cacheRoot(env, platform = process.platform, home = homedir()) {
  if (env.PULUMI_CONSORTIUM_CACHE) return env.PULUMI_CONSORTIUM_CACHE;
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, "pulumi-consortium");
  if (platform === "darwin") return join(home, "Library", "Caches", "pulumi-consortium");
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "pulumi-consortium");
  return join(home, ".cache", "pulumi-consortium");
}

/**
 * Looks on PATH, then in the user's cache; else installs or builds a copy there.
 * @param {Options} [options]
 * @returns {Promise<PulumiCli>}
 */
export async function pulumiCli(options = {}) {
  const { env = process.env, say = sayOnStderr } = options;
  if (env[askingVariable]) throw new Trouble("this is a wrapper and not a Pulumi of its own.");
  const root = cacheRoot(env);
  const home = join(root, `pulumi-v${pulumiVersion}-${process.platform}-${process.arch}`);
  const command = executable(join(home, "bin"), "pulumi");
  const own = [launcher, command].filter(isExecutable).map((file) => realpathSync(file));
  const found = await pulumiOnPath(env, { own, memory: join(root, "pulumi-on-path.json"), say });
  if (found) return described(found, env);
  if (!isComplete(home)) await interruptible((signal) => make(home, { ...options, env, say, signal }));
  else if (existsSync(join(home, "bin", "run-module.cjs"))) refreshScripts(join(home, "bin")); // built here, maybe long ago
  return described(command, env);
}

/**
 * @param {string} command
 * @param {Env} env
 * @returns {PulumiCli}
 */
function described(command, env) {
  const rest = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== dirname(command));
  return { command, env: { PATH: [dirname(command), ...rest].join(delimiter), PULUMI_SKIP_UPDATE_CHECK: "true" } };
}

/** @param {string} home */
function isComplete(home) {
  const bin = join(home, "bin");
  if (process.platform === "win32") return isExecutable(executable(bin, "pulumi"));
  return ["pulumi", ...companions].every((name) => isExecutable(join(bin, name)));
}

/**
 * Makes the copy in a folder of its own beside `home` and renames it into place, so that there is a whole one or none.
 * @param {string} home
 * @param {Options & { env: Env, say: Say, signal: AbortSignal }} options
 */
async function make(home, { signal, ...options }) {
  await installPackages();
  const onWait = () => {
    const maker = draftsOf(home).find(({ pid }) => isAlive(pid))?.pid;
    options.say(`Another process${maker ? ` (${maker})` : ""} is making a Pulumi for this user: waiting for it.`);
  };
  await withLock(
    `${home}.lock`,
    async () => {
      if (isComplete(home)) return;
      for (const { pid, folder } of draftsOf(home)) if (!isAlive(pid)) rmSync(folder, { recursive: true, force: true });
      const started = Date.now();
      const draft = mkdtempSync(`${home}.draft-${process.pid}-`);
      try {
        await fill(draft, { ...options, signal });
        rmSync(home, { recursive: true, force: true });
        renameSync(draft, home);
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
      options.say(`Pulumi v${pulumiVersion} is in ${home} now (${duration(Date.now() - started)}).`);
    },
    { signal, onWait },
  );
}

/**
 * @param {string} draft
 * @param {Options & { env: Env, say: Say, signal: AbortSignal }} options
 */
async function fill(draft, { env, say, signal, automation, canDownload = downloadHostAnswers }) {
  if (await canDownload()) {
    say(`Downloading Pulumi v${pulumiVersion} with its own installer.`);
    const install = () => installOfficial(draft, { version: pulumiVersion, env, signal, automation });
    const failure = await withProgress("downloading Pulumi", install, { say });
    if (failure === undefined && isComplete(draft)) return;
    say(`That did not work (${failure ?? "something is missing in what it installed"}).`);
    rmSync(draft, { recursive: true });
    mkdirSync(draft);
  }
  await buildWithGo(draft, { version: pulumiVersion, env, signal, say });
  const { code, output } = await run(executable(join(draft, "bin"), "pulumi"), ["version"], { env, timeoutMs: 30_000 });
  if (code !== 0) throw new Trouble(`the Pulumi that was built does not run: ${output.trim()}`);
}

/** @param {string} home @returns {{ pid: number, folder: string }[]} copies that are being made, or were when their process died */
const draftsOf = (home) =>
  readdirSync(dirname(home))
    .filter((name) => name.startsWith(`${basename(home)}.draft-`))
    .map((name) => ({ pid: Number(name.split(".draft-")[1]?.split("-")[0]), folder: join(dirname(home), name) }));

/**
 * tools/pulumi: runs Pulumi in this process's place.
 * @param {string[]} args
 */
export const launch = (args) =>
  runMain("tools/pulumi", async () => {
    const { command, env } = await pulumiCli();
    const { code, signal } = await runAttached(command, args, { env: { ...process.env, ...env } });
    if (signal) process.kill(process.pid, signal);
    return code;
  });
