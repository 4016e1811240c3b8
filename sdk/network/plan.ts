import { definitions } from "../../provider/resources";
import { type Path } from "../yaml/problems";
import { type NetworkConsortium, type NetworkDefinition, type NetworkEnvironment } from "./generated";
import { Reference, type ReferenceName, references, Variable } from "./references";

/** The logical name of a resource, then those that it may have had before. */
type Names = readonly string[];

/** One planned resource: its key, its place in the definition, its logical name and earlier ones, and its arguments. */
export interface Planned {
  key: string;
  path: Path;
  names: Names;
  /** Its former keys, from the definition. */
  formerly: readonly string[];
  protect?: boolean;
  args: Record<string, unknown>;
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

export type PlannedOf = Planned & Owner;

export interface PlannedEnvironment extends Planned {
  /** The members mentioned in `nodes`. */
  owners: Owner[];
  nodes: PlannedOf[];
  credentials: PlannedOf[];
  zones: Planned[];
  configurations: PlannedOf[];
  services: PlannedService[];
  /** All references, including those in `nodeDefaults`. */
  references: Reference[];
  tether?: Planned;
}

export interface PlannedService extends PlannedOf {
  destinations: Planned[];
}

export interface PlannedConsortium extends Planned {
  /** Where its members and environments are. */
  base: Path;
  members: Planned[];
  zones: Planned[];
  invitations: Planned[];
  environments: PlannedEnvironment[];
}

/** Everything in a definition, with defaults filled in. Invalid parts of the definition are missing. */
export interface Plan {
  name: string;
  formerly: string[];
  consortia: PlannedConsortium[];
}

/** Settings of an entry: common ones, and those of its kind. */
interface Settings {
  formerly?: string | readonly string[];
  protect?: boolean;
  member?: string;
  details?: unknown;
  [other: string]: unknown;
}

/** Settings of a resource in an environment besides its entry. */
interface Within {
  /** Names of its parent, if that is not the environment. */
  names?: Names;
  /** Settings that it has unless its entry has others. */
  usual?: Settings;
  /** Earlier keys besides those in its entry. */
  otherKeys?: readonly string[];
}

/** The entry of a key, and its place. */
interface Entry<T = Settings | undefined> {
  key: string;
  entry: T;
  path: Path;
}

/** The entries of a mapping, or of a list of keys. */
function entriesOf<T = Settings | undefined>(given: unknown, path: Path): Entry<T>[] {
  if (!Array.isArray(given))
    return Object.entries(given ?? {}).map(([key, entry]) => ({ key, entry: entry as T, path: [...path, key] }));
  return given.flatMap((key: unknown, at) =>
    typeof key === "string" ? [{ key, entry: undefined as T, path: [...path, at] }] : [],
  );
}

/** The former keys of an entry. */
const formerKeys = (entry?: Pick<Settings, "formerly"> | null): string[] => [entry?.formerly ?? []].flat();

/** The references in an entry, under the names of the arguments that take an id. */
function referencesIn(given: Settings, path: Path): Record<string, Reference> {
  const found = (Object.keys(references) as ReferenceName[]).flatMap((name) => {
    const { [name]: key, [`${name}Id`]: id } = given;
    return typeof key === "string" ? [new Reference(name, key, [...path, name], id !== undefined)] : [];
  });
  return Object.fromEntries(found.map((one) => [`${one.name}Id`, one]));
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** Replaces `{ env: NAME }` in a value with a variable, and adds it to `found`. The name may be invalid for a variable. */
function withVariables(value: unknown, path: Path, found: Variable[]): unknown {
  if (Array.isArray(value)) return value.map((one, index) => withVariables(one, [...path, index], found));
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const entries = Object.entries(value) as [string, unknown][];
  const [[key, name] = [], another] = entries;
  if (key !== "env" || another || typeof name !== "string")
    return Object.fromEntries(entries.map(([key, one]) => [key, withVariables(one, [...path, key], found)]));
  const variable = new Variable(name, path);
  found.push(variable);
  return variable;
}

/** A resource, by its name in `provider/resources`. */
type Kind = keyof typeof definitions;

/** A new name would replace these, so without `name` in the file they keep the one with which they were created. */
const keepingNames: readonly Kind[] = ["appCred", "destination"];

/** Plans one resource: it is called after its parent and its keys, the current ones first. */
type Make = (kind: Kind, parent: Names, one: Entry, otherKeys?: readonly string[]) => Planned;

/** Its arguments: the entry's settings for the kind, its key as the name, and `adopt` of the whole network. */
const making =
  (adopt: boolean | undefined): Make =>
  (kind, parent, { key, entry, path }, otherKeys = []) => {
    const formerly = formerKeys(entry);
    const keys = [key, ...formerly, ...otherKeys];
    const usual = keepingNames.includes(kind) ? { adopt } : { name: key, orgName: key, adopt };
    const given: Record<string, unknown> = { ...usual, ...entry };
    // Pulumi's SDK does a good deal of work for each argument, even if it is undefined.
    const set = Object.keys(definitions[kind].inputs.shape).filter((argument) => given[argument] !== undefined);
    return {
      key,
      path,
      // `trade/prod` and `acme-1` make `trade/prod/acme-1`.
      names: [...new Set(parent.flatMap((one) => keys.map((each) => `${one}/${each}`)))],
      formerly,
      protect: entry?.protect,
      args: Object.fromEntries(set.map((argument) => [argument, given[argument]])),
    };
  };

/** Plans the resources of a definition. `adopt` of the program takes precedence over the definition's. */
export function planOf(name: string, definition: NetworkDefinition, adoptAll = definition.adopt): Plan {
  const formerly = formerKeys(definition);
  const make = making(adoptAll);
  /** When a network gets a second consortium, the first one keeps its names if its key is the network's name. */
  const namesOf = (key: string): Names => {
    if (key === name) return [name];
    return formerly.includes(key) ? [`${name}/${key}`, name] : [`${name}/${key}`];
  };
  const consortiumOf = (key: string, entry: NetworkConsortium, base: Path, path = base): PlannedConsortium => {
    const made = make("consortium", [], { key, entry: { ...entry }, path });
    const names = [...new Set([key, ...made.formerly].flatMap(namesOf))];
    const members = entriesOf(entry.members, [...base, "members"]).map((one) => make("membership", names, one));
    const zones = entriesOf(entry.zones, [...base, "zones"]).map((one) => make("consortiumZone", names, one));
    const invitations = entriesOf<Settings | string>(entry.invitations, [...base, "invitations"]).map((one) => {
      const given = typeof one.entry === "string" ? { email: one.entry } : one.entry;
      return make("invitation", names, { ...one, entry: given });
    });
    const environments = entriesOf<NetworkEnvironment>(entry.environments, [...base, "environments"]).map((one) =>
      environmentOf(make, names, members, one),
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

function environmentOf(
  make: Make,
  parent: Names,
  members: readonly Planned[],
  { key, entry, path }: Entry<NetworkEnvironment>,
): PlannedEnvironment {
  const made = make("environment", parent, { key, entry: { ...entry }, path });
  const within = <P extends { protect?: boolean }>(part: P): P => ({ ...part, protect: part.protect ?? made.protect });
  const named: Reference[] = [];
  const refer = (settings: Settings, where: Path): Settings => {
    const found = referencesIn(settings, where);
    named.push(...Object.values(found));
    return { ...settings, ...found };
  };
  /** A resource in it. */
  const part = (kind: Kind, one: Entry, { names = made.names, usual = {}, otherKeys }: Within = {}) => {
    const variables: Variable[] = [];
    const details = withVariables(one.entry?.details, [...one.path, "details"], variables);
    const given = { ...usual, ...refer({ ...one.entry }, one.path), details };
    const secrets = kind === "configuration" || variables.length > 0 ? ["details"] : [];
    return within({ ...make(kind, names, { ...one, entry: given }, otherKeys), variables, secrets });
  };
  const entriesIn = (section: keyof NetworkEnvironment): Entry[] => entriesOf(entry[section], [...path, section]);
  /** One of a member's own. */
  const owned = (kind: Kind, one: Entry) => {
    const memberPath = [...one.path, "member"];
    return { ...part(kind, one), member: one.entry!.member!, memberPath };
  };
  /** Names of a member's nodes begin with its key, so they also change with it. */
  const formerOf = (member: string) => members.find(({ key }) => key === member)?.formerly ?? [];

  const shared = [...path, "nodeDefaults"];
  const usual = refer({ ...entry.nodeDefaults }, shared);
  const groups = entriesOf<Settings | number>(entry.nodes, [...path, "nodes"]);
  const nodes = groups.flatMap(({ key: member, entry: given, path: memberPath }) => {
    const nodeOf = (one: Entry, otherKeys?: string[]) => {
      return { ...part("node", one, { usual, otherKeys }), member, memberPath, shared };
    };
    if (typeof given !== "number") return entriesOf(given, memberPath).map((node) => nodeOf(node));
    return Array.from({ length: given }, (_, index) => {
      const [key, ...others] = [member, ...formerOf(member)].map((one) => `${one}-${index + 1}`);
      return nodeOf({ key: key!, entry: undefined, path: memberPath }, others);
    });
  });

  const withNodes = [...new Set(nodes.map(({ member }) => member))];
  const written = entry.credentials
    ? entriesIn("credentials")
    : withNodes.map((key) => ({ key, entry: undefined, path: [...path, "nodes", key] }));
  const credentials = written.map((one: Entry) => {
    const { member = one.key } = one.entry ?? {};
    const memberPath = one.entry?.member === undefined ? one.path : [...one.path, "member"];
    const otherKeys = member === one.key ? formerOf(member) : [];
    return { ...part("appCred", one, { otherKeys }), member, memberPath };
  });

  const zones = entriesIn("zones").map((one) => part("environmentZone", one));
  const configurations = entriesIn("configurations").map((one) => owned("configuration", one));
  const services = entriesIn("services").map((one): PlannedService => {
    const service = owned("service", one);
    const { destinations: given } = one.entry!;
    const all = entriesOf(typeof given === "string" ? [given] : given, [...one.path, "destinations"]);
    const destinationOf = (each: Entry) => part("destination", each, { names: service.names });
    return { ...service, destinations: all.map(destinationOf) };
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
    tether: entry.tether && within({ ...tetherPart, args: tether }),
  };
}
