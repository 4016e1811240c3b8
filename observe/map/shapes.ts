import { type Box } from "./layout";
import { type Tone } from "./marks";
import { type MapItem } from "./items";

const round = (value: number): number => Math.round(value * 10) / 10;
const path = (strings: TemplateStringsArray, ...values: number[]): string =>
  String.raw({ raw: strings }, ...values.map(round));

/** Each kind has an outline of its own, so that none is told by its colour alone. */
export function shapeOf(kind: MapItem["kind"] | "group", box: Box): string {
  const { x, y, width: w, height: h } = box;
  switch (kind) {
    case "membership": // round ends
      return rounded(box, h / 2);
    case "tether": // cut corners on the left and right
      return path`M${x + 10},${y}h${w - 20}l10,${h / 2}l-10,${h / 2}h${20 - w}l-10,${-h / 2}z`;
    case "credential": // a note with a folded corner
      return path`M${x},${y}h${w - 12}l12,12v${h - 12}h${-w}zM${x + w - 12},${y}v12h12`;
    case "chain": // a cylinder
      return (
        path`M${x},${y + 6}a${w / 2},6 0 0 1 ${w},0v${h - 12}a${w / 2},6 0 0 1 ${-w},0z` +
        path`M${x},${y + 6}a${w / 2},6 0 0 0 ${w},0`
      );
    case "group":
      return rounded(box, 8);
    default:
      return rounded(box, 3);
  }
}

const rounded = ({ x, y, width: w, height: h }: Box, r: number): string =>
  path`M${x + r},${y}h${w - 2 * r}a${r},${r} 0 0 1 ${r},${r}v${h - 2 * r}a${r},${r} 0 0 1 ${-r},${r}` +
  path`h${2 * r - w}a${r},${r} 0 0 1 ${-r},${-r}v${2 * r - h}a${r},${r} 0 0 1 ${r},${-r}z`;

/** How something is, as a sign: a disc, a ring, a triangle; nothing where there is nothing to say. */
export function signOf(tone: Tone, x: number, y: number): string | undefined {
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
