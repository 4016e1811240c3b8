// @ts-check
/** Figures, and the Markdown that shows them. */

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? NaN) : ((sorted[half - 1] ?? NaN) + (sorted[half] ?? NaN)) / 2;
}

/** @param {number} ms */
export const seconds = (ms) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(2)} s` : "–");

/**
 * A line of the table that is met while its value keeps to a limit.
 * @param {string} measure
 * @param {number} value
 * @param {{ most: number, of?: string, measured?: string }} limit of: what the value is a multiple of
 * @returns {import("./rig.mjs").Row}
 */
export const bounded = (measure, value, { most, of, measured = String(value) }) => ({
  measure,
  measured,
  met: value <= most,
  target: most === Infinity ? "none" : of === undefined ? `at most ${most}` : `at most ${most} × ${of}`,
});

/**
 * @param {string[]} head
 * @param {string[][]} rows the first cell of each is text, the others are figures
 */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
