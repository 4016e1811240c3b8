// @ts-check
/** A user's project: the packed package and Pulumi's SDK, installed with one installer on one Node.js. */
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { nodeOf } from "../../tools/lib/nodes.mjs";
import { succeed } from "../../tools/lib/processes.mjs";

/** @typedef {{ major: number, version: string, bin: string }} NodeVersion bin: the folder with its program */

const majors = [20, 22, 24, 26];
const installLimitMs = 5 * 60_000;

/** Node.js of each major version, from npm's packages. @returns {Promise<NodeVersion[]>} */
export const nodeVersions = () =>
  Promise.all(
    majors.map(async (major) => {
      const bin = dirname(await nodeOf(`${major}`));
      const { version } = JSON.parse(readFileSync(join(bin, "..", "package.json"), "utf8"));
      return { major, version, bin };
    }),
  );

/** @type {Record<import("./trials.mjs").Installer, string[]>} */
const commands = {
  npm: ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"],
  pnpm: ["npx", "--yes", "pnpm@11.28.10", "install"],
  Yarn: ["npx", "--yes", "--package", "@yarnpkg/cli-dist@4.18.1", "yarn", "install"],
  Bun: ["npx", "--yes", "--package", "bun@1.4.5", "bun", "install"],
};

/** Files that an installer needs besides package.json. @type {Record<string, Record<string, string>>} */
const installerFiles = {
  pnpm: { ".npmrc": "engine-strict=true\n", "pnpm-workspace.yaml": "allowBuilds: { protobufjs: false }\n" },
  Yarn: {
    "yarn.lock": "",
    ".yarnrc.yml":
      "nodeLinker: node-modules\nenableTelemetry: false\nenableImmutableInstalls: false\nsupportedArchitectures: { os: [current], cpu: [current] }\n",
  },
  npm: { ".npmrc": "engine-strict=true\n" },
};

/** Puts a Node.js first on PATH. @param {NodeVersion} node @param {NodeJS.ProcessEnv} env */
export const on = (node, env) => ({ ...env, PATH: `${node.bin}${delimiter}${env.PATH}` });

/**
 * @param {string} folder
 * @param {import("./trials.mjs").Trial} trial
 * @param {string} tarball
 * @param {Record<string, string>} files
 */
export async function install(folder, { node, sdk, kind, installer }, tarball, files) {
  /** @type {Record<string, string>} */
  const tools =
    kind === "TypeScript 5" || kind === "TypeScript 6"
      ? { typescript: kind.slice(-1), "ts-node": "10", "@types/node": String(node.major) }
      : kind === "esbuild bundle"
        ? { esbuild: "0.28" }
        : {};
  const all = {
    ...installerFiles[installer],
    ...files,
    "package.json": JSON.stringify({
      name: "user",
      private: true,
      type: kind === "ESM" ? "module" : "commonjs",
      main: kind.startsWith("TypeScript") ? "index.ts" : "index.js",
      dependencies: { "@pulumi/pulumi": sdk, "pulumi-consortium": `file:${tarball}`, ...tools },
    }),
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
  const [command = "", ...args] = commands[installer];
  await succeed(command, args, { cwd: folder, env: on(node, process.env), timeoutMs: installLimitMs });
  if (kind !== "esbuild bundle") return;
  const external = ["--external:@pulumi/pulumi", "--external:pulumi-consortium/runtime"];
  const bundle = ["program.js", "--bundle", "--platform=node", "--outfile=index.js", ...external];
  await succeed(join(folder, "node_modules/.bin/esbuild"), bundle, { cwd: folder, env: on(node, process.env) });
}
