import { create, type XMLElement } from "xmlbuilder";
import { printable } from "../../provider/api/printable";
import { type MapEdge, type MapGroup, type NetworkMap } from "./graph";
import { classOf, type MapItem, type Tone } from "./items";
import { type Box, type Layout, layoutOf, linesIn, padding, roomAbove } from "./layout";
import { mapCss } from "./style";

interface SvgOptions {
  /** The address to which a box links. Default: none. */
  link?: (item: MapItem) => string | undefined;
  /** Whether the SVG contains its style. Default: yes. A page with a Content-Security-Policy adds `mapCss` to its own style. */
  style?: boolean;
}

/**
 * The map as SVG. Each box is a `g` (in an `a` if it has a link) with `data-key`, `data-kind` and `data-id`, a title, and
 * classes for its kind, state and marks. Names are always text, whatever characters they contain.
 */
export function svgOf(map: NetworkMap, { link, style = true }: SvgOptions = {}): string {
  const layout = layoutOf(map);
  const root = create("svg", { headless: true, invalidCharReplacement: "?" });
  root.att({ xmlns: "http://www.w3.org/2000/svg", class: "network-map", role: "graphics-document document" });
  root.att({ ...viewOf(layout), "aria-label": printable(`Map of ${map.title}`) });
  root.element("title", {}, printable(`Map of ${map.title}`));
  if (style) root.element("style", {}, mapCss);
  const draw = (item: MapItem | MapGroup, within?: MapGroup): void => {
    const box = layout.boxes.get(item.key);
    const own = link?.(item);
    // A box without a link of its own hides its parent's link from the keyboard: one stop is enough.
    const href = own ?? (within && link?.(within));
    if (box) drawItem(root, item, box, href === undefined ? undefined : { href, ...(!own && { tabindex: -1 }) });
  };
  // Outer boxes first, then inner ones, then lines.
  const groups = groupsIn(map);
  groups.forEach((group) => draw(group));
  drawEdges(root, map.edges, layout);
  map.items.forEach((item) => draw(item));
  for (const group of groups) group.items.forEach((item) => draw(item, group));
  return root.end();
}

const groupsIn = ({ groups }: Pick<MapGroup, "groups">): MapGroup[] => groups.flatMap((one) => [one, ...groupsIn(one)]);

function drawItem(parent: XMLElement, item: MapItem | MapGroup, box: Box, link: object | undefined): void {
  const { key, kind, ids, tone, marks, title } = item;
  const classes = ["item", kind, `tone-${tone}`, ...marks.map((mark) => `mark-${classOf(mark)}`)];
  const outer = link ? parent.element("a", link) : parent;
  const group = outer.element("g", {
    class: [...classes, ...("groups" in item ? ["group"] : [])].join(" "),
    role: "img",
    "aria-label": printable(title),
    "data-key": printable(key),
    "data-kind": kind,
    ...(ids.length === 1 && { "data-id": printable(ids[0]!) }),
  });
  group.element("title", {}, printable(title));
  group.element("path", { class: "shape", d: shapeOf("groups" in item ? "group" : kind, box) });
  // A second outline marks objects that a plan replaces.
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

/** With room for outlines at the edges. */
function viewOf({ width: w, height: h }: Layout): Record<string, string | number> {
  const [width, height] = [Math.ceil(w) + 16, Math.ceil(h) + 16];
  return { viewBox: `-8 -8 ${width} ${height}`, width, height };
}

const round = (value: number): number => Math.round(value * 10) / 10;

const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
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

const path = (strings: TemplateStringsArray, ...values: number[]): string =>
  String.raw({ raw: strings }, ...values.map(round));

/** Each kind has its own outline, so that none depends on color alone. */
function shapeOf(kind: MapItem["kind"] | "group", box: Box): string {
  const { x, y, width: w, height: h } = box;
  switch (kind) {
    case "membership": // round ends
      return rounded(box, h / 2);
    case "tetherService": // cut corners on the left and right
      return path`M${x + 10},${y}h${w - 20}l10,${h / 2}l-10,${h / 2}h${20 - w}l-10,${-h / 2}z`;
    case "appCred": // a note with a folded corner
      return path`M${x},${y}h${w - 12}l12,12v${h - 12}h${-w}zM${x + w - 12},${y}v12h12`;
    case "chain": // a cylinder
      return (
        path`M${x},${y + 6}a${w / 2},6 0 0 1 ${w},0v${h - 12}a${w / 2},6 0 0 1 ${-w},0z` +
        path`M${x},${y + 6}a${w / 2},6 0 0 0 ${w},0`
      );
    case "service": // with double sides
      return rounded(box, 3) + path`M${x + 5},${y}v${h}M${x + w - 5},${y}v${h}`;
    case "consortiumZone":
    case "environmentZone": // leaning
      return path`M${x + 8},${y}h${w - 8}l-8,${h}h${8 - w}z`;
    case "configuration":
    case "invitation":
    case "destination":
    case "group":
      return rounded(box, 8);
    default:
      return rounded(box, 3);
  }
}

const rounded = ({ x, y, width: w, height: h }: Box, r: number): string =>
  path`M${x + r},${y}h${w - 2 * r}a${r},${r} 0 0 1 ${r},${r}v${h - 2 * r}a${r},${r} 0 0 1 ${-r},${r}` +
  path`h${2 * r - w}a${r},${r} 0 0 1 ${-r},${-r}v${2 * r - h}a${r},${r} 0 0 1 ${r},${-r}z`;

/** The sign for a condition: a disc, a ring or a triangle; none for `plain`. */
function signOf(tone: Tone, x: number, y: number): string | undefined {
  switch (tone) {
    case "good":
      return path`M${x - 5},${y}a5,5 0 1 0 10,0a5,5 0 1 0 -10,0z`;
    case "waiting":
      return (
        path`M${x - 5},${y}a5,5 0 1 0 10,0a5,5 0 1 0 -10,0z` +
        path`M${x - 2.5},${y}a2.5,2.5 0 1 1 5,0a2.5,2.5 0 1 1 -5,0z`
      );
    case "bad":
      return path`M${x},${y - 6}l6,11h-12z`;
    default:
      return undefined;
  }
}
