import { printable } from "../../provider/api/printable";
import { type MapEdge, type MapGroup, type NetworkMap } from "./graph";
import { classOf, type MapItem } from "./items";
import { linesIn } from "./layout";

/** The maximum that forges draw, which is Mermaid's own default. */
const most = { characters: 50_000, edges: 500 } as const;

/** Brackets around a label make the shape. */
const shapes: Partial<Record<MapItem["kind"], readonly [string, string]>> = {
  consortium: ["[", "]"],
  environment: ["[", "]"],
  membership: ["([", "])"],
  node: ["[", "]"],
  appCred: [">", "]"],
  tetherService: ["{{", "}}"],
  service: ["[[", "]]"],
  consortiumZone: ["[/", "/]"],
  environmentZone: ["[/", "/]"],
  chain: ["[(", ")]"],
  nothing: ["[", "]"],
};
const otherShape = ["(", ")"] as const;

/** Mid-tones, visible on light and dark pages. */
const classes: Record<string, string> = {
  create: "stroke:#2da44e,stroke-width:3px",
  update: "stroke:#218bff,stroke-width:3px,stroke-dasharray:10 3",
  replace: "stroke:#e0349f,stroke-width:6px",
  delete: "stroke:#cf222e,stroke-width:3px,stroke-dasharray:3 3",
  drift: "stroke:#bf8700,stroke-width:3px",
  "not-in-stacks": "stroke-dasharray:2 3",
};

/** The map as a Mermaid flowchart; undefined if it is larger than forges draw. */
export function mermaidOf(map: NetworkMap): string | undefined {
  const names = new Map<string, string>();
  const marked = new Map<string, string[]>();
  const name = (item: MapItem): string => {
    const known = names.get(item.key) ?? `n${names.size + 1}`;
    names.set(item.key, known);
    const mark = item.marks[0] && classOf(item.marks[0]);
    if (mark !== undefined) marked.set(mark, [...(marked.get(mark) ?? []), known]);
    return known;
  };
  const box = (item: MapItem, indent: string): string => {
    const [open, close] = shapes[item.kind] ?? otherShape;
    return `${indent}${name(item)}${open}"${labelOf(item)}"${close}`;
  };
  const within = ({ items, groups }: Pick<MapGroup, "items" | "groups">, indent: string): string[] => [
    ...items.map((item) => box(item, indent)),
    ...groups.flatMap((group) => [
      `${indent}subgraph ${name(group)}["${labelOf(group)}"]`,
      ...within(group, `${indent}  `),
      `${indent}end`,
    ]),
  ];
  const line = ({ from, to, kind }: MapEdge): string =>
    `  ${names.get(from)} ${kind === "pins" ? "-.->" : "---"} ${names.get(to)}`;
  const boxes = within(map, "  ");
  const text = [
    "flowchart LR",
    ...boxes,
    ...map.edges.map(line),
    ...[...marked.keys()].map((mark) => `  classDef ${mark} ${classes[mark]}`),
    ...[...marked].map(([mark, some]) => `  class ${some.join(",")} ${mark}`),
  ].join("\n");
  return text.length > most.characters || map.edges.length > most.edges ? undefined : `${text}\n`;
}

const labelOf = (item: MapItem): string =>
  linesIn(item)
    .map(({ text }) => escaped(text))
    .join("<br/>");

/** All characters but letters, digits, spaces, our own signs and hyphens within words. */
const special = /[^\p{L}\p{M}\p{N} ·…⚠±−≠✎-]|(?<![\p{L}\p{N}])-|-(?![\p{L}\p{N}])/gu;

/** Syntax that Mermaid interprets in a label even after decoding it: formulas, line breaks and icons. */
const readLater = /\$(?=\$)|\\(?=n)|:(?=fa-)/g;
/** Invisible; keeps two characters apart. */
const wordJoiner = "\u2060";

/** Writes special characters as numbers, so that no part of a name is syntax of Mermaid, Markdown or HTML. */
const escaped = (text: string): string =>
  printable(text)
    .replace(readLater, `$&${wordJoiner}`)
    .replace(special, (character) => `#${character.codePointAt(0)!};`);
