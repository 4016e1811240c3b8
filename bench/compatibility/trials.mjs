// @ts-check
/** What is tried together: which Node.js, SDK, provider, kind of program and installer. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { on as onAdapter, Stack, stateEnv } from "../lib/stack.mjs";
import { succeed } from "../../tools/lib/processes.mjs";
import { install, on } from "./project.mjs";

/** The oldest SDK of the peer range, the newest for Node.js 20, and the newest. */
export const sdks = ["3.216.0", "3.248.0", "3.270.0"];
/** @type {Record<string, number>} The oldest Node.js that an SDK runs on, where it is not 20. */
const oldestNode = { "3.270.0": 22 };

/** @typedef {import("./project.mjs").NodeVersion} NodeVersion */
/** @typedef {"CommonJS" | "ESM" | "TypeScript 5" | "TypeScript 6" | "esbuild bundle"} Kind */
/** @typedef {"npm" | "pnpm" | "Yarn" | "Bun"} Installer */
/** @typedef {import("../lib/stack.mjs").Adapter} Adapter */
/**
 * @typedef {object} Trial
 * @property {string} title
 * @property {NodeVersion} node
 * @property {string} sdk
 * @property {Adapter} provider
 * @property {Kind} kind
 * @property {Installer} installer
 * @property {boolean} inSlice
 */

/**
 * @param {NodeVersion} node
 * @param {string} sdk
 * @param {Partial<Trial>} [other]
 * @returns {Trial}
 */
function trial(node, sdk, other = {}) {
  const { provider = "dynamic", kind = "CommonJS", installer = "npm", inSlice = false } = other;
  const title = `Node.js ${node.version}, SDK ${sdk}, ${provider} provider, ${kind}, ${installer}`;
  return { title, node, sdk, provider, kind, installer, inSlice };
}

const newest = /** @type {string} */ (sdks.at(-1));
const oldest = /** @type {string} */ (sdks[0]);

/** @param {NodeVersion[]} nodes @param {number} major */
const ofMajor = (nodes, major) => /** @type {NodeVersion} */ (nodes.find((node) => node.major === major));

/**
 * Every Node.js with every SDK that runs on it, on the dynamic provider, which rests on the SDK's host. The plugin with the newest of
 * each Node.js, and with the oldest of all: so each Node.js and each SDK is tried with it, too.
 * @param {NodeVersion[]} nodes
 */
export const lifeTrials = (nodes) =>
  nodes.flatMap((node) => {
    const fitting = sdks.filter((sdk) => node.major >= (oldestNode[sdk] ?? 20));
    const inSlice = (/** @type {string} */ sdk) => node.major === 24 && sdk === newest;
    const onPlugin = fitting.filter((sdk, at) => at === fitting.length - 1 || node.major === 20);
    return [
      ...fitting.map((sdk) => trial(node, sdk, { inSlice: inSlice(sdk) })),
      ...onPlugin.map((sdk) => trial(node, sdk, { provider: "plugin", inSlice: inSlice(sdk) })),
    ];
  });

/** Every kind of program with the newest of all, and with the oldest, which refuses TypeScript 6. @param {NodeVersion[]} nodes */
export const kindTrials = (nodes) =>
  /** @type {Kind[]} */ (["ESM", "TypeScript 5", "TypeScript 6", "esbuild bundle"]).flatMap((kind) => [
    trial(ofMajor(nodes, 24), newest, { kind, inSlice: kind === "ESM" }),
    ...(kind === "TypeScript 6" ? [] : [trial(ofMajor(nodes, 20), oldest, { kind })]),
  ]);

/** Every installer with the newest of all. @param {NodeVersion[]} nodes */
export const installerTrials = (nodes) =>
  /** @type {Installer[]} */ (["pnpm", "Yarn", "Bun"]).map((installer) =>
    trial(ofMajor(nodes, 24), newest, { installer }),
  );

/** The life of a small network in one project, and what it must print. */

/** @param {string} description */
const body = (description) => `
const consortium = new Consortium("trade", { description: "${description}" });
const environment = new Environment("ledger", { consortium, provider: "geth", consensusType: "poa" });
const membership = new Membership("harbour", { consortium });
const node = new Node("harbour-1", { environment, membership });
const credential = new AppCred("harbour-app", { environment, membership });
`;
const names = "AppCred, Consortium, Environment, Membership, Node";

/** @param {Kind} kind @param {string} description @returns {Record<string, string>} */
function program(kind, description) {
  const imported = `import { ${names} } from "pulumi-consortium";${body(description)}export const url = node.urls.rpc;\n`;
  const required = `const { ${names} } = require("pulumi-consortium");${body(description)}exports.url = node.urls.rpc;\n`;
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
 * @param {{ cli: import("../../tools/lib/pulumi-cli.mjs").PulumiCli, tarball: string, folder: string }} with_
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function live(trial, { cli, tarball, folder: parent }) {
  const { startService } = await import("pulumi-consortium/service");
  const folder = mkdtempSync(join(parent, "project-"));
  const service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
  const { kind, node, provider } = trial;
  const env = {
    ...on(node, { ...stateEnv(cli, folder) }),
    CONSORTIUM_BASE_URL: service.baseUrl,
    CONSORTIUM_API_KEY: service.apiKey,
    ...onAdapter(provider),
  };
  const stack = new Stack(folder, cli.command, env);
  const expectIn = (/** @type {string} */ text, /** @type {RegExp} */ pattern, /** @type {string} */ step) => {
    if (!pattern.test(text)) throw new Error(`${step}: expected ${pattern} in:\n${text}`);
  };
  const write = (/** @type {Record<string, string>} */ files) =>
    Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));
  try {
    const path = join(folder, "node_modules/pulumi-consortium/plugin");
    const plugins = `plugins: { providers: [{ name: consortium, path: ${JSON.stringify(path)} }] }\n`;
    mkdirSync(join(folder, "state"), { recursive: true });
    const project = { "Pulumi.yaml": `name: bench\nruntime: nodejs\n${provider === "plugin" ? plugins : ""}` };
    await install(folder, trial, tarball, { ...project, ...program(kind, "first") });
    await stack.ok(["stack", "init", "test"]);
    const up = ["up", "--yes", "--skip-preview"];
    expectIn((await stack.ok(up)).text, /\+ 6 created/, "up");
    expectIn((await stack.ok(["preview", "--expect-no-changes"])).text, /6 unchanged/, "unchanged");
    if (kind === "CommonJS") {
      write(program(kind, "second"));
      const pack = join(folder, "node_modules/pulumi-consortium/policy-pack");
      const { text } = await stack.ok([...up, "--policy-pack", pack]);
      expectIn(text, /1 updated/, "change");
      expectIn(text, /Policies:/, "policy pack");
      expectIn((await stack.ok(["refresh", "--yes", "--skip-preview"])).text, /6 unchanged/, "refresh");
      write({ "mocks.cjs": mocks });
      expectIn(await succeed("node", ["mocks.cjs"], { cwd: folder, env }), /mocked:c-id/, "mocks");
    }
    expectIn((await stack.ok(["destroy", "--yes", "--skip-preview"])).text, /6 deleted/, "destroy");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await service.close();
    stack.remove();
  }
}
