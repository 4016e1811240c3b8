import {
  type AppCredFields,
  type ConsortiumFields,
  type EnvironmentFields,
  type MembershipFields,
  type NodeFields,
} from "../generated";
import { type Path } from "../yaml/problems";
import {
  type NetworkConsortium,
  type NetworkCredential,
  type NetworkDefinition,
  type NetworkEnvironment,
  type NetworkMember,
  type NetworkNode,
  type NetworkTether,
} from "./generated";
import { environmentSettings, nodeSettings } from "./schema";

/** The logical name of a resource, and after it those that it may have had before. */
type Names = readonly string[];

/** One resource to be: its key, its place in the definition, its logical name and the earlier ones, and its arguments. */
export interface Planned<A> {
  key: string;
  path: Path;
  names: Names;
  /** The keys that it had before, as the definition says. */
  formerly: readonly string[];
  protect?: boolean;
  args: A;
  /** Where arguments are that several resources share. */
  shared?: Path;
  /** Arguments that hold a secret. */
  secrets?: readonly string[];
}

/** The key of a member, and where it is named. */
interface Owner {
  member: string;
  memberPath: Path;
}

export type PlannedOf<A> = Planned<A> & Owner;

export interface PlannedEnvironment extends Planned<EnvironmentFields> {
  /** Members that `nodes` names. */
  owners: Owner[];
  nodes: PlannedOf<NodeFields>[];
  credentials: PlannedOf<AppCredFields>[];
  tether?: Planned<Omit<NetworkTether, "protect">>;
}

export interface PlannedConsortium extends Planned<ConsortiumFields> {
  /** Where its members and environments are. */
  base: Path;
  members: Planned<MembershipFields>[];
  environments: PlannedEnvironment[];
}

/** Everything that a definition stands for, with the defaults filled in. Written tolerantly: what is wrong by itself is left out. */
export interface Plan {
  name: string;
  formerly: string[];
  consortia: PlannedConsortium[];
}

/** What is written under a key, and where. */
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

/** The keys that an entry had before. */
const formerKeys = (entry?: { formerly?: string | readonly string[] } | null): string[] =>
  [entry?.formerly ?? []].flat();

/** Those that are given of some settings. */
const picked = <T, K extends keyof T>(given: T | null | undefined, keys: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(keys.flatMap((key) => (given?.[key] === undefined ? [] : [[key, given[key]]]))) as Partial<
    Pick<T, K>
  >;

/**
 * A resource under each name of its parent with each of its keys, first those of today: `trade/prod` and `acme-1` make
 * `trade/prod/acme-1`.
 */
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

/** Works out what a definition stands for. `adopt` of the program comes before that of the definition. */
export function planOf(name: string, definition: NetworkDefinition, adoptAll = definition.adopt): Plan {
  const formerly = formerKeys(definition);
  /** A network that gets a second consortium keeps the names of its first, if the key of that is the network's name. */
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
    const environments = entriesOf(entry.environments, [...base, "environments"]).map((one) =>
      environmentOf(names, members, one as Entry<NetworkEnvironment>, adoptAll),
    );
    return { ...made, names, base, members, environments };
  };
  const { consortia, consortium, members, environments } = definition;
  if (consortia) {
    const several = Object.entries(consortia);
    return { name, formerly, consortia: several.map(([key, one]) => consortiumOf(key, one ?? {}, ["consortia", key])) };
  }
  // One consortium is written without a key: it has that of the network.
  const head = typeof consortium === "string" ? { name: consortium } : consortium;
  const only = { name: definition.name ?? name, ...head, members, environments, formerly };
  return { name, formerly, consortia: [consortiumOf(name, only, [], ["consortium"])] };
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
  /** The names of a member's nodes begin with its keys, those of before, too. */
  const formerOf = (member: string) => members.find(({ key }) => key === member)?.formerly ?? [];

  const nodeOf = (owner: Owner, one: Entry<NetworkNode | null | undefined>, otherKeys?: string[]) => {
    const { name = one.key, extra, adopt = adoptAll } = one.entry ?? {};
    const settings = { ...picked(entry.nodeDefaults, nodeSettings), ...picked(one.entry, nodeSettings) };
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
    const { member = one.key, name, keepers, extra } = one.entry ?? {};
    const memberPath = one.entry?.member === undefined ? one.path : [...one.path, "member"];
    const otherKeys = member === one.key ? formerOf(member) : [];
    return within({ ...planned(made.names, one, { name, keepers, extra }, otherKeys), member, memberPath });
  });

  const { protect, ...tether } = entry.tether ?? {};
  const tetherPart = { key: "tether", path: [...path, "tether"], names: made.names, formerly: [], protect };
  return {
    ...made,
    owners: groups.map(({ key: member, path: memberPath }) => ({ member, memberPath })),
    nodes,
    credentials,
    tether: entry.tether && within({ ...tetherPart, args: tether as Omit<NetworkTether, "protect"> }),
  };
}
