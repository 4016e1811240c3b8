// @ts-check
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { typeText } from "./properties.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(import.meta.url);
const { z } = require("zod");
const { docOf } = require(join(root, "dist/provider/core/field.js"));

const header = `/*
 * Generated from the lookups (provider/lookups/) by \`npm run generate\`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { lookup } from "./lookup";

export type { TetherNetwork as TetherNetworkName } from "../../provider/constants";
`;

/** @typedef {Record<string, any>} Json */

/** The named objects in a schema, itself included. @param {any} schema @param {"input" | "output"} io @returns {Record<string, Json>} */
export const namedIn = (schema, io) =>
  z.toJSONSchema(z.object({ schema }), {
    io,
    unrepresentable: "any",
    override: (/** @type {{ zodSchema: any, jsonSchema: Json }} */ { zodSchema, jsonSchema }) => {
      const doc = docOf(zodSchema);
      if (doc !== undefined) jsonSchema.description = doc;
    },
  }).$defs ?? {};

const comment = (/** @type {string} */ doc, indent = "") => `${indent}/** ${doc} */\n`;

/** @param {string} name @param {Json} schema */
function interfaceText(name, { description, properties, required = [], additionalProperties }) {
  const lines = Object.entries(/** @type {Record<string, Json>} */ (properties)).map(
    ([key, property]) =>
      `${comment(property.description, "  ")}  ${key}${required.includes(key) ? "" : "?"}: ${typeText(property, false)};\n`,
  );
  if (additionalProperties)
    lines.push(`${comment("Whatever else the service shows.", "  ")}  [field: string]: unknown;\n`);
  return `${comment(description)}export interface ${name} {\n${lines.join("")}}\n`;
}

/** @param {{ name: string, doc: string, args: any, result: any, list?: string }} lookup */
function pair({ name, doc, args, result, list }) {
  const argsName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Args`;
  const described = args.meta({ id: argsName, description: `Arguments of \`${name}\`.` });
  /** @type {Json} */
  const whole = z.toJSONSchema(z.object({ result }), { unrepresentable: "any" });
  const one = typeText(whole.properties.result, false);
  const types = `${argsName}, ${one}${list ? "[]" : ""}`;
  return `${interfaceText(argsName, namedIn(described, "input")[argsName] ?? {})}
export const [
${comment(doc, "  ")}  ${name},
${comment(`${doc} For arguments that are outputs.`, "  ")}  ${name}Output,
] = lookup<${types}>("${name}", "${list ? "list" : "one"}");
`;
}

/** @param {Record<string, any>} lookups @returns {string} sdk/lookups/generated.ts */
export function lookupTypes(lookups) {
  const all = Object.values(lookups);
  const named = Object.assign({}, ...all.map(({ result }) => namedIn(result, "output")));
  const results = Object.entries(named).map(([name, schema]) => interfaceText(name, schema));
  return [header, ...results, ...all.map(pair)].join("\n");
}
