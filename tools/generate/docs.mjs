// @ts-check
/** docs/reference, and the examples in the languages of the plugin. */
import { table, withPart } from "./markdown.mjs";
import { built, dynamicPrefix, isArgument, pluginPrefix, propertiesOf } from "./types.mjs";

const { nameKey } = built("provider/core/definition.js");
const { examples, lookupExamples, quickstart, sampleIds, starter } = built("plugin/schema/examples.js");
const { languages, yamlBody } = built("plugin/schema/languages.js");

const titles = { typescript: "TypeScript", yaml: "YAML", python: "Python", go: "Go" };

/** A program in every language. All but the first are folded. @param {{ title: string, program: unknown }} example */
function exampleOf({ title, program }) {
  const [first = "", ...others] = Object.entries(titles).map(([language, name]) => {
    const tag = language === "typescript" ? "ts" : language;
    const text = `\`\`\`${tag}\n${languages[language](program)}\`\`\``;
    return tag === "ts" ? text : `<details>\n<summary>${name}</summary>\n\n${text}\n\n</details>`;
  });
  return `## Example\n\n${title}, in TypeScript:\n\n${first}\n\nThe same in other [languages](../languages.md):\n\n${others.join("\n\n")}\n`;
}

/** @param {any} definition */
function importOf({ type, onImport }) {
  const [byId = "", byPath] = examples[type].imports;
  const ways = byPath ? "by its id, or by its path, each part of which is a name or an id" : "by its id";
  const notes = onImport ? `\nOf an imported one, ${onImport}\n` : "";
  return `## Import

On the [provider plugin](../operations.md#import), ${ways}:

\`\`\`sh
${[byId, byPath].filter(Boolean).join("\n")}
\`\`\`
${notes}
Without the plugin, \`adopt\` takes an existing object over: [which way is yours](../operations.md#adopting-what-exists).
`;
}

const fileOf = (/** @type {string} */ type) => type.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

/** @param {any} definition */
function page(definition) {
  const { type, doc } = definition;
  const inputs = propertiesOf(definition.inputs, "input");
  const parents = inputs.filter(({ meta }) => meta.parent);
  const change = (/** @type {import("./types.mjs").Property} */ { meta }) =>
    meta.replace === "ifNeeded"
      ? "in place, or replaces"
      : meta.replace
        ? "replaces"
        : meta.ignoredInDiff
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

Type token: \`${dynamicPrefix}${type}\`; on the [provider plugin](../languages.md) \`${pluginPrefix}${type}\`. Default timeouts: create ${minutes("create")} min, update ${minutes("update")} min, delete ${minutes("delete")} min (resource option \`customTimeouts\`).
${definition.replaceWarning ? `\n> **${definition.replaceWarning}.** The preview warns about every such change; \`protect: true\` prevents it.\n` : ""}
${exampleOf(examples[type])}
## Arguments

${table(["argument", "type", "required", "a change", "meaning"], argumentRows)}

## Outputs

In addition to the arguments, with parents as ids:

${table(["output", "type", "meaning"], outputRows)}

${importOf(definition)}`;
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

Function token on the [provider plugin](../languages.md): \`${pluginPrefix}${name}\`.

${exampleOf(lookupExamples(sampleIds)[name])}
## Arguments

${table(["argument", "type", "required", "meaning"], inputs)}

## Result

${answers}
${rows.length > 0 ? `\n${table(["field", "type", "meaning"], rows)}\n` : ""}`;
}

const networkPage = `<!-- Generated from plugin/schema/examples.ts by \`npm run generate\`. -->

# Network

A whole network from one definition: consortium, members, environments with their nodes, credentials, and tethers. Each
part is a resource of its own. [Network files](../network-files.md) has all arguments, and the same as a file.

Type token: \`${pluginPrefix}Network\`.

${exampleOf(examples.Network)}
## Outputs

In TypeScript, \`outputs\` is by consortium, and the parts of each are by their keys in the definition. A consortium that
is defined without a key has the name of the network:

\`\`\`text
outputs
└─ coffee-trade             the consortium
   ├─ id
   ├─ members
   │  └─ grower             { id }
   └─ environments
      └─ ledger
         ├─ id, chainId
         ├─ nodes
         │  └─ grower-1     { id, urls: { rpc, wss } }
         ├─ credentials
         │  └─ grower       { username, password }; the password is a secret
         └─ tether          { id, account }, where there is one
\`\`\`

\`\`\`ts
import { Network } from "pulumi-consortium";

const { outputs } = Network.fromFile("network.yaml");
const ledger = outputs["coffee-trade"]?.environments["ledger"];
export const rpc = ledger?.nodes["grower-1"]?.urls.rpc;
export const password = ledger?.credentials["grower"]?.password;
\`\`\`

In other languages, the same tree is in \`consortia\`, without passwords; these are in the secret output \`passwords\`, by
consortium, environment and credential. \`consortia\` of the class in TypeScript holds the resources themselves.
`;

/** @param {Record<string, any>} definitions @param {Record<string, any>} lookups @returns {Record<string, string>} path → text */
export function referenceDocs(definitions, lookups) {
  const all = Object.values(definitions);
  const rows = [
    ...all.map(({ type, doc }) => [`[${type}](${fileOf(type)}.md)`, doc]),
    ["[Network](network.md)", "A component: all of these from one definition, in the program or in a file."],
  ];
  const looks = Object.values(lookups).map(({ name, doc }) => [`[${name}](${fileOf(name)}.md)`, doc]);
  const index = `<!-- Generated from provider/resources/ by \`npm run generate\`. -->

# Reference

${table(["resource", "what it is"], rows)}

${table(["lookup", "what it answers"], looks)}
`;
  const pages = [
    ...all.map((definition) => [`docs/reference/${fileOf(definition.type)}.md`, page(definition)]),
    ...Object.values(lookups).map((lookup) => [`docs/reference/${fileOf(lookup.name)}.md`, lookupPage(lookup)]),
  ];
  return {
    "docs/reference/README.md": index,
    "docs/reference/network.md": networkPage,
    ...Object.fromEntries(pages),
  };
}

const shown = ["yaml", "python", "go", "typescript"];

/** A network in each language. Pulumi's registry shows one of them at a time. */
const chooser = [
  `{{< chooser language "${shown.join(",")}" >}}`,
  ...shown.map(
    (language) =>
      `{{% choosable language ${language} %}}\n\n\`\`\`${language}\n${languages[language](examples.AppCred.program)}\`\`\`\n\n{{% /choosable %}}`,
  ),
  "{{< /chooser >}}",
].join("\n");

const yamlTemplate = `name: \${PROJECT}
description: \${DESCRIPTION}
runtime: yaml
template:
  displayName: Consortium network, YAML
  description: A private blockchain network of two companies, in YAML
  quickstart: |
    The network is in Pulumi.yaml. It runs on the provider plugin, which must be installed once: npx --no-install pulumi-consortium plugin install.
    To deploy it to a local service (npx --no-install pulumi-consortium serve) or to your organization:

        pulumi up
  config:
    consortium:region:
      description: "The region of your organization: us, eu, ap or ko"
      default: us
    consortium:apiKey:
      description: An API key of your organization (leave empty if CONSORTIUM_API_KEY is set)
      secret: true
`;
const yamlHead =
  "name: quickstart-yaml\ndescription: A small private blockchain network of two members\nruntime: yaml\n";

const source = "plugin/schema/examples.ts";

/** @param {(path: string) => string | undefined} read a file of the repository as it is @returns {Record<string, string>} path → text */
export const languageFiles = (read) => ({
  "examples/yaml/Pulumi.yaml": yamlHead + yamlBody(quickstart),
  "examples/python/__main__.py": languages.python(quickstart),
  "examples/go/main.go": languages.go(quickstart),
  "templates/yaml/Pulumi.yaml": yamlTemplate + yamlBody(starter),
  "templates/python/__main__.py": languages.python(starter),
  "templates/go/main.go": languages.go(starter),
  "docs/_index.md": withPart("docs/_index.md", read("docs/_index.md") ?? "", source, chooser),
});
