import { printable } from "../provider/api/printable";
import { kindOf } from "../provider/facts";
import {
  type Change,
  type ConsortiumModel,
  type CredentialModel,
  type EnvironmentModel,
  limitsUsed,
  type MembershipModel,
  type NetworkModel,
  type NodeModel,
  type ObjectKind,
  type Remarks,
  type TetherModel,
} from "./model";

/** A resource of this package as a state or a plan of Pulumi has it. */
export interface ResourceRecord {
  kind: ObjectKind;
  urn: string;
  /** `project/stack` */
  stack: string;
  /** Logical name. */
  name: string;
  /** Absent: it is not made yet. */
  id?: string;
  /** Outputs, with the inputs over them. What is secret, or not known yet, is no text here. */
  props: Record<string, unknown>;
  /** URNs that each property follows from. */
  sources: Record<string, readonly string[] | undefined>;
  change?: Change;
  kept?: boolean;
  drift?: string[];
}

const kinds: Record<string, ObjectKind> = {
  Consortium: "consortium",
  Membership: "membership",
  Environment: "environment",
  Node: "node",
  AppCred: "credential",
  TetherService: "tether",
};

/** The class of a type token: `Node`, of the dynamic resource and of the plugin's alike; of other packages the whole token. */
export function classOf(type: string): string {
  return printable(kindOf(type) ?? type);
}

/** What its URN says of a resource; undefined: it is none of this package. */
export function namedBy(urn: string): Pick<ResourceRecord, "kind" | "urn" | "stack" | "name"> | undefined {
  const [, stack = "", project = "", types = "", ...name] = urn.replace(/^urn:pulumi:/, "::").split("::");
  const kind = kinds[classOf(types.split("$").at(-1) ?? "")];
  return kind && { kind, urn, stack: `${project}/${stack}`, name: name.join("::") };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Ids of objects that are not made yet are their logical names. */
const idOf = ({ id, name }: ResourceRecord): string => id ?? name;

/** Finds what a resource is in, or belongs to. */
class Parents {
  readonly #byKind = new Map<ObjectKind, ResourceRecord[]>();
  readonly #byId = new Map<string, ResourceRecord>();

  constructor(records: readonly ResourceRecord[]) {
    for (const one of records) {
      const some = this.#byKind.get(one.kind) ?? [];
      this.#byKind.set(one.kind, some);
      some.push(one);
      if (one.id !== undefined) this.#byId.set(`${one.kind} ${one.id}`, one);
      this.#byId.set(`${one.kind} ${one.urn}`, one);
    }
  }

  /** Its id; undefined where nothing tells, as for what will be known only later. */
  idOf(record: ResourceRecord, kind: ObjectKind, property: string): string | undefined {
    const given = text(record.props[property]);
    const sources = record.sources[property] ?? [];
    const found = [given ?? "", ...sources].flatMap((one) => this.#byId.get(`${kind} ${one}`) ?? [])[0];
    if (found) return idOf(found);
    if (given !== undefined) return given;
    const some = this.#byKind.get(kind) ?? [];
    const guess = this.#named(record.name, some) ?? (some.length === 1 ? some[0] : undefined);
    return guess && idOf(guess);
  }

  /** Networks name their parts after what they are in: `trade/prod/acme-1` is in `trade/prod`. */
  #named(name: string, some: readonly ResourceRecord[]): ResourceRecord | undefined {
    const within = some.filter((one) => name.startsWith(`${one.name}/`));
    return within.sort((a, b) => b.name.length - a.name.length)[0];
  }
}

/** The network of some resources. What they are in is shown by its id alone, where it is not among them. */
export function modelOf(
  records: readonly ResourceRecord[],
  about: Pick<NetworkModel, "source" | "title">,
): NetworkModel {
  const parents = new Parents(records);
  const consortia = new Map<string, ConsortiumModel>();
  const environments = new Map<string, EnvironmentModel>();
  const of = (kind: ObjectKind): ResourceRecord[] => records.filter((one) => one.kind === kind);
  const unknown = "known later";

  const consortiumOf = (record: ResourceRecord): ConsortiumModel => {
    const id = parents.idOf(record, "consortium", "consortiumId") ?? unknown;
    const known = consortia.get(id) ?? { id, name: id, memberships: [], environments: [] };
    consortia.set(id, known);
    return known;
  };
  const environmentOf = (record: ResourceRecord): EnvironmentModel => {
    const id = parents.idOf(record, "environment", "environmentId") ?? unknown;
    const known = environments.get(id) ?? { id, name: id, nodes: [], credentials: [] };
    if (!environments.has(id)) consortiumOf(record).environments.push(known);
    environments.set(id, known);
    return known;
  };

  for (const one of of("consortium")) {
    const { props } = one;
    const facts = { description: text(props.description), owner: text(props.owner), memberships: [], environments: [] };
    consortia.set(idOf(one), { ...headOf(one), ...facts });
  }
  for (const one of of("membership")) consortiumOf(one).memberships.push(membershipOf(one));
  for (const one of of("environment")) {
    const made = environmentModel(one);
    environments.set(made.id, made);
    consortiumOf(one).environments.push(made);
  }
  const owner = (one: ResourceRecord) => parents.idOf(one, "membership", "membershipId");
  for (const one of of("node")) environmentOf(one).nodes.push(nodeOf(one, owner(one)));
  for (const one of of("credential")) environmentOf(one).credentials.push(credentialOf(one, owner(one)));
  const tethers = of("tether").map(tetherOf);
  bindTethers(of("tether"), tethers, of("environment"), environments);
  const all = [...consortia.values()];
  return { ...about, limits: limitsUsed(all), consortia: all, tethers };
}

/** A network names a tether after its environment; else the only one pins the only one. */
function bindTethers(
  records: readonly ResourceRecord[],
  tethers: readonly TetherModel[],
  named: readonly ResourceRecord[],
  environments: ReadonlyMap<string, EnvironmentModel>,
): void {
  const [only, ...others] = environments.values();
  records.forEach((record, at) => {
    const around = named.find(({ name }) => record.name === `${name}/tether`);
    const alone = records.length === 1 && others.length === 0 ? only : undefined;
    const environment = around ? environments.get(idOf(around)) : alone;
    if (environment) environment.tether = tethers[at]!.id;
  });
}

const remarksOn = ({ stack, urn, name, change, kept, drift }: ResourceRecord): Remarks => ({
  ...{ managed: { stack, urn, name }, ...(change && { change }), ...(kept && { kept }) },
  ...(drift && drift.length > 0 && { drift }),
});

/** What every object has. */
function headOf(record: ResourceRecord) {
  const { name, props } = record;
  return { id: idOf(record), name: text(props.name) ?? name, state: text(props.state), ...remarksOn(record) };
}

function membershipOf(record: ResourceRecord): MembershipModel {
  const { name, ...head } = headOf(record);
  const { orgName, orgId, minimumNodes, maximumNodes } = record.props;
  return {
    ...{ ...head, orgName: text(orgName) ?? name, orgId: text(orgId) },
    ...{ minimumNodes: number(minimumNodes), maximumNodes: number(maximumNodes) },
  };
}

const environmentModel = (record: ResourceRecord): EnvironmentModel => {
  const { props } = record;
  return {
    ...{ ...headOf(record), provider: text(props.provider), consensusType: text(props.consensusType) },
    ...{ chainId: number(props.chainId), region: text(props.region), releaseId: text(props.releaseId) },
    ...{ blockPeriod: number(props.blockPeriod), idleHours: number(props.idleHours), nodes: [], credentials: [] },
  };
};

function nodeOf(record: ResourceRecord, membershipId: string | undefined): NodeModel {
  const { role, urls, publicAddress } = record.props;
  const { rpc, wss } = (typeof urls === "object" && urls !== null ? urls : {}) as Record<string, unknown>;
  return {
    ...{ ...headOf(record), membershipId, role: text(role), publicAddress: text(publicAddress) },
    ...((text(rpc) ?? text(wss)) ? { urls: { rpc: text(rpc), wss: text(wss) } } : {}),
  };
}

const credentialOf = (record: ResourceRecord, membershipId: string | undefined): CredentialModel => {
  const { id, name } = headOf(record);
  return { id, name, membershipId, ...remarksOn(record) };
};

function tetherOf(record: ResourceRecord): TetherModel {
  const { id, state } = headOf(record);
  const { tetherId, network, intervalHours, account, balanceWei } = record.props;
  return {
    ...{ ...remarksOn(record), id: text(tetherId) ?? id, state },
    ...{ network: text(network), intervalHours: number(intervalHours) },
    ...{ account: text(account), balanceWei: text(balanceWei) },
  };
}
