import { environmentsKey, tetherIdOf } from "../../provider/constants";
import { type kinds } from "../generated";
import { type Plan, type Planned, type PlannedConsortium, type PlannedEnvironment, type PlannedOf } from "./plan";

/* The resources of a plan, for whoever makes them: `make` in a program, the fleet as Pulumi YAML. Needs no SDK of Pulumi. */

export type Kind = keyof typeof kinds;

/** An argument that is what another resource of the network shows. */
export class Shown {
  constructor(
    readonly by: Part,
    readonly output: string,
  ) {}
}

/** One resource to be, as its class takes it. */
export interface Part {
  kind: Kind;
  planned: Planned<object>;
  /** Flat arguments, but for those that are not given. */
  args: Record<string, unknown>;
  /** Arguments that the plan calls something else. */
  called?: Record<string, string>;
  /** Earlier names, but for those that another resource of the same kind has now. */
  formerly: string[];
  deleteBeforeReplace?: boolean;
  ignoreChanges?: string[];
  dependsOn?: Part[];
}

export interface Options {
  /** What is kept in the service loses no ledger when its entry goes. */
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

/** Pulumi's SDK does a good deal for every argument, also for one that is left open: what is not given is not there. */
const given = (args: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));

function part(
  kind: Kind,
  planned: Planned<object>,
  more: Part["args"],
  siblings: readonly Planned<unknown>[] = [],
): Part {
  const isTaken = (name: string) => siblings.some((other) => other.names[0] === name);
  const formerly = planned.names.slice(1).filter((name) => !isTaken(name));
  return { kind, planned, args: { ...more, ...given(planned.args) }, formerly };
}

/** Every resource of a plan, each after those that it needs. */
export const partsOf = ({ consortia }: Plan, options: Options = {}): Part[] =>
  consortia.flatMap((consortium) => partsOfConsortium(consortium, options));

export function partsOfConsortium(plan: PlannedConsortium, { retainOnDelete }: Options = {}): Part[] {
  const environments = retainOnDelete ? {} : { [environmentsKey]: plan.environments.map(({ names }) => names) };
  const consortium = part("Consortium", plan, environments);
  const within = { consortiumId: new Shown(consortium, "id") };
  const members = new Map(plan.members.map((one) => [one.key, part("Membership", one, within)]));
  return [
    ...[consortium, ...members.values()],
    ...plan.environments.flatMap((one) => partsOfEnvironment(one, part("Environment", one, within), members)),
  ];
}

function partsOfEnvironment(plan: PlannedEnvironment, environment: Part, members: ReadonlyMap<string, Part>): Part[] {
  const within = ({ member }: PlannedOf<object>) => {
    const owner = members.get(member);
    return {
      environmentId: new Shown(environment, "id"),
      consortiumId: new Shown(environment, "consortiumId"),
      ...(owner && { membershipId: new Shown(owner, "id") }),
    };
  };
  const nodes = plan.nodes.map((one) => ({ ...part("Node", one, within(one), plan.nodes), deleteBeforeReplace: true }));
  const credentials = plan.credentials.map((one) => ({
    ...part("AppCred", one, { name: one.key, ...within(one) }, plan.credentials),
    // A new name would make a new pair: without one of its own it keeps that which it was made with.
    ...(one.args.name === undefined && { ignoreChanges: ["name"] }),
  }));
  return [
    environment,
    ...nodes,
    ...credentials,
    ...(plan.tether ? [{ ...tetherPart(plan.tether), dependsOn: [environment, ...nodes] }] : []),
  ];
}

function tetherPart(planned: NonNullable<PlannedEnvironment["tether"]>): Part {
  const { args, ...rest } = part("TetherService", planned, {});
  const { consoleUrl, ...others } = args;
  if (typeof consoleUrl !== "string") return { ...rest, args };
  return { ...rest, args: { ...others, tetherId: tetherIdOf(consoleUrl) }, called: { tetherId: "consoleUrl" } };
}
