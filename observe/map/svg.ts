import { create, type XMLElement } from "xmlbuilder";
import { printable } from "../../provider/api/printable";
import { type MapEdge, type MapGroup, type NetworkMap } from "./graph";
import { type MapItem } from "./items";
import { type Box, type Layout, layoutOf } from "./layout";
import { shapeOf, signOf } from "./shapes";
import { mapCss } from "./style";
import { linesIn, padding, roomAbove } from "./text";

export interface SvgOptions {
  /** Where a box leads to. Default: nowhere. */
  link?: (item: MapItem) => string | undefined;
  /** Whether the SVG brings its own style. Default: yes; a page with a Content-Security-Policy has `mapCss` in its own. */
  style?: boolean;
}

/**
 * The map as SVG. Each box is a `g` (in an `a`, where it leads somewhere) with `data-key`, `data-kind` and `data-id`, with a
 * title, and with classes by its kind, state and marks. All text is text, whatever names hold.
 */
export function svgOf(map: NetworkMap, { link, style = true }: SvgOptions = {}): string {
  const layout = layoutOf(map);
  const root = create("svg", { headless: true, invalidCharReplacement: "?" });
  root.att({ xmlns: "http://www.w3.org/2000/svg", class: "network-map", role: "graphics-document document" });
  root.att({ ...viewOf(layout), "aria-label": printable(`Map of ${map.title}`) });
  root.element("title", {}, printable(`Map of ${map.title}`));
  if (style) root.element("style", {}, mapCss);
  const draw = (item: MapItem | MapGroup): void => {
    const box = layout.boxes.get(item.key);
    if (box) drawItem(root, item, box, link?.(item));
  };
  // What is within stands before what it is in, and boxes before the lines between them.
  const groups = groupsIn(map);
  groups.forEach(draw);
  drawEdges(root, map.edges, layout);
  [map, ...groups].flatMap(({ items }) => items).forEach(draw);
  return root.end();
}

const groupsIn = ({ groups }: Pick<MapGroup, "groups">): MapGroup[] => groups.flatMap((one) => [one, ...groupsIn(one)]);

function drawItem(parent: XMLElement, item: MapItem | MapGroup, box: Box, href: string | undefined): void {
  const { key, kind, ids, tone, marks, title } = item;
  const classes = ["item", kind, `tone-${tone}`, ...marks.map((mark) => `mark-${mark.replaceAll(" ", "-")}`)];
  const outer = href === undefined ? parent : parent.element("a", { href });
  const group = outer.element("g", {
    ...{ class: [...classes, ...("groups" in item ? ["group"] : [])].join(" "), role: "img" },
    ...{ "aria-label": printable(title), "data-key": printable(key), "data-kind": kind },
    ...(ids.length === 1 && { "data-id": printable(ids[0]!) }),
  });
  group.element("title", {}, printable(title));
  group.element("path", { class: "shape", d: shapeOf("groups" in item ? "group" : kind, box) });
  // What a plan replaces has a second outline: it comes twice.
  if (marks.includes("replace")) group.element("path", { class: "outline", d: shapeOf("group", grown(box, 4)) });
  const sign = signOf(tone, box.x + padding.x + 4, box.y + padding.y + 10);
  if (sign !== undefined) group.element("path", { class: "sign", d: sign });
  let y = box.y + padding.y + roomAbove(item);
  const x = box.x + padding.x + (sign === undefined ? 0 : padding.sign - 4);
  for (const { text, kind: of, height, width, fitted } of linesIn(item)) {
    y += height;
    const fit = fitted && { textLength: round(width), lengthAdjust: "spacingAndGlyphs" };
    group.element("text", { class: of, x: round(x), y: round(y - 5), ...fit }, text);
  }
}

/** With room for outlines that stand on the edge. */
function viewOf({ width: w, height: h }: Layout): Record<string, string | number> {
  const [width, height] = [Math.ceil(w) + 16, Math.ceil(h) + 16];
  return { viewBox: `-8 -8 ${width} ${height}`, width, height };
}

const round = (value: number): number => Math.round(value * 10) / 10;

const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  ...{ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by },
});

function drawEdges(root: XMLElement, edges: readonly MapEdge[], { ways }: Layout): void {
  const lines = root.element("g", { class: "edges", "aria-hidden": "true" });
  ways.forEach((points, at) => {
    const [start, ...rest] = points.map(([x, y]) => `${round(x)},${round(y)}`);
    if (start === undefined) return;
    const { kind, from, to } = edges[at]!;
    const data = { "data-from": printable(from), "data-to": printable(to) };
    lines.element("path", { class: `edge ${kind}`, ...data, d: `M${start}C${rest.join(" ")}` });
  });
}
