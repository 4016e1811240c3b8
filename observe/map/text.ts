import { printable } from "../../provider/api/printable";
import { type MapItem } from "./items";
import { signs } from "./marks";

export interface Size {
  width: number;
  height: number;
}

/** A line of text in a box. */
export interface Line {
  text: string;
  kind: "label" | "detail" | "mark";
  height: number;
}

const heights = { label: 19, detail: 16, mark: 18 } as const;
/** Average widths of a character of each, in the fonts that systems have. */
const widths = { label: 8.7, detail: 6.5, mark: 7.2 } as const;
export const padding = { x: 12, y: 7, sign: 20 } as const;
const longest = 30;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** East Asian characters and emoji are as wide as two others. */
const columnsOf = (character: string): number => (/[\u1100-\u{10ffff}]/u.test(character) ? 2 : 1);

/** The beginning of a text that is too long for its box. */
export function shortened(text: string, most = longest): string {
  let columns = 0;
  let short = "";
  for (const { segment } of characters.segment(text)) {
    columns += columnsOf(segment);
    if (columns > most) return `${short}…`;
    short += segment;
  }
  return short;
}

const columns = (text: string): number =>
  [...characters.segment(text)].reduce((sum, { segment }) => sum + columnsOf(segment), 0);

/** What is written in a box: long texts shortened, as its title has all. */
export function linesIn({ label, details, marks }: MapItem): Line[] {
  const line = (kind: Line["kind"], text: string, most?: number): Line => ({
    ...{ kind, height: heights[kind], text: shortened(printable(text), most) },
  });
  return [
    line("label", label),
    ...details.map((text) => line("detail", text, longest + 12)),
    ...(marks.length > 0 ? [line("mark", marks.map((mark) => `${signs[mark]} ${mark}`).join("  "), 60)] : []),
  ];
}

export function sizeOf(item: MapItem): Size {
  const { width, height } = headerOf(item);
  return { width: Math.max(width, 90), height: height + padding.y + roomAbove(item) };
}

/** The lid of a cylinder has no text on it. */
export const roomAbove = ({ kind }: MapItem): number => (kind === "chain" ? 8 : 0);

/** The size of the header of a box with others in it. */
export function headerOf(item: MapItem): Size {
  const lines = linesIn(item);
  const widest = Math.max(...lines.map(({ text, kind }) => columns(text) * widths[kind]));
  return {
    width: Math.ceil(widest) + 2 * padding.x + padding.sign,
    height: lines.reduce((sum, line) => sum + line.height, 0) + padding.y,
  };
}
