// @ts-check
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(import.meta.url);
const { z } = require("zod");
export const { dynamicPrefix, pluginPrefix } = require(join(root, "dist/provider/constants.js"));
const { docOf, metaOf } = require(join(root, "dist/provider/core/field.js"));

/**
 * @typedef {object} Property
 * @property {string} key
 * @property {any} json its JSON schema
 * @property {string} type TypeScript type of the value
 * @property {boolean} optional may be left out
 * @property {boolean} filled has a value where it is left out
 * @property {string} doc all that is said of it, to programs in TypeScript
 * @property {{ replace?: boolean, secret?: boolean, computed?: boolean, programOnly?: boolean, elsewhere?: boolean, ignoredInDiff?: boolean, parent?: string }} meta
 */

/** The TypeScript type of a JSON schema. @param {any} schema @param {boolean} whole optional members count as there @returns {string} */
export function typeText(schema, whole) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map((/** @type {any} */ part) => typeText(part, whole)))].join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const item = typeText(schema.items, whole);
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    case "object": {
      if (!schema.properties) return "Record<string, unknown>";
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

/** Inputs that programs write under another name, or as a resource option. @param {Property} property */
export const isArgument = ({ key, meta }) => !meta.parent && key !== "customTimeouts";

/** The name of the definition and of the export that the provider process loads. @param {string} type */
export const handlerName = (type) => type[0]?.toLowerCase() + type.slice(1);
