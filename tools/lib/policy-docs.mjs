// @ts-check
/** The table of docs/policies.md, from the policies themselves; the words around it are written by hand. */

const marks = { start: "<!-- prettier-ignore-start -->", end: "<!-- prettier-ignore-end -->" };
const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (/** @type {unknown} */ value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** @typedef {{ description?: string, default?: unknown }} Setting */
/** @typedef {{ name: string, description: string, enforcementLevel: string, configSchema: { properties: Record<string, Setting> } }} Policy */

/** @param {[string, Setting]} entry */
const setting = ([key, { description, default: value }]) =>
  `${code(key)}${value === undefined ? "" : ` (${code(value)})`}: ${description}`;

/** @param {readonly Policy[]} policies */
const table = (policies) =>
  [
    ["policy", "default level", "what must hold", "settings (defaults)"],
    ["---", "---", "---", "---"],
    ...policies.map(({ name, enforcementLevel, description, configSchema: { properties } }) => [
      code(name),
      enforcementLevel,
      cell(description),
      cell(Object.entries(properties).map(setting).join("<br>") || "none"),
    ]),
  ]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/**
 * @param {readonly Policy[]} policies
 * @param {string | undefined} text docs/policies.md as it is
 * @returns {Record<string, string>} path → text
 */
export function policyDocs(policies, text = "") {
  const [before, rest] = text.split(marks.start);
  const after = rest?.split(marks.end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/policies.md has no place for its table, between ${marks.start} and ${marks.end}`);
  }
  const note = "<!-- Generated from sdk/policy/ by `npm run generate`. -->";
  const made = [marks.start, note, "", table(policies), "", marks.end].join("\n");
  return { "docs/policies.md": before + made + after };
}
