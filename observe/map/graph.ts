import { type ConsortiumModel, type EnvironmentModel, type NetworkModel } from "../../inventory/model";
import { credentialItems, type MemberItems, memberItems, nodeItems } from "./folding";
import { itemOf, keyOf, type MapItem, note } from "./items";

/** A box with others in it. */
export interface MapGroup extends MapItem {
  items: MapItem[];
  groups: MapGroup[];
}

/** From a member to its node, or from a tether to its public chain; by their keys. */
export interface MapEdge {
  from: string;
  to: string;
  kind: "owns" | "pins";
}

export interface NetworkMap {
  title: string;
  /** What is in no consortium. */
  items: MapItem[];
  groups: MapGroup[];
  edges: MapEdge[];
}

/** What is drawn of a network, whatever draws it. */
export function mapOf(model: NetworkModel): NetworkMap {
  const drawn = model.consortia.map((one) => consortiumGroup(model, one));
  const bound = new Set(model.consortia.flatMap(({ environments }) => environments.map(({ tether }) => tether)));
  const unbound = model.tethers.filter(({ id }) => !bound.has(id));
  const networks = [...new Set(model.tethers.flatMap(({ network }) => network ?? []))].sort();
  const pins = model.tethers.flatMap(({ id, network }): MapEdge[] =>
    network ? [{ from: keyOf("tether", id), to: keyOf("chain", network), kind: "pins" }] : [],
  );
  return {
    title: model.title ?? (model.organization ? `organization ${model.organization}` : "network"),
    items: [
      ...unbound.map((one) => itemOf("tether", one)),
      ...networks.map((one) => note("chain", one, one, ["public chain"])),
    ],
    groups: drawn.map(({ group }) => group),
    edges: [...drawn.flatMap(({ edges }) => edges), ...pins],
  };
}

function consortiumGroup(model: NetworkModel, consortium: ConsortiumModel): { group: MapGroup; edges: MapEdge[] } {
  const members = memberItems(consortium);
  const inside = consortium.environments.map((one) => environmentGroup(model, consortium, one, members));
  const isEmpty = members.items.length + inside.length === 0;
  return {
    group: {
      ...itemOf("consortium", consortium),
      items: isEmpty ? [note("nothing", consortium.id, "nothing in it")] : members.items,
      groups: inside.map(({ group }) => group),
    },
    edges: inside.flatMap(({ edges }) => edges),
  };
}

function environmentGroup(
  model: NetworkModel,
  consortium: ConsortiumModel,
  environment: EnvironmentModel,
  members: MemberItems,
): { group: MapGroup; edges: MapEdge[] } {
  const nodes = nodeItems(consortium, environment);
  const tether = model.tethers.find(({ id }) => id === environment.tether);
  const items = [
    ...nodes.map(({ item }) => item),
    ...credentialItems(consortium, environment),
    ...(tether ? [itemOf("tether", tether)] : []),
  ];
  const edges = nodes.flatMap(({ item, owners }) => {
    const from = new Set(owners.flatMap((id) => members.keyOf.get(id) ?? []));
    return [...from].map((one): MapEdge => ({ from: one, to: item.key, kind: "owns" }));
  });
  const shown = items.length > 0 ? items : [note("nothing", environment.id, "no nodes")];
  return { group: { ...itemOf("environment", environment), items: shown, groups: [] }, edges };
}
