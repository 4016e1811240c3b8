import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { environmentName, version } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { plainResources, yamlForAll } from "./yaml";

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

const configKeys = (project: string) => [`${project}:network`, `${project}:name`] as const;

/** The configuration of that program. @param definition path of the network file, relative to the program or absolute */
export function programConfig(project: string, definition: string, { network }: FleetStack): Record<string, string> {
  const [file, name] = configKeys(project);
  return { [file]: definition, ...(network === undefined ? {} : { [name]: network }) };
}

/** The folder for what a fleet needs between runs: its program, settings of the stacks, logs and run records. */
export const workFolderOf = ({ folder, project }: Fleet): string => join(folder, ".consortium", "fleet", project);

/** Writes the Pulumi project of the fleet into its work folder, and links this package and Pulumi's into it. */
export function prepareWorkFolder(fleet: Fleet): string {
  const folder = workFolderOf(fleet);
  mkdirSync(join(folder, "logs"), { recursive: true });
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  const ours = createRequire(__filename);
  for (const [name, text] of Object.entries(programFiles(fleet.project, pluginsOf(pluginFile()))))
    writeChanged(join(folder, name), text);
  for (const name of ["pulumi-consortium", "@pulumi/pulumi"])
    link(dirname(realpathSync(ours.resolve(`${name}/package.json`))), join(folder, "node_modules", name));
  return folder;
}

/**
 * Writes the YAML program of a stack and returns its folder; undefined if Pulumi YAML cannot express the network file. The folder is in
 * the work folder: resources that are still on the dynamic provider find the package there.
 */
export function prepareYaml(workFolder: string, { project }: Fleet, stack: FleetStack): string | undefined {
  const { definition, network, name } = stack;
  const resources = definition && plainResources({ file: definition, network, stack: name, project });
  if (!resources) return undefined;
  const folder = join(workFolder, "programs", name);
  mkdirSync(folder, { recursive: true });
  const [runtime, stackConfigDir] = ["yaml", join("..", "..")];
  const plugins = pluginsOf(pluginFile());
  writeChanged(join(folder, "Pulumi.yaml"), yamlForAll({ name: project, runtime, stackConfigDir, plugins, resources }));
  return folder;
}

/** Whether the Pulumi on the PATH has its YAML host beside it, as every official one does. */
export function hasYamlHost({ PATH = "", Path = PATH }: NodeJS.ProcessEnv): boolean {
  const [pulumi, host] = ["pulumi", "pulumi-language-yaml"].map(
    (name) => name + (process.platform === "win32" ? ".exe" : ""),
  );
  const folder = Path.split(delimiter).find((one) => existsSync(join(one, pulumi!)));
  if (folder === undefined) return false;
  const own = dirname(realpathSync(join(folder, pulumi!)));
  return [folder, own].some((one) => existsSync(join(one, host!)));
}

/** Whether a stack may run as YAML: it has a network file, and nothing sets `consortium:plugin` to `false`. */
export function mayBeYaml(workFolder: string, { name, definition }: FleetStack, env: NodeJS.ProcessEnv): boolean {
  if (definition === undefined) return false;
  const { config } = settingsOf(join(workFolder, `Pulumi.${name}.yaml`));
  const said = env[environmentName("plugin")] || config?.["consortium:plugin"];
  return said === undefined || String(said) === "true";
}

/** Creates the folder of the state: Pulumi does not. */
export function prepareBackend({ backend = "" }: Fleet): void {
  if (backend.startsWith("file:///")) mkdirSync(fileURLToPath(backend), { recursive: true });
}

/** The provider plugin in this package. */
export function pluginFile(): string | undefined {
  const own = createRequire(__filename).resolve("pulumi-consortium/package.json");
  const file = join(dirname(realpathSync(own)), "plugin", "pulumi-resource-consortium");
  return existsSync(file) ? file : undefined;
}

const pluginsOf = (file: string | undefined): object | undefined =>
  file === undefined ? undefined : { providers: [{ name: "consortium", path: dirname(file) }] };

interface Settings {
  config?: Record<string, string | number | boolean>;
}

const settingsOf = (file: string): Settings =>
  ((existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined) as Settings | null | undefined) ?? {};

/** Sets the configuration of a stack with a network file. Its other settings, such as the salt, stay. */
export function configure(workFolder: string, { project }: Fleet, stack: FleetStack): void {
  if (stack.definition === undefined) return;
  const file = join(workFolder, `Pulumi.${stack.name}.yaml`);
  const settings = settingsOf(file);
  const others = Object.entries(settings.config ?? {}).filter(
    ([key]) => !(configKeys(project) as readonly string[]).includes(key),
  );
  const config = { ...Object.fromEntries(others), ...programConfig(project, stack.definition, stack) };
  writeChanged(file, yamlForAll({ ...settings, config }));
}

/** Leaves an unchanged file alone: another run may be reading it. */
function writeChanged(file: string, text: string): void {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
}

function link(target: string, path: string): void {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // There is none.
  }
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path, "junction");
}
