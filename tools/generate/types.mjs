// @ts-check
/** The types that programs see, from the definitions of resources and lookups. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../../dist");
const require = createRequire(import.meta.url);
/** A module of the build. @param {string} path in dist/ */
export const built = (path) => require(join(dist, path));
const { z } = require("zod");
export const { consensusOf, dynamicPrefix, pluginPrefix } = built("provider/constants.js");
const { otherPrefix } = built("provider/constants.js");
const { nameKey, secretKeys } = built("provider/core/definition.js");
const { docOf, metaOf, wireName } = built("provider/core/field.js");
export const { described } = built("plugin/schema/types.js");
const { regions, settingNames } = built("provider/api/settings.js");

/** @typedef {Record<string, any>} Json */

/**
 * @typedef {object} Property
 * @property {string} key
 * @property {any} json its JSON schema
 * @property {string} type TypeScript type of the value
 * @property {boolean} optional may be left out
 * @property {boolean} filled has a default
 * @property {string} doc its description for programs in TypeScript
 * @property {{ onChange?: string, secret?: boolean, computed?: boolean | "moving", visibility?: string, parent?: string, argument?: string }} meta
 */

/** Text that a program marks as meant. */
export const otherPattern = `^${otherPrefix}.+`;
const otherText = `\`${otherPrefix}\${string}\``;

/** The TypeScript type of a JSON schema. @param {any} schema @param {boolean} whole whether optional members are always there @returns {string} */
function typeText(schema, whole) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.allOf && !schema.type) return typeText(schema.allOf[0], whole);
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.pattern === otherPattern) return otherText;
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) {
    const all = [...new Set(parts.map((/** @type {any} */ part) => typeText(part, whole)))];
    // Text with known values is text.
    return all.filter((text) => !all.includes("string") || !text.startsWith('"')).join(" | ");
  }
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const item = typeText(schema.items, whole);
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    case "object": {
      if (!schema.properties) return `Record<string, ${typeText(schema.additionalProperties ?? {}, whole)}>`;
      const required = new Set(schema.required ?? []);
      const members = Object.entries(schema.properties).map(
        ([key, member]) => `${key}${whole || required.has(key) ? "" : "?"}: ${typeText(member, whole)}`,
      );
      return `{ ${members.join("; ")} }`;
    }
    default:
      return "unknown";
  }
}

/** @param {any} object a zod object @param {"input" | "output"} io @returns {Property[]} */
export function propertiesOf(object, io) {
  return Object.entries(object.shape).map(([key, schema]) => {
    const json = z.toJSONSchema(schema, { io, unrepresentable: "any" });
    return {
      key,
      json,
      type: typeText(json, io === "output"),
      optional: schema.safeParse(undefined).success,
      filled: schema.safeParse(undefined).data !== undefined,
      doc: docOf(schema, "typescript"),
      meta: metaOf(schema),
    };
  });
}

/** Whether programs write an input as it is: parents have another name, and timeouts are a resource option. @param {Property} property */
export const isArgument = ({ key, meta }) => !meta.parent && key !== "customTimeouts";

/** The name of the definition and of the export that the provider process loads. @param {string} type */
const handlerName = (type) => type[0]?.toLowerCase() + type.slice(1);

const sdkHeader = `/*
 * Generated from the resource definitions (provider/resources/) and the settings (plugin/schema/) by \`npm run generate\`.
 * Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { type Input, type Output } from "@pulumi/pulumi";

/** Required and optional arguments. */
export type Args<P, Needed extends keyof P, Optional extends keyof P> = {
  [K in Needed]: Input<P[K]>;
} & { [K in Optional]?: Input<Exclude<P[K], undefined>> };

/** All outputs of a resource. */
export type Outputs<P> = { readonly [K in keyof P]-?: Output<P[K]> };
`;

export const comment = (/** @type {string} */ doc, indent = "") => `${indent}/** ${doc} */\n`;
/** An interface of TypeScript: its members as text, by key. @typedef {{ doc: string, name: string, bases: string[], members: Record<string, string>, isOwn?: boolean }} Interface */

/** @param {Interface} one */
export const interfaceText = ({ doc, name, bases, members, isOwn }) =>
  `${comment(doc)}${isOwn ? "" : "export "}interface ${name}${bases.length > 0 ? ` extends ${bases.join(", ")}` : ""} {\n${Object.values(members).join("")}}\n`;

/**
 * Moves members to an interface that stays in the file, which all extend that have the same as the first one that has them.
 * @param {Interface[]} all @param {string} name @param {string} doc @param {string[]} keys @returns {Interface}
 */
export function shared(all, name, doc, keys) {
  const textOf = (/** @type {Interface} */ { members }) => keys.map((key) => members[key] ?? "");
  const texts = all.map(textOf).find((some) => some.every(Boolean)) ?? [];
  for (const one of all.filter((each) => textOf(each).join() === texts.join())) {
    one.bases.push(name);
    for (const key of keys) delete one.members[key];
  }
  return {
    doc,
    name,
    bases: [],
    members: Object.fromEntries(keys.map((key, at) => [key, texts[at] ?? ""])),
    isOwn: true,
  };
}

const union = (/** @type {Property[]} */ some) => some.map(({ key }) => JSON.stringify(key)).join(" | ") || "never";

const clients = Object.entries(/** @type {Record<string, readonly string[]>} */ (consensusOf)).map(
  ([client, types]) => `  ${client}: ${types.map((type) => JSON.stringify(type)).join(" | ")};\n`,
);
const consensus = `${comment("Each client, with the consensus protocols that it runs.")}export interface ConsensusOf {\n${clients.join("")}}

${comment("A value that is not known, and is meant.")}export type Other = ${otherText};

${comment("A client that is known, or meant.")}export type Client = keyof ConsensusOf | Other;

${comment("The consensus protocols of a client.")}export type ConsensusFor<C extends Client> = ConsensusOf[C extends keyof ConsensusOf ? C : keyof ConsensusOf] | Other;\n`;

/** Arguments that depend on each other: only the consensus protocols of the given client compile. @type {Record<string, string>} */
const dependent = { provider: "C", consensusType: "ConsensusFor<C>" };

/** @param {any} definition */
function resource(definition) {
  const { type, doc, inputs: given, outputs: added } = definition;
  const outputs = propertiesOf(added, "output");
  const seen = propertiesOf(given, "output").filter(({ key }) => key !== "customTimeouts");
  const args = propertiesOf(given, "input").filter(isArgument);
  const properties = [...seen, ...outputs];

  const isOpen = (/** @type {Property} */ property) =>
    property.optional && seen.includes(property) && !property.meta.computed && !property.filled;
  const lines = properties.map((property) => {
    const text = (type === "Environment" && seen.includes(property) && dependent[property.key]) || property.type;
    return [property.key, `${comment(property.doc, "  ")}  ${property.key}${isOpen(property) ? "?" : ""}: ${text};\n`];
  });
  // Some arguments have more forms than the state has.
  const isWider = (/** @type {Property} */ arg) => seen.some(({ key, type }) => key === arg.key && type !== arg.type);
  const mayLack = (/** @type {Property} */ { key, optional }) => optional || key === nameKey(definition);
  const wider = args
    .filter(isWider)
    .map(({ key, type: text, doc }) => `\n${comment(doc, "  ")}  ${key}?: Input<${text}>;\n`);
  const same = args.filter((arg) => !isWider(arg));

  const [parameter, argument] = type === "Environment" ? ["<C extends Client = Client>", "<C>"] : ["", ""];
  const names = `${union(same.filter((arg) => !mayLack(arg)))}, ${union(same.filter(mayLack))}`;
  /** @type {Interface} */
  const shape = { doc, name: `${type}Properties${parameter}`, bases: [], members: Object.fromEntries(lines) };
  // An interface, because TypeScript shows its name where it would show all members of another type.
  const fields = `export interface ${type}Fields${parameter} extends Args<${type}Properties${argument}, ${names}> {${wider.join("")}}\n`;
  const keysOf = (/** @type {Property[]} */ some) => some.map(({ key }) => key);
  const facts = {
    handler: handlerName(type),
    outputs: keysOf(properties),
    secrets: secretKeys(definition),
  };
  return { shape, fields, facts: `  ${type}: ${JSON.stringify(facts)},\n` };
}

/** The arguments of a Provider. @param {Record<string, any>} settings from the plugin's schema */
function providerArgs(settings) {
  const types = { string: "string", integer: "number", number: "number", boolean: "boolean" };
  const typeOf = (/** @type {string} */ name) =>
    name === "region"
      ? regions.map((/** @type {string} */ region) => JSON.stringify(region)).join(" | ")
      : types[/** @type {keyof typeof types} */ (settings[name].type)];
  const lines = settingNames.map(
    (/** @type {string} */ name) =>
      `${comment(settings[name].description, "  ")}  ${name}${name === "apiKey" ? "" : "?"}: Input<${typeOf(name)}>;\n`,
  );
  const names = `export const settingNames = ${JSON.stringify(settingNames)} as const;\n`;
  return `${names}\nexport interface ProviderArgs {\n${lines.join("")}}\n`;
}

/** Constants for the enums of the plugin's schema: `pulumi import` generates code that uses them. @param {Record<string, any>} types */
const enums = (types) =>
  Object.entries(types)
    .filter(([, spec]) => spec.enum)
    .map(([token, spec]) => {
      const members = spec.enum.map((/** @type {any} */ one) => `${one.name}: ${JSON.stringify(one.value)}`);
      return `export const ${token.split(":").at(-1)} = { ${members.join(", ")} } as const;\n`;
    });

/** @param {Record<string, any>} definitions @param {{ types: Record<string, any>, config: { variables: Record<string, any> } }} schema the plugin's */
export function sdkTypes(definitions, { types, config }) {
  const all = Object.values(definitions).map(resource);
  const what = "Facts for the class of each resource: its handler, its outputs, and which of them are secret.";
  const facts = `${comment(what)}export const classes = {\n${all.map(({ facts }) => facts).join("")}} as const;\n`;
  const shapes = all.map(({ shape }) => shape);
  const bases = [
    shared(shapes, "Placed", "The parents of objects in an environment.", ["consortiumId", "environmentId"]),
    shared(shapes, "Zone", "A region of a cloud.", ["name", "region", "cloud", "type", "adopt", "extra"]),
    shared(shapes, "Asked", "Common arguments of objects.", ["adopt", "extra"]),
    shared(shapes, "Recorded", "Properties that the service records of each object.", [
      "state",
      "revision",
      "createdAt",
    ]),
  ];
  return [
    sdkHeader,
    consensus,
    ...bases.map(interfaceText),
    ...all.map(({ shape, fields }) => `${interfaceText(shape)}\n${fields}`),
    enums(types).join(""),
    providerArgs(config.variables),
    facts,
  ].join("\n");
}

/** The kinds, for code that does not load the schemas. @param {Record<string, { type: string, title: string }>} definitions */
export function kindsOf(definitions) {
  const lines = Object.entries(definitions).map(
    ([kind, { type, title }]) =>
      `  ${kind}: { className: ${JSON.stringify(type)}, title: ${JSON.stringify(title)} },\n`,
  );
  return `/*
 * Generated from the resource definitions (provider/resources/) by \`npm run generate\`. Do not edit.
 */

/** The kinds of objects, parents before children, each with its class and its name for people. */
export const kinds = {
${lines.join("")}} as const;
`;
}

/** How a value of the service is read, by its JSON type: see provider/api/wire.ts. @type {Record<string, string>} */
const readers = {
  string: "text",
  boolean: "flag",
  integer: "integer",
  number: "integer",
  array: "texts",
  object: "object",
};

/** Properties of all objects. */
const common = ["state", "revision", "createdAt"];

/**
 * The objects of the service as the client reads them, made of the inputs and outputs that it shows.
 * @param {Record<string, any>} definitions
 */
export function wireObjects(definitions) {
  // Objects that are only configured (a tether) are read by code of their own.
  const objects = Object.values(definitions).filter(({ steps }) => steps?.idKey === undefined);
  const all = objects.flatMap(({ type, inputs, outputs, place }) => {
    const { idField } = place(Object.fromEntries(Object.keys(inputs.shape).map((key) => [key, "id"])));
    const fields = [...propertiesOf(inputs, "output"), ...propertiesOf(outputs, "output")].filter(
      ({ key, meta }) => meta.visibility === undefined && meta.parent !== "path" && !common.includes(key),
    );
    const isText = (/** @type {Json} */ { type: kind, enum: values, anyOf: forms }) =>
      kind === "string" || values !== undefined || forms?.every(isText) === true;
    const line = (/** @type {Property} */ { key, json }) =>
      `${wireName(key)}: ${readers[json.type] ?? (isText(json) ? "text" : "z.unknown()")}`;
    const shown = fields.filter(({ meta }) => !meta.secret);
    const once = fields.filter(({ key, meta }) => meta.secret && !(key in inputs.shape));
    const object = (/** @type {string} */ name, /** @type {string[]} */ lines) =>
      `export const ${name} = identified({ ${lines.join(", ")} }${idField ? `, "${idField}"` : ""});\nexport type ${name} = z.infer<typeof ${name}>;\n`;
    const made = once.map(({ key }) => `${wireName(key)}: z.string().min(1)`);
    return [
      object(`${type}Object`, shown.map(line)),
      ...(once.length > 0
        ? [
            `/** The answer to its creation, the only one that shows all of it. */\n${object(`Created${type}Object`, [...shown.map(line), ...made])}`,
          ]
        : []),
    ];
  });
  const used = Object.values(readers).filter((reader) => all.some((text) => new RegExp(`: ${reader}\\b`).test(text)));
  return `/*
 * Generated from the resource definitions (provider/resources/) by \`npm run generate\`. Do not edit.
 * The objects of the service, read tolerantly: see wire.ts.
 */
import { z } from "zod";
import { ${[...new Set(["identified", ...used])].sort().join(", ")} } from "./wire";

${all.join("\n")}`;
}

const lookupHeader = `/*
 * Generated from the lookups (provider/lookups/) by \`npm run generate\`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { lookup } from "./lookup";

export type { TetherNetwork as TetherNetworkName } from "../../provider/constants";
`;

/** The named objects in a result, itself included. @param {any} result @returns {Record<string, Json>} */
const namedIn = (result) => described(z.object({ result }), { io: "output" }).$defs ?? {};

/** The members of an interface, with their descriptions, by key. @param {Json} schema @returns {Record<string, string>} */
const membersOf = ({ properties, required = [] }) =>
  Object.fromEntries(
    Object.entries(/** @type {Record<string, Json>} */ (properties)).map(([key, property]) => [
      key,
      `${comment(property.description, "  ")}  ${key}${required.includes(key) ? "" : "?"}: ${typeText(property, false)};\n`,
    ]),
  );

/** @param {string} name @param {Json} schema @returns {Interface} */
export function interfaceOf(name, schema) {
  const others = { "": `${comment("Other fields that the service shows.", "  ")}  [field: string]: unknown;\n` };
  const members = { ...membersOf(schema), ...(schema.additionalProperties && others) };
  return { doc: schema.description, name, bases: [], members };
}

/** @param {{ name: string, args: any }} lookup @returns {Interface} */
function argsOf({ name, args }) {
  const argsName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Args`;
  return interfaceOf(argsName, { ...described(args, { io: "input" }), description: `Arguments of \`${name}\`.` });
}

/** @param {{ name: string, doc: string, result: any, list?: string }} lookup @param {Interface} args */
function pair({ name, doc, result, list }, args) {
  /** @type {Json} */
  const whole = z.toJSONSchema(z.object({ result }), { unrepresentable: "any" });
  const one = typeText(whole.properties.result, false);
  const types = `${args.name}, ${one}${list ? "[]" : ""}`;
  return `${interfaceText(args)}
export const [
${comment(doc, "  ")}  ${name},
${comment(`${doc} For arguments that are outputs.`, "  ")}  ${name}Output,
] = lookup<${types}>("${name}", "${list ? "list" : "one"}");
`;
}

/** @param {Record<string, any>} lookups @returns {string} sdk/lookups/generated.ts */
export function lookupTypes(lookups) {
  const all = Object.values(lookups);
  const named = Object.assign({}, ...all.map(({ result }) => namedIn(result)));
  const results = Object.entries(named).map(([name, schema]) => interfaceOf(name, schema));
  const keys = ["id", "state", "revision", "createdAt"];
  const listed = shared(results, "Listed", "Properties of each object that the service lists.", keys);
  const args = all.map(argsOf);
  const inEnvironment = shared(args, "InEnvironment", "Which environment.", ["consortiumId", "environmentId"]);
  const pairs = all.map((lookup, at) => pair(lookup, /** @type {Interface} */ (args[at])));
  return [lookupHeader, ...[listed, ...results, inEnvironment].map(interfaceText), ...pairs].join("\n");
}
