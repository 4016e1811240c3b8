// @ts-check
/** A Pulumi project in a temporary folder, with its state beside it, for the real CLI. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { finished, neutralEnv } from "../../tools/lib/processes.mjs";
import { UserError } from "../../tools/lib/terminal.mjs";

/** @typedef {Record<string, string | undefined>} Env */

/** The time limit of a run. */
const limitMs = 5 * 60_000;
/** The tether service of measures and trials. */
export const tetherId = "t0bench000";
export const upArgs = ["up", "--yes", "--skip-preview"];

/** @typedef {"dynamic" | "plugin"} Adapter */

/** Where a project finds the provider plugin. @param {string} folder */
export const pluginsIn = (folder) =>
  `plugins: { providers: [{ name: consortium, path: ${JSON.stringify(folder)} }] }\n`;
/** Selects the provider of the classes. @param {Adapter} adapter */
export const on = (adapter) => ({ CONSORTIUM_PLUGIN: String(adapter === "plugin") });

export class Stack {
  /** @param {string} folder @param {string} command @param {Env} env */
  constructor(folder, command, env) {
    this.folder = folder;
    this.command = command;
    this.env = env;
  }

  /**
   * @param {PulumiCli} cli
   * @param {{ program?: string, files?: Record<string, string>, project?: string, env?: Env }} options the program: JavaScript
   */
  static async create(cli, { env = {}, ...project }) {
    const folder = mkdtempSync(join(tmpdir(), "consortium-bench-"));
    writeProject(folder, project);
    const stack = new Stack(folder, cli.command, { ...stateEnv(cli, folder), ...env });
    await stack.ok(["stack", "init", "test"]);
    return stack;
  }

  /** @param {string[]} args @param {Env} [env] */
  start(args, env = {}) {
    const all = [...args, "--non-interactive", "--color", "never"];
    const own = { cwd: this.folder, env: { ...this.env, ...env }, timeout: limitMs };
    return spawn(this.command, all, { ...own, stdio: ["ignore", "pipe", "pipe"] });
  }

  /** @param {string[]} args @param {Env} [env] */
  run = (args, env) => finished(this.start(args, env));

  /** @param {string[]} args @param {Env} [env] */
  async ok(args, env) {
    const ended = await this.run(args, env);
    if (ended.code !== 0) throw new UserError(`pulumi ${args.join(" ")} failed:\n${ended.text}`);
    return ended;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {{ program?: string, files?: Record<string, string>, project?: string }} options
 */
export function writeProject(folder, { program = "", files = {}, project = "bench" }) {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@pulumi"), { recursive: true });
  symlinkSync(root, join(modules, "pulumi-consortium"));
  const forTypeScript = "tsconfig.json" in files ? ["@types", "typescript", "ts-node"] : [];
  for (const name of ["@pulumi/pulumi", ...forTypeScript]) {
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  const all = {
    "Pulumi.yaml": `name: ${project}\nruntime: nodejs\n${pluginsIn(join(root, "plugin"))}`,
    "package.json": JSON.stringify({ name: "bench", main: "index.js" }),
    "index.js": program,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
}

/**
 * A neutral environment with the state in the folder.
 * @param {PulumiCli} cli
 * @param {string} folder
 * @returns {Env}
 */
export function stateEnv(cli, folder) {
  mkdirSync(join(folder, "state"), { recursive: true });
  const own = { PULUMI_BACKEND_URL: `file://${join(folder, "state")}`, PULUMI_CONFIG_PASSPHRASE: "bench" };
  return { ...neutralEnv(), ...cli.env, ...own };
}

/** @typedef {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} PulumiCli */
/** @typedef {{ cli: PulumiCli, module: typeof import("../../service/index.js") }} Tools */
/** @typedef {{ measure: string, target: string, measured: string, met: boolean }} Row a line of the published table */
/** @typedef {(tools: Tools) => Promise<Row[]>} Measure exported under its name from bench/measures */
