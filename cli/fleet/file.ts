import { readFileSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { readYaml } from "../../sdk/yaml/document";
import { lineOf, placed, type Problem, type Reading } from "../../sdk/yaml/problems";
import { checkShape } from "../../sdk/yaml/shape";
import { brokenRules, unset } from "./rules";
import {
  type Fleet,
  type FleetDefinition,
  FleetFile,
  type FleetStack,
  type Organization,
  organizationsOf,
  type PolicyPack,
  settingsOf,
  stackName,
} from "./schema";

/* Reads a fleet file: its form is in schema.ts, what must hold in it besides in rules.ts. */

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
  /** Whether secrets are needed. */
  secrets?: boolean;
  /** Whether its stacks must keep to the limits of the service: not where nothing is made of them. */
  limits?: boolean;
  /** The stacks that are wanted: only their secrets are needed. Default: all */
  wanted?: (fleet: Fleet) => readonly FleetStack[];
}

/** Reads a fleet file and all that it names. @throws FleetFileError with all errors, before anything is started */
export function readFleet(file: string, options: ReadOptions): Fleet {
  const { env, secrets = true, limits = true, wanted = ({ stacks }) => stacks } = options;
  const reading = readYaml(textOf(file), file, { one: "fleet", least: "organizations with their stacks" });
  const { problems } = reading;
  if (problems.length === 0) problems.push(...checkShape(reading, FleetFile));
  if (problems.length > 0) throw new FleetFileError(file, shown(reading, problems));
  const definition = FleetFile.parse(reading.value);
  const fleet = fleetOf(file, definition);
  const broken = brokenRules(definition, fleet, { limits });
  problems.push(...broken.problems);
  if (secrets && problems.length === 0) problems.push(...unset(definition, fleet, organizationsOf(wanted(fleet)), env));
  if (problems.length + broken.elsewhere.length > 0)
    throw new FleetFileError(file, [...shown(reading, problems), ...broken.elsewhere]);
  return fleet;
}

/** What an earlier text of a fleet file meant; undefined where it was none. */
export function earlierFleet(file: string, text: string): Fleet | undefined {
  const { data } = FleetFile.safeParse(readYaml(text, file, { one: "fleet", least: "organizations" }).value);
  return data && fleetOf(file, data);
}

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
  const { organizations, project = defaultProject(folder, file), concurrency = 4, backend, ...others } = definition;
  const { policyPacks = [], ...rest } = others;
  const hasProject = definition.project !== undefined;
  const all = Object.entries(organizations).map(([name, { stacks, ...organization }]) => {
    const owner: Organization = { name, ...organization };
    const own = Object.entries(stacks).map(([key, given]): FleetStack => {
      const { definition, program, name: network, adopt = false, dependsOn = [], paths = [] } = settingsOf(given);
      const base = { name: stackName(name, key), organization: owner, network, adopt, dependsOn };
      return {
        ...base,
        definition: at(definition),
        program: at(program),
        paths: paths.map((one) => resolve(folder, one)),
      };
    });
    return { owner, own };
  });
  return {
    file,
    folder,
    project,
    hasProject,
    concurrency,
    ...rest,
    backend: backend && absoluteBackend(backend, folder),
    organizations: all.map(({ owner }) => owner),
    stacks: all.flatMap(({ own }) => own),
    policyPacks: policyPacks.map((one) => packOf(one, folder)),
  };
}

/** A policy pack as it is given, relative to a folder. */
export function packOf(given: string | { path: string; config?: string }, folder: string): PolicyPack {
  const { path, config } = typeof given === "string" ? { path: given, config: undefined } : given;
  return { path: resolve(folder, path), config: config === undefined ? undefined : resolve(folder, config) };
}

/** `file://./state` means the folder beside the fleet file, wherever the command is run. */
export function absoluteBackend(backend: string, folder: string): string {
  const [, path] = /^file:\/\/(\.{1,2}(?:\/.*)?)$/.exec(backend) ?? [];
  return path === undefined ? backend : `file://${resolve(folder, path)}`;
}
