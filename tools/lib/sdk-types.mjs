// @ts-check
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { handlerName, isArgument, propertiesOf } from "./properties.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { consensusOf } = createRequire(import.meta.url)(join(root, "dist/provider/resources/environment.js"));

const header = `/*
 * Generated from the resource definitions (provider/resources/) by \`npm run generate\`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { type Input, type Output } from "@pulumi/pulumi";
`;

const comment = (/** @type {string} */ doc, indent = "") => `${indent}/** ${doc} */\n`;

const clients = Object.entries(/** @type {Record<string, readonly string[]>} */ (consensusOf)).map(
  ([client, types]) => `  ${client}: ${types.map((type) => JSON.stringify(type)).join(" | ")};\n`,
);
const consensus = `${comment("Each client, with the consensus protocols that it runs.")}export interface ConsensusOf {\n${clients.join("")}}\n`;

/** Arguments that depend on one another: of a client other than the one that is given, no consensus compiles. @type {Record<string, string>} */
const dependent = { provider: "Client", consensusType: "ConsensusOf[Client]" };

/** @param {Record<string, any>} definitions */
export function sdkTypes(definitions) {
  const blocks = Object.values(definitions).map((definition) => {
    const { type, doc } = definition;
    const inputs = propertiesOf(definition.inputs, "input");
    const inputsSeen = propertiesOf(definition.inputs, "output");
    const outputs = propertiesOf(definition.outputs, "output");
    const args = inputs.filter(isArgument).map(({ key, type: text, meta, optional }) => {
      const naming = key === definition.naming || (key === "name" && !optional);
      const mark = optional || naming ? "?" : "";
      return `${comment(meta.doc, "  ")}  ${key}${mark}: Input<${(type === "Environment" && dependent[key]) || text}>;\n`;
    });
    const parameter = type === "Environment" ? "<Client extends keyof ConsensusOf = keyof ConsensusOf>" : "";
    const seen = [...inputsSeen.filter(({ key }) => key !== "customTimeouts"), ...outputs];
    const shown = seen.map(({ key, type: text, meta, optional }) => {
      const isInput = inputsSeen.some((input) => input.key === key);
      const maybe = isInput && optional && !meta.computed && !meta.doc.includes("Default: `true`");
      return `${comment(meta.doc, "  ")}  readonly ${key}: Output<${text}${maybe ? " | undefined" : ""}>;\n`;
    });
    return [
      `${comment(`Arguments of \`${type}\`, except its parents. ${doc}`)}export interface ${type}Fields${parameter} {\n${args.join("")}}\n`,
      `${comment(`Properties of \`${type}\`: its arguments, with parents as ids, and its outputs.`)}export interface ${type}Outputs {\n${shown.join("")}}\n`,
    ].join("\n");
  });
  const table = Object.values(definitions).map((definition) => {
    const outputs = propertiesOf(definition.outputs, "output");
    const shown = propertiesOf(definition.inputs, "output").filter(({ key }) => key !== "customTimeouts");
    const names = [...shown, ...outputs].map(({ key }) => key);
    const secrets = outputs.filter(({ meta }) => meta.secret).map(({ key }) => key);
    return `  ${definition.type}: {
    handler: ${JSON.stringify(handlerName(definition.type))},
    outputs: ${JSON.stringify(names).replaceAll(",", ", ")},
    secrets: ${JSON.stringify(secrets).replaceAll(",", ", ")},
  },\n`;
  });
  const facts = `${comment("What a class has to know of its resource: the handler it names, what it shows, and which of that is secret.")}export const facts = {\n${table.join("")}} as const;\n`;
  return [header, consensus, ...blocks, facts].join("\n");
}
