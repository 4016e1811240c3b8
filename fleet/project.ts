import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import {
  environmentName,
  plainResources,
  programConfig,
  programFiles,
  yamlForAll,
} from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";

/** The folder for a fleet's files between runs: its program, settings of the stacks, logs and run records. */
export const workFolderOf = ({ folder, project }: Fleet): string => join(folder, ".consortium", "fleet", project);

/** Writes the Pulumi project of the fleet into its work folder, and links this package and Pulumi's into it. */
export function prepareWorkFolder(fleet: Fleet): string {
  const { project, backend = "" } = fleet;
  if (backend.startsWith("file:///")) mkdirSync(fileURLToPath(backend), { recursive: true }); // Pulumi does not
  const folder = workFolderOf(fleet);
  for (const inner of ["logs", "journal", "creates", "node_modules/@pulumi"])
    mkdirSync(join(folder, inner), { recursive: true });
  for (const [name, text] of Object.entries(programFiles(project, sdkVersion(), plugins())))
    writeChanged(join(folder, name), text);
  for (const name of ["pulumi-consortium", "@pulumi/pulumi"]) link(packageOf(name), join(folder, "node_modules", name));
  return folder;
}

/**
 * Writes the YAML program of a stack and returns its folder; undefined if the stack has no network file that Pulumi YAML can express, or
 * `consortium:plugin` is `false`. The folder is in the work folder: resources that are still on the dynamic provider find the
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

/** The version of Pulumi's SDK that is installed. */
export const sdkVersion = (): string =>
  (JSON.parse(readFileSync(join(packageOf("@pulumi/pulumi"), "package.json"), "utf8")) as { version: string }).version;

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

function settingsIn(workFolder: string, stack: string): { config?: Record<string, string | boolean> } {
  const file = settingsFile(workFolder, stack);
  return (existsSync(file) && (parse(readFileSync(file, "utf8")) as object | null)) || {};
}

/** Sets the configuration of a stack with a network file. Keeps its other settings, such as the salt. */
export function configure(workFolder: string, { project }: Fleet, stack: FleetStack): void {
  if (stack.definition === undefined) return;
  const { config, ...settings } = settingsIn(workFolder, stack.name);
  const own = { ...config, ...programConfig(project, stack.definition, stack.network) };
  if (stack.network === undefined) delete own[`${project}:name`];
  writeChanged(settingsFile(workFolder, stack.name), yamlForAll({ ...settings, config: own }));
}

/** Writes a file and its folder. Leaves an unchanged file alone: another run may be reading it. */
export function writeChanged(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function link(target: string, path: string): void {
  if (existsSync(path) && realpathSync(path) === target) return;
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path, "junction");
}
