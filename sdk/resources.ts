import {
  CustomResource,
  type CustomResourceOptions,
  type Input,
  output,
  type Resource,
  RunError,
} from "@pulumi/pulumi";
import { tetherIdOf } from "../provider/constants";
import {
  type AppCredFields,
  type AppCredProperties,
  type ConfigurationFields,
  type ConfigurationProperties,
  type ConsensusOf,
  type ConsortiumFields,
  type ConsortiumProperties,
  type ConsortiumZoneFields,
  type ConsortiumZoneProperties,
  type DestinationFields,
  type DestinationProperties,
  type EnvironmentFields,
  type EnvironmentProperties,
  type EnvironmentZoneFields,
  type EnvironmentZoneProperties,
  type InvitationFields,
  type InvitationProperties,
  type MembershipFields,
  type MembershipProperties,
  type NodeFields,
  type NodeProperties,
  type Outputs,
  type ServiceFields,
  type ServiceProperties,
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

/** The service, as the resource, or by its id and type and the ids of what it is in. */
export type InService =
  | {
      /** Service it belongs to; environment, consortium and membership follow from it. */
      service: Service;
      serviceId?: undefined;
      serviceType?: undefined;
      environmentId?: undefined;
      consortiumId?: undefined;
    }
  | {
      /** Id of the service it belongs to, instead of `service`; needs `serviceType` and the ids of environment and consortium, too. */
      serviceId: Input<string>;
      /** Type of that service: `documentstore` or `dataexchange`. */
      serviceType: Input<string>;
      /** Id of the environment that the service belongs to. */
      environmentId: Input<string>;
      /** Id of the consortium that the environment belongs to. */
      consortiumId: Input<string>;
      service?: undefined;
    };

type Flat = Record<string, Input<unknown>>;

/** What follows from a resource that is given in place of its id. */
const implied = (resource: Resource): Flat =>
  Environment.isInstance(resource)
    ? { consortiumId: resource.consortiumId }
    : Service.isInstance(resource)
      ? {
          serviceType: resource.service,
          environmentId: resource.environmentId,
          consortiumId: resource.consortiumId,
          membershipId: resource.membershipId,
        }
      : {};

/** Arguments that take a resource in place of its id. */
const references = new Set([
  ...["consortium", "environment", "membership", "service", "idRegistry", "zone"],
  ...["kms", "opsmetric", "backup", "networking", "nodeConfig", "baf"],
]);

/** Turns resources among the arguments into their ids. @throws where one is given twice: one of both would be ignored */
function flatten(what: string, args: object): Flat {
  const given = Object.entries(args) as [string, Input<unknown>][];
  const isResource = ([key, value]: (typeof given)[number]): boolean =>
    references.has(key) && CustomResource.isInstance(value);
  const ids: Flat = {};
  for (const [key, resource] of given.filter(isResource) as unknown as [string, CustomResource][]) {
    if ((args as Flat)[`${key}Id`] !== undefined)
      throw new RunError(`${what}: ${key} and ${key}Id are both given. Give ${key} alone.`);
    Object.assign(ids, { [`${key}Id`]: resource.id }, key === "idRegistry" ? {} : implied(resource));
  }
  const rest = given.filter((one) => !isResource(one) && one[1] !== undefined);
  return { ...ids, ...Object.fromEntries(rest) };
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

/** Resources in place of ids that a node names. */
export interface NodeReferences {
  /** Zone of the environment that it runs in, instead of `zoneId`. */
  zone?: EnvironmentZone;
  /** Configuration of its key management, instead of `kmsId`. */
  kms?: Configuration;
  /** Configuration of its metrics, instead of `opsmetricId`. */
  opsmetric?: Configuration;
  /** Configuration of its backups, instead of `backupId`. */
  backup?: Configuration;
  /** Configuration of its networking, instead of `networkingId`. */
  networking?: Configuration;
  /** Configuration of the client, instead of `nodeConfigId`. */
  nodeConfig?: Configuration;
  /** Configuration of its application firewall, instead of `bafId`. */
  baf?: Configuration;
}

export type NodeArgs = NodeFields & NodeReferences & InEnvironment & OfMembership;

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

export type ConsortiumZoneArgs = ConsortiumZoneFields & InConsortium;

export interface ConsortiumZone extends Outputs<ConsortiumZoneProperties> {}

/** A region of a cloud where environments of a consortium may run. */
export class ConsortiumZone extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is ConsortiumZone {
    return isOf("ConsortiumZone", value);
  }

  constructor(name: string, args: ConsortiumZoneArgs, opts?: CustomResourceOptions) {
    super("ConsortiumZone", name, { ...flatten(`ConsortiumZone ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads a zone that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): ConsortiumZone {
    return new ConsortiumZone(name, where as ConsortiumZoneArgs, external(id, opts));
  }
}

export type EnvironmentZoneArgs = EnvironmentZoneFields & InEnvironment;

export interface EnvironmentZone extends Outputs<EnvironmentZoneProperties> {}

/** A region of a cloud where nodes and services of an environment may run. */
export class EnvironmentZone extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is EnvironmentZone {
    return isOf("EnvironmentZone", value);
  }

  constructor(name: string, args: EnvironmentZoneArgs, opts?: CustomResourceOptions) {
    super("EnvironmentZone", name, { ...flatten(`EnvironmentZone ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads a zone that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InEnvironment, opts?: CustomResourceOptions): EnvironmentZone {
    return new EnvironmentZone(name, where as EnvironmentZoneArgs, external(id, opts));
  }
}

export type ConfigurationArgs = ConfigurationFields & InEnvironment & OfMembership;

export interface Configuration extends Outputs<ConfigurationProperties> {}

/** Settings that nodes of one member name. */
export class Configuration extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Configuration {
    return isOf("Configuration", value);
  }

  constructor(name: string, args: ConfigurationArgs, opts?: CustomResourceOptions) {
    super("Configuration", name, { ...flatten(`Configuration ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads a configuration that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InEnvironment, opts?: CustomResourceOptions): Configuration {
    return new Configuration(name, where as ConfigurationArgs, external(id, opts));
  }
}

export type ServiceArgs = ServiceFields & {
  /** Zone of the environment that it runs in, instead of `zoneId`. */
  zone?: EnvironmentZone;
} & InEnvironment &
  OfMembership;

export interface Service extends Outputs<ServiceProperties> {}

/** A service beside the ledger of an environment, such as `ipfs`. */
export class Service extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Service {
    return isOf("Service", value);
  }

  constructor(name: string, args: ServiceArgs, opts?: CustomResourceOptions) {
    super("Service", name, { ...flatten(`Service ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads a service that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InEnvironment, opts?: CustomResourceOptions): Service {
    return new Service(name, where as ServiceArgs, external(id, opts));
  }
}

export type InvitationArgs = InvitationFields & InConsortium;

export interface Invitation extends Outputs<InvitationProperties> {}

/** Invites a business of another organization to a consortium. */
export class Invitation extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Invitation {
    return isOf("Invitation", value);
  }

  constructor(name: string, args: InvitationArgs, opts?: CustomResourceOptions) {
    super("Invitation", name, { ...flatten(`Invitation ${name}`, args), orgName: args.orgName ?? name }, opts);
  }

  /** Reads an invitation that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): Invitation {
    return new Invitation(name, where as InvitationArgs, external(id, opts));
  }
}

export type DestinationArgs = DestinationFields & {
  /** Membership that owns the service, instead of `membershipId`; it follows from `service`. */
  membership?: Membership;
  /** Service of the type `idregistry` with which the membership is registered first, instead of `idRegistryId`. */
  idRegistry?: Service;
} & InService;

export interface Destination extends Outputs<DestinationProperties> {}

/** Where a member's documents or messages arrive. */
export class Destination extends Managed {
  /** Whether it is one, on either provider. Policies ask this of a value that has only its type. */
  static override isInstance(value: unknown): value is Destination {
    return isOf("Destination", value);
  }

  constructor(name: string, args: DestinationArgs, opts?: CustomResourceOptions) {
    super("Destination", name, { ...flatten(`Destination ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads a destination that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InService, opts?: CustomResourceOptions): Destination {
    return new Destination(name, where, external(id, opts));
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
