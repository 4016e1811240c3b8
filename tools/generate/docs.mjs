// @ts-check
/** docs/reference, and the examples in the languages of the plugin. */
import { errorsOf } from "./errors.mjs";
import { yamlHead } from "./installing.mjs";
import { table, withPart } from "./markdown.mjs";
import { built, dynamicPrefix, isArgument, pluginPrefix, propertiesOf } from "./types.mjs";

const { nameKey } = built("provider/core/definition.js");
const { conditionOf } = built("provider/api/states.js");
const { lossWarning } = built("provider/constants.js");
const { examples, lookupExamples, quickstart, sampleIds, starter, whole } = built("plugin/schema/examples.js");
const { languages, yamlBody } = built("plugin/schema/languages.js");

const titles = { typescript: "TypeScript", yaml: "YAML", python: "Python", go: "Go" };

/** A program in every language. All but the first are folded. @param {unknown} program */
function inLanguages(program) {
  const [first = "", ...others] = Object.entries(titles).map(([language, name]) => {
    const tag = language === "typescript" ? "ts" : language;
    const text = `\`\`\`${tag}\n${languages[language](program)}\`\`\``;
    return tag === "ts" ? text : `<details>\n<summary>${name}</summary>\n\n${text}\n\n</details>`;
  });
  return `${first}\n\nThe same in other [languages](../languages.md):\n\n${others.join("\n\n")}\n`;
}

/** @param {{ title: string, program: unknown }} example */
const exampleOf = ({ title, program }) => `## Example\n\n${title}, in TypeScript:\n\n${inLanguages(program)}`;

/** The example of a resource by itself. @param {{ title: string, program: any }} example */
function resourceExample(example) {
  const text = exampleOf(example);
  const [{ args }] = example.program.parts;
  if (!Object.keys(args).some((key) => key.endsWith("Id"))) return text;
  const note =
    "The ids belong to existing objects. Programs usually pass outputs, as in [a whole network](README.md#a-whole-network).";
  return text.replace("\n\nThe same in", `\n\n${note}\n\nThe same in`);
}

const going = ["delete_pending", "deleted"];
/** The states that are known of each kind, in their order. @type {Record<string, string[]>} */
const knownStates = {
  Consortium: ["setup", ...going],
  Membership: ["active", ...going],
  Environment: ["initializing", "setup", "live", "upgrade", "paused", ...going],
  Node: ["initializing", "started", "failed", ...going],
  Service: ["initializing", "provisioning", "started", "failed", "delete_pending"],
  Invitation: ["sent", "accepted"],
};
/** @type {Record<string, string>} */
const meanings = {
  ready: "ready",
  pending: "not ready yet; the run that creates or changes it waits",
  stopped: "stopped by hand or by the service; the run does not wait",
  failed: "failed; the run ends with an error that names the object",
  going: "being deleted; it is not adopted, and the run waits until it is gone",
  gone: "deleted, but still listed",
};

/** @param {string} type */
function statesOf(type) {
  const states = knownStates[type];
  if (!states) return "";
  const rows = states.map((state) => [`\`${state}\``, meanings[conditionOf(state)] ?? ""]);
  return `## States

\`state\` is in the service's own words. These are known; any other state counts as ready.

${table(["state", "meaning"], rows)}

`;
}

/** @type {[string, string]} */
const ledger = ["Using a ledger", "../runtime.md"];
/** Pages on the same subject: resources and lookups by their names, others with their place. @type {Record<string, (string | [string, string])[]>} */
const related = {
  Consortium: ["getConsortia"],
  Membership: ["getMemberships", "Invitation"],
  Environment: ["getEnvironments", ledger, "getReleases"],
  Node: ["getNodes", "getNodeStatus", "getNodeLogs", ledger],
  AppCred: [ledger, ["State and its secrets", "../state.md"]],
  ConsortiumZone: ["EnvironmentZone", "getZones"],
  EnvironmentZone: ["ConsortiumZone", "getZones"],
  Configuration: ["Node", "getConfigurations"],
  Service: ["Destination", "getServices"],
  Destination: ["Service"],
  Invitation: ["Membership", "getInvitations"],
  TetherService: [["Tethers", "../tethers.md"], "getTetherAccount", "getTetherReports"],
};

/** @param {string} type */
function relatedTo(type) {
  const all = [
    ["Network file", "network-file.md"],
    ...(related[type] ?? []),
    ["Troubleshooting", "../troubleshooting.md"],
  ];
  return all
    .map((one) => (typeof one === "string" ? [one, `${fileOf(one)}.md`] : one))
    .map(([title, file]) => `[${title}](${file})`)
    .join(", ");
}

/** @param {any} definition */
function importOf({ type, steps }) {
  const [byId = "", byPath] = examples[type].imports;
  const ways = byPath ? "by its id, or by its path of names or ids" : "by its id";
  const notes = steps?.onImport ? `\nAfter an import, ${steps.onImport}\n` : "";
  return `## Import

[Import](../adopt.md#import) it ${ways}:

\`\`\`sh
${[byId, byPath].filter(Boolean).join("\n")}
\`\`\`
${notes}
Dynamic resources cannot be imported: [adopt the object](../adopt.md#adopting-what-exists) instead.
`;
}

const fileOf = (/** @type {string} */ type) => type.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

/** @param {any} definition @param {string} troubleshooting */
function page(definition, troubleshooting) {
  const { type, doc } = definition;
  const inputs = propertiesOf(definition.inputs, "input");
  const parents = inputs.filter(({ meta }) => meta.parent);
  const change = (/** @type {import("./types.mjs").Property} */ { meta }) =>
    meta.onChange === "replaceIfRefused"
      ? "in place, or replaces"
      : meta.onChange === "replace"
        ? "replaces"
        : meta.onChange === "ignore"
          ? "nothing"
          : "in place";
  const need = (/** @type {import("./types.mjs").Property} */ { key, optional }) =>
    optional || key === nameKey(definition) ? "no" : "yes";
  const isIn = (/** @type {string} */ parent) => parents.some(({ key }) => key === parent);
  /** The parent that implies the others, by its id. */
  const innermost = ["serviceId", "environmentId"].find(isIn);
  const argumentRows = [
    ...parents.map(({ key, doc, meta, type }) => {
      const isImplied = innermost !== undefined && key !== innermost && key !== "membershipId";
      const asResource = meta.argument !== undefined && !(isImplied && innermost === "serviceId");
      return [
        asResource ? `\`${meta.argument}\` or \`${key}\`` : `\`${key}\``,
        asResource ? "resource or id" : `\`${type}\``,
        isImplied ? `with \`${innermost}\`; \`${innermost.replace(/Id$/, "")}\` implies it` : "yes",
        "replaces",
        doc,
      ];
    }),
    ...inputs
      .filter(isArgument)
      .map((property) => [
        `\`${property.key}\``,
        `\`${property.type}\``,
        need(property),
        change(property),
        property.doc,
      ]),
  ];
  const outputRows = propertiesOf(definition.outputs, "output").map(({ key, type: text, doc, meta }) => [
    `\`${key}\``,
    `\`${text}\`${meta.secret ? ", secret" : ""}`,
    doc,
  ]);
  const minutes = (/** @type {"create" | "update" | "delete"} */ verb) => (definition.timeouts?.[verb] ?? 300) / 60;
  return `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# ${type}

${doc}

Type token: \`${pluginPrefix}${type}\`, or as a [dynamic resource](../plugin.md) \`${dynamicPrefix}${type}\`. Default timeouts: create ${minutes("create")} min, update ${minutes("update")} min, delete ${minutes("delete")} min (resource option \`customTimeouts\`).
${lossWarning("replace", type) ? `\n> **${lossWarning("replace", type)}.** The preview warns about every such change; \`protect: true\` prevents it.\n` : ""}
${resourceExample(examples[type])}
## Arguments

${table(["argument", "type", "required", "a change", "meaning"], argumentRows)}

## Outputs

In addition to the arguments, with parents as ids:

${table(["output", "type", "meaning"], outputRows)}

${statesOf(type)}${errorsOf(type, troubleshooting)}${importOf(definition)}
## Related

${relatedTo(type)}
`;
}

/** @param {any} lookup */
function lookupPage({ name, doc, args, result, list }) {
  const inputs = propertiesOf(args, "input").map(({ key, type, optional, doc }) => [
    `\`${key}\``,
    `\`${type}\``,
    optional ? "no" : "yes",
    doc,
  ]);
  const rows = result.shape
    ? propertiesOf(result, "output").map(({ key, type, doc }) => [`\`${key}\``, `\`${type}\``, doc])
    : [];
  const answers = list
    ? `A list${rows.length > 0 ? " of these" : " of text"}. In TypeScript the lookup answers the list itself, in other languages an object with the list in \`${list}\`.`
    : "One object.";
  return `<!-- Generated from provider/lookups/ by \`npm run generate\`. -->

# ${name}

${doc} \`${name}\` takes and returns plain values, \`${name}Output\` outputs.

Function token: \`${pluginPrefix}${name}\`.

${exampleOf(lookupExamples(sampleIds)[name])}
## Arguments

${table(["argument", "type", "required", "meaning"], inputs)}

## Result

${answers}
${rows.length > 0 ? `\n${table(["field", "type", "meaning"], rows)}\n` : ""}`;
}

/**
 * @param {Record<string, any>} definitions @param {Record<string, any>} lookups @param {string} troubleshooting that page as it is
 * @returns {Record<string, string>} path → text
 */
export function referenceDocs(definitions, lookups, troubleshooting) {
  const all = Object.values(definitions);
  const rows = [
    ...all.map(({ type, doc }) => [`[${type}](${fileOf(type)}.md)`, doc]),
    ["[Network](network.md)", "A component: all of these from one definition, in the program or in a file."],
  ];
  const looks = Object.values(lookups).map(({ name, doc }) => [`[${name}](${fileOf(name)}.md)`, doc]);
  const index = `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# Reference

Every resource and lookup, with an example in four languages. Other references: [network files](network-file.md),
[policies](policies.md), [commands](commands.md), [checks](check.md), [fleets](fleet.md), [client](client.md),
[embedded service](embedded-service.md), [arguments in Terraform](terraform.md), [compatibility](compatibility.md).

${table(["resource", "what it is"], rows)}

${table(["lookup", "what it answers"], looks)}

## A whole network

One resource of each kind, in TypeScript:

${inLanguages(whole)}`;
  const pages = [
    ...all.map((definition) => [`docs/reference/${fileOf(definition.type)}.md`, page(definition, troubleshooting)]),
    ...Object.values(lookups).map((lookup) => [`docs/reference/${fileOf(lookup.name)}.md`, lookupPage(lookup)]),
  ];
  return {
    "docs/reference/README.md": index,
    ...Object.fromEntries(pages),
  };
}

/** The README, which names every resource. @param {string} page as it is @param {Record<string, any>} definitions */
export function naming(page, definitions) {
  const names = Object.values(definitions).map(({ type }) => `\`${type}\``);
  const text = `Resources are ${names.slice(0, -1).join(", ")} and ${names.at(-1)}; \`Network\` creates them from one definition.`;
  const sentence = /^Resources are [^;]+; [^.]+\.$/m;
  if (!sentence.test(page)) throw new Error(`README.md has no place for "${text}"`);
  return page.replace(sentence, text.replace(/(.{1,130})(?: |$)/g, "$1\n").trimEnd());
}

/**
 * @param {import("./about.mjs").About} about @param {(path: string) => string} read a file of the repository as it is
 * @returns {Record<string, string>} path → text
 */
export function languageFiles(about, read) {
  /** A project in YAML, whose settings come before its resources. @param {string} file @param {unknown} program */
  const inYaml = (file, program) => yamlHead(file, about, read) + yamlBody(program);
  const page = "docs/reference/network.md";
  return {
    "examples/yaml/Pulumi.yaml": inYaml("examples/yaml/Pulumi.yaml", quickstart),
    "examples/python/__main__.py": languages.python(quickstart),
    "examples/go/main.go": languages.go(quickstart),
    "templates/yaml/Pulumi.yaml": inYaml("templates/yaml/Pulumi.yaml", starter),
    "templates/python/__main__.py": languages.python(starter),
    "templates/go/main.go": languages.go(starter),
    [page]: withPart(page, read(page), "plugin/schema/examples.ts", exampleOf(examples.Network).trimEnd()),
  };
}
