// @ts-check
/** Tables, and the generated parts of pages that are written by hand. */

const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;

/** @param {string[]} head @param {string[][]} rows @param {string} [others] the line below the head of all columns but the first */
export const table = (head, rows, others = "---") =>
  [head, head.map((_, at) => (at === 0 ? "---" : others)), ...rows.map((row) => row.map(cell))].map(line).join("\n");

/** A page of docs/reference. @param {string} type of a resource, or a lookup */
export const pageOf = (type) =>
  `docs/reference/${type.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.md`;

/** What is said of names, in a list. @param {string[][]} rows each has a name, notes on it, and its meaning */
export const list = (rows) =>
  rows
    .map(
      ([name = "", ...others]) =>
        `- ${name} (${others.slice(0, -1).join(", ")}): ${others.at(-1)?.replaceAll("\n", " ")}`,
    )
    .join("\n");

/**
 * Replaces the part of a page between two marks.
 * @param {string} file @param {string} page as it is @param {[start: string, end: string]} marks @param {string} part
 */
export function replaced(file, page, [start, end], part) {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${file} has no place for the generated part, between ${start} and ${end}`);
  return `${before}${start}\n${part}\n\n${end}${after}`;
}

/** The generated part of a page. @param {string} file @param {string} page as it is @param {string} source where the part comes from @param {string} part */
export const withPart = (file, page, source, part) =>
  replaced(
    file,
    page,
    ["<!-- prettier-ignore-start -->", "<!-- prettier-ignore-end -->"],
    `<!-- Generated from ${source} by \`npm run generate\`. -->\n\n${part}`,
  );

const code = (/** @type {unknown} */ value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** @typedef {{ description?: string, default?: unknown }} Setting */
/** @typedef {{ name: string, description: string, enforcementLevel: string, configSchema: { properties: Record<string, Setting> } }} Policy */

/** @param {[string, Setting]} entry */
const setting = ([key, { description, default: value }]) =>
  `${code(key)}${value === undefined ? "" : ` (${code(value)})`}: ${description}`;

/**
 * @param {readonly Policy[]} policies
 * @param {string} text docs/reference/policies.md as it is
 * @returns {Record<string, string>} path → text
 */
export function policyDocs(policies, text) {
  const rows = policies.map(({ name, enforcementLevel, description, configSchema: { properties } }) => [
    code(name),
    enforcementLevel,
    description,
    Object.entries(properties).map(setting).join("<br>") || "none",
  ]);
  const part = table(["policy", "default level", "what must hold", "settings (defaults)"], rows);
  return { "docs/reference/policies.md": withPart("docs/reference/policies.md", text, "sdk/policy/", part) };
}
