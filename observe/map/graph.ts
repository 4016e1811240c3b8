import { type Kind } from "../../provider/constants";
import {
  type ConsortiumModel,
  displayName,
  type EnvironmentModel,
  environmentsOf,
  type MembershipModel,
  type NetworkModel,
  type ObjectModel,
  tethersOf,
} from "../../inventory/model";
import { groupBy } from "../../provider/plain";
import { counted, itemOf, itemKey, type MapItem, marksOf, note, toneOf } from "./items";

/** A box that contains others. */
export interface MapGroup extends MapItem {
  items: MapItem[];
  groups: MapGroup[];
  /**
   * The member of each box, by their keys, for a consortium with too many lines. It is drawn as a table without lines, with members as
   * rows and environments as columns.
   */
  rows?: Record<string, string>;
}

/** From a member to its node, or from a tether to its public chain; by their keys. */
export interface MapEdge {
  from: string;
  to: string;
  kind: "owns" | "pins";
}

export interface NetworkMap {
  title: string;
  /** Items outside of all consortia. */
  items: MapItem[];
  groups: MapGroup[];
  edges: MapEdge[];
}

/** A network to draw, in any format. */
export function mapOf(model: NetworkModel): NetworkMap {
  const drawn = model.consortia.map((one) => consortiumGroup(model, one));
  const bound = new Set(environmentsOf(model).flatMap((one) => tethersOf(model, one)));
  const unbound = model.tethers.filter((one) => !bound.has(one));
  const inTables = drawn.flatMap(({ group }) => (group.rows ? group.groups : [])).flatMap(({ items }) => items);
  const unlinked = new Set(inTables.map(({ key }) => key));
  const pinning = model.tethers.filter(({ id }) => !unlinked.has(itemKey("tetherService", id)));
  const networks = [...new Set(pinning.flatMap(({ network }) => network ?? []))].sort();
  const pins = pinning.flatMap(({ id, network }): MapEdge[] =>
    network ? [{ from: itemKey("tetherService", id), to: itemKey("chain", network), kind: "pins" }] : [],
  );
  return {
    title: model.title ?? (model.organization ? `organization ${model.organization}` : "network"),
    items: [
      ...unbound.map((one) => itemOf("tetherService", one)),
      ...networks.map((one) => note("chain", one, one, ["public chain"])),
    ],
    groups: drawn.map(({ group }) => group),
    edges: [...drawn.flatMap(({ edges }) => edges), ...pins],
  };
}

function consortiumGroup(model: NetworkModel, consortium: ConsortiumModel): { group: MapGroup; edges: MapEdge[] } {
  const members = memberItems(consortium);
  const inside = consortium.environments.map((one) => environmentGroup(model, one, members));
  const others = otherItems(members, consortium);
  const edges = inside.flatMap((one) => one.edges);
  const isTable = edges.length > most.lines;
  const isEmpty = members.items.length + inside.length + others.length === 0;
  return {
    group: {
      ...itemOf("consortium", consortium),
      items: isEmpty
        ? [note("nothing", consortium.id, "nothing in it")]
        : [...members.items, ...others.map(({ item }) => item)],
      groups: inside.map(({ group }) => group),
      ...(isTable && { rows: rowsOf(edges) }),
    },
    edges: isTable ? [] : edges,
  };
}

/** A box that stands for several members has no row. */
function rowsOf(edges: readonly MapEdge[]): Record<string, string> {
  const alone = [...groupBy(edges, ({ to }) => to).values()].filter((some) => some.length === 1).flat();
  return Object.fromEntries(alone.map(({ from, to }) => [to, from]));
}

function environmentGroup(
  model: NetworkModel,
  environment: EnvironmentModel,
  members: MemberItems,
): { group: MapGroup; edges: MapEdge[] } {
  const nodes = nodeItems(members, environment);
  const others = otherItems(members, environment);
  const items = [
    ...nodes.map(({ item }) => item),
    ...credentialItems(members, environment),
    ...others.map(({ item }) => item),
    ...tethersOf(model, environment).map((one) => itemOf("tetherService", one)),
  ];
  const edges = [...nodes, ...others].flatMap(({ item, owners }) => {
    const from = new Set(owners.flatMap((id) => members.boxOf.get(id) ?? []));
    return [...from].map((one): MapEdge => ({ from: one, to: item.key, kind: "owns" }));
  });
  const shown = items.length > 0 ? items : [note("nothing", environment.id, "no nodes")];
  return { group: { ...itemOf("environment", environment), items: shown, groups: [] }, edges };
}

/**
 * Maximum number of readable boxes: members with nodes, other members, nodes of an environment, any other kind in one place; and of
 * lines from members.
 */
const most = { lines: 12, owners: 60, others: 8, nodes: 16, ofKind: 4 } as const;
/** Maximum number of names that a folded box lists. */
const mostNames = 12;

/** Objects of a kind folded into boxes with a count, one per state and marks. */
function folded<T extends ObjectModel>(
  kind: Kind,
  within: string,
  objects: readonly T[],
  { apart = () => "", what = "" }: { apart?: (object: T) => string; what?: string } = {},
): { item: MapItem; objects: T[] }[] {
  const groups = groupBy(objects, (object) => [toneOf(kind, object), ...marksOf(object), apart(object)].join(" "));
  return [...groups].map(([key, some]) => {
    const label = `${counted(some.length, kind)}${what}`;
    const names = some.slice(0, mostNames).map(displayName);
    const more = some.length > names.length ? [`${some.length - names.length} more`] : [];
    const item: MapItem = {
      ...itemOf(kind, some[0]),
      key: itemKey(kind, `${within} ${key}`),
      ids: some.map(({ id }) => id),
      label,
      details: [],
      title: `${label}: ${[...names, ...more].join(", ")}`,
    };
    return { item, objects: some };
  });
}

interface MemberItems {
  items: MapItem[];
  /** Names of members by their ids. */
  names: ReadonlyMap<string | undefined, string>;
  /** The box of each member, by its id. */
  boxOf: ReadonlyMap<string, string>;
}

/** Members that own nodes or change are shown one by one; the others as a count if there are many. */
function memberItems({ id, memberships, environments }: ConsortiumModel): MemberItems {
  const owners = new Set(environments.flatMap(({ nodes }) => nodes.map(({ membershipId }) => membershipId)));
  const isNews = (one: MembershipModel) => marksOf(one).some((mark) => mark !== "create" && mark !== "not in stacks");
  const isFirst = (one: MembershipModel) => owners.has(one.id) || isNews(one);
  const first = memberships.filter(isFirst);
  const others = memberships.filter((one) => !isFirst(one));
  const apart = new Set([...first.slice(0, most.owners), ...(others.length > most.others ? [] : others)]);
  const alone = memberships.filter((one) => apart.has(one)); // in their order, with nodes or without
  const folds = [
    ...folded("membership", `${id} owners`, first.slice(most.owners)),
    ...folded("membership", id, others.length > most.others ? others : [], { what: " without nodes" }),
  ];
  return {
    items: [...alone.map((one) => itemOf("membership", one)), ...folds.map(({ item }) => item)],
    names: new Map(memberships.map((one) => [one.id, displayName(one)])),
    boxOf: new Map([
      ...alone.map((one) => [one.id, itemKey("membership", one.id)] as const),
      ...folds.flatMap(({ item, objects }) => objects.map((one) => [one.id, item.key] as const)),
    ]),
  };
}

const ownersOf = (objects: readonly { membershipId?: string }[]): string[] => [
  ...new Set(objects.flatMap(({ membershipId }) => membershipId ?? [])),
];

/** Nodes with their owners: one by one, or if there are many as a count per owner, or even per state. */
function nodeItems({ names }: MemberItems, { id, nodes }: EnvironmentModel): { item: MapItem; owners: string[] }[] {
  if (nodes.length <= most.nodes)
    return nodes.map((node) => ({
      item: itemOf("node", node, names.get(node.membershipId)),
      owners: ownersOf([node]),
    }));
  const byOwner = folded("node", id, nodes, { apart: ({ membershipId = "" }) => membershipId });
  const folds = byOwner.length <= most.nodes ? byOwner : folded("node", id, nodes);
  return folds.map(({ item, objects }) => {
    const owners = ownersOf(objects);
    const details = [owners.length === 1 ? names.get(owners[0]) : undefined, objects[0]?.state];
    return { item: { ...item, details: [details.filter(Boolean).join(" · ")] }, owners };
  });
}

/** Credentials as a count, with the names of their owners. */
function credentialItems({ names }: MemberItems, { id, credentials }: EnvironmentModel): MapItem[] {
  const named = (object: (typeof credentials)[number]) => {
    const owner = names.get(object.membershipId);
    return { ...object, name: `${displayName(object)}${owner === undefined ? "" : ` of ${owner}`}` };
  };
  return folded("appCred", id, credentials.map(named)).map(({ item }) => item);
}

/** Zones, services and the like: one by one, or as a count of each kind. Services come with their owners. */
function otherItems(
  { names }: MemberItems,
  { id, others }: ConsortiumModel | EnvironmentModel,
): { item: MapItem; owners: string[] }[] {
  return [...new Set(others.map(({ kind }) => kind))].flatMap((kind) => {
    const some = others.filter((one) => one.kind === kind);
    const linked = (objects: typeof some) => (kind === "service" ? ownersOf(objects) : []);
    if (some.length > most.ofKind)
      return folded(kind, id, some).map(({ item, objects }) => ({ item, owners: linked(objects) }));
    return some.map((one) => ({ item: itemOf(kind, one, names.get(one.membershipId)), owners: linked([one]) }));
  });
}
