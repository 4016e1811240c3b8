import { type CustomResourceOptions, type Input, type Output, output, RunError } from "@pulumi/pulumi";
import { tetherIdOf } from "../provider/constants";
import {
  type AppCredFields,
  type AppCredProperties,
  type ConsensusOf,
  type ConsortiumFields,
  type ConsortiumProperties,
  type EnvironmentFields,
  type EnvironmentProperties,
  type MembershipFields,
  type MembershipProperties,
  type NodeFields,
  type NodeProperties,
  type Outputs,
  type TetherServiceFields,
  type TetherServiceProperties,
} from "./generated";
import { isOf, Managed } from "./managed";

/* One class for each resource. Its outputs come from an interface of the same name: Pulumi sets them, and nothing is emitted. */

/** The consortium, as the resource or by its id. */
export type InConsortium =
  | {
      /** Consortium it belongs to. */
      consortium: Consortium;
      consortiumId?: undefined;
    }
  | {
      /** Id of the consortium it belongs to, instead of `consortium`. */
      consortiumId: Input<string>;
      consortium?: undefined;
    };

/** The environment, as the resource, or by its id and that of its consortium. */
export type InEnvironment =
  | {
      /** Environment it belongs to; the consortium follows from it. */
      environment: Environment;
      environmentId?: undefined;
      consortiumId?: undefined;
    }
  | {
      /** Id of the environment it belongs to, instead of `environment`; needs `consortiumId`, too. */
      environmentId: Input<string>;
      /** Id of the consortium that the environment belongs to. */
      consortiumId: Input<string>;
      environment?: undefined;
    };

/** The membership, as the resource or by its id. */
export type OfMembership =
  | {
      /** Membership that owns it. */
      membership: Membership;
      membershipId?: undefined;
    }
  | {
      /** Id of the membership that owns it, instead of `membership`. */
      membershipId: Input<string>;
      membership?: undefined;
    };

interface Parents {
  consortium?: Consortium;
  consortiumId?: Input<string>;
  environment?: Environment;
  environmentId?: Input<string>;
  membership?: Membership;
  membershipId?: Input<string>;
}

type Flat<T> = Omit<T, "consortium" | "environment" | "membership"> & Record<string, Input<unknown>>;

/** Turns parents that are given as resources into ids. @throws where one is given twice: one of both would be ignored */
function flatten<T extends Parents>(what: string, args: T): Flat<T> {
  const { consortium, environment, membership, ...rest } = args;
  for (const [key, parent] of Object.entries({ consortium, environment, membership })) {
    if (parent && args[`${key}Id` as keyof Parents] !== undefined)
      throw new RunError(`${what}: ${key} and ${key}Id are both given. Give ${key} alone.`);
  }
  const ids: Record<string, Output<string>> = {};
  if (consortium) ids.consortiumId = consortium.id;
  if (environment) Object.assign(ids, { environmentId: environment.id, consortiumId: environment.consortiumId });
  if (membership) ids.membershipId = membership.id;
  return { ...rest, ...ids };
}

/** Options to read what this stack does not manage, for the `get` of each class. */
const external = (id: Input<string>, opts?: CustomResourceOptions): CustomResourceOptions => ({ ...opts, id });

export type ConsortiumArgs = ConsortiumFields;

export interface Consortium extends Outputs<ConsortiumProperties> {}

/** A business network that several organizations run together. */
export class Consortium extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Consortium {
    return isOf("Consortium", value);
  }

  constructor(name: string, args: ConsortiumArgs = {}, opts?: CustomResourceOptions) {
    super("Consortium", name, { ...args, name: args.name ?? name }, opts);
  }

  /** Reads a consortium that is not managed by this stack. */
  static get(name: string, id: Input<string>, opts?: CustomResourceOptions): Consortium {
    return new Consortium(name, {}, external(id, opts));
  }
}

export type MembershipArgs = MembershipFields & InConsortium;

export interface Membership extends Outputs<MembershipProperties> {}

/** The part of one business in a consortium. */
export class Membership extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Membership {
    return isOf("Membership", value);
  }

  constructor(name: string, args: MembershipArgs, opts?: CustomResourceOptions) {
    super("Membership", name, { ...flatten(`Membership ${name}`, args), orgName: args.orgName ?? name }, opts);
  }

  /** Reads a membership that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): Membership {
    return new Membership(name, where, external(id, opts));
  }
}

type Client = keyof ConsensusOf;

/** Arguments of `Environment`. A client goes with a consensus protocol that it runs. */
export type EnvironmentArgs = { [C in Client]: EnvironmentFields<C> }[Client] & InConsortium;

export interface Environment extends Outputs<EnvironmentProperties> {}

/** A blockchain network: one ledger, with a client and a consensus protocol. */
export class Environment<C extends Client = Client> extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Environment {
    return isOf("Environment", value);
  }

  constructor(name: string, args: EnvironmentFields<C> & InConsortium, opts?: CustomResourceOptions) {
    super("Environment", name, { ...flatten(`Environment ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads an environment that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): Environment {
    return new Environment(name, where as EnvironmentArgs, external(id, opts));
  }
}

export type NodeArgs = NodeFields & InEnvironment & OfMembership;

export interface Node extends Outputs<NodeProperties> {}

/** A blockchain node that one member runs in an environment. */
export class Node extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Node {
    return isOf("Node", value);
  }

  constructor(name: string, args: NodeArgs, opts?: CustomResourceOptions) {
    const inputs = { ...flatten(`Node ${name}`, args), name: args.name ?? name };
    // An environment has room for few nodes, and a node keeps nothing of its own: `up --replace` can do with its name.
    super("Node", name, inputs, { deleteBeforeReplace: true, ...opts });
  }

  /** Reads a node that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InEnvironment, opts?: CustomResourceOptions): Node {
    return new Node(name, where as NodeArgs, external(id, opts));
  }
}

export type AppCredArgs = AppCredFields & InEnvironment & OfMembership;

export interface AppCred extends Outputs<AppCredProperties> {}

/** User name and password for the runtime endpoints of one member's nodes. */
export class AppCred extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is AppCred {
    return isOf("AppCred", value);
  }

  constructor(name: string, args: AppCredArgs, opts?: CustomResourceOptions) {
    super("AppCred", name, { ...flatten(`AppCred ${name}`, args), name: args.name ?? name }, opts);
  }
}

/** The tether service, by its id or by its address in the console. */
export type WhichTether =
  { tetherId: Input<string>; consoleUrl?: undefined } | { consoleUrl: Input<string>; tetherId?: undefined };

export type TetherServiceArgs = Omit<TetherServiceFields, "tetherId"> & WhichTether;

export interface TetherService extends Outputs<TetherServiceProperties> {}

/** Pins the state of an environment's ledger to a public chain. */
export class TetherService extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is TetherService {
    return isOf("TetherService", value);
  }

  constructor(name: string, args: TetherServiceArgs, opts?: CustomResourceOptions) {
    const { consoleUrl, ...rest } = args;
    if (consoleUrl !== undefined && rest.tetherId !== undefined)
      throw new RunError(`TetherService ${name}: tetherId and consoleUrl are both given. Give one of them.`);
    const fromUrl = consoleUrl && output(consoleUrl).apply(tetherIdOf);
    super("TetherService", name, { ...rest, tetherId: rest.tetherId ?? fromUrl }, opts);
  }
}
