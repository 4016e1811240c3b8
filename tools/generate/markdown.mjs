// @ts-check
/** Tables, and the generated parts of pages that are written by hand. */

const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;

/** @param {string[]} head @param {string[][]} rows */
export const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))].map(line).join("\n");

const start = "<!-- prettier-ignore-start -->";
const end = "<!-- prettier-ignore-end -->";

/**
 * Replaces the generated part of a page.
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

const code = (/** @type {unknown} */ value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** @typedef {{ description?: string, default?: unknown }} Setting */
/** @typedef {{ name: string, description: string, enforcementLevel: string, configSchema: { properties: Record<string, Setting> } }} Policy */

/** @param {[string, Setting]} entry */
const setting = ([key, { description, default: value }]) =>
  `${code(key)}${value === undefined ? "" : ` (${code(value)})`}: ${description}`;

/**
 * @param {readonly Policy[]} policies
 * @param {string | undefined} text docs/policies.md as it is
 * @returns {Record<string, string>} path → text
 */
export function policyDocs(policies, text = "") {
  const rows = policies.map(({ name, enforcementLevel, description, configSchema: { properties } }) => [
    code(name),
    enforcementLevel,
    description,
    Object.entries(properties).map(setting).join("<br>") || "none",
  ]);
  const part = table(["policy", "default level", "what must hold", "settings (defaults)"], rows);
  return { "docs/policies.md": withPart("docs/policies.md", text, "sdk/policy/", part) };
}
