// @ts-check
/** Markdown of the pages that are generated, or a part of them. */

const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;

/** @param {string[]} head @param {string[][]} rows */
export const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))].map(line).join("\n");

const start = "<!-- prettier-ignore-start -->";
const end = "<!-- prettier-ignore-end -->";

/**
 * A page that is written by hand, with its generated part anew.
 * @param {string} file @param {string} page as it is @param {string} source where the part comes from @param {string} part
 */
export function withPart(file, page, source, part) {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${file} has no place for what is generated, between ${start} and ${end}`);
  const note = `<!-- Generated from ${source} by \`npm run generate\`. -->`;
  return `${before}${start}\n${note}\n\n${part}\n\n${end}${after}`;
}
