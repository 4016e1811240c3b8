import { readFileSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { readYaml, lineOf, placed, type Problem, type Reading, checkShape } from "pulumi-consortium/internal/fleet";
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

/* Reads a fleet file: schema.ts has its form, rules.ts what must hold besides. */

/** All problems of a fleet file, each with its place. */
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

interface ReadOptions {
  env: Env;
  /** Whether the variables of secrets must be set. Default: true */
  secrets?: boolean;
  /** Whether the stacks must keep to the limits of the service. Default: true */
  limits?: boolean;
  /** The stacks whose secrets are needed. Default: all */
  wanted?: (fleet: Fleet) => readonly FleetStack[];
}

/** Reads a fleet file, and checks all files that it names. @throws FleetFileError with all problems */
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

/** The fleet of an earlier text of the file; undefined if that was no fleet. */
export function earlierFleet(file: string, text: string): Fleet | undefined {
  const { data } = FleetFile.safeParse(readYaml(text, file, { one: "fleet", least: "organizations" }).value);
  return data && fleetOf(file, data);
}

/** The default project: `networks-fleet` for `networks/fleet.yaml`, so that two fleet files have two projects. */
function defaultProject(folder: string, file: string): string {
  const words = [basename(folder), basename(file, extname(file))].map((one) => one.replace(/[^A-Za-z0-9._-]+/g, "-"));
  return (
    words
      .filter(Boolean)
      .join("-")
      .slice(-longestProject)
      .replace(/^[^A-Za-z0-9]+/, "") || "fleet"
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

/** A policy pack with absolute paths. */
export function packOf(given: string | { path: string; config?: string }, folder: string): PolicyPack {
  const { path, config } = typeof given === "string" ? { path: given, config: undefined } : given;
  return { path: resolve(folder, path), config: config === undefined ? undefined : resolve(folder, config) };
}

/** The address of a backend. `file://./state` is relative to the folder. */
export function absoluteBackend(backend: string, folder: string): string {
  const [, path] = /^file:\/\/(\.{1,2}(?:\/.*)?)$/.exec(backend) ?? [];
  return path === undefined ? backend : `file://${resolve(folder, path)}`;
}
