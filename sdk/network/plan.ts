import {
  type AppCredFields,
  type ConfigurationFields,
  type ConsortiumFields,
  type ConsortiumZoneFields,
  type DestinationFields,
  type EnvironmentFields,
  type EnvironmentZoneFields,
  type InvitationFields,
  type MembershipFields,
  type NodeFields,
  type ServiceFields,
} from "../generated";
import { type Path } from "../yaml/problems";
import {
  type NetworkConfiguration,
  type NetworkConsortium,
  type NetworkCredential,
  type NetworkDefinition,
  type NetworkDestination,
  type NetworkEnvironment,
  type NetworkEnvironmentZone,
  type NetworkMember,
  type NetworkNode,
  type NetworkTether,
} from "./generated";
import { Reference, type ReferenceName, references, Variable } from "./references";
import { environmentSettings, nodeSettings } from "./schema";

/** The logical name of a resource, then those that it may have had before. */
type Names = readonly string[];

/** One planned resource: its key, its place in the definition, its logical name and earlier ones, and its arguments. */
export interface Planned<A> {
  key: string;
  path: Path;
  names: Names;
  /** Its former keys, from the definition. */
  formerly: readonly string[];
  protect?: boolean;
  args: A;
  /** Where the arguments are that it shares with other resources. */
  shared?: Path;
  /** Arguments that hold a secret. */
  secrets?: readonly string[];
  /** Environment variables that its arguments need. */
  variables?: readonly Variable[];
}

/** The key of a member, and where it is mentioned. */
interface Owner {
  member: string;
  memberPath: Path;
}

export type PlannedOf<A> = Planned<A> & Owner;

export interface PlannedEnvironment extends Planned<EnvironmentFields> {
  /** The members mentioned in `nodes`. */
  owners: Owner[];
  nodes: PlannedOf<NodeFields>[];
  credentials: PlannedOf<AppCredFields>[];
  zones: Planned<EnvironmentZoneFields>[];
  configurations: PlannedOf<ConfigurationFields>[];
  services: PlannedService[];
  /** All references, including those in `nodeDefaults`. */
  references: Reference[];
  tether?: Planned<Omit<NetworkTether, "protect">>;
}

export interface PlannedService extends PlannedOf<ServiceFields> {
  destinations: Planned<Partial<DestinationFields>>[];
}

export interface PlannedConsortium extends Planned<ConsortiumFields> {
  /** Where its members and environments are. */
  base: Path;
  members: Planned<MembershipFields>[];
  zones: Planned<ConsortiumZoneFields>[];
  invitations: Planned<InvitationFields>[];
  environments: PlannedEnvironment[];
}

/** Everything in a definition, with defaults filled in. Invalid parts of the definition are missing. */
export interface Plan {
  name: string;
  formerly: string[];
  consortia: PlannedConsortium[];
}

/** The entry of a key, and its place. */
interface Entry<T> {
  key: string;
  entry: T;
  path: Path;
}

/** The entries of a mapping, or of a list of keys. */
function entriesOf<T>(given: readonly string[] | Record<string, T> = {}, path: Path): Entry<T | undefined>[] {
  if (!Array.isArray(given))
    return Object.entries(given).map(([key, entry]: [string, T]) => ({ key, entry, path: [...path, key] }));
  return given.flatMap((key: unknown, at) =>
    typeof key === "string" ? [{ key, entry: undefined, path: [...path, at] }] : [],
  );
}

/** The former keys of an entry. */
const formerKeys = (entry?: { formerly?: string | readonly string[] } | null): string[] =>
  [entry?.formerly ?? []].flat();

/** The settings with these keys, if they are given. */
const picked = <T, K extends keyof T>(given: T | null | undefined, keys: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(keys.flatMap((key) => (given?.[key] === undefined ? [] : [[key, given[key]]]))) as Partial<
    Pick<T, K>
  >;

/** The references in an entry, under the names of the arguments that take an id. */
function referencesIn(entry: object | null | undefined, path: Path): Record<string, Reference> {
  const given = { ...entry } as Record<string, unknown>;
  const found = (Object.keys(references) as ReferenceName[]).flatMap((name) => {
    const { [name]: key, [`${name}Id`]: id } = given;
    return typeof key === "string" ? [new Reference(name, key, [...path, name], id !== undefined)] : [];
  });
  return Object.fromEntries(found.map((one) => [`${one.name}Id`, one]));
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** Replaces `{ env: NAME }` in a value with a variable, and adds it to `found`. */
function withVariables(value: unknown, path: Path, found: Variable[]): unknown {
  if (Array.isArray(value)) return value.map((one, index) => withVariables(one, [...path, index], found));
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const entries = Object.entries(value) as [string, unknown][];
  const [[key, name] = [], another] = entries;
  if (key !== "env" || another || typeof name !== "string" || !/^[A-Za-z_]\w*$/.test(name))
    return Object.fromEntries(entries.map(([key, one]) => [key, withVariables(one, [...path, key], found)]));
  const variable = new Variable(name, path);
  found.push(variable);
  return variable;
}

/** Its names are each name of the parent with each of its keys, current ones first: `trade/prod` and `acme-1` make `trade/prod/acme-1`. */
function planned<A>(
  parent: Names,
  { key, entry, path }: Entry<{ formerly?: string | string[]; protect?: boolean } | null | undefined>,
  args: A,
  otherKeys: readonly string[] = [],
): Planned<A> {
  const formerly = formerKeys(entry);
  const keys = [key, ...formerly, ...otherKeys];
  const names = [...new Set(parent.flatMap((one) => keys.map((each) => `${one}/${each}`)))];
  return { key, path, names, formerly, protect: entry?.protect, args };
}

/** Plans the resources of a definition. `adopt` of the program takes precedence over that of the definition. */
export function planOf(name: string, definition: NetworkDefinition, adoptAll = definition.adopt): Plan {
  const formerly = formerKeys(definition);
  /** When a network gets a second consortium, the first one keeps its names if its key is the network's name. */
  const namesOf = (key: string): Names => {
    if (key === name) return [name];
    return formerly.includes(key) ? [`${name}/${key}`, name] : [`${name}/${key}`];
  };
  const consortiumOf = (key: string, entry: NetworkConsortium, base: Path, path = base): PlannedConsortium => {
    const { name: ownName = key, description, extra, adopt = adoptAll } = entry;
    const made = planned([], { key, entry, path }, { name: ownName, description, extra, adopt });
    const names = [...new Set([key, ...made.formerly].flatMap(namesOf))];
    const members = entriesOf<NetworkMember | null>(entry.members, [...base, "members"]).map((one) => {
      const { orgName = one.key, extra, adopt = adoptAll } = one.entry ?? {};
      return planned(names, one, { orgName, extra, adopt });
    });
    const zones = entriesOf(entry.zones, [...base, "zones"]).map((one) => zoneOf(names, one, adoptAll));
    const invitations = entriesOf(entry.invitations, [...base, "invitations"]).map((one) => {
      const given = typeof one.entry === "string" ? { email: one.entry } : one.entry!;
      const { orgName = one.key, email, extra, adopt = adoptAll } = given;
      return planned(names, { ...one, entry: given }, { orgName, email, extra, adopt });
    });
    const environments = entriesOf(entry.environments, [...base, "environments"]).map((one) =>
      environmentOf(names, members, one as Entry<NetworkEnvironment>, adoptAll),
    );
    return { ...made, names, base, members, zones, invitations, environments };
  };
  const { consortia, consortium, members, zones, invitations, environments } = definition;
  if (consortia) {
    const several = Object.entries(consortia);
    return { name, formerly, consortia: several.map(([key, one]) => consortiumOf(key, one ?? {}, ["consortia", key])) };
  }
  // The key of a single consortium is the name of the network.
  const head = typeof consortium === "string" ? { name: consortium } : consortium;
  const only = { name: definition.name ?? name, ...head, members, zones, invitations, environments, formerly };
  return { name, formerly, consortia: [consortiumOf(name, only, [], ["consortium"])] };
}

function zoneOf(names: Names, one: Entry<NetworkEnvironmentZone | undefined>, adoptAll: boolean | undefined) {
  const { name = one.key, region, cloud, type, bridgeId, extra, adopt = adoptAll } = one.entry!;
  return planned(names, one, { name, region, cloud, type, bridgeId, extra, adopt });
}

/** The details of an entry and the variables in them. */
function detailsOf({ entry, path }: Entry<Pick<NetworkConfiguration, "details"> | undefined>) {
  const variables: Variable[] = [];
  const details = withVariables(entry?.details, [...path, "details"], variables);
  return { details: details as NetworkConfiguration["details"], variables };
}

function environmentOf(
  parent: Names,
  members: readonly Planned<unknown>[],
  one: Entry<NetworkEnvironment>,
  adoptAll: boolean | undefined,
): PlannedEnvironment {
  const { key, entry, path } = one;
  const { name = key, description, provider, consensusType, extra, adopt = adoptAll } = entry;
  const client = { provider, consensusType } as Pick<EnvironmentFields, "provider" | "consensusType">;
  const settings = picked(entry, environmentSettings);
  const made = planned(parent, one, { name, description, ...client, ...settings, extra, adopt });
  const within = <P extends Planned<unknown>>(part: P): P => ({ ...part, protect: part.protect ?? made.protect });
  /** Names of a member's nodes begin with its key, so they also change with it. */
  const formerOf = (member: string) => members.find(({ key }) => key === member)?.formerly ?? [];

  const named: Reference[] = [];
  const refer = ({ entry, path }: Pick<Entry<object | null | undefined>, "entry" | "path">) => {
    const found = referencesIn(entry, path);
    named.push(...Object.values(found));
    return found;
  };
  const defaultReferences = refer({ entry: entry.nodeDefaults, path: [...path, "nodeDefaults"] });
  const nodeOf = (owner: Owner, one: Entry<NetworkNode | null | undefined>, otherKeys?: string[]) => {
    const { name = one.key, extra, adopt = adoptAll } = one.entry ?? {};
    const usual = { ...picked(entry.nodeDefaults, nodeSettings), ...defaultReferences };
    const settings = { ...usual, ...picked(one.entry, nodeSettings), ...refer(one) } as NodeFields;
    const node = planned(made.names, one, { name, ...settings, extra, adopt }, otherKeys);
    return within({ ...owner, ...node, shared: [...path, "nodeDefaults"] });
  };
  const groups = entriesOf(entry.nodes, [...path, "nodes"]);
  const nodes = groups.flatMap(({ key: member, entry: given, path: memberPath }) => {
    const owner = { member, memberPath };
    if (typeof given !== "number")
      return entriesOf<NetworkNode | null>(given, memberPath).map((node) => nodeOf(owner, node));
    return Array.from({ length: given }, (_, index) => {
      const [key, ...others] = [member, ...formerOf(member)].map((one) => `${one}-${index + 1}`);
      return nodeOf(owner, { key: key!, entry: undefined, path: memberPath }, others);
    });
  });

  const usual = [...new Set(nodes.map(({ member }) => member))];
  const written = entry.credentials
    ? entriesOf<NetworkCredential | null>(entry.credentials, [...path, "credentials"])
    : usual.map((key) => ({ key, entry: undefined, path: [...path, "nodes", key] }));
  const credentials = written.map((one) => {
    const { member = one.key, name, keepers, rotateWhenChanged, extra } = one.entry ?? {};
    const memberPath = one.entry?.member === undefined ? one.path : [...one.path, "member"];
    const otherKeys = member === one.key ? formerOf(member) : [];
    return within({
      ...planned(made.names, one, { name, keepers, rotateWhenChanged, extra }, otherKeys),
      member,
      memberPath,
    });
  });

  const ownerOf = ({ entry, path }: Entry<{ member: string } | undefined>): Owner => ({
    member: entry!.member,
    memberPath: [...path, "member"],
  });
  const zones = entriesOf(entry.zones, [...path, "zones"]).map((one) => within(zoneOf(made.names, one, adoptAll)));
  const configurations = entriesOf(entry.configurations, [...path, "configurations"]).map((one) => {
    const { name = one.key, type, extra, adopt = adoptAll } = one.entry!;
    const { details, variables } = detailsOf(one);
    const part = planned(made.names, one, { name, type, details, extra, adopt });
    return within({ ...part, ...ownerOf(one), variables, secrets: ["details"] });
  });
  const destinationOf = (parent: Names, one: Entry<NetworkDestination | null | undefined>) => {
    const { name, kaleidoManaged, idRegistryId, testCertificate, extra, adopt = adoptAll } = one.entry ?? {};
    const args = { name, kaleidoManaged, idRegistryId, testCertificate, ...refer(one), extra, adopt };
    return within(planned<Partial<DestinationFields>>(parent, one, args as Partial<DestinationFields>));
  };
  const services = entriesOf(entry.services, [...path, "services"]).map((one): PlannedService => {
    const { name = one.key, service, zoneId, size, destinations, extra, adopt = adoptAll } = one.entry!;
    const { details, variables } = detailsOf(one);
    const args = { name, service, zoneId, size, details, ...refer(one), extra, adopt } as ServiceFields;
    const part = within(planned(made.names, one, args));
    const given = typeof destinations === "string" ? [destinations] : destinations;
    return {
      ...part,
      ...ownerOf(one),
      variables,
      secrets: variables.length > 0 ? ["details"] : [],
      destinations: entriesOf<NetworkDestination | null>(given, [...one.path, "destinations"]).map((destination) =>
        destinationOf(part.names, destination),
      ),
    };
  });

  const { protect, ...tether } = entry.tether ?? {};
  const tetherPart = { key: "tether", path: [...path, "tether"], names: made.names, formerly: [], protect };
  return {
    ...made,
    owners: groups.map(({ key: member, path: memberPath }) => ({ member, memberPath })),
    nodes,
    credentials,
    zones,
    configurations,
    services,
    references: named,
    tether: entry.tether && within({ ...tetherPart, args: tether as Omit<NetworkTether, "protect"> }),
  };
}
