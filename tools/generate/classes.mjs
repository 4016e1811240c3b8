// @ts-check
/** The classes of sdk/classes/generated.ts, for kinds that need no code of their own. */
import { pageOf } from "./markdown.mjs";
import { comment, propertiesOf } from "./types.mjs";

/** @typedef {import("./types.mjs").Property} Property */

/** How TypeScript programs give the parents, by the arguments that take their ids. */
const parents = { InService: "serviceId", InEnvironment: "environmentId", InConsortium: "consortiumId" };

/** The types of the parents of a kind, of those in its path or of all. @param {Property[]} inputs @param {boolean} all */
const parentsOf = (inputs, all) => {
  const keys = inputs.filter(({ meta }) => meta.parent === "path" || (all && meta.parent)).map(({ key }) => key);
  const within = Object.entries(parents).find(([, key]) => keys.includes(key));
  return [...(within ? [within[0]] : []), ...(keys.includes("membershipId") ? ["OfMembership"] : [])];
};

/**
 * A class of each kind that has none in sdk/resources.ts.
 * @param {Record<string, any>} definitions @param {Record<string, unknown>} written the classes that sdk/resources.ts has
 */
export function sdkClasses(definitions, written) {
  const all = Object.values(definitions).filter(({ type }) => !(type in written));
  const used = new Set();
  const classes = all.map(({ type, doc, inputs }) => {
    const properties = propertiesOf(inputs, "input");
    const [place, given] = [false, true].map((every) => parentsOf(properties, every));
    for (const one of ["readable", ...(given ?? []).map((each) => `type ${each}`)]) used.add(one);
    const where = place?.join(" & ") || "object";
    return `export type ${type}Args = ${[`${type}Fields`, ...(given ?? [])].join(" & ")};

export interface ${type} extends Outputs<${type}Properties> {}

${comment(`${doc.replace(/(?<=\.) .*/s, "")} See ${pageOf(type)}.`)}export class ${type} extends readable<${type}, ${type}Args, ${where}>("${type}") {}
`;
  });
  const types = all.flatMap(({ type }) => [`type ${type}Fields`, `type ${type}Properties`]);
  const imported = [...types, "type Outputs"].sort().map((one) => `  ${one},\n`);
  const nameOf = (/** @type {string} */ one) => one.replace("type ", "");
  const helpers = [...used].sort((a, b) => (nameOf(a).toLowerCase() < nameOf(b).toLowerCase() ? -1 : 1));
  return `/*
 * Generated from the resource definitions (provider/resources/) by \`npm run generate\`. Do not edit.
 * The classes of kinds that need no code of their own: see sdk/resources.ts.
 */
import {
${imported.join("")}} from "../generated";
import { ${helpers.join(", ")} } from "../resources";

${classes.join("\n")}`;
}
