// @ts-check
/** The files that follow from the schema of network files: the JSON schema for editors, the types of the sdk, and the reference. */
import { list } from "./markdown.mjs";
import { built, consensusOf, described, interfaceOf, interfaceText, otherPattern, shared } from "./types.mjs";

/** @typedef {Record<string, any>} Json */

/** @returns {Json} the JSON schema of a network file */
export function networkSchema() {
  const { Network } = built("sdk/network/schema.js");
  const made = described(Network, { io: "input", target: "draft-7" }); // the version that editors support best
  // Which consensus belongs to which client: a rule between properties, which zod's JSON schema lacks.
  made.definitions.NetworkEnvironment.allOf = Object.entries(consensusOf).map(([provider, types]) => ({
    if: { properties: { provider: { const: provider } }, required: ["provider"] },
    then: { properties: { consensusType: { anyOf: [{ enum: types }, { pattern: otherPattern }] } } },
  }));
  return { $schema: made.$schema, title: "Network file of pulumi-consortium", ...made };
}

const header = `/*
 * Generated from the schema of network files (sdk/network/schema.ts) by \`npm run generate\`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schema.
 */
import { type Client, type ConsensusFor } from "../generated";
`;

/** @param {Json} schema @returns {string} sdk/network/generated.ts */
export function networkTypes(schema) {
  const { NetworkEnvironment: environment, ...others } = schema.definitions;
  const { provider, consensusType, ...rest } = environment.properties;
  const settings = { description: "The other settings of an environment.", properties: rest };
  const { NetworkMember: member, ...more } = others;
  const interfaces = Object.entries({ NetworkMember: member, NetworkEnvironmentSettings: settings, ...more }).map(
    ([name, definition]) => interfaceOf(name, definition),
  );
  const entry = shared(interfaces, "NetworkEntry", "Properties of most entries.", ["adopt", "formerly", "extra"]);
  const zone = shared(interfaces, "NetworkZone", "A region of a cloud.", ["region", "cloud", "type", "name"]);
  const contents = ["members", "zones", "invitations", "environments"];
  const inside = shared(interfaces, "NetworkContents", "Contents of a consortium.", contents);
  // A node has what the defaults for all nodes have.
  const defaults = interfaces.find(({ name }) => name === "NetworkNodeDefaults");
  const nodes = interfaces.filter((one) => one !== defaults);
  shared(nodes, "NetworkNodeDefaults", "", Object.keys(defaults?.members ?? {}));
  // A client with one of its consensus protocols, beside the other settings.
  const choice = `/** ${environment.description} */
export type NetworkEnvironment = NetworkEnvironmentSettings & {
  [C in Client]: {
    /** ${provider.description} */
    provider: C;
    /** ${consensusType.description} */
    consensusType: ConsensusFor<C>;
  };
}[Client];
`;
  return [header, choice, ...[entry, zone, inside, ...interfaces].map(interfaceText)].join("\n");
}

/** The mappings with their headings, in the order of the page. @type {[string, string][]} */
const places = [
  ["NetworkDefinition", "The file"],
  ["NetworkLimits", "`limits`"],
  ["NetworkConsortiumHead", "`consortium`"],
  ["NetworkMember", "An entry of `members`"],
  ["NetworkConsortiumZone", "An entry of `zones`"],
  ["NetworkInvitation", "An entry of `invitations`"],
  ["NetworkEnvironment", "An entry of `environments`"],
  ["NetworkNode", "A node, in a mapping of names to settings"],
  ["NetworkNodeDefaults", "`nodeDefaults`"],
  ["NetworkCredential", "A credential, in a mapping of names to settings"],
  ["NetworkEnvironmentZone", "An entry of `zones` of an environment"],
  ["NetworkConfiguration", "An entry of `configurations`"],
  ["NetworkService", "An entry of `services`"],
  ["NetworkDestination", "A destination, in a mapping of names to settings"],
  ["NetworkTether", "`tether`"],
  ["NetworkConsortium", "An entry of `consortia`"],
];

/** Keys have this pattern; other text has none. */
const keyPattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";
const titles = Object.fromEntries(places);
const anchor = (/** @type {string} */ title) =>
  title
    .toLowerCase()
    .replace(/[^a-z -]/g, "")
    .replaceAll(" ", "-");

/** The type of a value in words. @param {Json} schema @param {boolean} many @returns {string} */
function words(schema, many = false) {
  if (schema.$ref) return `[settings](#${anchor(titles[schema.$ref.split("/").at(-1)] ?? "")})`;
  if (schema.allOf && !schema.type) return words(schema.allOf[0]);
  if (schema.enum) return schema.enum.map((/** @type {string} */ value) => `\`${value}\``).join(", ");
  const forms = (schema.anyOf ?? []).filter((/** @type {Json} */ { type }) => type !== "null");
  if (forms.length > 0) return [...new Set(forms.map((/** @type {Json} */ form) => words(form, many)))].join(", or ");
  if (schema.type === "array") return `list of ${words(schema.items, true)}`;
  if (schema.type === "boolean") return "`true` or `false`";
  if (schema.type === "integer") return "whole number";
  if (schema.type !== "object") return schema.pattern === keyPattern ? (many ? "keys" : "key") : "text";
  const value = schema.additionalProperties;
  return Object.keys(value).length === 0 || value.properties ? "mapping" : `mapping of keys to ${words(value, true)}`;
}

/** Keys that most mappings have, and the mappings of which another one has keys. */
const common = ["adopt", "protect", "formerly", "extra"];
/** @type {Record<string, string>} */
const like = {
  NetworkNodeDefaults: "NetworkNode",
  NetworkEnvironmentZone: "NetworkConsortiumZone",
  NetworkConsortium: "NetworkDefinition",
};
const shownAs = (/** @type {string[]} */ keys) => keys.map((key) => `\`${key}\``).join(", ");
const meaningOf = (/** @type {Json} */ { description }) => description.split(" Default: ")[0];

/** @param {Json} schema @returns {string} docs/reference/network-file.md */
export function networkPage(schema) {
  /** @param {[string, Json]} entry @param {string[]} [required] */
  const row = ([key, member], required = []) => [
    `\`${key}\`${required.includes(key) ? ", required" : ""}`,
    words(member),
    member.description?.replace(/ Default: the service chooses\.$/, ""),
  ];
  /** Definitions of a common key, of which all but the default is the same. @param {string} key @returns {Json[]} */
  const definitionsOf = (key) => {
    const all = places.flatMap(([name]) => schema.definitions[name].properties[key] ?? []);
    const ofMost = all.map(meaningOf).sort((one, other) => count(all, other) - count(all, one))[0];
    return all.filter((one) => meaningOf(one) === ofMost);
  };
  const count = (/** @type {Json[]} */ all, /** @type {string} */ meaning) =>
    all.filter((one) => meaningOf(one) === meaning).length;
  const shared = Object.fromEntries(common.map((key) => [key, definitionsOf(key)]));
  const commonRows = common.map((key) => {
    const [first = {}] = shared[key] ?? [];
    const defaults = (shared[key] ?? []).flatMap(
      ({ description }) => description.match(/(?<= Default: ).+(?=\.$)/) ?? [],
    );
    const ending = defaults.length > 0 ? ` Default: ${[...new Set(defaults)].reverse().join(", else ")}.` : "";
    return row([key, { ...first, description: meaningOf(first) + ending }]);
  });
  const tables = places.map(([name, title]) => {
    const { properties, required = [], description } = schema.definitions[name];
    const entries = Object.entries(/** @type {Record<string, Json>} */ (properties));
    const other = like[name];
    const same = entries.filter(
      ([key, member]) =>
        other && String(row([key, member])) === String(row([key, schema.definitions[other].properties[key] ?? {}])),
    );
    const most = entries.filter(([key, member]) => shared[key]?.includes(member));
    const rows = entries.filter((entry) => ![...same, ...most].some(([key]) => key === entry[0]));
    const sameKeys = same.map(([key]) => key).filter((key) => !most.some(([one]) => one === key));
    const parts = [
      `## ${title}`,
      description,
      rows.length > 0 && list(rows.map((entry) => row(entry, required))),
      sameKeys.length > 0 &&
        `As in [${titles[other ?? ""]}](#${anchor(titles[other ?? ""] ?? "")}): ${shownAs(sameKeys)}.`,
      most.length > 0 && `As in [most mappings](#keys-of-most-mappings): ${shownAs(most.map(([key]) => key))}.`,
    ];
    return parts.filter(Boolean).join("\n\n");
  });
  return `<!-- Generated from sdk/network/schema.ts by \`npm run generate\`. -->

# Network file

Every key of a network file, and of the definition of a \`Network\` in a program. [Network files](../network-files.md) shows how to
use them. The service chooses what has no default.

${tables.join("\n\n")}

## Keys of most mappings

${list(commonRows)}
`;
}
