import type { Attributes, Viz } from "@viz-js/viz" with { "resolution-mode": "import" };
import { type MapGroup, type NetworkMap } from "./graph";
import { type MapItem } from "./items";
import { headerOf, type Size, sizeOf } from "./text";

export interface Box extends Size {
  /** Left and upper edge. */
  x: number;
  y: number;
}

export interface Layout extends Size {
  /** Where each box is, by its key. */
  boxes: ReadonlyMap<string, Box>;
  /** The way of each edge, in the order of the map: points of cubic Bézier curves. */
  ways: readonly (readonly Point[])[];
}

type Point = readonly [x: number, y: number];

let engine: Promise<Viz> | undefined;
const known = new Map<string, Layout>();
const mostKnown = 16;

/** Graphviz lays out boxes of given sizes: no text reaches it. What it has laid out just now it need not lay out again. */
export async function layoutOf(map: NetworkMap): Promise<Layout> {
  const viz = await (engine ??= import("@viz-js/viz").then(({ instance }) => instance()));
  const graph = graphOf(map);
  const key = JSON.stringify(graph);
  const before = known.get(key);
  if (before) return before;
  const placed = placedIn(viz.renderJSON(graph, { engine: "dot", yInvert: true }) as Rendered, map);
  if (known.size >= mostKnown) known.delete([...known.keys()][0]!);
  known.set(key, placed);
  return placed;
}

/** What Graphviz calls the boxes: by their place in the map. */
function namesOf(map: NetworkMap): Map<string, string> {
  const names = new Map<string, string>();
  const name = (prefix: string, items: readonly MapItem[]) => {
    for (const { key } of items) names.set(key, `${prefix}${names.size}`);
  };
  const walk = ({ items, groups }: Pick<MapGroup, "items" | "groups">): void => {
    name("n", items);
    name("cluster", groups);
    groups.forEach(walk);
  };
  walk(map);
  return names;
}

function graphOf(map: NetworkMap) {
  const names = namesOf(map);
  // Boxes of a group have one width, so that they stand in a column.
  const nodes = (items: readonly MapItem[]) => {
    const width = Math.max(...items.map((item) => sizeOf(item).width));
    return items.map((item) => ({
      ...{ name: names.get(item.key)!, attributes: { width: width / 72, height: sizeOf(item).height / 72 } },
    }));
  };
  interface Subgraph {
    name: string;
    graphAttributes: Attributes;
    nodes: ReturnType<typeof nodes>;
    subgraphs: Subgraph[];
  }
  const subgraph = (group: MapGroup): Subgraph => ({
    name: names.get(group.key)!,
    graphAttributes: { label: { html: emptyTable(headerOf(group)) }, labeljust: "l", margin: 14 },
    nodes: nodes(group.items),
    subgraphs: group.groups.map(subgraph),
  });
  const edge = (from: string, to: string, attributes = {}) => ({
    ...{ tail: names.get(from)!, head: names.get(to)!, attributes },
  });
  return {
    directed: true,
    graphAttributes: { rankdir: "LR", nodesep: 0.14, ranksep: 0.9, pad: 0.2 },
    nodeAttributes: { shape: "box", fixedsize: true, label: "" },
    edgeAttributes: { arrowhead: "none", tailport: "e", headport: "w" },
    nodes: nodes(map.items),
    subgraphs: map.groups.map(subgraph),
    edges: [
      ...map.edges.map(({ from, to }) => edge(from, to)),
      ...hiddenEdges(map).map(([from, to]) => edge(from, to, { style: "invis", weight: 0 })),
    ],
  };
}

/** Environments stand right of the members, those without an owner's edge, too. */
function hiddenEdges({ groups, edges }: NetworkMap): [from: string, to: string][] {
  const reached = new Set(edges.map(({ to }) => to));
  return groups.flatMap(({ items: [first], groups: inner }) =>
    inner
      .flatMap(({ items }) => items)
      .flatMap(({ key }): [string, string][] => (first && !reached.has(key) ? [[first.key, key]] : [])),
  );
}

/** Keeps room for a header of that size. */
const emptyTable = ({ width, height }: Size): string =>
  `<TABLE BORDER="0" CELLPADDING="0" FIXEDSIZE="TRUE" WIDTH="${width}" HEIGHT="${height}"><TR><TD></TD></TR></TABLE>`;

/** What we use of Graphviz' JSON. */
interface Rendered {
  bb: string;
  objects?: { name: string; bb?: string; pos?: string; width?: string; height?: string }[];
  edges?: { _draw_?: { op: string; points?: Point[] }[] }[];
}

const numbers = (text = ""): number[] => text.split(",").map(Number);

function placedIn({ bb, objects = [], edges = [] }: Rendered, map: NetworkMap): Layout {
  const keys = new Map([...namesOf(map)].map(([key, name]) => [name, key]));
  const boxes = new Map<string, Box>();
  for (const { name, bb: area, pos, width, height } of objects) {
    const key = keys.get(name);
    if (key === undefined) continue;
    if (area !== undefined) boxes.set(key, boxOf(numbers(area)));
    else {
      const [x = 0, y = 0] = numbers(pos);
      const size = { width: Number(width) * 72, height: Number(height) * 72 };
      boxes.set(key, { x: x - size.width / 2, y: y - size.height / 2, ...size });
    }
  }
  const ways = edges.slice(0, map.edges.length).map((edge) => edge._draw_?.find(({ op }) => op === "b")?.points ?? []);
  const { width, height } = boxOf(numbers(bb));
  return { width, height, boxes, ways };
}

function boxOf([left = 0, one = 0, right = 0, other = 0]: number[]): Box {
  return { x: left, y: Math.min(one, other), width: right - left, height: Math.abs(one - other) };
}
