// @ts-check
/** The table of docs/policies.md, from the policies themselves; the words around it are written by hand. */
import { table, withPart } from "./markdown.mjs";

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
