// @ts-check
/** The life of a small network in one project, and what it must print. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stack, on as onAdapter, stateEnv } from "../lib/stack.mjs";
import { install, on, succeed } from "./project.mjs";

/** @param {string} description */
const body = (description) => `
const consortium = new Consortium("trade", { description: "${description}" });
const environment = new Environment("ledger", { consortium, provider: "geth", consensusType: "poa" });
const membership = new Membership("harbour", { consortium });
const node = new Node("harbour-1", { environment, membership });
const login = new AppCred("harbour-app", { environment, membership });
`;
const names = "AppCred, Consortium, Environment, Membership, Node";

/** @param {import("./trials.mjs").Kind} kind @param {string} description @returns {Record<string, string>} */
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
 * @param {import("./trials.mjs").Trial} trial
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
