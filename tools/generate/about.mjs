// @ts-check
/**
 * Copies the version and the repository from package.json to other files. Sources among these are compiled before the rest is generated
 * from them: `npm run generate` runs this file first.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/prepare.mjs";

/** @typedef {{ version: string, repository?: string | { url: string } }} About package.json */

/** @param {About} about @returns {string | undefined} the address of the repository */
export const addressOf = ({ repository }) =>
  (typeof repository === "string" ? repository : repository?.url)?.replace(/^git\+|\.git$/g, "");

/** The module of the SDK for Go, which `go get` looks for at the repository. Without one, programs replace it by a folder. @param {string | undefined} address */
export function goModuleOf(address) {
  const { hostname, pathname } = address ? new URL(address) : { hostname: "pulumi-consortium", pathname: "" };
  return `${hostname}${pathname}/sdk/go`;
}

const workspaces = ["console", "fleet", "service"];
const templates = ["javascript", "network-file", "typescript"];
const pages = ["docs/reference/fleet.md"];

/** @param {About} about @param {(path: string) => string} read @returns {Record<string, string>} path → text */
export function aboutFiles(about, read) {
  const { version, repository } = about;
  const address = addressOf(about) ?? "";
  /** @param {string} file @param {(manifest: any) => object} change */
  const changed = (file, change) => [file, `${JSON.stringify(change(JSON.parse(read(file))), undefined, 2)}\n`];
  const own = /(?<=pulumi-consortium@)\d+\.\d+\.\d+(-[\w.]+)?/g;
  return Object.fromEntries([
    ...workspaces.map((folder) =>
      changed(`${folder}/package.json`, (manifest) => ({
        ...manifest,
        version,
        ...(manifest.dependencies["pulumi-consortium"] && {
          dependencies: { ...manifest.dependencies, "pulumi-consortium": version },
        }),
        repository: repository && { type: "git", url: `git+${address}.git`, directory: folder },
      })),
    ),
    changed("policy-pack/package.json", (manifest) => ({ ...manifest, version })),
    ...templates.map((name) =>
      changed(`templates/${name}/package.json`, (manifest) => ({
        ...manifest,
        dependencies: { ...manifest.dependencies, "pulumi-consortium": `^${version}` },
      })),
    ),
    ...pages.map((file) => [file, read(file).replaceAll(own, version)]),
    [
      "provider/version.ts",
      read("provider/version.ts")
        .replace(/(?<=version = ")[^"]*/, version)
        .replace(/(?<=repository: string = ")[^"]*/, address)
        .replace(/(?<=goModule = ")[^"]*/, goModuleOf(address)),
    ],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
  for (const [file, text] of Object.entries(aboutFiles(JSON.parse(read("package.json")), read)))
    if (text !== read(file)) writeFileSync(join(root, file), text);
}
