// @ts-check
/** Figures, and the Markdown that shows them. */

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? NaN) : ((sorted[half - 1] ?? NaN) + (sorted[half] ?? NaN)) / 2;
}

/** @param {number[]} values */
export const lowest = (values) => Math.min(...values);

/** @param {number} ms */
export const seconds = (ms) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(2)} s` : "–");

/**
 * @param {string[]} head
 * @param {string[][]} rows the first cell of each is text, the others are figures
 */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
