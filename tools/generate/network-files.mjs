// @ts-check
/** What follows from the schema of network files: the JSON schema for editors, the types of the sdk, and the reference of the file. */
import { compile } from "json-schema-to-typescript";
import { format } from "prettier";
import { table } from "./markdown.mjs";
import { built, consensusOf, described } from "./types.mjs";

/** @typedef {Record<string, any>} Json */

/** Which consensus belongs to which client: a rule between properties, which zod's JSON schema lacks. @param {Record<string, readonly string[]>} allowed */
const consensusRules = (allowed) =>
  Object.entries(allowed).map(([provider, types]) => ({
    if: { properties: { provider: { const: provider } }, required: ["provider"] },
    then: { properties: { consensusType: { enum: types } } },
  }));

/** @returns {Json} the JSON schema of a network file */
export function networkSchema() {
  const { Network } = built("sdk/network/schema.js");
  const made = described(Network, { io: "input", target: "draft-7" }); // the version that editors support best
  made.definitions.NetworkEnvironment.allOf = consensusRules(consensusOf);
  return { $schema: made.$schema, title: "Network file of pulumi-consortium", ...made };
}

const nameOf = (/** @type {string} */ ref) => ref.split("/").at(-1) ?? "";

const header = `/*
 * Generated from the schema of network files (sdk/network/schema.ts) by \`npm run generate\`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schema.
 */`;

/**
 * A client with one of its consensus protocols: in TypeScript a union, beside the other settings.
 * @param {Json} environment @returns {Json}
 */
function withChoice({ allOf: rules, properties, required, ...environment }) {
  const { provider, consensusType, ...rest } = properties;
  const others = { type: "object", title: "NetworkEnvironmentSettings", properties: rest, additionalProperties: false };
  const choices = rules.map((/** @type {Json} */ rule) => {
    const text = (/** @type {Json} */ { description }) => ({ type: "string", description });
    const client = { ...text(provider), enum: [rule.if.properties.provider.const] };
    const consensus = { ...text(consensusType), ...rule.then.properties.consensusType };
    return { type: "object", properties: { provider: client, consensusType: consensus }, required };
  });
  return { description: environment.description, allOf: [others, { anyOf: choices }] };
}

/** Moves members to a definition of their own, which all extend that have the same as the first one. @param {Json[]} all @param {string[]} keys */
function shared(all, keys) {
  const texts = all.map(({ properties }) => JSON.stringify(keys.map((key) => properties[key])));
  const properties = Object.fromEntries(keys.map((key) => [key, all[0]?.properties[key]]));
  for (const one of all.filter((_, at) => texts[at] === texts[0])) {
    for (const key of keys) delete one.properties[key];
    one.extends = { $ref: "#/definitions/NetworkEntry" };
  }
  return { description: "What most entries may have.", type: "object", properties, additionalProperties: false };
}

/** `{ [k: string]: … }`, which the generator writes in place of a Record. */
const record = /\{\s*\[k: string\]: ([^{}]+?);?\s*\}/g;

/** @param {Json} schema @returns {Promise<string>} sdk/network/generated.ts */
export async function networkTypes(schema) {
  const { NetworkDefinition, NetworkEnvironment, ...others } = schema.definitions;
  const whole = {
    ...NetworkDefinition,
    definitions: { ...others, NetworkEnvironment: withChoice(NetworkEnvironment) },
  };
  const options = { additionalProperties: false, format: false, bannerComment: header };
  // Text with known values is text.
  const plain = JSON.parse(JSON.stringify(whole), (_, value) =>
    isOpen(value) ? { ...value, tsType: "string" } : value,
  );
  const { NetworkMember, ...entries } = plain.definitions;
  const objects = [NetworkMember, ...Object.values(entries).map((one) => one.allOf?.[0] ?? one)];
  plain.definitions.NetworkEntry = shared(objects, ["adopt", "formerly", "extra"]);
  let text = await compile(plain, "NetworkDefinition", options);
  while (text.search(record) >= 0) text = text.replace(record, "Record<string, $1>");
  text = text.replaceAll(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, "/** $1 */");
  return format(text, { parser: "typescript", printWidth: 120 });
}

/** Whether a schema has known values and takes any other text. @param {Json | undefined} schema */
const isOpen = (schema) =>
  schema?.anyOf?.some((/** @type {Json} */ one) => one.enum) === true &&
  schema.anyOf.some((/** @type {Json} */ one) => one.type === "string" && !one.enum);

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
  if (schema.$ref) return `[settings](#${anchor(titles[nameOf(schema.$ref)] ?? "")})`;
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

/** @param {Json} schema @returns {string} docs/reference/network-file.md */
export function networkPage(schema) {
  const tables = places.map(([name, title]) => {
    const { properties, required = [], description } = schema.definitions[name];
    const rows = Object.entries(/** @type {Record<string, Json>} */ (properties)).map(([key, member]) => [
      `\`${key}\`${required.includes(key) ? ", required" : ""}`,
      words(member),
      member.description,
    ]);
    return `## ${title}\n\n${description}\n\n${table(["key", "value", "meaning"], rows)}`;
  });
  return `<!-- Generated from sdk/network/schema.ts by \`npm run generate\`. -->

# Network file

Every key of a network file, and of the definition of a \`Network\` in a program. [Network files](../network-files.md) shows how to
use them.

${tables.join("\n\n")}
`;
}
