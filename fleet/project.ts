import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { environmentName, plainResources, version, yamlForAll } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";

/**
 * The program that all stacks with network files share. The configuration of a stack names its file.
 * @param plugins the section of Pulumi.yaml that says where the provider plugin is
 */
export const programFiles = (project: string, plugins?: object): Record<string, string> => ({
  "Pulumi.yaml": yamlForAll({
    name: project,
    runtime: { name: "nodejs", options: { typescript: false } },
    ...(plugins && { plugins }),
  }),
  "package.json": `${JSON.stringify(
    {
      name: project,
      private: true,
      main: "index.js",
      dependencies: { "@pulumi/pulumi": "^3.216.0", "pulumi-consortium": `^${version}` },
    },
    undefined,
    2,
  )}\n`,
  "index.js": `"use strict";
const { Config } = require("@pulumi/pulumi");
const { Network } = require("pulumi-consortium");

// If the stack ran as YAML, its resources had no parent: each gets the alias for that.
let network;
const fromYaml = ({ name, props, opts }) => {
  const aliases = opts.aliases ?? [];
  if (opts.parent === undefined) {
    network = [name, ...aliases.map((alias) => alias.name)];
    return undefined;
  }
  const former = [{}, ...aliases].flatMap((alias) => {
    const own = alias.name ?? name;
    const names = own.startsWith(network[0]) ? network.map((one) => one + own.slice(network[0].length)) : [own];
    return names.map((one) => ({ ...alias, name: one, parent: undefined }));
  });
  return { props, opts: { ...opts, aliases: [...aliases, ...former] } };
};

const config = new Config();
const options = { name: config.get("name"), transformations: [fromYaml] };
Network.fromFile(config.require("network"), options);
`,
});

/** The configuration of that program. @param definition path of the network file, relative to the program or absolute */
export const programConfig = (
  project: string,
  definition: string,
  { network }: FleetStack,
): Record<string, string> => ({
  [`${project}:network`]: definition,
  ...(network !== undefined && { [`${project}:name`]: network }),
});

/** The folder for what a fleet needs between runs: its program, settings of the stacks, logs and run records. */
export const workFolderOf = ({ folder, project }: Fleet): string => join(folder, ".consortium", "fleet", project);

/** Writes the Pulumi project of the fleet into its work folder, and links this package and Pulumi's into it. */
export function prepareWorkFolder(fleet: Fleet): string {
  const { project, backend = "" } = fleet;
  if (backend.startsWith("file:///")) mkdirSync(fileURLToPath(backend), { recursive: true }); // Pulumi does not
  const folder = workFolderOf(fleet);
  for (const inner of ["logs", "journal", "creates", "node_modules/@pulumi"])
    mkdirSync(join(folder, inner), { recursive: true });
  for (const [name, text] of Object.entries(programFiles(project, plugins()))) writeChanged(join(folder, name), text);
  for (const name of ["pulumi-consortium", "@pulumi/pulumi"]) link(packageOf(name), join(folder, "node_modules", name));
  return folder;
}

/**
 * Writes the YAML program of a stack and returns its folder; undefined if Pulumi YAML cannot express the network file, or there is none,
 * or `consortium:plugin` is set to `false`. The folder is in the work folder: resources that are still on the dynamic provider find the
 * package there.
 */
export function prepareYaml(
  workFolder: string,
  { project }: Fleet,
  { name, definition, network }: FleetStack,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const isPlugin = env[environmentName("plugin")] || settingsIn(workFolder, name).config?.["consortium:plugin"];
  if (definition === undefined || ![undefined, true, "true"].includes(isPlugin)) return undefined;
  const resources = plainResources(definition, network, { stack: name, project });
  if (!resources) return undefined;
  const folder = join(workFolder, "programs", name);
  mkdirSync(folder, { recursive: true });
  const program = { name: project, runtime: "yaml", stackConfigDir: "../..", plugins: plugins(), resources };
  writeChanged(join(folder, "Pulumi.yaml"), yamlForAll(program));
  return folder;
}

/** Whether the Pulumi on the PATH has its YAML host beside it, as every official one does. */
export function hasYamlHost({ PATH = "", Path = PATH }: NodeJS.ProcessEnv): boolean {
  const end = process.platform === "win32" ? ".exe" : "";
  const pulumi = Path.split(delimiter)
    .map((folder) => join(folder, `pulumi${end}`))
    .find((file) => existsSync(file));
  const places = pulumi === undefined ? [] : [pulumi, realpathSync(pulumi)];
  return places.some((file) => existsSync(join(dirname(file), `pulumi-language-yaml${end}`)));
}

const packageOf = (name: string): string =>
  dirname(realpathSync(createRequire(__filename).resolve(`${name}/package.json`)));

/** The provider plugin in this package. */
export function pluginFile(): string | undefined {
  const file = join(packageOf("pulumi-consortium"), "plugin", "pulumi-resource-consortium");
  return existsSync(file) ? file : undefined;
}

/** The section of Pulumi.yaml that says where the plugin is. */
function plugins(): object | undefined {
  const file = pluginFile();
  return file === undefined ? undefined : { providers: [{ name: "consortium", path: dirname(file) }] };
}

const settingsFile = (workFolder: string, stack: string): string => join(workFolder, `Pulumi.${stack}.yaml`);

interface Settings {
  config?: Record<string, string | boolean>;
}

function settingsIn(workFolder: string, stack: string): Settings {
  const file = settingsFile(workFolder, stack);
  return (existsSync(file) && (parse(readFileSync(file, "utf8")) as Settings | null)) || {};
}

/** Sets the configuration of a stack with a network file. Its other settings, such as the salt, stay. */
export function configure(workFolder: string, { project }: Fleet, stack: FleetStack): void {
  if (stack.definition === undefined) return;
  const { config, ...settings } = settingsIn(workFolder, stack.name);
  const own = { ...config, ...programConfig(project, stack.definition, stack) };
  if (stack.network === undefined) delete own[`${project}:name`];
  writeChanged(settingsFile(workFolder, stack.name), yamlForAll({ ...settings, config: own }));
}

/** Leaves an unchanged file alone: another run may be reading it. */
function writeChanged(file: string, text: string): void {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
}

function link(target: string, path: string): void {
  if (existsSync(path) && realpathSync(path) === target) return;
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path, "junction");
}
