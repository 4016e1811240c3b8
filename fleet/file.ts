import { statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import {
  didYouMean,
  check,
  groupBy,
  readFile,
  readYaml,
  type PlacedProblem,
  placed,
  type Problem,
  type Reading,
  checkShape,
  summaryOf,
  textOf,
  UserError,
} from "pulumi-consortium/internal/fleet";
import { beyondLimits } from "./consortia";
import { type Fleet, type FleetDefinition, FleetFile, type FleetStack, type PolicyPack, reached } from "./schema";

/* Reads a fleet file: schema.ts has its form. */

const refusal = (file: string, reading: Reading, elsewhere: readonly PlacedProblem[] = []): UserError =>
  new UserError("invalid-file", summaryOf(file, [...placed(reading, reading.problems), ...elsewhere], "started"));

export interface FleetRules {
  /** Whether to check the service's limits (default: yes). */
  limits?: boolean;
  /** A command's own checks. */
  rules?: (fleet: Fleet) => Problem[];
}

/**
 * Reads a fleet file, and checks all files that it names.
 * @throws with all problems
 */
export function readFleet(file: string, { limits = true, rules }: FleetRules = {}): Fleet {
  const reading = readYaml(textOf(file), file, { one: "fleet", least: "organizations with their stacks" });
  const { problems } = reading;
  if (problems.length === 0) problems.push(...checkShape(reading, FleetFile));
  if (problems.length > 0) throw refusal(file, reading);
  const fleet = fleetOf(file, FleetFile.parse(reading.value));
  const elsewhere = brokenRules(fleet, problems, limits);
  if (rules && problems.length + elsewhere.length === 0) problems.push(...rules(fleet));
  if (problems.length + elsewhere.length > 0) throw refusal(file, reading, elsewhere);
  return fleet;
}

/** The fleet of an earlier version of the file; undefined if that was not a valid fleet. */
export function earlierFleet(file: string, text: string): Fleet | undefined {
  const { data } = FleetFile.safeParse(readYaml(text, file, { one: "fleet", least: "organizations" }).value);
  return data && fleetOf(file, data);
}

const longestProject = 100;

/** The default project: `networks-fleet` for `networks/fleet.yaml`, so that two fleet files have two projects. */
function defaultProject(folder: string, file: string): string {
  const words = `${basename(folder)}-${basename(file, extname(file))}`.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  return words.slice(-longestProject).replace(/^[^A-Za-z0-9]+/, "") || "fleet";
}

function fleetOf(
  file: string,
  { organizations, policyPacks, parallel, concurrency, ...definition }: FleetDefinition,
): Fleet {
  const folder = dirname(resolve(file));
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const owners = Object.entries(organizations).map(([owner, { stacks, ...own }]) => {
    const organization = { name: owner, ...own };
    const made = Object.entries(stacks).map(
      ([key, { definition, program, name: network, paths, ...rest }]): FleetStack => ({
        ...rest,
        name: `${owner}-${key}`,
        organization,
        network,
        definition: at(definition),
        program: at(program),
        paths: paths.map((one) => resolve(folder, one)),
        place: ["organizations", owner, "stacks", key],
      }),
    );
    return { organization, stacks: made };
  });
  return {
    ...definition,
    parallel: parallel ?? concurrency ?? 4,
    file,
    folder,
    project: definition.project ?? defaultProject(folder, file),
    backend: definition.backend && absoluteBackend(definition.backend, folder),
    organizations: owners.map(({ organization }) => organization),
    stacks: owners.flatMap(({ stacks }) => stacks),
    policyPacks: policyPacks.map(({ path, config }) => ({ path: resolve(folder, path), config: at(config) })),
  };
}

/** The address of a backend. `file://./state` is relative to the folder. */
export function absoluteBackend(backend: string, folder: string): string {
  const [, path] = /^file:\/\/(\.{1,2}(?:\/.*)?)$/.exec(backend) ?? [];
  return path === undefined ? backend : `file://${resolve(folder, path)}`;
}

/* Checks between the parts of a fleet file, and of the files that it names. */

/** Adds the problems of a fleet file. Returns the problems of its network files. */
function brokenRules({ stacks, policyPacks }: Fleet, problems: Problem[], withLimits: boolean): PlacedProblem[] {
  const all = new Map(stacks.map((stack) => [stack.name, stack]));
  for (const stack of stacks)
    problems.push(...problemAt(stack.place, problemOfSource(stack)), ...unordered(stack, all));
  for (const [first, ...others] of groupBy(stacks, ({ name }) => name).values()) {
    const [, owner, , key] = first.place;
    const message = `the stack name ${first.name} is already used by ${owner}.${key}: rename one of them`;
    others.forEach(({ place: path }) => problems.push({ path, message, atKey: true }));
  }
  policyPacks.forEach((pack, index) => problems.push(...problemAt(["policyPacks", index], problemOfPack(pack))));
  const message = "no stacks: write at least one network file under stacks";
  if (stacks.length === 0) problems.push({ path: ["organizations"], message });
  const networks = new Map(stacks.map((one) => [one.definition ?? "", one.network ?? one.place.at(-1)!]));
  const elsewhere = [...networks].flatMap(([file, name]) => (isThere(file) ? problemsOf(file, name) : []));
  if (withLimits && problems.length + elsewhere.length === 0) problems.push(...beyondLimits(stacks));
  return elsewhere;
}

/** Why a stack has nothing to run. */
function problemOfSource({ definition, program }: FleetStack): string | undefined {
  if ((definition === undefined) === (program === undefined))
    return "a stack must have either a definition (a network file) or a program (a folder)";
  if (definition !== undefined && !isThere(definition)) return `the network file ${definition} does not exist`;
  if (program !== undefined && !isThere(join(program, "Pulumi.yaml"))) return `${program} has no Pulumi.yaml`;
  return undefined;
}

/** Why a policy pack cannot be used: its folder has no pack, or its configuration file does not exist. */
export function problemOfPack({ path, config }: PolicyPack): string | undefined {
  if (!isThere(join(path, "PulumiPolicy.yaml"))) return `${path} has no PulumiPolicy.yaml`;
  return config === undefined || isThere(config) ? undefined : `the file ${config} does not exist`;
}

/** Dependencies of a stack that do not exist or are circular. */
function unordered({ name, dependsOn, place }: FleetStack, all: ReadonlyMap<string, FleetStack>): Problem[] {
  const wrongIn = (one: string): string | undefined => {
    if (!all.has(one)) return `there is no stack ${one}${didYouMean(one, [...all.keys()])}`;
    if (one === name) return "a stack must not depend on itself";
    const isWaiting = reached(one, (next) => all.get(next)?.dependsOn ?? []).has(name);
    return isWaiting ? `${one} also depends on ${name}: remove one of the two` : undefined;
  };
  return dependsOn.flatMap((one, index) => problemAt([...place, "dependsOn", index], wrongIn(one)));
}

const problemAt = (path: Problem["path"], message: string | undefined): Problem[] =>
  message === undefined ? [] : [{ path, message }];

const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

function problemsOf(file: string, name: string): PlacedProblem[] {
  const near = relative(process.cwd(), file) || basename(file);
  return check(name, readFile(file), undefined).problems.map((problem) => ({ ...problem, file: near }));
}
