// @ts-check
/** The language hosts of YAML, Python and Go, beside a Pulumi that was built here. Only the tests ask for them. */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../lib/processes.mjs";
import { Trouble } from "../lib/say.mjs";
import { compile, usableGo } from "./build.mjs";

/** @typedef {import("../lib/processes.mjs").Env} Env */
/** @typedef {import("../lib/say.mjs").Say} Say */

const sources = fileURLToPath(new URL(".", import.meta.url));
const pythonExecutor = "pulumi-language-python-exec";

/** They come with an official Pulumi. */
export const languageHosts = ["pulumi-language-yaml", "pulumi-language-python", pythonExecutor];

/** @type {import("./build.mjs").Program[]} */
const programs = [
  {
    name: "the language host of YAML",
    module: "languages",
    packages: ["github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"],
  },
  {
    name: "the language host of Python",
    module: "language-nodejs", // of the same release, so they share what they are compiled from
    packages: ["github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"],
  },
];

/** @returns {string} changes with every source, so that checkouts side by side have hosts of their own */
export function languagesVersion() {
  const hash = createHash("sha256");
  for (const folder of ["languages", "language-nodejs"].map((name) => join(sources, name)))
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

/**
 * @param {string} root gets bin with all that is in `pulumi`'s, and the hosts: one that is only on PATH makes Pulumi warn
 * @param {string} pulumi a copy that was built here
 * @param {{ env: Env, signal: AbortSignal, say: Say }} options
 */
export async function addLanguages(root, pulumi, { env, signal, say }) {
  const go = await usableGo(env, signal);
  const bin = join(root, "bin");
  mkdirSync(bin, { recursive: true });
  say(
    "Building the language hosts of YAML, Python and Go from their sources, once for this user. It takes some minutes.",
  );
  for (const program of programs) await compile(bin, program, { go, env, signal, say });
  const executor = join(await moduleFolder(go, "github.com/pulumi/pulumi/sdk/v3", { env, signal }), "python/cmd");
  copyFileSync(join(executor, pythonExecutor), join(bin, pythonExecutor));
  chmodSync(join(bin, pythonExecutor), 0o755);
  for (const name of readdirSync(join(pulumi, "bin"))) linkSync(join(pulumi, "bin", name), join(bin, name));
}

/**
 * @param {string} go
 * @param {string} module that the hosts were just compiled from
 * @param {{ env: Env, signal: AbortSignal }} options
 */
async function moduleFolder(go, module, { env, signal }) {
  const args = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module];
  const { code, stdout, output } = await run(go, args, {
    cwd: join(sources, "languages"),
    env: { ...env, GOWORK: "off" },
    signal,
  });
  if (code !== 0) throw new Trouble(`Go does not say where ${module} is: ${output.trim()}`);
  return stdout.trim();
}
