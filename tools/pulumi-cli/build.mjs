// @ts-check
/** Pulumi from its sources, for machines that cannot download it: two Go modules whose sums are committed. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isOlder } from "../lib/node-version.mjs";
import { onPath, run } from "../lib/processes.mjs";
import { log, UserError, withProgress } from "../lib/terminal.mjs";

/**
 * @typedef {object} Program
 * @property {string} name for people
 * @property {string} module the folder of its go.mod
 * @property {string[]} packages each becomes a program of its last name
 * @property {string} [ldflags]
 */

/**
 * @typedef {object} Release of Pulumi
 * @property {string} version
 * @property {string} module the folder of its go.mod
 */

const sources = fileURLToPath(new URL(".", import.meta.url));
const scripts = ["run-module.cjs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"];

/**
 * @param {Release} release
 * @returns {Program[]}
 */
const programs = ({ version, module }) => [
  {
    name: "pulumi",
    module,
    packages: ["github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"],
    ldflags: `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${version}`,
  },
  {
    name: "pulumi-language-nodejs",
    module: "language-nodejs",
    packages: ["github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs"],
  },
];

const remedy = (/** @type {string} */ wanted) =>
  "Do one of three things and run this again: install Pulumi (https://www.pulumi.com/docs/install/), " +
  `or install Go ${wanted} or newer (https://go.dev/dl/), or put the folder of a Pulumi that you have on PATH.`;

/**
 * @param {string} root gets bin/pulumi and its companions
 * @param {Release} release
 */
export async function buildWithGo(root, release) {
  const { version, module } = release;
  const go = await usableGo(module);
  const bin = join(root, "bin");
  mkdirSync(bin, { recursive: true });
  log(`Building Pulumi v${version} from its sources with Go, once for this user. It takes two to five minutes and`);
  log("some 3 GB in Go's caches, which `go clean -cache -modcache` frees afterwards.");
  for (const program of programs(release)) await compile(go, bin, program);
  for (const name of scripts) copyFileSync(join(sources, name), join(bin, name));
}

/** Where Go works, and with which settings. @param {string} module */
export const inModule = (module) => ({
  cwd: join(sources, module),
  env: { ...process.env, GOWORK: "off", CGO_ENABLED: "0", GOOS: "", GOARCH: "" },
});

/** @param {string} go @param {string} bin @param {Program} program */
export async function compile(go, bin, { name, module, packages, ldflags = "" }) {
  const flags = ["-trimpath", "-mod=readonly", "-buildvcs=false", "-ldflags", `-s -w ${ldflags}`.trim()];
  const build = () => run(go, ["build", ...flags, "-o", `${bin}/`, ...packages], inModule(module));
  const { code, text } = await withProgress(`building ${name}`, build);
  if (code === 0) return;
  const last = text.trim().split("\n").slice(-12).join("\n");
  throw new UserError(`Go could not build ${name}; its last words were:\n${last}\n${remedy(wantedGo(module))}`);
}

/** @param {string} module */
function wantedGo(module) {
  return /^go (\S+)$/m.exec(readFileSync(join(sources, module, "go.mod"), "utf8"))?.[1] ?? "";
}

/** In the module's folder, Go 1.21 or newer downloads the version that the module requires, unless it is told not to. */
export async function usableGo(module = "cli") {
  const [go] = onPath("go");
  const wanted = wantedGo(module);
  const lead = "No usable Pulumi is on PATH, it cannot be downloaded here";
  if (!go) throw new UserError(`${lead}, and Go, which could build it, is not installed. ${remedy(wanted)}`);
  const { code, stdout } = await run(go, ["env", "GOVERSION"], inModule(module));
  const version = stdout.trim().replace(/^go/, "");
  if (code === 0 && !isOlder(version, wanted)) return go;
  const own = await run(go, ["version"], { cwd: "/", env: { ...process.env, GOTOOLCHAIN: "local" } });
  const found = /go(\d+\.\d+(\.\d+)?)/.exec(own.stdout)?.[1] ?? "of an unknown version";
  throw new UserError(`${lead}, and Go ${found} (${go}) is too old to build it. ${remedy(wanted)}`);
}

/** Pulumi's own installer. */
const installerAddress = "https://get.pulumi.com/install.sh";
const probeMs = 5_000;
const installMs = 10 * 60_000;

/** It has no time limit, so it runs in a process that can be killed. */
const installation = `
  const install = async ([automation, root, version]) => {
    const { SemVer } = require("node:module").createRequire(automation)("semver");
    await require(automation).PulumiCommand.install({ root, version: new SemVer(version) });
  };
  install(process.argv.slice(1)).catch((error) => {
    console.error(String(error));
    process.exitCode = 1;
  });`;

/** @returns {Promise<boolean>} */
export async function downloadHostAnswers() {
  try {
    return (await fetch(installerAddress, { method: "HEAD", signal: AbortSignal.timeout(probeMs) })).ok;
  } catch {
    return false;
  }
}

/**
 * @param {string} root gets bin/pulumi and its companions
 * @param {string} version
 * @param {string} [automation] the module of the installer
 * @returns {Promise<string | undefined>} why it did not work
 */
export async function installOfficial(root, version, automation) {
  const module = automation ?? createRequire(import.meta.url).resolve("@pulumi/pulumi/automation");
  const args = ["-e", installation, module, root, version];
  const { code, text } = await run(process.execPath, args, { timeoutMs: installMs });
  if (code === 0) return undefined;
  return code === null ? `no end after ${installMs / 60_000} minutes` : text.trim();
}
