// @ts-check
/** Finds a Pulumi CLI that can run this project, or makes one in a folder of the user's cache. */
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWithGo, downloadHostAnswers, installOfficial } from "../pulumi-cli/build.mjs";
import { addLanguages, languageHosts, languagesVersion } from "../pulumi-cli/languages.mjs";
import { askingVariable, companions, pulumiOnPath } from "../pulumi-cli/on-path.mjs";
import { fillCacheFolder } from "./cache.mjs";
import { isOlder } from "./node-version.mjs";
import { installPackages } from "./prepare.mjs";
import { isExecutable, run, runAttached } from "./processes.mjs";
import { runMain, log, UserError, withProgress } from "./terminal.mjs";

/**
 * @typedef {object} PulumiCli
 * @property {string} command full path of the CLI
 * @property {{ PATH: string, PULUMI_SKIP_UPDATE_CHECK: string, PULUMI_HOME?: string }} env to add to the environment
 */
/**
 * @typedef {object} Options
 * @property {boolean} [languages] with the hosts of YAML, Python and Go, and one of Node.js that runs policy packs of the newest release
 * @property {"oldest" | "newest"} [release] default: the one in variable PULUMI_CONSORTIUM_CLI, or any on PATH, or else the newest
 * @property {() => Promise<boolean>} [canDownload] instead of asking the download host
 * @property {string} [automation] instead of @pulumi/pulumi/automation
 */

/**
 * The releases that are made where no Pulumi is installed: tests run on both. Variable PULUMI_CONSORTIUM_CLI chooses one.
 * @type {Record<string, Release>}
 */
export const releases = {
  oldest: { version: "3.220.0", module: "cli" },
  newest: { version: "3.276.0", module: "cli-newest" },
};

const releaseVariable = "PULUMI_CONSORTIUM_CLI";
const minorOf = (/** @type {string} */ version) => /\d+\.\d+/.exec(version)?.[0];

/**
 * @param {string} [wanted] default: the release of this process
 * @returns {{ release: Release, fits: (version: string) => boolean }} fits: whether an official Pulumi is what was asked for
 */
function releaseOf(wanted) {
  const asked = wanted ?? process.env[releaseVariable];
  const name = asked || "newest";
  const release = releases[name];
  if (!release) throw new UserError(`${releaseVariable} must be ${Object.keys(releases).join(" or ")}, not "${name}".`);
  const { version } = release;
  if (!asked) return { release, fits: () => true };
  if (name === "oldest") return { release, fits: (found) => minorOf(found) === minorOf(version) };
  return { release, fits: (found) => !isOlder(found, version) };
}

const launcher = fileURLToPath(new URL("../pulumi", import.meta.url));
const commandIn = (/** @type {string} */ home) => join(home, "bin", "pulumi");

/** The user's cache folder. @returns {string} */
export function cacheRoot(platform = process.platform, home = homedir()) {
  const { PULUMI_CONSORTIUM_CACHE: own, XDG_CACHE_HOME: caches } = process.env;
  if (own) return own;
  return join(caches || join(home, platform === "darwin" ? "Library/Caches" : ".cache"), "pulumi-consortium");
}

/**
 * Looks on PATH, then in the user's cache; else installs or builds a copy there.
 * @param {Options} [options]
 * @returns {Promise<PulumiCli>}
 */
export async function pulumiCli({ languages = false, release: wanted, ...making } = {}) {
  if (process.env[askingVariable]) throw new UserError("this is a wrapper and not a Pulumi of its own.");
  const platform = `${process.platform}-${process.arch}`;
  const { release, fits } = releaseOf(wanted);
  const pulumiVersion = release.version;
  const homeOf = (/** @type {string} */ version) => join(cacheRoot(), `pulumi-v${version}-${platform}`);
  const moreOf = (/** @type {string} */ version) =>
    join(cacheRoot(), `pulumi-v${version}-languages-${languagesVersion()}-${platform}`);
  const [home, more] = [homeOf(pulumiVersion), moreOf(pulumiVersion)];
  const needed = languages ? [...companions, ...languageHosts] : companions;
  // A test's PATH may begin with a copy of the other release.
  const copies = Object.values(releases).flatMap(({ version }) => [homeOf(version), moreOf(version)]);
  const own = [launcher, ...copies.map(commandIn)].filter(isExecutable).map((file) => realpathSync(file));
  const askedFor = { fits, what: `Pulumi v${pulumiVersion} was asked for` };
  const found = await pulumiOnPath({ own, needed, askedFor });
  if (found) return described(found);
  if (!isComplete(home)) await make(home, release, making);
  if (isComplete(home, needed)) return described(commandIn(home));
  if (!isComplete(more, needed))
    await fillCacheFolder(more, {
      what: `Pulumi v${pulumiVersion} with language hosts`,
      isWhole: () => isComplete(more, needed),
      fill: (draft) => addLanguages(draft, home),
    });
  return described(commandIn(more));
}

/** @param {string} command @returns {PulumiCli} */
function described(command) {
  const rest = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== dirname(command));
  return { command, env: { PATH: [dirname(command), ...rest].join(delimiter), PULUMI_SKIP_UPDATE_CHECK: "true" } };
}

/** @param {string} home */
const isComplete = (home, needed = companions) =>
  ["pulumi", ...needed].every((name) => isExecutable(join(home, "bin", name)));

/** @typedef {import("../pulumi-cli/build.mjs").Release} Release */

/** @param {string} home @param {Release} release @param {Options} options */
async function make(home, release, options) {
  await installPackages();
  await fillCacheFolder(home, {
    what: `Pulumi v${release.version}`,
    isWhole: () => isComplete(home),
    fill: (draft) => fill(draft, release, options),
  });
}

/** @param {string} draft @param {Release} release @param {Options} options */
async function fill(draft, release, { automation, canDownload = downloadHostAnswers }) {
  if (await canDownload()) {
    log(`Downloading Pulumi v${release.version} with its own installer.`);
    const failure = await withProgress("downloading Pulumi", () => installOfficial(draft, release.version, automation));
    if (failure === undefined && isComplete(draft)) return;
    log(`That did not work (${failure ?? "its installation is incomplete"}).`);
    rmSync(draft, { recursive: true });
    mkdirSync(draft);
  }
  await buildWithGo(draft, release);
  const { code, text } = await run(commandIn(draft), ["version"], { timeoutMs: 30_000 });
  if (code !== 0) throw new UserError(`the Pulumi that was built does not run: ${text.trim()}`);
}

/**
 * tools/pulumi: runs Pulumi in place of this process.
 * @param {string[]} args
 */
export const launch = (args) =>
  runMain("tools/pulumi", async () => {
    const { command, env } = await pulumiCli({ languages: true });
    const { code, signal } = await runAttached(command, args, { env: { ...process.env, ...env } });
    if (signal) process.kill(process.pid, signal);
    return code;
  });
