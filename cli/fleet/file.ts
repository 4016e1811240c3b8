import { readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { check, readFile } from "../../sdk/network/load";
import { readYaml } from "../../sdk/yaml/document";
import { lineOf, placed, type Problem, type Reading } from "../../sdk/yaml/problems";
import { checkShape } from "../../sdk/yaml/shape";
import { chosen, organizationsOf } from "./only";
import { FleetFile, type FleetDefinition, type SecretSource } from "./schema";

/** An organization of the file; its `organization` is the id of the one that the key has to belong to. */
export interface Organization extends Omit<FleetDefinition["organizations"][string], "stacks"> {
  name: string;
}

export interface FleetStack {
  /** `<organization>-<name in the file>`: the name of the Pulumi stack. */
  name: string;
  organization: Organization;
  /** A network file, absolute; or else `program`. */
  definition?: string;
  /** A folder with a Pulumi program, absolute. */
  program?: string;
  /** Name of the network. Default: what its file says. */
  network?: string;
  /** Adopts what is in the service already. */
  adopt: boolean;
}

/** The file with its defaults. Without `backend` it is that of PULUMI_BACKEND_URL, or where the user is logged in. */
export interface Fleet extends Omit<FleetDefinition, "organizations"> {
  /** As it was given. */
  file: string;
  /** The folder of the file, absolute: paths in it are relative to this one. */
  folder: string;
  project: string;
  /** Whether the file names its project. */
  hasProject: boolean;
  concurrency: number;
  organizations: Organization[];
  stacks: FleetStack[];
}

/** Everything that is wrong with a fleet file, each with its place. */
export class FleetFileError extends Error {
  override readonly name = "FleetFileError";
  constructor(
    file: string,
    readonly problems: readonly string[],
  ) {
    const all = [`${file} has ${problems.length} problems; nothing was started:`, ...problems.map((one) => `  ${one}`)];
    super(problems.length === 1 ? `${problems[0]}\nNothing was started.` : all.join("\n"));
  }
}

type Env = Record<string, string | undefined>;

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new FleetFileError(file, [`${file}: ${code === "ENOENT" ? "there is no such file" : message}`]);
  }
}

const shown = (reading: Reading, problems: readonly Problem[]): string[] => placed(reading, problems).map(lineOf);

export interface ReadOptions {
  env: Env;
  /** Whether secrets are needed, and so have to be there. */
  secrets?: boolean;
  /** Patterns of the stacks that are wanted: only their secrets are needed. */
  only?: readonly string[];
}

/** Reads a fleet file and all that it names. @throws FleetFileError with all errors, before anything is started */
export function readFleet(file: string, { env, secrets = true, only = [] }: ReadOptions): Fleet {
  const reading = readYaml(textOf(file), file, { one: "fleet", least: "organizations with their stacks" });
  const { problems } = reading;
  if (problems.length === 0) problems.push(...checkShape(reading, FleetFile));
  if (problems.length > 0) throw new FleetFileError(file, shown(reading, problems));
  const definition = FleetFile.parse(reading.value);
  const fleet = fleetOf(file, definition);
  const elsewhere: string[] = [];
  problems.push(...doubles(definition), ...emptiness(definition), ...missing(definition, fleet, elsewhere));
  if (secrets && problems.length === 0)
    problems.push(...unset(definition, fleet, organizationsOf(chosen(fleet, only)), env));
  if (problems.length + elsewhere.length > 0)
    throw new FleetFileError(file, [...shown(reading, problems), ...elsewhere]);
  return fleet;
}

type Given = FleetDefinition["organizations"][string]["stacks"][string];
const settingsOf = (given: Given) => (typeof given === "string" ? { definition: given } : given);

export const stackName = (organization: string, stack: string): string => `${organization}-${stack}`;

/** The project of a fleet file that named none, for earlier versions. */
export const legacyProject = "fleet";

/** `networks/fleet.yaml` is `networks-fleet`: two fleet files have two projects, unless they say otherwise. */
export function defaultProject(folder: string, file: string): string {
  const words = [basename(folder), basename(file, extname(file))].map((one) => one.replace(/[^A-Za-z0-9._-]+/g, "-"));
  return (
    words
      .filter(Boolean)
      .join("-")
      .slice(-longestProject)
      .replace(/^[^A-Za-z0-9]+/, "") || legacyProject
  );
}

const longestProject = 100;

function fleetOf(file: string, definition: FleetDefinition): Fleet {
  const folder = dirname(resolve(file));
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const { organizations, project = defaultProject(folder, file), concurrency = 4, backend, ...rest } = definition;
  const hasProject = definition.project !== undefined;
  const all = Object.entries(organizations).map(([name, { stacks, ...organization }]) => {
    const owner: Organization = { name, ...organization };
    const own = Object.entries(stacks).map(([key, given]): FleetStack => {
      const { definition, program, name: network, adopt = false } = { program: undefined, ...settingsOf(given) };
      const base = { name: stackName(name, key), organization: owner, network, adopt };
      return { ...base, definition: at(definition), program: at(program) };
    });
    return { owner, own };
  });
  return {
    ...{
      file,
      folder,
      project,
      hasProject,
      concurrency,
      ...rest,
      backend: backend && absoluteBackend(backend, folder),
    },
    organizations: all.map(({ owner }) => owner),
    stacks: all.flatMap(({ own }) => own),
  };
}

/** `file://./state` means the folder beside the fleet file, wherever the command is run. */
export function absoluteBackend(backend: string, folder: string): string {
  const [, path] = /^file:\/\/(\.{1,2}(?:\/.*)?)$/.exec(backend) ?? [];
  return path === undefined ? backend : `file://${resolve(folder, path)}`;
}

function* everyStack({ organizations }: FleetDefinition) {
  for (const [organization, { stacks }] of Object.entries(organizations))
    for (const [key, given] of Object.entries(stacks))
      yield { organization, key, given, path: ["organizations", organization, "stacks", key] };
}

function doubles(definition: FleetDefinition): Problem[] {
  const seen = new Map<string, string>();
  return [...everyStack(definition)].flatMap(({ organization, key, path }) => {
    const name = stackName(organization, key);
    const other = seen.get(name);
    seen.set(name, `${organization}.${key}`);
    if (other === undefined) return [];
    const message = `the name of this stack would be ${name}, which is that of ${other} already: rename one of them`;
    return [{ path, message, atKey: true }];
  });
}

function emptiness(definition: FleetDefinition): Problem[] {
  if ([...everyStack(definition)].length > 0) return [];
  return [{ path: ["organizations"], message: "there is no stack: write at least one network file under stacks" }];
}

/** Files that are not there; what is wrong inside of network files has places of its own. */
function missing(definition: FleetDefinition, { folder }: Fleet, elsewhere: string[]): Problem[] {
  const checked = new Set<string>();
  return [...everyStack(definition)].flatMap(({ key, given, path }): Problem[] => {
    const { definition: file, program, name } = { program: undefined, name: undefined, ...settingsOf(given) };
    const place = (setting: string): string[] => (typeof given === "string" ? path : [...path, setting]);
    if ((file === undefined) === (program === undefined))
      return [{ path, message: "a stack has either a definition (a network file) or a program (a folder)" }];
    if (program !== undefined) {
      if (isThere(join(folder, program, "Pulumi.yaml"))) return [];
      return [{ path: place("program"), message: `there is no Pulumi.yaml in ${join(folder, program)}` }];
    }
    const absolute = resolve(folder, file!);
    if (!isThere(absolute)) return [{ path: place("definition"), message: `there is no network file ${absolute}` }];
    if (!checked.has(absolute)) elsewhere.push(...problemsOf(absolute, name ?? key));
    checked.add(absolute);
    return [];
  });
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function problemsOf(file: string, name: string): string[] {
  const near = relative(process.cwd(), file) || basename(file);
  return check(name, readFile(file), undefined).problems.map((problem) => lineOf({ ...problem, file: near }));
}

/** Variables that are named, and not set; and a passphrase that the state will need. */
function unset(definition: FleetDefinition, { backend }: Fleet, needed: readonly Organization[], env: Env): Problem[] {
  const found: Problem[] = [];
  const look = (source: SecretSource | undefined, path: string[]): void => {
    if (source?.env !== undefined && !env[source.env])
      found.push({ path: [...path, "env"], message: `the environment variable ${source.env} is not set` });
  };
  for (const { name, apiKey } of needed) look(apiKey, ["organizations", name, "apiKey"]);
  look(definition.passphrase, ["passphrase"]);
  const where = backend ?? env.PULUMI_BACKEND_URL ?? "https://";
  const given = [env.PULUMI_CONFIG_PASSPHRASE, env.PULUMI_CONFIG_PASSPHRASE_FILE].some((one) => one !== undefined);
  const { passphrase, secretsProvider = "passphrase" } = definition;
  if (!where.startsWith("https://") && secretsProvider === "passphrase" && passphrase === undefined && !given) {
    const message =
      `the state in ${where} is encrypted with a passphrase: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE, ` +
      "or write passphrase: { env: NAME } or secretsProvider into this file";
    found.push({ path: ["backend"], message });
  }
  return found;
}
