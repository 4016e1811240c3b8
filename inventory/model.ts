import { kinds as all, type Kind, limits } from "../provider/constants";

export { conditionOf } from "../provider/api/states";
/** The kinds, by the names that people read. */
export const kinds = {
  ...all,
  membership: { ...all.membership, title: "member" },
  tetherService: { ...all.tetherService, title: "tether" },
};

/*
 * A network for people to look at: plain data that can be sent and kept as JSON. It never contains a secret.
 * An object that has no id in the service yet, as in a plan, has any id that is unique in the model.
 */

export type Change = "create" | "update" | "replace" | "delete";

/** The stack that manages an object. */
export interface Managed {
  /** `project/stack` */
  stack: string;
  urn: string;
  /** Logical name of the resource. */
  name: string;
}

/** Facts about an object that the service does not show. */
export interface Remarks {
  /** Absent if no stack was looked at. */
  /** `not in stacks`: none of those looked at manages it; another one may. */
  managed?: Managed | "not in stacks";
  /** The change that a plan makes to it. */
  change?: Change;
  /** Whether it leaves the stack but stays in the service. */
  kept?: boolean;
  /** How it differs from its stack, one sentence per difference. */
  drift?: string[];
  /** Why the service did not show all of it. Missing parts may exist. */
  unseen?: string;
  /** Kinds of objects in it that the service does not list, permanently or just now. */
  unlisted?: Kind[];
}

export interface MembershipModel extends Remarks {
  id: string;
  orgName: string;
  state?: string;
  minimumNodes?: number;
  maximumNodes?: number;
}

export interface NodeModel extends Remarks {
  id: string;
  name: string;
  /** Id of the member that owns it. */
  membershipId?: string;
  state?: string;
  role?: string;
  size?: string;
  urls?: { rpc?: string; wss?: string };
  /** Number of its last block, according to the service. */
  blockHeight?: number;
  publicAddress?: string;
  validators?: string[];
}

interface CredentialModel extends Remarks {
  id: string;
  name?: string;
  membershipId?: string;
}

/** Kinds that are shown in the same way everywhere. */
export type OtherKind = Exclude<
  Kind,
  "consortium" | "membership" | "environment" | "node" | "appCred" | "tetherService"
>;

/** One of them, in a consortium or an environment. */
export interface OtherModel extends Remarks {
  kind: OtherKind;
  /** The id; for a destination `<id of its service>/<name>`. */
  id: string;
  name: string;
  state?: string;
  /** Id of the member that owns it. */
  membershipId?: string;
  /** Further properties to show, by name. */
  facts: Record<string, string | number | boolean>;
  /** Addresses, by what answers at them. */
  urls?: Record<string, string>;
  /** Whether others also use it: the stack adopted it unchanged, and will not delete it. */
  shared?: boolean;
}

export interface EnvironmentModel extends Remarks {
  id: string;
  name: string;
  provider?: string;
  consensusType?: string;
  state?: string;
  chainId?: number;
  region?: string;
  releaseId?: string;
  /** Seconds between two blocks. */
  blockPeriod?: number;
  nodes: NodeModel[];
  credentials: CredentialModel[];
  others: OtherModel[];
}

export interface ConsortiumModel extends Remarks {
  id: string;
  name: string;
  description?: string;
  state?: string;
  memberships: MembershipModel[];
  environments: EnvironmentModel[];
  others: OtherModel[];
}

/** A report of a tether, and where it was pinned. */
export interface PinModel {
  /** Index of the report, from 0. */
  index: number;
  /** ISO 8601 */
  at?: string;
  network?: string;
  transactionHash?: string;
  blockNumber?: number;
  /** Number of nodes in the report. */
  nodes?: number;
}

export interface TetherModel extends Remarks {
  id: string;
  /** Id of the environment that it pins, if known. Several tethers may pin one. */
  environmentId?: string;
  /** Public chain to which it pins. */
  network?: string;
  intervalHours?: number;
  state?: string;
  account?: string;
  /** On the target network, decimal text. */
  balanceWei?: string;
  /** When its stack last changed it, ISO 8601. */
  changedAt?: string;
  /** Number of reports. */
  reports?: number;
  lastPin?: PinModel;
  /** Why the service could not pin, if it says so. */
  problem?: string;
  /** JSON-RPC address of the target network, if the service names one. */
  targetUrl?: string;
}

/** How much of a limit of the service is used. */
interface LimitUse {
  kind: "consortia" | "environments" | "nodes";
  /** Id of the consortium or environment; absent for the organization. */
  of?: string;
  used: number;
  most: number;
}

export interface NetworkModel {
  /** Its source. */
  source: "live" | "stack" | "plan" | "network file";
  /** Its name, such as `project/stack`. */
  title?: string;
  /** Id of the organization. */
  organization?: string;
  limits: LimitUse[];
  consortia: ConsortiumModel[];
  tethers: TetherModel[];
}

export type ObjectModel =
  ConsortiumModel | MembershipModel | EnvironmentModel | NodeModel | CredentialModel | TetherModel | OtherModel;

const isThere = ({ change }: Remarks): boolean => change !== "delete";

/** How much of each limit is used, including planned changes. */
export function limitsUsed(consortia: readonly ConsortiumModel[]): LimitUse[] {
  const there = consortia.filter(isThere);
  return [
    { kind: "consortia", used: there.length, most: limits.consortia },
    ...there.flatMap(({ id, environments }): LimitUse[] => {
      const inside = environments.filter(isThere);
      return [
        { kind: "environments", of: id, used: inside.length, most: limits.environments },
        ...inside.map(({ id: of, nodes }) => ({
          kind: "nodes" as const,
          of,
          used: nodes.filter(isThere).length,
          most: limits.nodes,
        })),
      ];
    }),
  ];
}

/** The environments of all consortia. */
export const environmentsOf = ({ consortia }: Pick<NetworkModel, "consortia">): EnvironmentModel[] =>
  consortia.flatMap(({ environments }) => environments);

/** The tethers that pin an environment. */
export const tethersOf = ({ tethers }: Pick<NetworkModel, "tethers">, { id }: EnvironmentModel): TetherModel[] =>
  tethers.filter(({ environmentId }) => environmentId === id);

/** An object, and what contains it. */
export interface Placed {
  kind: Kind;
  object: ObjectModel;
  within?: ConsortiumModel | EnvironmentModel;
}

/** The lists that contain objects of a kind, in the order in which these are shown. Only the last but one has several kinds. */
const lists = {
  memberships: "membership",
  nodes: "node",
  credentials: "appCred",
  others: undefined,
  environments: "environment",
} as const satisfies Record<string, Kind | undefined>;
type Lists = Partial<Record<keyof typeof lists, ObjectModel[]>>;

/** The lists of a new consortium or environment. */
export function emptyLists(kind: Kind): Lists {
  if (kind === "consortium") return { memberships: [], environments: [], others: [] };
  return kind === "environment" ? { nodes: [], credentials: [], others: [] } : {};
}

/** All lists in an object, with their kind if it is the same for all in it. */
const listsIn = (object: ObjectModel): [Kind | undefined, ObjectModel[]][] =>
  Object.entries(lists).map(([name, kind]) => [kind, (object as Lists)[name as keyof Lists] ?? []]);

/** The list of an owner that has its objects of a kind. */
export const listIn = (owner: ObjectModel, kind: Kind): ObjectModel[] =>
  (listsIn(owner).find(([one]) => one === kind) ?? [kind, (owner as Lists).others ?? []])[1];

/** Every object of a network, parents first. */
export function objectsOf({ consortia, tethers }: Pick<NetworkModel, "consortia" | "tethers">): Placed[] {
  const from = (kind: Kind, object: ObjectModel, within?: ObjectModel): Placed[] => [
    { kind, object, ...(within && { within: within as Placed["within"] }) },
    ...listsIn(object).flatMap(([of, list]) =>
      list.flatMap((one) => from(of ?? (one as OtherModel).kind, one, object)),
    ),
  ];
  return [
    ...consortia.flatMap((one) => from("consortium", one)),
    ...tethers.flatMap((one) => from("tetherService", one)),
  ];
}

/** Sorts the lists of a network, at any depth. */
export function sortLists(list: ObjectModel[], compare: (one: ObjectModel, other: ObjectModel) => number): void {
  list.sort(compare);
  for (const one of list) for (const [, inner] of listsIn(one)) sortLists(inner, compare);
}

/** The name of an object for people, or else its id. */
export const displayName = (object: ObjectModel): string =>
  ("orgName" in object ? object.orgName : "name" in object ? object.name : undefined) || object.id;
