import { type CustomResourceOptions, type Output, type Resource, secret } from "@pulumi/pulumi";
import { environmentsKey } from "../../provider/constants";
import {
  AppCred,
  Consortium,
  Environment,
  Membership,
  Node,
  TetherService,
  type TetherServiceArgs,
} from "../resources";
import { type Planned, type PlannedConsortium, type PlannedEnvironment } from "./plan";

/** The resources of one environment, each under its key. */
export interface NetworkEnvironmentResources {
  readonly environment: Environment;
  readonly nodes: Readonly<Record<string, Node>>;
  readonly credentials: Readonly<Record<string, AppCred>>;
  readonly tether?: TetherService;
}

/** The resources of one consortium, each under its key. */
export interface NetworkConsortiumResources {
  readonly consortium: Consortium;
  readonly members: Readonly<Record<string, Membership>>;
  readonly environments: Readonly<Record<string, NetworkEnvironmentResources>>;
}

/** What all parts get of the network's options; `protect` and providers come from the parent by themselves. */
type Passed = Pick<CustomResourceOptions, "customTimeouts" | "retainOnDelete">;

/** Earlier names, but for those that another resource of the same kind has now. */
const aliasesOf = (planned: Planned<unknown>, siblings: readonly Planned<unknown>[]): { name: string }[] =>
  planned.names
    .slice(1)
    .filter((name) => !siblings.some((other) => other.names[0] === name))
    .map((name) => ({ name }));

/** Pulumi's SDK does a good deal for every argument, also for one that is left open: what is not given is not there. */
function given<A extends object>({ args, secrets = [] }: Planned<A>): A {
  const known = Object.entries(args).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    known.map(([key, value]) => [key, secrets.includes(key) ? secret(value as unknown) : (value as unknown)]),
  ) as A;
}

const byKey = <P extends { key: string }, R>(planned: readonly P[], make: (one: P) => R): Record<string, R> =>
  Object.fromEntries(planned.map((one) => [one.key, make(one)]));

export function makeConsortium(plan: PlannedConsortium, parent: Resource, passed: Passed): NetworkConsortiumResources {
  const optionsOf = (planned: Planned<unknown>, siblings: readonly Planned<unknown>[] = []): CustomResourceOptions => ({
    parent,
    customTimeouts: passed.customTimeouts,
    retainOnDelete: passed.retainOnDelete,
    ...(planned.protect !== undefined && { protect: planned.protect }),
    aliases: aliasesOf(planned, siblings),
  });
  // What is kept in the service loses no ledger when its entry goes.
  const environments = passed.retainOnDelete ? undefined : plan.environments.map(({ names }) => names);
  const args = { ...given(plan), ...(environments && { [environmentsKey]: environments }) };
  const consortium = new Consortium(plan.names[0]!, args, optionsOf(plan));
  const members = byKey(
    plan.members,
    (member) => new Membership(member.names[0]!, { ...given(member), consortium }, optionsOf(member)),
  );

  const makeEnvironment = (planned: PlannedEnvironment): NetworkEnvironmentResources => {
    const environment = new Environment(planned.names[0]!, { ...given(planned), consortium }, optionsOf(planned));
    const nodes = byKey(planned.nodes, (node) => {
      const membership = members[node.member]!;
      return new Node(node.names[0]!, { ...given(node), environment, membership }, optionsOf(node, planned.nodes));
    });
    const credentials = byKey(planned.credentials, (one) => {
      const args = {
        name: one.key,
        ...given(one),
        environment,
        membership: members[one.member]!,
      };
      // A new name would make a new pair: without one of its own it keeps that which it was made with.
      const kept = one.args.name === undefined ? { ignoreChanges: ["name"] } : {};
      return new AppCred(one.names[0]!, args, { ...optionsOf(one, planned.credentials), ...kept });
    });
    const made = { environment, nodes, credentials };
    const { tether } = planned;
    if (!tether) return made;
    const options = { ...optionsOf(tether), dependsOn: [environment, ...Object.values(nodes)] };
    return { ...made, tether: new TetherService(tether.names[0]!, given(tether) as TetherServiceArgs, options) };
  };
  return { consortium, members, environments: byKey(plan.environments, makeEnvironment) };
}

/** What one environment shows. */
export interface NetworkEnvironmentOutputs extends Pick<Environment, "id" | "chainId"> {
  /** Runtime endpoints of each node. */
  nodes: Record<string, Pick<Node, "id" | "urls">>;
  /** Each credential; the password is secret. */
  credentials: Record<string, Pick<AppCred, "username" | "password">>;
  /** The account that pays for the pins, where there is a tether. */
  tether?: Pick<TetherService, "id" | "account">;
}

/** What each consortium shows, by key. */
export type NetworkOutputs = Record<
  string,
  {
    id: Output<string>;
    members: Record<string, { id: Output<string> }>;
    environments: Record<string, NetworkEnvironmentOutputs>;
  }
>;

const mapped = <T, R>(record: Readonly<Record<string, T>>, show: (one: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, one]) => [key, show(one)]));

const environmentOutputs = ({ environment, nodes, credentials, tether }: NetworkEnvironmentResources) => ({
  id: environment.id,
  chainId: environment.chainId,
  nodes: mapped(nodes, ({ id, urls }) => ({ id, urls })),
  credentials: mapped(credentials, ({ username, password }) => ({ username, password: secret(password) })),
  ...(tether && { tether: { id: tether.id, account: tether.account } }),
});

export const outputsOf = (consortia: Readonly<Record<string, NetworkConsortiumResources>>): NetworkOutputs =>
  mapped(consortia, ({ consortium, members, environments }) => ({
    id: consortium.id,
    members: mapped(members, ({ id }) => ({ id })),
    environments: mapped(environments, environmentOutputs),
  }));
