import { contentsKey, tetherIdOf } from "../../provider/constants";
import { type ClassName } from "../../provider/constants";
import { sameName } from "../../provider/core/values";
import {
  type Plan,
  type Planned,
  type PlannedConsortium,
  type PlannedEnvironment,
  type PlannedOf,
  type PlannedService,
} from "./plan";
import { Reference, references } from "./references";

/* The resources of a plan. `make` creates them in a program; `programs` writes them as Pulumi YAML, for the fleet. Does not load Pulumi's SDK. */

/** An argument that is an output of another resource of the network. */
export class Shown {
  constructor(
    readonly by: Part,
    readonly output: string,
  ) {}
}

/** One planned resource, with the arguments of its class. */
export interface Part {
  className: ClassName;
  planned: Planned;
  /** The given arguments, flat. Within `details`, a `Variable` stands for its value. */
  args: Record<string, unknown>;
  /** Arguments that have another name in the plan. */
  called?: Record<string, string>;
  /** Earlier names, except those that another resource of the same kind has now. */
  formerly: string[];
  deleteBeforeReplace?: boolean;
  ignoreChanges?: string[];
  dependsOn?: Part[];
}

export interface Options {
  /** Objects that stay in the service lose no ledger when their entries are removed. */
  retainOnDelete?: boolean;
}

/** The arguments of a part; `secret` marks the secret ones. */
export function argsOf(
  { planned: { secrets = [] }, args, called = {} }: Part,
  secret: (value: unknown) => unknown,
): Record<string, unknown> {
  const isSecret = (key: string) => secrets.includes(called[key] ?? key);
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, isSecret(key) ? secret(value) : value]));
}

function part(className: ClassName, planned: Planned, more: Part["args"], siblings: readonly Planned[] = []): Part {
  const isTaken = (name: string) => siblings.some((other) => other.names[0] === name);
  const formerly = planned.names.slice(1).filter((name) => !isTaken(name));
  return { className, planned, args: { ...more, ...planned.args }, formerly };
}

/** The name of a network, and its former names. */
export type Named = Pick<Plan, "name" | "formerly">;

/** Every resource of a plan, each after those that it depends on. */
export const partsOf = ({ consortia, ...network }: Plan, options: Options = {}): Part[] =>
  consortia.flatMap((consortium) => partsOfConsortium(consortium, network, options));

/** These names, and the same under former names of the network. */
export const withFormer = (names: readonly string[], { name, formerly }: Named): string[] => {
  const within = names.filter((one) => one.startsWith(name)).map((one) => one.slice(name.length));
  return [...names, ...within.flatMap((rest) => formerly.map((other) => other + rest))];
};

export function partsOfConsortium(plan: PlannedConsortium, network: Named, { retainOnDelete }: Options = {}): Part[] {
  const contents = (inside: readonly Planned[]) =>
    retainOnDelete ? {} : { [contentsKey]: inside.map(({ names }) => withFormer(names, network)) };
  const consortium = part("Consortium", plan, contents(plan.environments));
  const within = { consortiumId: new Shown(consortium, "id") };
  const members = new Map(plan.members.map((one) => [one.key, part("Membership", one, within)]));
  const zones = plan.zones.map((one) => part("ConsortiumZone", one, within));
  return [
    ...[consortium, ...members.values(), ...zones],
    ...plan.invitations.map((one) => part("Invitation", one, within)),
    ...plan.environments.flatMap((one) =>
      partsOfEnvironment(one, part("Environment", one, { ...within, ...contents(one.nodes) }), members, zones),
    ),
  ];
}

function partsOfEnvironment(
  plan: PlannedEnvironment,
  environment: Part,
  members: ReadonlyMap<string, Part>,
  consortiumZones: readonly Part[],
): Part[] {
  const inside = {
    environmentId: new Shown(environment, "id"),
    consortiumId: new Shown(environment, "consortiumId"),
  };
  const groups: Record<(typeof references)[keyof typeof references], Map<string, Part>> = {
    zones: new Map(),
    configurations: new Map(),
    services: new Map(),
  };
  const make = (
    className: ClassName,
    one: Planned & Partial<Pick<PlannedOf, "member">>,
    { siblings, member = one.member }: { siblings?: readonly Planned[]; member?: string } = {},
  ): Part => {
    const owner = member === undefined ? undefined : members.get(member);
    const made = part(className, one, { ...inside, ...(owner && { membershipId: new Shown(owner, "id") }) }, siblings);
    return {
      ...made,
      args: Object.fromEntries(Object.entries(made.args).flatMap(([key, value]) => refer(key, value))),
    };
  };
  const refer = (argument: string, value: unknown): [string, unknown][] => {
    if (!(value instanceof Reference)) return [[argument, value]];
    const by = groups[references[value.name]].get(value.key);
    return by ? [[argument, new Shown(by, "id")]] : [];
  };
  for (const one of plan.zones) groups.zones.set(one.key, inZone(make("EnvironmentZone", one), consortiumZones));
  for (const one of plan.configurations) groups.configurations.set(one.key, make("Configuration", one));
  for (const one of plan.services) groups.services.set(one.key, make("Service", one));
  const nodes = plan.nodes.map((one) => ({
    ...make("Node", one, { siblings: plan.nodes }),
    deleteBeforeReplace: true,
  }));
  const credentials = plan.credentials.map((one) => keepingName(make("AppCred", one, { siblings: plan.credentials })));
  const destinationsOf = ({ key, destinations, member }: PlannedService): Part[] => {
    const service = groups.services.get(key)!;
    const which = { serviceId: new Shown(service, "id"), serviceType: new Shown(service, "service") };
    return destinations.map((one) => {
      const made = keepingName(make("Destination", one, { member }));
      return { ...made, args: { ...which, ...made.args } };
    });
  };
  return [
    environment,
    ...Object.values(groups).flatMap((parts) => [...parts.values()]),
    ...nodes,
    ...credentials,
    ...plan.services.flatMap(destinationsOf),
    ...(plan.tether ? [{ ...tetherPart(plan.tether), dependsOn: [environment, ...nodes] }] : []),
  ];
}

/** A new name would replace it, so without `name` in the file it keeps the name with which it was created. */
const keepingName = (made: Part): Part =>
  "name" in made.args ? made : { ...made, args: { name: made.planned.key, ...made.args }, ignoreChanges: ["name"] };

/** A zone of an environment depends on the consortium's zone of the same region, if there is one. */
function inZone(made: Part, consortiumZones: readonly Part[]): Part {
  const dependsOn = consortiumZones.filter(({ args }) =>
    ["region", "cloud"].every((key) => sameName(args[key], made.args[key])),
  );
  return dependsOn.length > 0 ? { ...made, dependsOn } : made;
}

function tetherPart(planned: NonNullable<PlannedEnvironment["tether"]>): Part {
  const { args, ...rest } = part("TetherService", planned, {});
  const { consoleUrl, ...others } = args;
  if (typeof consoleUrl !== "string") return { ...rest, args };
  return { ...rest, args: { ...others, tetherId: tetherIdOf(consoleUrl) }, called: { tetherId: "consoleUrl" } };
}
