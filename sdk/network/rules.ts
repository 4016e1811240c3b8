import { definitions } from "../../provider/resources";
import { type NetworkDefinition } from "./generated";
import { type Plan, type Planned, type PlannedConsortium, type PlannedEnvironment } from "./plan";
import { type Path } from "./problems";
import { type Found } from "./reading";
import { usualLimits } from "./schema";
import { didYouMean } from "./suggest";

const count = (many: number, what: string): string => `${many} ${what}`;

/** What has to hold between the parts of a definition (spec, sections 2.2, 2.8 and 8). */
export function checkRules(plan: Plan, definition: NetworkDefinition): Found[] {
  const limits = { ...usualLimits, ...definition.limits };
  const environments = plan.consortia.flatMap((consortium) => consortium.environments);
  return [
    ...form(definition),
    ...tooMany(
      plan.consortia.length,
      limits.consortiaPerOrganization,
      "consortia",
      "an organization",
      "consortiaPerOrganization",
      ["consortia"],
    ),
    ...unique(plan.consortia, "consortia", ({ args }) => args.name),
    ...plan.consortia.flatMap((consortium) => inConsortium(plan, consortium, limits)),
    ...once(
      environments.flatMap(({ tether }) => (tether ? [tether] : [])),
      "tether service",
      ({ args }) => tetherIdOf(args),
    ),
    ...(["members", "environments", "nodes", "consortia"] as const).flatMap((kind) =>
      once(adoptable(plan)[kind], "adopted object", ({ args }) =>
        typeof args.adopt === "string" ? args.adopt : undefined,
      ),
    ),
  ];
}

type Adoptable = Planned<{ adopt?: unknown }>;

const adoptable = ({ consortia }: Plan): Record<"consortia" | "members" | "environments" | "nodes", Adoptable[]> => ({
  consortia: consortia,
  members: consortia.flatMap(({ members }) => members),
  environments: consortia.flatMap(({ environments }) => environments),
  nodes: consortia.flatMap(({ environments }) => environments.flatMap(({ nodes }) => nodes)),
});

const tetherIdOf = ({ tetherId, consoleUrl }: { tetherId?: string; consoleUrl?: string }): string | undefined =>
  tetherId ?? consoleUrl?.replace(/[/?#]+$/, "").slice(-10);

function form(definition: NetworkDefinition): Found[] {
  const single = (["consortium", "members", "environments"] as const).filter((key) => definition[key] !== undefined);
  if (definition.consortia === undefined) {
    if (single.length > 0) return [];
    return [{ path: [], message: "it names nobody: give members (and environments), or consortia with their own" }];
  }
  const message = `${single.join(", ")} ${single.length === 1 ? "belongs" : "belong"} into an entry of consortia, where there are several`;
  return single.length === 0 ? [] : [{ path: [single[0]!], message, atKey: true }];
}

function tooMany(found: number, most: number, what: string, owner: string, limit: string, path: Path): Found[] {
  if (found <= most) return [];
  const message = `${owner} has at most ${count(most, what)} (spec, section 8), and here are ${found}; if yours may have more, set limits.${limit}`;
  return [{ path, message, atKey: true }];
}

function inConsortium(plan: Plan, consortium: PlannedConsortium, limits: typeof usualLimits): Found[] {
  const { members, environments } = consortium;
  const path = plan.several ? [...consortium.path, "environments"] : ["environments"];
  return [
    ...unique(members, "members", ({ args }) => args.orgName),
    ...unique(environments, "environments", ({ args }) => args.name),
    ...tooMany(
      environments.length,
      limits.environmentsPerConsortium,
      "environments",
      "a consortium",
      "environmentsPerConsortium",
      path,
    ),
    ...environments.flatMap((environment) => inEnvironment(environment, members, limits)),
  ];
}

function inEnvironment(
  environment: PlannedEnvironment,
  members: readonly Planned<unknown>[],
  limits: typeof usualLimits,
): Found[] {
  const { path, args, nodes, credentials, owners, tether } = environment;
  const rules = definitions.environment.rules?.({ provider: args.provider, consensusType: args.consensusType }) ?? [];
  const keys = members.map(({ key }) => key);
  const strangers = new Map(
    [...owners, ...credentials]
      .filter(({ member }) => !keys.includes(member))
      .map((one) => [one.memberPath.join("/"), one]),
  );
  return [
    ...rules.map(({ property, reason }) => ({ path: [...path, property], message: reason })),
    ...[...strangers.values()].map(({ member, memberPath }) => ({
      path: memberPath,
      message: `there is no member "${member}"${didYouMean(member, keys)}`,
      atKey: memberPath.at(-1) === member,
    })),
    ...tooMany(nodes.length, limits.nodesPerEnvironment, "nodes", "an environment", "nodesPerEnvironment", [
      ...path,
      "nodes",
    ]),
    ...unique(nodes, "nodes", ({ args }) => args.name),
    ...unique(credentials, "credentials", () => undefined),
    ...(tether ? whichTether(tether) : []),
  ];
}

function whichTether({ path, args }: Planned<{ tetherId?: string; consoleUrl?: string }>): Found[] {
  if ((args.tetherId === undefined) !== (args.consoleUrl === undefined)) return [];
  const message =
    args.tetherId === undefined
      ? "give tetherId, or consoleUrl, whose last 10 characters are it"
      : "give tetherId or consoleUrl, not both";
  return [{ path, message, atKey: true }];
}

/** Keys, names and former keys of siblings do not meet. */
function unique<A>(entries: readonly Planned<A>[], kinds: string, nameOf: (entry: Planned<A>) => unknown): Found[] {
  const keys = new Map<string, Planned<A>>();
  const names = new Map<string, string>();
  const former = new Map<string, string>();
  const found: Found[] = [];
  const say = ({ path }: Planned<A>, message: string): void => void found.push({ path, message, atKey: true });
  for (const entry of entries) {
    const given = nameOf(entry);
    const name = typeof given === "string" ? given : undefined;
    const namesake = name === undefined ? undefined : names.get(name);
    if (keys.has(entry.key)) say(entry, `"${entry.key}" is there twice: each of the ${kinds} has its own key`);
    else if (namesake !== undefined)
      say(entry, `its name "${name!}" is that of "${namesake}", too: names of ${kinds} tell them apart`);
    keys.set(entry.key, entry);
    if (name !== undefined) names.set(name, entry.key);
  }
  for (const entry of entries) {
    for (const old of entry.formerly) {
      const other = former.get(old);
      if (keys.has(old)) say(entry, `formerly "${old}": but "${old}" is still there`);
      else if (other !== undefined && other !== entry.key) say(entry, `formerly "${old}": "${other}" says so, too`);
      former.set(old, entry.key);
    }
  }
  return found;
}

function once<A>(
  entries: readonly Planned<A>[],
  what: string,
  idOf: (entry: Planned<A>) => string | undefined,
): Found[] {
  const seen = new Map<string, string>();
  return entries.flatMap((entry) => {
    const id = idOf(entry);
    if (id === undefined) return [];
    const before = seen.get(id);
    seen.set(id, entry.path.join("."));
    return before === undefined
      ? []
      : [{ path: entry.path, message: `the ${what} ${id} is that of ${before}, too`, atKey: true }];
  });
}
