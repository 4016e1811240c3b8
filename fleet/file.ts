import { statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import {
  limits,
  didYouMean,
  groupBy,
  check,
  readFile,
  readNetwork,
  readYaml,
  lineOf,
  placed,
  type Problem,
  type Reading,
  checkShape,
  textOf,
} from "pulumi-consortium/internal/fleet";
import {
  type Fleet,
  type FleetDefinition,
  FleetFile,
  type FleetStack,
  type Organization,
  type PolicyPack,
} from "./schema";

/* Reads a fleet file: schema.ts has its form. */

/** Names all problems of a fleet file, each with its place. */
function refusal(file: string, reading: Reading, elsewhere: readonly string[] = []): Error {
  const all = [...placed(reading, reading.problems).map(lineOf), ...elsewhere];
  if (all.length === 1) return new Error(`${all[0]}\nNothing was started.`);
  return new Error(
    [`${file} has ${all.length} problems; nothing was started:`, ...all.map((one) => `  ${one}`)].join("\n"),
  );
}

/**
 * Reads a fleet file, and checks all files that it names.
 * @param options limits: whether the stacks must keep to the limits of the service
 * @throws with all problems
 */
export function readFleet(file: string, { limits = true } = {}): Fleet {
  const reading = readYaml(textOf(file), file, { one: "fleet", least: "organizations with their stacks" });
  const { problems } = reading;
  if (problems.length === 0) problems.push(...checkShape(reading, FleetFile));
  if (problems.length > 0) throw refusal(file, reading);
  const fleet = fleetOf(file, FleetFile.parse(reading.value));
  const elsewhere = brokenRules(fleet, problems, limits);
  if (problems.length + elsewhere.length > 0) throw refusal(file, reading, elsewhere);
  return fleet;
}

/** The fleet of an earlier text of the file; undefined if that was no fleet. */
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

function fleetOf(file: string, { organizations, policyPacks, ...definition }: FleetDefinition): Fleet {
  const folder = dirname(resolve(file));
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const owners = Object.entries(organizations).map(([name, { stacks, ...own }]) => ({
    organization: { name, ...own },
    stacks,
  }));
  const stacks = owners.flatMap(({ organization, stacks }) =>
    Object.entries(stacks).map(([key, given]): FleetStack => {
      const { name: owner } = organization;
      const { definition, program, name: network, paths, ...own } = given;
      return {
        ...own,
        name: `${owner}-${key}`,
        organization,
        network,
        definition: at(definition),
        program: at(program),
        paths: paths.map((one) => resolve(folder, one)),
        place: ["organizations", owner, "stacks", key],
      };
    }),
  );
  return {
    ...definition,
    file,
    folder,
    project: definition.project ?? defaultProject(folder, file),
    backend: definition.backend && absoluteBackend(definition.backend, folder),
    organizations: owners.map(({ organization }) => organization),
    stacks,
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

/* What must hold between the parts of a fleet file, and in the files that it names. */

/** Adds what is wrong in a fleet file to its problems. Returns what is wrong in its network files, as lines with their places. */
function brokenRules(fleet: Fleet, problems: Problem[], withLimits: boolean): string[] {
  const { stacks } = fleet;
  problems.push(...doubles(stacks), ...missing(stacks), ...missingPacks(fleet), ...unordered(stacks));
  const message = "there is no stack: write at least one network file under stacks";
  if (stacks.length === 0) problems.push({ path: ["organizations"], message });
  const networks = new Map(stacks.map((one) => [one.definition ?? "", one.network ?? one.place.at(-1)!]));
  const elsewhere = [...networks].flatMap(([file, name]) => (isThere(file) ? problemsOf(file, name) : []));
  if (withLimits && problems.length + elsewhere.length === 0) problems.push(...beyondLimits(stacks));
  return elsewhere;
}

function doubles(stacks: readonly FleetStack[]): Problem[] {
  return stacks.flatMap(({ name, place }, index) => {
    const other = stacks.slice(0, index).find((one) => one.name === name)?.place;
    if (!other) return [];
    const message = `this stack would be called ${name}, as ${other[1]}.${other[3]} is already: rename one of them`;
    return [{ path: place, message, atKey: true }];
  });
}

const missing = (stacks: readonly FleetStack[]): Problem[] =>
  stacks.flatMap(({ place: path, definition, program }): Problem[] => {
    if ((definition === undefined) === (program === undefined))
      return [{ path, message: "a stack must have either a definition (a network file) or a program (a folder)" }];
    if (definition !== undefined && !isThere(definition))
      return [{ path, message: `there is no network file ${definition}` }];
    if (program !== undefined && !isThere(join(program, "Pulumi.yaml")))
      return [{ path, message: `there is no Pulumi.yaml in ${program}` }];
    return [];
  });

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function problemsOf(file: string, name: string): string[] {
  const near = relative(process.cwd(), file) || basename(file);
  return check(name, readFile(file), undefined).problems.map((problem) => lineOf({ ...problem, file: near }));
}

/** Why a policy pack cannot be used: no pack in its folder, or no configuration file. */
export function problemOfPack({ path, config }: PolicyPack): string | undefined {
  if (!isThere(join(path, "PulumiPolicy.yaml"))) return `there is no PulumiPolicy.yaml in ${path}`;
  return config === undefined || isThere(config) ? undefined : `there is no file ${config}`;
}

const missingPacks = ({ policyPacks }: Fleet): Problem[] =>
  policyPacks.flatMap((pack, index) => {
    const message = problemOfPack(pack);
    return message === undefined ? [] : [{ path: ["policyPacks", index], message }];
  });

/** Dependencies that do not exist, and stacks that would wait for each other. */
function unordered(all: readonly FleetStack[]): Problem[] {
  const stacks = new Map(all.map((stack) => [stack.name, stack]));
  const leadsTo = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return stacks.get(from)?.dependsOn.some((next) => leadsTo(next, to, seen)) ?? false;
  };
  const messageOf = (name: string, one: string): string | undefined => {
    if (!stacks.has(one)) return `there is no stack ${one}${didYouMean(one, [...stacks.keys()])}`;
    if (one === name) return "a stack must not depend on itself";
    return leadsTo(one, name) ? `${one} also depends on ${name}: remove one of the two` : undefined;
  };
  return all.flatMap(({ name, dependsOn, place }) =>
    dependsOn.flatMap((one, index) => {
      const message = messageOf(name, one);
      return message === undefined ? [] : [{ path: [...place, "dependsOn", index], message }];
    }),
  );
}

/** Equal for two organizations that are the same organization, as far as the file shows it. */
const ownerOf = ({ region, baseUrl, organization, apiKey }: Organization): string =>
  JSON.stringify([region, baseUrl, organization ?? apiKey]);

/** Organizations whose network files have more consortia than the service allows. */
const beyondLimits = (stacks: readonly FleetStack[]): Problem[] =>
  [...groupBy(stacks, ({ organization }) => ownerOf(organization)).values()].flatMap((own): Problem[] => {
    let most: number = limits.consortia;
    const consortia = new Map<string, FleetStack>();
    for (const stack of own) {
      if (stack.definition === undefined) continue;
      const { name, definition } = readNetwork(stack.definition, stack.network);
      most = Math.max(most, definition.limits?.consortiaPerOrganization ?? 0);
      for (const { args } of check(name, definition, undefined).plan?.consortia ?? [])
        consortia.set(typeof args.adopt === "string" ? args.adopt : (args.name as string), stack);
    }
    const beyond = [...consortia.values()].at(most);
    if (beyond === undefined) return [];
    const all = [...consortia].slice(0, most + 1).map(([name, stack]) => `${name} of ${stack.name}`);
    if (consortia.size > all.length) all.push("…");
    const message =
      `the service allows ${most} consortia in an organization, and the stacks of ${beyond.organization.name} would have ` +
      `${consortia.size}: ${all.join(", ")}. If your organization allows more, set limits.consortiaPerOrganization in one of their network files`;
    return [{ path: beyond.place, message }];
  });
