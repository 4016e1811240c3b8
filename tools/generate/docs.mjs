// @ts-check
/** docs/reference, and the examples in the languages of the plugin. */
import { basename } from "node:path";
import { yamlHead } from "./installing.mjs";
import { list, pageOf, withPart } from "./markdown.mjs";
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

/** In TypeScript alone: other languages differ in nothing that the index does not show. @param {any} example @param {string} others */
const shortExample = ({ title, program }, others) =>
  `## Example\n\n${title}${others}:\n\n\`\`\`ts\n${languages.typescript(program)}\`\`\`\n`;

/** The example of a resource by itself. @param {{ title: string, program: any }} example */
function resourceExample(example) {
  const [{ args }] = example.program.parts;
  const ids = Object.keys(args).some((key) => key.endsWith("Id"));
  const others = "[in other languages](README.md#a-whole-network)";
  return shortExample(example, ids ? `, by ids (with outputs, and ${others})` : ` (${others})`);
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
/** @type {Record<string, [string, string]>} */
const conditions = {
  ready: ["ready", "it can be used"],
  pending: ["starting", "not ready yet; the run that creates or changes it waits"],
  stopped: ["stopped", "stopped by hand or by the service; the run does not wait"],
  failed: ["failed", "the run ends with an error that names the object"],
  going: ["going", "being deleted; it is not adopted, and the run waits until it is gone"],
  gone: ["gone", "deleted, but still listed"],
};

/** @param {string} type */
function statesOf(type) {
  const states = knownStates[type];
  if (!states) return "";
  const known = states.map((state) => `\`${state}\` (${conditions[conditionOf(state)]?.[0]})`);
  return `## States

Known values of \`state\` ([what a run does](README.md#states)): ${known.join(", ")}.

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
  TetherService: [["Tethers", "../tethers.md"], "getTetherAccount", "getTetherBalance", "getTetherReports"],
};

/** @param {string} type */
function relatedTo(type) {
  const all = [
    ["Network file", "network-file.md"],
    ...(related[type] ?? []),
    ["Troubleshooting", "../troubleshooting.md"],
  ];
  return all
    .map((one) => (typeof one === "string" ? [one, fileOf(one)] : one))
    .map(([title, file]) => `[${title}](${file})`)
    .join(", ");
}

/** @param {any} definition */
function importOf({ type, steps }) {
  const [byId = "", byPath] = examples[type].imports;
  const ways = byPath ? "by id, or by path" : "by id";
  const notes = steps?.onImport ? `\nAfter an import, ${steps.onImport}\n` : "";
  return `## Import

[Import](../adopt.md#import) it ${ways}:

\`\`\`sh
${[byId, byPath].filter(Boolean).join("\n")}
\`\`\`
${notes}`;
}

/** @param {any} definition */
function page(definition) {
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
    optional || key === nameKey(definition) ? "" : ", required";
  const isIn = (/** @type {string} */ parent) => parents.some(({ key }) => key === parent);
  /** The parent that implies the others, by its id. */
  const innermost = ["serviceId", "environmentId"].find(isIn);
  /** Both names of an argument that takes a resource. @param {import("./types.mjs").Property} property */
  const named = ({ key, meta }) => (meta.argument === undefined ? `\`${key}\`` : `\`${meta.argument}\` or \`${key}\``);
  const short = (/** @type {string} */ doc) =>
    doc.replace(/ (Programs can pass the resource as `\w+` instead|Default: the service chooses)\./g, "");
  const argumentRows = [
    ...parents.map((property) => {
      const { key, doc, meta, type } = property;
      const isImplied = innermost !== undefined && key !== innermost && key !== "membershipId";
      const asResource = meta.argument !== undefined && !(isImplied && innermost === "serviceId");
      const implied = `, needed with \`${innermost}\`; \`${innermost?.replace(/Id$/, "")}\` implies it`;
      return [
        `${asResource ? named(property) : `\`${key}\``}${isImplied ? implied : ", required"}`,
        asResource ? "resource or id" : `\`${type}\``,
        "replaces",
        short(doc),
      ];
    }),
    ...inputs
      .filter(isArgument)
      .filter(({ key, doc }) => everywhere[key] !== doc)
      .map((property) => [
        `${named(property)}${need(property)}`,
        property.meta.argument === undefined ? `\`${property.type}\`` : "resource or id",
        change(property),
        short(property.doc),
      ]),
  ];
  const common = inputs.filter(({ key, doc }) => everywhere[key] === doc).map(({ key }) => `\`${key}\``);
  const alsoTakes =
    common.length > 0
      ? `\nAnd ${common.join(" and ")}, [as most resources](README.md#arguments-of-most-resources).\n`
      : "";
  const outputRows = propertiesOf(definition.outputs, "output").map(({ key, type: text, doc, meta }) => [
    `\`${key}\``,
    `\`${text}\`${meta.secret ? ", secret" : ""}`,
    doc,
  ]);
  const minutes = (/** @type {"create" | "update" | "delete"} */ verb) => (definition.timeouts?.[verb] ?? 300) / 60;
  const [create, update, remove] = [minutes("create"), minutes("update"), minutes("delete")];
  const timeouts =
    create === update && create === remove
      ? `${create} min for each step`
      : `create ${create} min, update ${update} min, delete ${remove} min`;
  return `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# ${type}

${doc}

Type token: \`${pluginPrefix}${type}\`, or [dynamic](../plugin.md) \`${dynamicPrefix}${type}\`. Default \`customTimeouts\`: ${timeouts}.
${lossWarning("replace", type) ? `\n> **${lossWarning("replace", type)}.** The preview warns about every such change; \`protect: true\` prevents it.\n` : ""}
${resourceExample(examples[type])}
## Arguments

With [type and effect of a change](README.md#arguments-of-most-resources):

${list(argumentRows)}
${alsoTakes}
## Outputs

Besides the arguments:

${list(outputRows)}

${statesOf(type)}${importOf(definition)}
## Related

${relatedTo(type)}
`;
}

/** @param {any} lookup @param {any[]} definitions */
function lookupPage({ name, doc, args, result, list: within }, definitions) {
  const inputs = propertiesOf(args, "input").map(({ key, type, optional, doc }) => [
    `\`${key}\`${optional ? "" : ", required"}`,
    `\`${type}\``,
    doc,
  ]);
  const fields = result.shape ? propertiesOf(result, "output") : [];
  const resource = definitions.find(({ type }) => related[type]?.includes(name));
  const known = [...propertiesOf(resource.inputs, "input"), ...propertiesOf(resource.outputs, "output")];
  const same = fields.filter(({ key, type }) => known.some((one) => one.key === key && one.type === type));
  const rows = fields
    .filter((one) => !same.includes(one))
    .map(({ key, type, doc }) => [`\`${key}\``, `\`${type}\``, doc]);
  const asResource = `As of [${resource.type}](${fileOf(resource.type)}): ${same.map(({ key }) => `\`${key}\``).join(", ")}.`;
  const answers = within
    ? `A list${fields.length > 0 ? "" : " of text"}; in other languages, an object with it in \`${within}\`.`
    : "One object.";
  return `<!-- Generated from provider/lookups/ by \`npm run generate\`. -->

# ${name}

${doc}

Function token: \`${pluginPrefix}${name}\`. [\`${name}Output\`](README.md#a-lookup) takes and returns outputs.

${shortExample(lookupExamples(sampleIds)[name], " ([in other languages](README.md#a-lookup))")}
## Arguments

${list(inputs)}

## Result

${answers}
${rows.length > 0 ? `\n${list(rows)}\n` : ""}${same.length > 0 ? `\n${asResource}\n` : ""}`;
}

/** Arguments that most resources have, with the same meaning: they are described once. @type {Record<string, string>} */
const everywhere = {};

/** @param {any[]} definitions */
function commonArguments(definitions) {
  const all = definitions.flatMap(({ inputs }) => propertiesOf(inputs, "input"));
  return ["adopt", "extra"].map((key) => {
    const found = all.filter((one) => one.key === key);
    const uses = (/** @type {string} */ doc) => found.filter((one) => one.doc === doc).length;
    const [first] = found.toSorted((one, other) => uses(other.doc) - uses(one.doc));
    if (!first || uses(first.doc) < 5) throw new Error(`few resources have "${key}" with the same meaning`);
    everywhere[key] = first.doc;
    return [`\`${key}\``, `\`${first.type}\``, key === "extra" ? "replaces" : "nothing", first.doc];
  });
}

/**
 * @param {Record<string, any>} definitions @param {Record<string, any>} lookups
 * @returns {Record<string, string>} path → text
 */
export function referenceDocs(definitions, lookups) {
  const all = Object.values(definitions);
  const first = (/** @type {string} */ doc) => /^.*?\.(?= |$)/.exec(doc)?.[0] ?? doc;
  const rows = [
    ...all.map(({ type, doc }) => [`[${type}](${fileOf(type)})`, first(doc)]),
    ["[Network](network.md)", "A component: all of these from one definition, in the program or in a file."],
  ];
  // What finds one object by its name is told in a sentence: its arguments and result are those of the list.
  const isByName = (/** @type {{ name: string }} */ { name }) => all.some(({ type }) => name === `get${type}`);
  const byName = Object.values(lookups)
    .filter(isByName)
    .map(({ name, args }) => `\`${name}({ ${Object.keys(args.shape).join(", ")} })\``);
  const withPage = Object.values(lookups).filter((lookup) => !isByName(lookup));
  const looks = withPage.map(({ name, doc }) => [`[${name}](${fileOf(name)})`, first(doc)]);
  const common = commonArguments(all);
  const named = (/** @type {string[][]} */ entries) => entries.map((entry) => `- ${entry.join(": ")}`).join("\n");
  const index = `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# Reference

Every resource and lookup. Other references: [network files](network-file.md),
[policies](policies.md), [commands](commands.md), [checks](check.md), [fleets](fleet.md), [client](client.md),
[embedded service](embedded-service.md), [arguments in Terraform](terraform.md), [compatibility](compatibility.md).

${named(rows)}

Lookups:

${named(looks)}

${byName.slice(0, -1).join(", ")} and ${byName.at(-1)} return one object. They fail if there is none, or more than one.

## Arguments of most resources

A page names the type of each argument, and whether a change works in place or replaces the object. The service chooses what has no default. Most resources take

${list(common)}

## States

\`state\` is in the service's own words. One that no page names counts as ready only if the object can be used, and a warning names it.

${named(Object.values(conditions))}

## A whole network

One resource of each kind, in TypeScript:

${inLanguages(whole)}
## A lookup

A lookup returns plain values, and its form \`…Output\` outputs. In TypeScript:

${inLanguages(lookupExamples(sampleIds).getNodes.program)}`;
  const pages = [
    ...all.map((definition) => [pageOf(definition.type), page(definition)]),
    ...withPage.map((lookup) => [pageOf(lookup.name), lookupPage(lookup, all)]),
  ];
  return {
    "docs/reference/README.md": index,
    ...Object.fromEntries(pages),
  };
}

/** From another page of the reference. */
const fileOf = (/** @type {string} */ type) => basename(pageOf(type));

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

/** @param {typeof import("../../provider/errors.js").problems} problems @param {string} page with the codes of errors */
export function errorCodes(problems, page) {
  const part = Object.entries(problems).map(([code, { cause, fix }]) => `### ${code}\n\n${cause} ${fix}`);
  return withPart("docs/troubleshooting.md", page, "provider/errors.ts", part.join("\n\n"));
}
