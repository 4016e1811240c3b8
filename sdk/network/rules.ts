import { tetherIdOf } from "../../provider/constants";
import { definitions } from "../../provider/resources";
import { type NetworkDefinition, type NetworkLimits } from "./generated";
import { type Plan, type Planned, type PlannedConsortium, type PlannedEnvironment } from "./plan";
import { type Path, type Problem } from "../yaml/problems";
import { references } from "./references";
import { usualLimits } from "./schema";
import { didYouMean } from "../../provider/core/suggest";

/** Checks the rules between the parts of a definition (spec, sections 2.2, 2.8 and 8). */
export function checkRules(plan: Plan, definition: NetworkDefinition): Problem[] {
  const { consortia } = plan;
  const checkLimit = limitsOf(definition.limits);
  return [
    ...form(definition),
    ...checkLimit("consortiaPerOrganization", consortia.length, ["consortia"]),
    ...uniqueEntries(consortia, "consortia"),
    ...consortia.flatMap((consortium) => inConsortium(consortium, checkLimit)),
    ...uniqueIds(
      consortia.flatMap(({ environments }) => environments.flatMap(({ tether }) => tether ?? [])),
      "tether service",
      ({ tetherId, consoleUrl }) => tetherId ?? (typeof consoleUrl === "string" ? tetherIdOf(consoleUrl) : undefined),
    ),
  ];
}

/** The name that must be unique. An object that is adopted by its id may share its name with another, as in the service. */
const nameIn = (args: Planned["args"], name = args.orgName ?? args.name): unknown =>
  typeof args.adopt === "string" ? undefined : name;

type Limit = keyof typeof usualLimits;

const limited: Record<Limit, string> = {
  consortiaPerOrganization: "an organization must have at most # consortia",
  environmentsPerConsortium: "a consortium must have at most # environments",
  nodesPerEnvironment: "an environment must have at most # nodes",
};

type CheckLimit = (limit: Limit, found: number, path: Path) => Problem[];

const limitsOf =
  (raised: NetworkLimits = {}): CheckLimit =>
  (limit, found, path) => {
    const most = raised[limit] ?? usualLimits[limit];
    if (found <= most) return [];
    const rule = limited[limit].replace("#", String(most));
    const message = `${rule}, but there are ${found}; if your organization allows more, raise limits.${limit}`;
    return [{ path, message, atKey: true }];
  };

/** A definition has either one consortium, or several under their keys. */
function form(definition: NetworkDefinition): Problem[] {
  const parts = ["consortium", "members", "zones", "invitations", "environments"] as const;
  const single = parts.filter((key) => definition[key] !== undefined);
  if (definition.consortia !== undefined) {
    return single.map((key) => {
      const message = `with several consortia, ${key} belongs in an entry of consortia`;
      return { path: [key], message, atKey: true };
    });
  }
  if (single.length > 0) return [];
  const message = "nothing is defined: set members (and environments), or consortia with their own";
  return [{ path: [], message, unless: [] }];
}

function inConsortium(
  { members, zones, invitations, environments, base }: PlannedConsortium,
  checkLimit: CheckLimit,
): Problem[] {
  return [
    ...uniqueEntries(members, "members"),
    ...uniqueZones(zones),
    ...uniqueEntries(invitations, "invitations"),
    ...uniqueEntries(environments, "environments"),
    ...checkLimit("environmentsPerConsortium", environments.length, [...base, "environments"]),
    ...environments.flatMap((environment) => [
      ...unknownMembers(environment, members, [...base, "members"]),
      ...inEnvironment(environment, checkLimit),
    ]),
  ];
}

/** Members that are mentioned but not defined. */
function unknownMembers(
  { owners, credentials, configurations, services }: PlannedEnvironment,
  members: readonly Planned[],
  where: Path,
): Problem[] {
  const keys = members.map(({ key }) => key);
  const named: { member?: string; memberPath: Path }[] = [...owners, ...credentials, ...configurations, ...services];
  const unknown = named.flatMap(({ member, memberPath }) =>
    member === undefined || keys.includes(member) ? [] : [{ member, memberPath }],
  );
  const each = new Map(unknown.map((one) => [one.memberPath.join("/"), one]));
  return [...each.values()].map(({ member, memberPath }) => {
    const message = `there is no member "${member}"${didYouMean(member, keys)}`;
    return { path: memberPath, message, atKey: memberPath.at(-1) === member, unless: where };
  });
}

function inEnvironment(environment: PlannedEnvironment, checkLimit: CheckLimit): Problem[] {
  const { path, args, nodes, credentials, zones, configurations, services, tether } = environment;
  const known = { provider: args.provider, consensusType: args.consensusType };
  return [
    ...(definitions.environment.steps?.rules?.(known, known) ?? []).map(({ property, reason }) => ({
      path: [...path, property],
      message: reason,
    })),
    ...checkLimit("nodesPerEnvironment", nodes.length, [...path, "nodes"]),
    ...uniqueEntries(nodes, "nodes"),
    ...uniqueEntries(credentials, "credentials", () => undefined),
    ...uniqueZones(zones),
    ...uniqueEntries(configurations, "configurations"),
    ...uniqueEntries(services, "services"),
    ...services.flatMap(({ destinations }) => uniqueEntries(destinations, "destinations", ({ name }) => name)),
    ...wrongReferences(environment),
    ...(tether ? whichTether(tether) : []),
  ];
}

const referable = {
  zones: { title: "zone", entries: ({ zones }: PlannedEnvironment) => zones },
  configurations: { title: "configuration", entries: ({ configurations }: PlannedEnvironment) => configurations },
  services: {
    title: "idregistry",
    entries: ({ services }: PlannedEnvironment) => services.filter(({ args }) => args.service === "idregistry"),
  },
} as const;

/** References to keys that do not exist, and those with an id besides. */
function wrongReferences(environment: PlannedEnvironment): Problem[] {
  return environment.references.flatMap(({ name, key, path, hasId }): Problem[] => {
    if (hasId) return [{ path, message: `set ${name} or ${name}Id, not both`, atKey: true }];
    const { title, entries } = referable[references[name]];
    const keys = entries(environment).map((one) => one.key);
    if (keys.includes(key)) return [];
    const message = `there is no ${title} "${key}" in this environment${didYouMean(key, keys)}`;
    return [{ path, message, unless: [...environment.path, references[name]] }];
  });
}

function whichTether({ path, args }: Planned): Problem[] {
  const { tetherId, consoleUrl } = args;
  if ((tetherId === undefined) !== (consoleUrl === undefined)) return [];
  const message =
    tetherId === undefined ? "set tetherId, or consoleUrl, which ends in it" : "set tetherId or consoleUrl, not both";
  return [{ path, message, atKey: true, unless: path }];
}

/** Keys, names, former keys and adopted objects of siblings must be unique. An id may be only a name, unique in its place. */
function uniqueEntries(
  entries: readonly Planned[],
  kinds: string,
  nameOf = (args: Planned["args"]) => nameIn(args),
  sameAs = (name: string, key: string) =>
    `its name "${name}" is also the name of "${key}": names of ${kinds} must be unique`,
): Problem[] {
  const keys = new Map<string, Planned>();
  const names = new Map<string, string>();
  const former = new Map<string, string>();
  const found: Problem[] = [];
  const say = ({ path }: Planned, message: string): void => void found.push({ path, message, atKey: true });
  for (const entry of entries) {
    const given = nameOf(entry.args);
    const name = typeof given === "string" ? given : undefined;
    const namesake = name === undefined ? undefined : names.get(name);
    if (keys.has(entry.key)) say(entry, `"${entry.key}" appears twice: keys of ${kinds} must be unique`);
    else if (namesake !== undefined) say(entry, sameAs(name!, namesake));
    keys.set(entry.key, entry);
    if (name !== undefined) names.set(name, entry.key);
  }
  for (const entry of entries) {
    for (const old of entry.formerly) {
      const other = former.get(old);
      if (keys.has(old)) say(entry, `formerly "${old}": "${old}" still exists`);
      else if (other !== undefined && other !== entry.key) say(entry, `formerly "${old}": "${other}" also claims it`);
      former.set(old, entry.key);
    }
  }
  return [...found, ...uniqueIds(entries, "adopted object", ({ adopt }) => adopt)];
}

/** Two zones of one region are the same zone, whatever their names. */
const uniqueZones = (zones: readonly Planned[]): Problem[] =>
  uniqueEntries(
    zones,
    "zones",
    (args) => nameIn(args, `${args.region as string} of ${args.cloud as string}`),
    (region, key) => `it is the same zone as "${key}": ${region}`,
  );

/** An object of the service may belong to one entry only. */
function uniqueIds(entries: readonly Planned[], what: string, idOf: (args: Planned["args"]) => unknown): Problem[] {
  const seen = new Map<string, string>();
  return entries.flatMap(({ args, path }) => {
    const id = idOf(args);
    if (typeof id !== "string") return [];
    const before = seen.get(id);
    seen.set(id, path.join("."));
    return before === undefined ? [] : [{ path, message: `${before} also has the ${what} ${id}`, atKey: true }];
  });
}
