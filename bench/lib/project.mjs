// @ts-check
/** Pulumi projects in temporary folders: the quickstart, and the same program with empty dynamic resources. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../tools/lib/prepare.mjs";
import { run } from "../../tools/lib/processes.mjs";
import { Trouble } from "../../tools/lib/say.mjs";

/** @typedef {{ command: string, env: NodeJS.ProcessEnv, folder: string, version: string }} Project */
/** @typedef {{ at: number, program: string, event: string }} Event */
/** @typedef {{ startedAt: number, ms: number, events: Event[] }} Run */

const example = join(root, "examples", "quickstart");
const bench = fileURLToPath(new URL("..", import.meta.url));
const resources = 11;

/**
 * @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli
 * @param {"quickstart" | "empty"} kind
 * @returns {Promise<Project>}
 */
export async function makeProject(cli, kind) {
  const folder = mkdtempSync(join(tmpdir(), `consortium-bench-${kind}-`));
  for (const file of ["Pulumi.yaml", "index.ts", "package.json", "tsconfig.json"]) {
    cpSync(join(example, file), join(folder, file));
  }
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@pulumi"), { recursive: true });
  for (const name of ["@pulumi/pulumi", "@types", "typescript", "ts-node"]) {
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  if (kind === "quickstart") symlinkSync(root, join(modules, "pulumi-consortium"));
  else makeEmpty(folder);
  mkdirSync(join(folder, "state"));
  const others = Object.entries(process.env).filter(([name]) => !/^(PULUMI|CONSORTIUM)_/.test(name));
  const env = {
    ...Object.fromEntries(others),
    ...cli.env,
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
  };
  const project = { command: cli.command, env, folder, version: "" };
  await pulumi(project, ["stack", "init", "bench"]);
  await pulumi(project, ["config", "set", "tetherId", "t0benchmrk"]);
  return { ...project, version: (await pulumi(project, ["version"])).trim() };
}

/**
 * The program stays as it is, but for where its classes come from.
 * @param {string} folder
 */
function makeEmpty(folder) {
  const file = join(folder, "index.ts");
  const text = readFileSync(file, "utf8");
  const changed = text.replace('"pulumi-consortium"', '"./empty"');
  if (changed === text) throw new Trouble("the quickstart does not import pulumi-consortium");
  writeFileSync(file, changed);
  cpSync(join(bench, "programs", "empty.ts"), join(folder, "empty.ts"));
}

/**
 * @param {Project} project
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
async function pulumi({ command, folder, env: own }, args, env = {}) {
  const all = [...args, "--non-interactive", "--color", "never"];
  const { code, output } = await run(command, all, { cwd: folder, env: { ...own, ...env } });
  if (code !== 0) throw new Trouble(`pulumi ${args.join(" ")} failed:\n${output}`);
  return output;
}

/**
 * @param {Project} project
 * @param {{ traced?: boolean }} [options] traced: with a record of what its processes did when
 * @returns {Promise<Run>}
 */
export async function preview(project, { traced = false } = {}) {
  const record = join(project.folder, "trace.jsonl");
  rmSync(record, { force: true });
  const hook = `--require=${join(bench, "lib", "trace.cjs")}`;
  const env = traced ? { NODE_OPTIONS: hook, BENCH_TRACE: record } : {};
  const startedAt = performance.timeOrigin + performance.now();
  const output = await pulumi(project, ["preview"], env);
  const ms = performance.timeOrigin + performance.now() - startedAt;
  if (!output.includes(`+ ${resources + 1} to create`)) throw new Trouble(`unexpected preview:\n${output}`);
  const lines = existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : [];
  return { startedAt, ms, events: lines.map((line) => JSON.parse(line)) };
}
