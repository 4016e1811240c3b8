import { statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import {
  limits,
  didYouMean,
  check,
  readFile,
  readNetwork,
  lineOf,
  type Path,
  type Problem,
} from "pulumi-consortium/internal/fleet";
import {
  type Fleet,
  type FleetDefinition,
  type FleetStack,
  type Organization,
  type PolicyPack,
  type SecretSource,
} from "./schema";

/* What must hold between the parts of a fleet file, and in the files that it names. */

interface Entry {
  /** Its key in the file. */
  key: string;
  path: Path;
  stack: FleetStack;
  /** The place of a setting. A stack that is only a network file has one place for all. */
  placeOf: (...setting: Path) => Path;
}

function entriesOf({ organizations }: FleetDefinition, { stacks }: Fleet): Entry[] {
  const all = Object.entries(organizations).flatMap(([organization, { stacks: own }]) =>
    Object.entries(own).map(([key, given]) => ({ key, given, path: ["organizations", organization, "stacks", key] })),
  );
  return all.map(({ key, given, path }, index) => ({
    key,
    path,
    stack: stacks[index]!,
    placeOf: (...setting) => (typeof given === "string" ? path : [...path, ...setting]),
  }));
}

/** The problems in a fleet file, and `elsewhere` those in its network files, as lines with their places. */
export function brokenRules(
  definition: FleetDefinition,
  fleet: Fleet,
  options: { limits: boolean },
): { problems: Problem[]; elsewhere: string[] } {
  const entries = entriesOf(definition, fleet);
  const elsewhere: string[] = [];
  const problems = [
    ...doubles(entries),
    ...emptiness(entries),
    ...missing(entries, elsewhere),
    ...missingPacks(fleet),
    ...unordered(entries),
  ];
  if (options.limits && problems.length + elsewhere.length === 0) problems.push(...beyondLimits(entries));
  return { problems, elsewhere };
}

function doubles(entries: readonly Entry[]): Problem[] {
  const seen = new Map<string, string>();
  return entries.flatMap(({ key, path, stack: { name, organization } }) => {
    const other = seen.get(name);
    seen.set(name, `${organization.name}.${key}`);
    if (other === undefined) return [];
    const message = `this stack would be called ${name}, as ${other} is already: rename one of them`;
    return [{ path, message, atKey: true }];
  });
}

const emptiness = (entries: readonly Entry[]): Problem[] =>
  entries.length > 0
    ? []
    : [{ path: ["organizations"], message: "there is no stack: write at least one network file under stacks" }];

/** Missing files. Adds the problems in network files to `elsewhere`. */
function missing(entries: readonly Entry[], elsewhere: string[]): Problem[] {
  const checked = new Set<string>();
  return entries.flatMap(({ key, path, stack: { definition, program, network }, placeOf }): Problem[] => {
    if ((definition === undefined) === (program === undefined))
      return [{ path, message: "a stack must have either a definition (a network file) or a program (a folder)" }];
    if (program !== undefined) {
      if (isThere(join(program, "Pulumi.yaml"))) return [];
      return [{ path: placeOf("program"), message: `there is no Pulumi.yaml in ${program}` }];
    }
    const file = definition!;
    if (!isThere(file)) return [{ path: placeOf("definition"), message: `there is no network file ${file}` }];
    if (!checked.has(file)) elsewhere.push(...problemsOf(file, network ?? key));
    checked.add(file);
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
function unordered(entries: readonly Entry[]): Problem[] {
  const stacks = new Map(entries.map(({ stack }) => [stack.name, stack]));
  const leadsTo = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return stacks.get(from)?.dependsOn.some((next) => leadsTo(next, to, seen)) ?? false;
  };
  return entries.flatMap(({ stack: { name, dependsOn }, placeOf }) =>
    dependsOn.flatMap((one, index): Problem[] => {
      const path = placeOf("dependsOn", index);
      if (!stacks.has(one))
        return [{ path, message: `there is no stack ${one}${didYouMean(one, [...stacks.keys()])}` }];
      if (!leadsTo(one, name)) return [];
      const message =
        one === name ? "a stack must not depend on itself" : `${one} also depends on ${name}: remove one of the two`;
      return [{ path, message }];
    }),
  );
}

/** Equal for two entries that are the same organization, as far as the file shows it. */
const ownerOf = ({ region, baseUrl, organization, apiKey }: Organization): string =>
  JSON.stringify([region, baseUrl, organization ?? apiKey]);

/** Organizations whose network files have more consortia than the service allows. */
function beyondLimits(entries: readonly Entry[]): Problem[] {
  const owners = new Map<string, { most: number; consortia: Map<string, Entry> }>();
  for (const entry of entries) {
    const { definition: file, organization } = entry.stack;
    if (file === undefined) continue;
    const { name, definition: network } = readNetwork(file, entry.stack.network);
    const owner = owners.get(ownerOf(organization)) ?? { most: limits.consortia, consortia: new Map<string, Entry>() };
    owners.set(ownerOf(organization), owner);
    owner.most = Math.max(owner.most, network.limits?.consortiaPerOrganization ?? 0);
    const { plan } = check(name, network, undefined);
    for (const { args } of plan?.consortia ?? [])
      owner.consortia.set(typeof args.adopt === "string" ? args.adopt : (args.name as string), entry);
  }
  return [...owners.values()].flatMap(({ most, consortia }): Problem[] => {
    const beyond = [...consortia.values()].at(most);
    if (beyond === undefined) return [];
    const all = [...consortia].slice(0, most + 1).map(([name, { stack }]) => `${name} of ${stack.name}`);
    if (consortia.size > all.length) all.push("…");
    const message =
      `the service allows ${most} consortia in an organization, and the stacks of ${beyond.stack.organization.name} would have ` +
      `${consortia.size}: ${all.join(", ")}. If your organization allows more, set limits.consortiaPerOrganization in one of their network files`;
    return [{ path: beyond.placeOf("definition"), message }];
  });
}

/** Unset variables, and a missing passphrase. */
export function unset(
  definition: FleetDefinition,
  { backend }: Fleet,
  needed: readonly Organization[],
  env: Record<string, string | undefined>,
): Problem[] {
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
