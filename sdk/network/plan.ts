import {
  type AppCredFields,
  type ConsortiumFields,
  type EnvironmentFields,
  type MembershipFields,
  type NodeFields,
} from "../generated";
import {
  type NetworkConsortium,
  type NetworkCredential,
  type NetworkDefinition,
  type NetworkEnvironment,
  type NetworkMember,
  type NetworkNode,
  type NetworkTether,
} from "./generated";
import { chained, formerKeys, type Names } from "./names";
import { type Path } from "../yaml/problems";

/** One resource to be: its key, its place in the definition, its logical name and the earlier ones, and its arguments. */
export interface Planned<A> {
  key: string;
  path: Path;
  names: Names;
  /** The keys that it had before, as the definition says. */
  formerly: readonly string[];
  protect?: boolean;
  args: A;
}

export interface PlannedOf<A> extends Planned<A> {
  /** Key of the member that owns it. */
  member: string;
  /** Where the member is named. */
  memberPath: Path;
}

export interface PlannedEnvironment extends Planned<EnvironmentFields> {
  /** Members that `nodes` names. */
  owners: { member: string; memberPath: Path }[];
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

const recordOf = <T>(
  given: readonly string[] | Record<string, T> | undefined,
): [string, T | undefined, string | number][] =>
  Array.isArray(given)
    ? given.flatMap((key, index): [string, undefined, number][] =>
        typeof key === "string" ? [[key, undefined, index]] : [],
      )
    : Object.entries((given ?? {}) as Record<string, T>).map(([key, entry]): [string, T, string] => [key, entry, key]);

/** Works out what a definition stands for. `adopt` of the program comes before that of the definition. */
export function planOf(name: string, definition: NetworkDefinition, adoptAll: boolean | undefined): Plan {
  return new Planner(name, definition, adoptAll ?? definition.adopt).plan();
}

class Planner {
  private readonly formerly: string[];

  constructor(
    private readonly name: string,
    private readonly definition: NetworkDefinition,
    private readonly adoptAll: boolean | undefined,
  ) {
    this.formerly = formerKeys(definition);
  }

  plan(): Plan {
    const { name, definition, formerly } = this;
    const consortia = definition.consortia
      ? Object.entries(definition.consortia).map(([key, entry]) =>
          this.consortium(key, entry ?? {}, ["consortia", key]),
        )
      : [this.only()];
    return { name, formerly, consortia };
  }

  /** One consortium is written without a key: it has that of the network. */
  private only(): PlannedConsortium {
    const { consortium, members, environments, name } = this.definition;
    const head = typeof consortium === "string" ? { name: consortium } : consortium;
    const entry = { name: name ?? this.name, ...head, members, environments, formerly: this.formerly };
    return this.consortium(this.name, entry, [], ["consortium"]);
  }

  /** A network that gets a second consortium keeps the names of its first, if the key of that is the network's name. */
  private namesOf(consortium: string): Names {
    const own = `${this.name}/${consortium}`;
    if (consortium === this.name) return [this.name];
    return this.formerly.includes(consortium) ? [own, this.name] : [own];
  }

  private consortium(key: string, entry: NetworkConsortium, base: Path, path: Path = base): PlannedConsortium {
    const formerly = formerKeys(entry);
    const names = [...new Set([key, ...formerly].flatMap((one) => this.namesOf(one)))];
    const { name = key, description, extra } = entry;
    const members = recordOf<NetworkMember | null>(entry.members).map(
      ([member, settings, at]): Planned<MembershipFields> => {
        const { orgName = member, extra: more, adopt, protect } = settings ?? {};
        const formerly = formerKeys(settings);
        return {
          ...{ key: member, path: [...base, "members", at], formerly, protect },
          names: chained(names, [member, ...formerly]),
          args: { orgName, extra: more, adopt: adopt ?? this.adoptAll },
        };
      },
    );
    const environments = Object.entries(entry.environments ?? {}).map(([one, settings]) =>
      new EnvironmentPlanner(names, members, this.adoptAll).plan(one, settings, [...base, "environments", one]),
    );
    const args = { name, description, extra, adopt: entry.adopt ?? this.adoptAll };
    return { ...{ key, path, names, formerly, protect: entry.protect, args }, base, members, environments };
  }
}

class EnvironmentPlanner {
  constructor(
    private readonly consortium: Names,
    private readonly members: readonly Planned<MembershipFields>[],
    private readonly adoptAll: boolean | undefined,
  ) {}

  plan(key: string, entry: NetworkEnvironment, path: Path): PlannedEnvironment {
    const { name = key, description, provider, consensusType, chainId, extra, protect, tether } = entry;
    const formerly = formerKeys(entry);
    const names = chained(this.consortium, [key, ...formerly]);
    const nodes = Object.entries(entry.nodes ?? {}).flatMap(([member, given]) =>
      this.nodes(names, member, given, [...path, "nodes", member]),
    );
    const owners = [...new Set(nodes.map(({ member }) => member))];
    const credentials = recordOf<NetworkCredential | null>(entry.credentials ?? owners).map(([one, settings, at]) =>
      this.credential(
        names,
        one,
        settings ?? {},
        entry.credentials === undefined ? [...path, "nodes", one] : [...path, "credentials", at],
      ),
    );
    const within = <P extends Planned<unknown>>(planned: P): P => ({ ...planned, protect: planned.protect ?? protect });
    return {
      ...{ key, path, names, formerly, protect },
      owners: Object.keys(entry.nodes ?? {}).map((member) => ({ member, memberPath: [...path, "nodes", member] })),
      args: { name, description, provider, consensusType, chainId, extra, adopt: entry.adopt ?? this.adoptAll },
      nodes: nodes.map(within),
      credentials: credentials.map(within),
      tether: tether && within(tetherOf(names, tether, [...path, "tether"])),
    };
  }

  /** A member's keys of all times: the names of its nodes begin with them. */
  private keysOf(key: string): string[] {
    return [key, ...(this.members.find((one) => one.key === key)?.formerly ?? [])];
  }

  private nodes(
    names: Names,
    member: string,
    given: number | string[] | Record<string, NetworkNode | null>,
    path: Path,
  ): PlannedOf<NodeFields>[] {
    const owner = { member, memberPath: path };
    if (typeof given === "number") {
      const numbers = Array.from({ length: given }, (_, index) => index + 1);
      return numbers.map((number) => {
        const keys = this.keysOf(member).map((one) => `${one}-${number}`);
        return {
          ...owner,
          key: keys[0]!,
          path,
          names: chained(names, keys),
          formerly: [],
          args: { name: keys[0], adopt: this.adoptAll },
        };
      });
    }
    return recordOf<NetworkNode | null>(given).map(([key, settings, at]) => {
      const { name = key, extra, protect, adopt = this.adoptAll } = settings ?? {};
      const formerly = formerKeys(settings);
      const planned = { key, path: [...path, at], names: chained(names, [key, ...formerly]), formerly, protect };
      return { ...owner, ...planned, args: { name, extra, adopt } };
    });
  }

  private credential(names: Names, key: string, settings: NetworkCredential, path: Path): PlannedOf<AppCredFields> {
    const { member = key, name, keepers, extra, protect } = settings;
    const formerly = formerKeys(settings);
    const keys = [key, ...formerly, ...(member === key ? this.keysOf(key) : [])];
    const memberPath = settings.member === undefined ? path : [...path, "member"];
    return {
      ...{ member, memberPath, key, path, formerly, protect },
      names: chained(names, keys),
      args: { name, keepers, extra },
    };
  }
}

function tetherOf(names: Names, tether: NetworkTether, path: Path): Planned<Omit<NetworkTether, "protect">> {
  const { protect, ...args } = tether;
  return { key: "tether", path, names, formerly: [], protect, args };
}
