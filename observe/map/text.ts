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
  /** About how wide it is. */
  width: number;
  /** Whether its width has to be set: fonts that lack its characters are replaced by any other. */
  fitted: boolean;
}

const heights = { label: 19, detail: 16, mark: 18 } as const;
export const padding = { x: 12, y: 7, sign: 20 } as const;
const longest = 30;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** East Asian characters take a square of the size of the type, whatever the font, and emoji somewhat more. */
const square = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;
const emoji = /\p{Emoji_Presentation}/u;
/** Sizes of type (px), as in the style; the details are not bold, and a tenth narrower. */
const sizes = { label: 13.5, detail: 0.9 * 12, mark: 12 } as const;
/** Widths of other characters, as parts of the size: those of DejaVu Sans Bold, the widest of the fonts that systems have. */
const parts: readonly [characters: RegExp, part: number][] = [
  [/^[fijlrtI .,:;'|!()[\]-]/, 0.5],
  [/^[mwMW@%]/, 1.1],
  [/^\p{Lu}/u, 0.85],
];
const usualPart = 0.72;
const isWide = (text: string): boolean => square.test(text) || emoji.test(text);
const columnsOf = (character: string): number => (isWide(character) ? 2 : 1);

function widthOf(text: string, kind: Line["kind"]): number {
  const width = (character: string): number => {
    if (emoji.test(character)) return 1.4 * sizes[kind];
    if (square.test(character)) return sizes[kind];
    return sizes[kind] * (parts.find(([characters]) => characters.test(character))?.[1] ?? usualPart);
  };
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + width(segment), 0);
}

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

/** What is written in a box: long texts shortened, as its title has all. */
export function linesIn({ label, details, marks }: MapItem): Line[] {
  const line = (kind: Line["kind"], whole: string, most?: number): Line => {
    const text = shortened(printable(whole), most);
    return { kind, height: heights[kind], text, width: widthOf(text, kind), fitted: isWide(text) };
  };
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
  const widest = Math.max(...lines.map(({ width }) => width));
  return {
    width: Math.ceil(widest) + 2 * padding.x + padding.sign,
    height: lines.reduce((sum, line) => sum + line.height, 0) + padding.y,
  };
}
