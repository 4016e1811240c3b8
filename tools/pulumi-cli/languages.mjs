// @ts-check
/** The language hosts of YAML, Python and Go, beside a Pulumi that was built here. `npm start` does without them. */
import { createHash } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { succeed } from "../lib/processes.mjs";
import { log } from "../lib/terminal.mjs";
import { compile, inModule, usableGo } from "./build.mjs";

const sources = fileURLToPath(new URL(".", import.meta.url));
const pythonExecutor = "pulumi-language-python-exec";
const sdkModule = "github.com/pulumi/pulumi/sdk/v3";

/** They come with an official Pulumi. */
export const languageHosts = ["pulumi-language-yaml", "pulumi-language-python", "pulumi-language-go"];

/** The program of our own that stands for these, with code generation, and for Go's host at all. */
const companionFor = ["pulumi-language-nodejs", "pulumi-language-python", "pulumi-language-go"];

/** @returns {string} changes with every source, so that checkouts side by side have hosts of their own */
export function languagesVersion() {
  const hash = createHash("sha256").update(readFileSync(fileURLToPath(import.meta.url)));
  for (const folder of ["languages", "language-nodejs"].map((name) => join(sources, name)))
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort())
      if (name.includes(".")) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 12);
}

/**
 * Makes a bin folder with everything in the other Pulumi's, and the hosts: Pulumi warns about a host that is only on PATH.
 * @param {string} root
 * @param {string} pulumi a copy that was built here
 */
export async function addLanguages(root, pulumi) {
  const go = await usableGo();
  const bin = join(root, "bin");
  const released = join(root, "released");
  for (const folder of [bin, released]) mkdirSync(folder);
  log(
    "Building the language hosts of YAML, Python and Go from their sources, once for this user. It takes one to five minutes.",
  );
  const yaml = ["language", "converter"].map((kind) => `github.com/pulumi/pulumi-yaml/cmd/pulumi-${kind}-yaml`);
  const packages = [...yaml, "./companion"];
  await compile(go, bin, { name: "the hosts of YAML and Go", module: "languages", packages });
  // Its release is that of Node.js's host, so that both are compiled from the same packages.
  const python = `${sdkModule}/python/cmd/pulumi-language-python`;
  await compile(go, released, { name: "the host of Python", module: "language-nodejs", packages: [python] });
  // Where the sources lie that the hosts were compiled from.
  const asked = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", sdkModule];
  const sdk = (await succeed(go, asked, inModule("languages"))).trim();
  copyFileSync(join(sdk, "python", "cmd", pythonExecutor), join(released, pythonExecutor));
  for (const name of companionFor) linkSync(join(bin, "companion"), join(bin, name));
  for (const name of readdirSync(join(pulumi, "bin")))
    linkSync(join(pulumi, "bin", name), join(companionFor.includes(name) ? released : bin, name));
}
