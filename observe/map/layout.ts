import { printable } from "../../provider/api/printable";
import { type MapGroup, type NetworkMap } from "./graph";
import { type MapItem, signs } from "./items";

export interface Box extends Size {
  /** Left and upper edge. */
  x: number;
  y: number;
}

export interface Layout extends Size {
  /** Where each box is, by its key. */
  boxes: ReadonlyMap<string, Box>;
  /** The path of each edge, in the order of the map: points of cubic Bézier curves. */
  ways: readonly (readonly Point[])[];
}

type Point = readonly [x: number, y: number];

/** Between boxes of a column; between a box and its contents; between columns, for the lines. */
const gaps = { items: 10, inside: 14, columns: 72 } as const;

/**
 * Boxes are in columns, in the order of the map: members, environments, public chains. So each line runs between two columns
 * and crosses no box. Where there would be too many lines, a table shows the same without any. (Graphviz would choose an order of its own,
 * with fewer crossings of lines.)
 */
export function layoutOf(map: NetworkMap): Layout {
  const boxes = new Map<string, Box>();
  const chains = map.items.filter(({ kind }) => kind === "chain");
  const others = map.items.filter(({ kind }) => kind !== "chain");
  let main: Size = { width: 0, height: 0 };
  const below = (size: Size): void => {
    const height = main.height + (main.height > 0 ? gaps.inside : 0) + size.height;
    main = { width: Math.max(main.width, size.width), height };
  };
  const top = (): number => (main.height > 0 ? main.height + gaps.inside : 0);
  for (const group of map.groups) below((group.rows ? placeTable : placeConsortium)(group, top(), boxes));
  for (const group of map.groups) boxes.get(group.key)!.width = main.width;
  if (others.length > 0)
    below(placeColumn(others, { x: Math.max(0, main.width - columnWidth(others)), y: top() }, boxes));
  const right = main.width > 0 ? main.width + gaps.columns : 0;
  const last = placeColumn(chains, { x: right, y: 0 }, boxes);
  spread(chains, last, main, boxes);
  return {
    width: chains.length > 0 ? right + last.width : main.width,
    height: Math.max(main.height, last.height),
    boxes,
    ways: waysOf(map, main.width, boxes),
  };
}

const columnWidth = (items: readonly MapItem[]): number => Math.max(0, ...items.map((item) => sizeOf(item).width));

/** Stacked, all as wide as the widest. */
function placeColumn(
  items: readonly MapItem[],
  { x, y }: { x: number; y: number },
  boxes: Map<string, Box>,
  width = columnWidth(items),
): Size {
  let next = y;
  for (const item of items) {
    const { height } = sizeOf(item);
    boxes.set(item.key, { x, y: next, width, height });
    next += height + gaps.items;
  }
  return { width, height: Math.max(0, next - gaps.items - y) };
}

/** Spreads a column over the height of the column beside it, so that lines are short. */
function spread(items: readonly MapItem[], column: Size, beside: Size, boxes: ReadonlyMap<string, Box>): void {
  const room = Math.max(0, beside.height - column.height) / items.length;
  items.forEach(({ key }, at) => (boxes.get(key)!.y += room * (at + 0.5)));
}

/** Members on the left, environments on the right. */
function placeConsortium(group: MapGroup, y: number, boxes: Map<string, Box>): Size {
  const header = headerOf(group);
  const [left, top] = [gaps.inside, y + header.height + gaps.inside];
  const members = placeColumn(group.items, { x: left, y: top }, boxes);
  const x = members.width > 0 ? left + members.width + gaps.columns : left;
  const inner = Math.max(0, ...group.groups.map(({ items }) => columnWidth(items)));
  const width = Math.max(inner + 2 * gaps.inside, ...group.groups.map((one) => headerOf(one).width));
  let next = top;
  for (const one of group.groups) {
    const start = next + headerOf(one).height + gaps.inside;
    const { height } = placeColumn(one.items, { x: x + gaps.inside, y: start }, boxes, width - 2 * gaps.inside);
    boxes.set(one.key, { x, y: next, width, height: start - next + height + gaps.inside });
    next = start + height + 2 * gaps.inside;
  }
  const environments = { width, height: Math.max(0, next - gaps.inside - top) };
  spread(group.items, members, environments, boxes);
  const right = group.groups.length > 0 ? x + width : left + members.width;
  const size = {
    width: Math.max(right + gaps.inside, header.width),
    height: top - y + Math.max(members.height, environments.height) + gaps.inside,
  };
  boxes.set(group.key, { x: 0, y, ...size });
  return size;
}

/** A row for each member and a column for each environment; boxes without a member are below the rows. */
function placeTable({ rows = {}, ...group }: MapGroup, y: number, boxes: Map<string, Box>): Size {
  const header = headerOf(group);
  const top = y + header.height + gaps.inside;
  const columns = [group, ...group.groups].map(({ items }) => items);
  /** In each column, the boxes of one member, or the boxes without a member. */
  const rowOf = (member?: string): MapItem[][] =>
    columns.map((items) => items.filter(({ key, kind }) => (kind === "membership" ? key : rows[key]) === member));
  const inRows = group.items.filter(({ kind }) => kind === "membership").map(({ key }) => rowOf(key));

  let x = gaps.inside;
  const edges = columns.map((items, column) => {
    const title = column === 0 ? undefined : headerOf(group.groups[column - 1]!);
    const inset = title ? gaps.inside : 0;
    const edge = { x, inset, width: Math.max(columnWidth(items) + 2 * inset, title?.width ?? 0) };
    x += edge.width + gaps.inside;
    return edge;
  });
  let next = top + Math.max(...group.groups.map((one) => headerOf(one).height)) + gaps.inside;
  for (const row of [...inRows, rowOf()]) {
    const heights = row.map((items, column) => {
      const { x, inset, width } = edges[column]!;
      return placeColumn(items, { x: x + inset, y: next }, boxes, width - 2 * inset).height;
    });
    const height = Math.max(...heights);
    if (height > 0) next += height + gaps.inside;
  }
  group.groups.forEach(({ key }, at) => {
    const { x, width } = edges[at + 1]!;
    boxes.set(key, { x, y: top, width, height: next - top });
  });
  const size = { width: Math.max(x, header.width), height: next - y + gaps.inside };
  boxes.set(group.key, { x: 0, y, ...size });
  return size;
}

/** Lines bend only between the columns. Inside an environment they go straight to the box. */
function waysOf({ groups, edges }: NetworkMap, right: number, boxes: ReadonlyMap<string, Box>): Point[][] {
  const around = new Map(
    groups.flatMap((one) => one.groups).flatMap(({ key, items }) => items.map((item) => [item.key, key] as const)),
  );
  return edges.map(({ from, to, kind }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (!a || !b) return [];
    const start: Point = [a.x + a.width, a.y + a.height / 2];
    const end: Point = [b.x, b.y + b.height / 2];
    const out: Point = kind === "pins" ? [right, start[1]] : start;
    const entry: Point = [boxes.get(around.get(to) ?? "")?.x ?? end[0], end[1]];
    const middle = (out[0] + entry[0]) / 2;
    const straight = (one: Point, other: Point): Point[] => (one[0] === other[0] ? [] : [one, other, other]);
    return [start, ...straight(start, out), [middle, out[1]], [middle, entry[1]], entry, ...straight(entry, end)];
  });
}

interface Size {
  width: number;
  height: number;
}

/** A line of text in a box. */
interface Line {
  text: string;
  kind: "label" | "detail" | "mark";
  height: number;
  /** Its approximate width. */
  width: number;
  /** Whether its width must be set, because another font may replace one that lacks its characters. */
  fitted: boolean;
}

const heights = { label: 19, detail: 16, mark: 18 } as const;
export const padding = { x: 12, y: 7, sign: 20 } as const;
const longest = 30;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** In any font, East Asian characters are as wide as the font size, and emoji somewhat wider. */
const square = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;
const emoji = /\p{Emoji_Presentation}/u;
/** Font sizes in px, as in the style. Details are not bold and a tenth narrower. */
const sizes = { label: 13.5, detail: 0.9 * 12, mark: 12 } as const;
/** Widths of other characters relative to the font size, in DejaVu Sans Bold, the widest of the usual system fonts. */
const parts: readonly [characters: RegExp, part: number][] = [
  [/^[fijlrtI .,:;'|!()[\]-]/, 0.5],
  [/^[mwMW@%]/, 1.1],
  [/^\p{Lu}/u, 0.85],
];
const usualPart = 0.72;
const isWide = (text: string): boolean => square.test(text) || emoji.test(text);

function textWidth(text: string, kind: Line["kind"]): number {
  const width = (character: string): number => {
    if (emoji.test(character)) return 1.4 * sizes[kind];
    if (square.test(character)) return sizes[kind];
    return sizes[kind] * (parts.find(([characters]) => characters.test(character))?.[1] ?? usualPart);
  };
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + width(segment), 0);
}

/** Truncates a text that is too long for its box. */
function shortened(text: string, most = longest): string {
  let columns = 0;
  let short = "";
  for (const { segment } of characters.segment(text)) {
    columns += isWide(segment) ? 2 : 1;
    if (columns > most) return `${short}…`;
    short += segment;
  }
  return short;
}

/** The text in a box. Long lines are shortened, because the title has all of it. */
export function linesIn({ label, details, marks }: MapItem): Line[] {
  const line = (kind: Line["kind"], whole: string, most?: number): Line => {
    const text = shortened(printable(whole), most);
    return { kind, height: heights[kind], text, width: textWidth(text, kind), fitted: isWide(text) };
  };
  return [
    line("label", label),
    ...details.map((text) => line("detail", text, longest + 12)),
    ...(marks.length > 0 ? [line("mark", marks.map((mark) => `${signs[mark]} ${mark}`).join("  "), 60)] : []),
  ];
}

function sizeOf(item: MapItem): Size {
  const { width, height } = headerOf(item);
  return { width: Math.max(width, 90), height: height + padding.y + roomAbove(item) };
}

/** A cylinder's lid has no text on it. */
export const roomAbove = ({ kind }: MapItem): number => (kind === "chain" ? 8 : 0);

/** The size of the header of a box that contains others. */
function headerOf(item: MapItem): Size {
  const lines = linesIn(item);
  const widest = Math.max(...lines.map(({ width }) => width));
  return {
    width: Math.ceil(widest) + 2 * padding.x + padding.sign,
    height: lines.reduce((sum, line) => sum + line.height, 0) + padding.y,
  };
}
