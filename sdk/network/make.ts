import { type CustomResourceOptions, type Output, type Resource, secret } from "@pulumi/pulumi";
import * as generated from "../classes/generated";
import * as resources from "../resources";
import { processEnvironment } from "../../provider/api/environment";
import { argsOf, type Named, partsOfConsortium, Shown } from "./parts";
import { type Planned, type PlannedConsortium, type PlannedEnvironment } from "./plan";
import { Variable } from "./references";

/** The resources of one environment, each under its key. */
export interface NetworkEnvironmentResources {
  readonly environment: resources.Environment;
  readonly nodes: Readonly<Record<string, resources.Node>>;
  readonly credentials: Readonly<Record<string, generated.AppCred>>;
  readonly zones: Readonly<Record<string, resources.EnvironmentZone>>;
  readonly configurations: Readonly<Record<string, resources.Configuration>>;
  readonly services: Readonly<Record<string, resources.Service>>;
  /** By the key of their service, then by their own. */
  readonly destinations: Readonly<Record<string, Readonly<Record<string, resources.Destination>>>>;
  readonly tether?: resources.TetherService;
}

/** The resources of one consortium, each under its key. */
export interface NetworkConsortiumResources {
  readonly consortium: resources.Consortium;
  readonly members: Readonly<Record<string, resources.Membership>>;
  readonly zones: Readonly<Record<string, generated.ConsortiumZone>>;
  readonly invitations: Readonly<Record<string, generated.Invitation>>;
  readonly environments: Readonly<Record<string, NetworkEnvironmentResources>>;
}

/** The network's options that are passed to all parts. They inherit `protect` and providers from their parent. */
type Passed = Pick<CustomResourceOptions, "customTimeouts" | "retainOnDelete">;

type Make = new (name: string, args: object, options: CustomResourceOptions) => Resource;

const classes = { ...resources, ...generated };

const byKey = <P extends { key: string }, R>(planned: readonly P[], of: (one: P) => R): Record<string, R> =>
  Object.fromEntries(planned.map((one) => [one.key, of(one)]));

/** Replaces variables with the values of the environment. */
function withVariables(value: unknown): unknown {
  if (value instanceof Variable) return processEnvironment()[value.name];
  if (Array.isArray(value)) return value.map(withVariables);
  if (typeof value !== "object" || value?.constructor !== Object) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withVariables(one)]));
}

export function makeConsortium(
  plan: PlannedConsortium,
  network: Named,
  parent: Resource,
  passed: Passed,
): NetworkConsortiumResources {
  const made = new Map<Planned, Resource>();
  const at = <R extends Resource>(planned: Planned): R => made.get(planned) as R;
  const argument = (value: unknown): unknown =>
    value instanceof Shown ? at<Resource & Record<string, unknown>>(value.by.planned)[value.output] : value;
  const { customTimeouts, retainOnDelete } = passed;
  for (const part of partsOfConsortium(plan, network, passed)) {
    const { planned, formerly, deleteBeforeReplace, ignoreChanges, dependsOn } = part;
    const { protect } = planned;
    const options: CustomResourceOptions = {
      parent,
      customTimeouts,
      retainOnDelete,
      protect,
      deleteBeforeReplace,
      ignoreChanges,
      ...(dependsOn && { dependsOn: dependsOn.map((one) => at(one.planned)) }),
      aliases: formerly.map((name) => ({ name })),
    };
    const marked = (value: unknown): unknown => secret(withVariables(value));
    const args = Object.entries(argsOf(part, marked)).map(([key, value]) => [key, argument(value)]);
    made.set(
      planned,
      new (classes[part.className] as Make)(planned.names[0]!, Object.fromEntries(args) as object, options),
    );
  }
  const each = <R extends Resource>(planned: readonly Planned[]): Record<string, R> => byKey(planned, at<R>);
  const environmentOf = (one: PlannedEnvironment): NetworkEnvironmentResources => ({
    environment: at(one),
    nodes: each(one.nodes),
    credentials: each(one.credentials),
    zones: each(one.zones),
    configurations: each(one.configurations),
    services: each(one.services),
    destinations: byKey(one.services, ({ destinations }) => each<resources.Destination>(destinations)),
    ...(one.tether && { tether: at<resources.TetherService>(one.tether) }),
  });
  return {
    consortium: at(plan),
    members: each(plan.members),
    zones: each(plan.zones),
    invitations: each(plan.invitations),
    environments: byKey(plan.environments, environmentOf),
  };
}

/** The outputs of one environment. */
export interface NetworkEnvironmentOutputs extends Pick<resources.Environment, "id" | "chainId"> {
  /** Runtime endpoints of each node. */
  nodes: Record<string, Pick<resources.Node, "id" | "urls">>;
  /** Each credential; the password is secret. */
  credentials: Record<string, Pick<generated.AppCred, "username" | "password">>;
  zones: Record<string, Pick<resources.EnvironmentZone, "id">>;
  configurations: Record<string, Pick<resources.Configuration, "id">>;
  /** Addresses of each service and of its destinations. */
  services: Record<
    string,
    Pick<resources.Service, "id" | "urls"> & { destinations: Record<string, Pick<resources.Destination, "uri">> }
  >;
  /** The tether and the account that pays for its pins, if there is one. */
  tether?: Pick<resources.TetherService, "id" | "account">;
}

export const mapped = <T, R>(
  record: Readonly<Record<string, T>>,
  show: (one: T, key: string) => R,
): Record<string, R> => Object.fromEntries(Object.entries(record).map(([key, one]) => [key, show(one, key)]));

const ids = <T extends { id: Output<string> }>(record: Readonly<Record<string, T>>) =>
  mapped(record, ({ id }) => ({ id }));

const environmentOutputs = (one: NetworkEnvironmentResources): NetworkEnvironmentOutputs => ({
  id: one.environment.id,
  chainId: one.environment.chainId,
  nodes: mapped(one.nodes, ({ id, urls }) => ({ id, urls })),
  credentials: mapped(one.credentials, ({ username, password }) => ({ username, password: secret(password) })),
  zones: ids(one.zones),
  configurations: ids(one.configurations),
  services: mapped(one.services, ({ id, urls }, key) => {
    return { id, urls, destinations: mapped(one.destinations[key]!, ({ uri }) => ({ uri })) };
  }),
  ...(one.tether && { tether: { id: one.tether.id, account: one.tether.account } }),
});

export const outputsOf = (consortia: Readonly<Record<string, NetworkConsortiumResources>>) =>
  mapped(consortia, ({ consortium, members, zones, invitations, environments }) => ({
    id: consortium.id,
    members: ids(members),
    zones: ids(zones),
    invitations: ids(invitations),
    environments: mapped(environments, environmentOutputs),
  }));

/** The outputs of each consortium, by key. */
export type NetworkOutputs = ReturnType<typeof outputsOf>;
