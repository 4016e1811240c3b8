import { CustomResource, type CustomResourceOptions, type Input, output, type Resource } from "@pulumi/pulumi";
import { type ClassName, classOf, contentsKey, tetherIdOf, unnamedKey } from "../provider/constants";
import {
  type ConfigurationFields,
  type ConfigurationProperties,
  type Client,
  type ConsortiumFields,
  type ConsortiumProperties,
  type DestinationFields,
  type DestinationProperties,
  type EnvironmentFields,
  type EnvironmentProperties,
  type EnvironmentZoneFields,
  type EnvironmentZoneProperties,
  type MembershipFields,
  type MembershipProperties,
  type NodeFields,
  type NodeProperties,
  type Outputs,
  type ServiceFields,
  type ServiceProperties,
  type TetherServiceFields,
  type TetherServiceProperties,
  classes,
} from "./generated";
import { Managed, namesOf } from "./managed";
import { references } from "./network/references";
import { programError } from "./provider";

/*
 * The classes that need code, and those that others refer to; `npm run generate` writes all others (classes/generated.ts). Outputs are
 * declared by an interface of the same name, because Pulumi sets them.
 */

/*
 * Each way to name a parent is an interface, because TypeScript then shows its name and not its members. Those by id come first
 * (in TypeScript 7: by their names), because TypeScript explains the last one where a parent is missing.
 */

interface ByConsortiumId {
  /** Id of the consortium it belongs to, instead of `consortium`. */
  consortiumId: Input<string>;
  consortium?: undefined;
}
interface WithConsortium {
  /** Consortium it belongs to. */
  consortium: Consortium;
  consortiumId?: undefined;
}
/** The consortium, as the resource or by its id. */
export type InConsortium = ByConsortiumId | WithConsortium;

interface ByEnvironmentId {
  /** Id of the environment it belongs to, instead of `environment`; also needs `consortiumId`. */
  environmentId: Input<string>;
  /** Id of the consortium that the environment belongs to. */
  consortiumId: Input<string>;
  environment?: undefined;
}
interface WithEnvironment {
  /** Environment it belongs to; the consortium follows from it. */
  environment: Environment;
  environmentId?: undefined;
  consortiumId?: undefined;
}
/** The environment, as the resource, or by its id and its consortium's id. */
export type InEnvironment = ByEnvironmentId | WithEnvironment;

interface ByMembershipId {
  /** Id of the membership that owns it, instead of `membership`. */
  membershipId: Input<string>;
  membership?: undefined;
}
interface WithMembership {
  /** Membership that owns it. */
  membership: Membership;
  membershipId?: undefined;
}
/** The membership, as the resource or by its id. */
export type OfMembership = ByMembershipId | WithMembership;

interface ByServiceId {
  /** Id of the service it belongs to, instead of `service`; also needs `serviceType` and the ids of environment and consortium. */
  serviceId: Input<string>;
  /** Type of that service: `documentstore` or `dataexchange`. */
  serviceType: Input<string>;
  /** Id of the environment that the service belongs to. */
  environmentId: Input<string>;
  /** Id of the consortium that the environment belongs to. */
  consortiumId: Input<string>;
  service?: undefined;
}
interface WithService {
  /** Service it belongs to; environment, consortium and membership follow from it. */
  service: Service;
  serviceId?: undefined;
  serviceType?: undefined;
  environmentId?: undefined;
  consortiumId?: undefined;
}
/** The service, as the resource, or by its id and type and the ids of its environment and consortium. */
type InService = ByServiceId | WithService;

type Flat = Record<string, Input<unknown>>;

/** The ids that follow from a resource besides its own. */
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
const resourceArguments = new Set(["consortium", "environment", "membership", "service", ...Object.keys(references)]);

/** The arguments, which JavaScript lets a program leave out. */
function given<Args extends object>(what: string, args: Args | undefined): Args {
  if (args) return args;
  const least = "{ consortium }, { environment } or { tetherId }";
  throw programError("missing-argument", `${what}: missing arguments: pass at least the parent, e.g. ${least}.`);
}

/** Turns resources among the arguments into their ids. @throws if both a resource and its id are given: one would be ignored */
function flatten(what: string, args: object): Flat {
  const all = Object.entries(given(what, args)) as [string, Input<unknown>][];
  const isResource = ([key, value]: (typeof all)[number]): boolean =>
    resourceArguments.has(key) && CustomResource.isInstance(value);
  const ids: Flat = {};
  for (const [key, resource] of all.filter(isResource) as unknown as [string, CustomResource][]) {
    if ((args as Flat)[`${key}Id`] !== undefined)
      throw programError("invalid-argument", `${what}: ${key} and ${key}Id are both given. Give ${key} alone.`);
    Object.assign(ids, { [`${key}Id`]: resource.id }, key === "idRegistry" ? {} : implied(resource));
  }
  const rest = all.filter((one) => !isResource(one) && one[1] !== undefined);
  return { ...ids, ...Object.fromEntries(rest) };
}

/** A class of resources with a constructor that takes `Args`. */
interface ResourceClass<Self, Args> {
  new (name: string, args: Args, opts?: CustomResourceOptions): Managed;
  /** Whether a value is of this class, on either provider. Policies ask this of a value that has only its type. */
  isInstance(value: unknown): value is Self;
}

/** A class of resources that can be read by their id and `Place`. */
export interface ReadableClass<Self, Args, Place> extends ResourceClass<Self, Args> {
  /** Reads an object that this stack does not manage. */
  get(name: string, id: Input<string>, where: Place, opts?: CustomResourceOptions): Self;
}

/**
 * Base of a class: its inputs are flat, and the object is named after the resource by default.
 * @param usual options that a program may override
 */
function resource<Self, Args extends object>(
  className: ClassName,
  usual?: CustomResourceOptions,
): ResourceClass<Self, Args> {
  const nameKey = classes[className].outputs.find((key) => key === "name" || key === "orgName");
  return class extends Managed {
    static override isInstance(value: unknown): value is Self & Managed {
      return classOf(String((value as { __pulumiType?: unknown } | undefined)?.__pulumiType)) === className;
    }

    constructor(name: string, args: Args, opts?: CustomResourceOptions) {
      const inputs = flatten(`${className} ${name}`, args);
      const isNamed = nameKey === undefined || inputs[nameKey] !== undefined;
      const named = isNamed ? inputs : { ...inputs, [nameKey]: name, [unnamedKey]: true };
      super(className, name, named, usual ? { ...usual, ...opts } : opts);
    }
  };
}

/** The same, with `get`. */
export function readable<Self, Args extends object, Place extends object>(
  className: ClassName,
  usual?: CustomResourceOptions,
): ReadableClass<Self, Args, Place> {
  return class extends resource<Self, Place>(className, usual) {
    static get(name: string, id: Input<string>, where: Place, opts?: CustomResourceOptions): Managed {
      return new this(name, where, { ...opts, id });
    }
  } as unknown as ReadableClass<Self, Args, Place>;
}

/** The children that a program of classes declares in a consortium or an environment: their names, and whether one is deleted with it. */
interface Declared {
  names: (string[] | undefined)[];
  deletedWith?: true;
}
const declaredIn = new WeakMap<Resource, Declared>();

/** Records a child, unless it is only read, or stays in the service when its resource is deleted. */
function declare(inside: Resource | undefined, name: string, opts: CustomResourceOptions = {}): void {
  const declared = inside && declaredIn.get(inside);
  if (!declared || opts.id !== undefined || opts.retainOnDelete) return;
  declared.names.push(namesOf(name, opts));
  if (opts.deletedWith) declared.deletedWith = true;
}

/**
 * The names of children that a consortium or an environment passes to its provider. A preview asks no provider about deletions, but it asks
 * about the parent. undefined: not all names are known.
 */
const classesIn = ({ names, deletedWith }: Declared): object | undefined => {
  const more = deletedWith && { deletedWith };
  const known = names.filter((one) => one !== undefined);
  return known.length < names.length ? more : { classes: known, ...more };
};

/** The argument with these names. A parent that is only read, or stays in the service, loses nothing. */
const contents = (declared: Declared, opts: CustomResourceOptions = {}) =>
  opts.id === undefined && !opts.retainOnDelete ? { [contentsKey]: afterProgram(() => classesIn(declared)) } : {};

/** Resolves once the program has run as far as it gets without waiting for anything. */
const afterProgram = async <T>(value: () => T): Promise<T> => {
  await Promise.resolve();
  await new Promise<void>((resolve) => process.nextTick(resolve));
  return value();
};

export type ConsortiumArgs = ConsortiumFields;

export interface Consortium extends Outputs<ConsortiumProperties> {}

/** A business network that several organizations run together. See docs/reference/consortium.md. */
export class Consortium extends resource<Consortium, ConsortiumArgs>("Consortium") {
  constructor(name: string, args: ConsortiumArgs = {}, opts?: CustomResourceOptions) {
    const declared: Declared = { names: [] };
    super(name, { ...contents(declared, opts), ...args }, opts);
    declaredIn.set(this, declared);
  }

  /** Reads a consortium that this stack does not manage. */
  static get(name: string, id: Input<string>, opts?: CustomResourceOptions): Consortium {
    return new Consortium(name, {}, { ...opts, id });
  }
}

export type MembershipArgs = MembershipFields & InConsortium;

export interface Membership extends Outputs<MembershipProperties> {}

/** The part of one business in a consortium. See docs/reference/membership.md. */
export class Membership extends readable<Membership, MembershipArgs, InConsortium>("Membership") {}

/** Arguments of `Environment`. A client goes with a consensus protocol that it runs. */
export type EnvironmentArgs = { [C in Client]: EnvironmentFields<C> }[Client] & InConsortium;

export interface Environment extends Outputs<EnvironmentProperties> {}

/** A blockchain network: one ledger, with a client and a consensus protocol. See docs/reference/environment.md. */
export class Environment<C extends Client = Client> extends readable<Environment, object, InConsortium>("Environment") {
  constructor(name: string, args: EnvironmentFields<C> & InConsortium, opts?: CustomResourceOptions) {
    const declared: Declared = { names: [] };
    super(name, { ...contents(declared, opts), ...given(`Environment ${name}`, args) }, opts);
    declaredIn.set(this, declared);
    declare(args.consortium, name, opts);
  }
}

/** Resources in place of the ids that a node refers to. */
interface NodeReferences {
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

// A replacement needs the old node's name, and its place among the few nodes that an environment may have.
const oldGoesFirst = { deleteBeforeReplace: true };

/** A blockchain node that one member runs in an environment. See docs/reference/node.md. */
export class Node extends readable<Node, NodeArgs, InEnvironment>("Node", oldGoesFirst) {
  constructor(name: string, args: NodeArgs, opts?: CustomResourceOptions) {
    super(name, args, opts);
    declare(args.environment, name, opts);
  }
}

export type EnvironmentZoneArgs = EnvironmentZoneFields & InEnvironment;

export interface EnvironmentZone extends Outputs<EnvironmentZoneProperties> {}

/** A region of a cloud where nodes and services of an environment may run. See docs/reference/environment-zone.md. */
export class EnvironmentZone extends readable<EnvironmentZone, EnvironmentZoneArgs, InEnvironment>("EnvironmentZone") {}

export type ConfigurationArgs = ConfigurationFields & InEnvironment & OfMembership;

export interface Configuration extends Outputs<ConfigurationProperties> {}

/** Settings that nodes of one member name. See docs/reference/configuration.md. */
export class Configuration extends readable<Configuration, ConfigurationArgs, InEnvironment>("Configuration") {}

export type ServiceArgs = ServiceFields & {
  /** Zone of the environment that it runs in, instead of `zoneId`. */
  zone?: EnvironmentZone;
} & InEnvironment &
  OfMembership;

export interface Service extends Outputs<ServiceProperties> {}

/** A service beside the ledger of an environment, such as `ipfs`. See docs/reference/service.md. */
export class Service extends readable<Service, ServiceArgs, InEnvironment>("Service") {}

export type DestinationArgs = DestinationFields & {
  /** Membership that owns the service, instead of `membershipId`; it follows from `service`. */
  membership?: Membership;
  /** Service of the type `idregistry` with which the membership is registered first, instead of `idRegistryId`. */
  idRegistry?: Service;
} & InService;

export interface Destination extends Outputs<DestinationProperties> {}

/** Receives a member's documents or messages. See docs/reference/destination.md. */
export class Destination extends readable<Destination, DestinationArgs, InService>("Destination") {}

/** The tether service, by its id or by its address in the console. */
type WhichTether =
  { tetherId: Input<string>; consoleUrl?: undefined } | { consoleUrl: Input<string>; tetherId?: undefined };

export type TetherServiceArgs = Omit<TetherServiceFields, "tetherId"> & WhichTether;

export interface TetherService extends Outputs<TetherServiceProperties> {}

/** Pins the state of an environment's ledger to a public chain. See docs/reference/tether-service.md. */
export class TetherService extends resource<TetherService, object>("TetherService") {
  constructor(name: string, args: TetherServiceArgs, opts?: CustomResourceOptions) {
    const { consoleUrl, ...rest } = given(`TetherService ${name}`, args);
    if (consoleUrl !== undefined && rest.tetherId !== undefined)
      throw programError(
        "invalid-argument",
        `TetherService ${name}: tetherId and consoleUrl are both given. Give one of them.`,
      );
    const fromUrl = consoleUrl && output(consoleUrl).apply(tetherIdOf);
    super(name, { ...rest, tetherId: rest.tetherId ?? fromUrl }, opts);
  }

  /** Reads a tether service that this stack does not manage. @param id the last 10 characters of its address in the console */
  static get(name: string, id: Input<string>, opts?: CustomResourceOptions): TetherService {
    return new TetherService(name, { tetherId: id } as TetherServiceArgs, { ...opts, id });
  }
}
