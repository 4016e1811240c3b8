// @ts-check
/** Figures, and the Markdown that shows them. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { replaced, table as markdownTable } from "../../tools/generate/markdown.mjs";
import { root } from "../../tools/lib/prepare.mjs";
import { run } from "../../tools/lib/processes.mjs";

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? NaN) : ((sorted[half - 1] ?? NaN) + (sorted[half] ?? NaN)) / 2;
}

/** @param {number} ms */
export const seconds = (ms) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(2)} s` : "–");

/**
 * A line of the table with a limit as its target.
 * @param {string} measure
 * @param {number} value
 * @param {{ most: number, of?: string, measured?: string }} limit of: the baseline, if the value is a multiple
 * @returns {import("./stack.mjs").Row}
 */
export const bounded = (measure, value, { most, of, measured = String(value) }) => ({
  measure,
  measured,
  met: value <= most,
  target: of === undefined ? `at most ${most}` : `at most ${most} × ${of}`,
});

/** The first cell of each row is text, the others are figures. @param {string[]} head @param {string[][]} rows */
export const table = (head, rows) => markdownTable(head, rows, "---:");

/**
 * Replaces the part of a page between `<!-- NAME -->` and `<!-- /NAME -->`, and formats the page.
 * @param {string} page such as `docs/maintainers/reliability.md`
 * @param {string} name
 * @param {string} text
 */
export async function writePart(page, name, text) {
  const file = join(root, page);
  const marks = /** @type {[string, string]} */ ([`<!-- ${name} -->`, `<!-- /${name} -->`]);
  await writeFormatted(file, replaced(page, readFileSync(file, "utf8"), marks, `\n${text.trim()}`));
}

/**
 * @param {string} file
 * @param {string} text
 */
export async function writeFormatted(file, text) {
  const { format, resolveConfig } = await import("prettier");
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}

/** Date, versions and machine of a figure. @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli */
export async function circumstances(cli) {
  const { stdout } = await run(cli.command, ["version"], { env: { ...process.env, ...cli.env } });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const sdk = JSON.parse(readFileSync(join(root, "node_modules/@pulumi/pulumi/package.json"), "utf8")).version;
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, pulumi-consortium ${version}, Node.js ${process.version.slice(1)}, Pulumi ${stdout.trim().replace(/^v/, "")}, \`@pulumi/pulumi\` ${sdk}, ${machine}`;
}
