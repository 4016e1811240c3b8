// @ts-check
import { table } from "./markdown.mjs";
import { dynamicPrefix, isArgument, pluginPrefix, propertiesOf } from "./properties.mjs";

const fileOf = (/** @type {string} */ type) => type.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

/** @param {any} definition */
function page(definition) {
  const { type, doc } = definition;
  const inputs = propertiesOf(definition.inputs, "input");
  const parents = inputs.filter(({ meta }) => meta.parent);
  const change = (/** @type {import("./properties.mjs").Property} */ { meta }) =>
    meta.replace ? "replaces" : meta.uncompared ? "nothing" : "in place";
  const need = (/** @type {import("./properties.mjs").Property} */ { key, optional }) =>
    optional || key === definition.naming || key === "name" ? "no" : "yes";
  const argumentRows = [
    ...parents.map(({ key, meta }) => [
      `\`${key.replace(/Id$/, "")}\` or \`${key}\``,
      "resource or id",
      "yes",
      "replaces",
      meta.doc,
    ]),
    ...inputs
      .filter(isArgument)
      .map((property) => [
        `\`${property.key}\``,
        `\`${property.type}\``,
        need(property),
        change(property),
        property.meta.doc,
      ]),
  ];
  const outputRows = propertiesOf(definition.outputs, "output").map(({ key, type: text, meta }) => [
    `\`${key}\``,
    `\`${text}\`${meta.secret ? ", secret" : ""}`,
    meta.doc,
  ]);
  const minutes = (/** @type {"create" | "update" | "delete"} */ verb) => (definition.timeouts?.[verb] ?? 300) / 60;
  return `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# ${type}

${doc}

Type token: \`${dynamicPrefix}${type}\`; on the [provider plugin](../languages.md) \`${pluginPrefix}${type}\`. Default timeouts: create ${minutes("create")} min, update ${minutes("update")} min, delete ${minutes("delete")} min (resource option \`customTimeouts\`).
${definition.replaceWarning ? `\n> **${definition.replaceWarning}.** The preview warns about every such change; \`protect: true\` prevents it.\n` : ""}
## Arguments

${table(["argument", "type", "required", "a change", "meaning"], argumentRows)}

## Outputs

In addition to the arguments, with parents as ids:

${table(["output", "type", "meaning"], outputRows)}
`;
}

/** @param {Record<string, any>} definitions @returns {Record<string, string>} path → text */
export function referenceDocs(definitions) {
  const all = Object.values(definitions);
  const rows = all.map(({ type, doc }) => [`[${type}](${fileOf(type)}.md)`, doc]);
  const index = `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# Reference

${table(["resource", "what it is"], rows)}
`;
  const pages = all.map((definition) => [`docs/reference/${fileOf(definition.type)}.md`, page(definition)]);
  return { "docs/reference/README.md": index, ...Object.fromEntries(pages) };
}
