// @ts-check
/** Combinations of Node.js, SDK, provider, kind of program and installer. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { nodeOf } from "../../tools/lib/nodes.mjs";
import { on, pluginsIn, Stack, stateEnv } from "../lib/stack.mjs";
import { succeed } from "../../tools/lib/processes.mjs";
import { table } from "../lib/report.mjs";

/** The oldest SDK of the peer range, the newest for Node.js 20, and the newest. */
const sdks = ["3.216.0", "3.248.0", "3.276.0"];
const [oldest = "", , newest = ""] = sdks;
/** The oldest Node.js that an SDK runs on, if that is not 20. @type {Record<string, number>} */
const oldestNode = { "3.276.0": 22 };

/** @typedef {"CommonJS" | "ESM" | "TypeScript 5" | "TypeScript 6" | "esbuild bundle"} Kind */
/** @typedef {"npm" | "pnpm" | "Yarn" | "Bun"} Installer */
/** @typedef {import("../lib/stack.mjs").Adapter} Adapter */
/** @typedef {{ title: string, node: NodeVersion, sdk: string, provider: Adapter, kind: Kind, installer: Installer }} Trial */

/** @param {NodeVersion} node @param {string} sdk @param {Partial<Trial>} [other] @returns {Trial} */
function trial(node, sdk, { provider = "dynamic", kind = "CommonJS", installer = "npm" } = {}) {
  const title = `Node.js ${node.version}, SDK ${sdk}, ${provider} provider, ${kind}, ${installer}`;
  return { title, node, sdk, provider, kind, installer };
}

/** @param {NodeVersion[]} nodes @returns {Trial[]} */
export function allTrials(nodes) {
  const ofMajor = (/** @type {number} */ major) =>
    /** @type {NodeVersion} */ (nodes.find((node) => node.major === major));
  // Every Node.js with every SDK that runs on it, on the dynamic provider, which relies on the SDK's host. The plugin with the newest SDK
  // of each Node.js, and with all on Node.js 20.
  const lives = nodes.flatMap((node) => {
    const fitting = sdks.filter((sdk) => node.major >= (oldestNode[sdk] ?? 20));
    return [
      ...fitting.map((sdk) => trial(node, sdk)),
      ...(node.major === 20 ? fitting : fitting.slice(-1)).map((sdk) => trial(node, sdk, { provider: "plugin" })),
    ];
  });
  // Every kind of program with the newest versions, and with the oldest, which refuse TypeScript 6.
  const kinds = /** @type {Kind[]} */ (["ESM", "TypeScript 5", "TypeScript 6", "esbuild bundle"]).flatMap((kind) => [
    trial(ofMajor(24), newest, { kind }),
    ...(kind === "TypeScript 6" ? [] : [trial(ofMajor(20), oldest, { kind })]),
  ]);
  const installers = /** @type {Installer[]} */ (["pnpm", "Yarn", "Bun"]).map((installer) =>
    trial(ofMajor(24), newest, { installer }),
  );
  return [...lives, ...kinds, ...installers];
}

/**
 * One table of all trials: a column for each SDK, with the tried providers in its cells.
 * @param {Trial[]} trials @param {(trial: Trial) => boolean | undefined} works
 */
export function matrix(trials, works) {
  const program = (/** @type {Pick<Trial, "kind" | "installer">} */ { kind, installer }) =>
    installer === "npm" ? kind : `${kind}, ${installer}`;
  const rows = new Map(trials.map((trial) => [`${trial.node.version} ${program(trial)}`, trial]));
  return table(
    ["Node.js", "program", ...sdks.map((sdk) => `SDK ${sdk}`)],
    [...rows.values()].map((row) => {
      const alike = trials.filter((one) => one.node === row.node && program(one) === program(row));
      const cell = (/** @type {string} */ sdk) =>
        alike.flatMap((one) => (one.sdk === sdk ? [works(one) ? one.provider : `**${one.provider} fails**`] : []));
      return [row.node.version, program(row), ...sdks.map((sdk) => cell(sdk).join(", ") || "–")];
    }),
  );
}

/* A user's project: the packed package and Pulumi's SDK, installed with one installer on one Node.js. */

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

/** @type {Record<Installer, string[]>} */
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
const onNode = (node, env) => ({ ...env, PATH: `${node.bin}${delimiter}${env.PATH}` });

/**
 * @param {string} folder
 * @param {Trial} trial
 * @param {string} tarball
 * @param {Record<string, string>} files
 */
async function install(folder, { node, sdk, kind, installer }, tarball, files) {
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
  await succeed(command, args, { cwd: folder, env: onNode(node, process.env), timeoutMs: installLimitMs });
  if (kind !== "esbuild bundle") return;
  const external = ["--external:@pulumi/pulumi", "--external:pulumi-consortium/runtime"];
  const bundle = ["program.js", "--bundle", "--platform=node", "--outfile=index.js", ...external];
  await succeed(join(folder, "node_modules/.bin/esbuild"), bundle, { cwd: folder, env: onNode(node, process.env) });
}

/** A small network on an explicit provider, and a lookup. @param {string} description */
const body = (description) => `
const own = { provider: new Provider("own", { apiKey: String(process.env.CONSORTIUM_API_KEY) }) };
const consortium = new Consortium("trade", { description: "${description}" }, own);
const environment = new Environment("ledger", { consortium, provider: "geth", consensusType: "poa" }, own);
const membership = new Membership("harbour", { consortium }, own);
const node = new Node("harbour-1", { environment, membership }, own);
const credential = new AppCred("harbour-app", { environment, membership }, own);
const seen = getConsortiaOutput({}, { ...own, dependsOn: consortium }).apply((all) => all.map(({ name }) => name));
`;
const names = "AppCred, Consortium, Environment, getConsortiaOutput, Membership, Node, Provider";

/** @param {Kind} kind @param {string} description @returns {Record<string, string>} */
function program(kind, description) {
  const imported = `import { ${names} } from "pulumi-consortium";${body(description)}export const url = node.urls.rpc;\nexport { seen };\n`;
  const required = `const { ${names} } = require("pulumi-consortium");${body(description)}exports.url = node.urls.rpc;\nexports.seen = seen;\n`;
  if (kind === "ESM") return { "index.js": imported };
  if (kind === "esbuild bundle") return { "program.js": required };
  if (kind === "CommonJS") return { "index.js": required };
  const compilerOptions = { strict: true, target: "ES2022", module: "Node16", moduleResolution: "Node16" };
  return { "index.ts": imported, "tsconfig.json": JSON.stringify({ compilerOptions }) };
}

const mocks = `
const pulumi = require("@pulumi/pulumi");
pulumi.runtime.setMocks({ newResource: ({ name, inputs }) => ({ id: name + "-id", state: inputs }), call: () => ({}) }).then(() => {
  const { Consortium, Membership } = require("pulumi-consortium");
  new Membership("m", { consortium: new Consortium("c") }).consortiumId.apply((id) => console.log("mocked:" + id));
});
`;

/**
 * @param {Trial} trial
 * @param {{ cli: import("../lib/stack.mjs").PulumiCli, tarball: string, folder: string }} given
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function live(trial, { cli, tarball, folder: parent }) {
  const { startService } = await import("pulumi-consortium/service");
  const folder = mkdtempSync(join(parent, "project-"));
  const service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
  const { kind, node, provider } = trial;
  const env = {
    ...onNode(node, stateEnv(cli, folder)),
    CONSORTIUM_BASE_URL: service.baseUrl,
    CONSORTIUM_API_KEY: service.apiKey,
    ...on(provider),
  };
  const stack = new Stack(folder, cli.command, env);
  const expectIn = (/** @type {string} */ text, /** @type {RegExp} */ pattern, /** @type {string} */ step) => {
    if (!pattern.test(text)) throw new Error(`${step}: expected ${pattern} in:\n${text}`);
  };
  const write = (/** @type {Record<string, string>} */ files) =>
    Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));
  try {
    const path = join(folder, "node_modules/pulumi-consortium/plugin");
    mkdirSync(join(folder, "state"), { recursive: true });
    const project = { "Pulumi.yaml": `name: bench\nruntime: nodejs\n${provider === "plugin" ? pluginsIn(path) : ""}` };
    await install(folder, trial, tarball, { ...project, ...program(kind, "first") });
    await stack.ok(["stack", "init", "test"]);
    const up = ["up", "--yes", "--skip-preview"];
    const made = (await stack.ok(up)).text;
    expectIn(made, /\+ 7 created/, "up");
    expectIn(made, /seen *: \[\s*(\[0\]: )?"trade"/, "lookup");
    expectIn((await stack.ok(["preview", "--expect-no-changes"])).text, /7 unchanged/, "unchanged");
    if (kind === "CommonJS") {
      write(program(kind, "second"));
      const pack = join(folder, "node_modules/pulumi-consortium/policy-pack");
      const { text } = await stack.ok([...up, "--policy-pack", pack]);
      expectIn(text, /1 updated/, "change");
      expectIn(text, /Policies:/, "policy pack");
      expectIn((await stack.ok(["refresh", "--yes", "--skip-preview"])).text, /7 unchanged/, "refresh");
      write({ "mocks.cjs": mocks });
      expectIn(await succeed("node", ["mocks.cjs"], { cwd: folder, env }), /mocked:c-id/, "mocks");
    }
    expectIn((await stack.ok(["destroy", "--yes", "--skip-preview"])).text, /7 deleted/, "destroy");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await service.close();
    stack.remove();
  }
}
