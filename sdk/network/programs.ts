import { dynamicPrefix, networkType, ownKeys, pluginPrefix } from "../../provider/constants";
import { version } from "../../provider/version";
import { yamlForAll } from "../yaml/write";
import { check, readNetwork } from "./load";
import { argsOf, type Part, partsOf, Shown, withFormer } from "./parts";
import { Variable } from "./references";

/* Network files as Pulumi programs: in YAML, and in Node.js for what Pulumi YAML cannot express. */

/** A network file as one component of the provider plugin. The resource has the name of the network. */
export function yamlProgram(file: string, network?: string): { resources: Record<string, object> } {
  const { name, definition } = readNetwork(file, network);
  delete definition.name;
  return { resources: { [name]: { type: networkType, properties: literal(definition) } } };
}

/** In Pulumi YAML, `${` begins an expression, and `$$` is one dollar. */
const literalText = (text: string): string => text.replaceAll(/\$+(?=\{)|\${2,}/g, (dollars) => dollars + dollars);

/** Escapes a value for Pulumi YAML, which would drop an empty entry such as `acme:`. */
function literal(value: unknown): unknown {
  if (value === null) return {};
  if (typeof value === "string") return literalText(value);
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [literalText(key), literal(part)]));
}

/** Whether Pulumi YAML can express a value. It drops `null`, has no environment variables, and a key `fn::…` is a call. */
function isExpressible(value: unknown): boolean {
  if (value === null || value instanceof Variable) return false;
  if (typeof value !== "object" || value instanceof Shown) return true;
  return Object.entries(value).every(([key, part]) => !/^fn::/i.test(key) && isExpressible(part));
}

type Resources = Record<string, { type: string; name?: string; properties: object; options: object }>;

/**
 * The resources of a network file, as `Network` registers them, but without that component. With their aliases, a stack that has a
 * `Network` on either provider moves here and replaces nothing.
 * @returns undefined if Pulumi YAML cannot express the network
 */
export function plainResources(
  file: string,
  network: string | undefined,
  { stack, project }: { stack: string; project: string },
): Resources | undefined {
  const { name, definition } = readNetwork(file, network);
  const { plan } = check(name, definition, undefined);
  const parts = plan ? partsOf(plan) : [];
  if (!plan || parts.length === 0 || !parts.every(({ args }) => isExpressible(args))) return undefined;
  const variables = new Map(parts.map(({ className, planned }, at) => [planned, `${className}${at + 1}`]));
  const expression = ({ planned }: Part, output = ""): string => `\${${variables.get(planned)!}${output}}`;
  const property = (value: unknown): unknown =>
    value instanceof Shown ? expression(value.by, `.${value.output}`) : literal(value);
  /** All names, with those under former names of the network. */
  const namesOf = ({ planned, formerly }: Part): string[] => withFormer([planned.names[0]!, ...formerly], plan);
  const resource = (part: Part) => {
    const { className, planned, deleteBeforeReplace, ignoreChanges, dependsOn } = part;
    const properties = Object.entries(argsOf(part, (value) => ({ "fn::secret": value })))
      .filter(([key]) => !ownKeys.includes(key)) // unknown to the YAML host
      .map(([key, value]) => [key, property(value)]);
    return {
      type: pluginPrefix + className,
      name: planned.names[0],
      properties: Object.fromEntries(properties) as object,
      options: {
        aliases: aliasesOf(className, namesOf(part), `urn:pulumi:${stack}::${project}`),
        protect: planned.protect,
        deleteBeforeReplace,
        ignoreChanges,
        dependsOn: dependsOn?.map((one) => expression(one)),
      },
    };
  };
  return Object.fromEntries(parts.map((part) => [variables.get(part.planned)!, resource(part)]));
}

/** As URNs, which all versions of Pulumi YAML accept. */
function aliasesOf(className: string, names: readonly string[], where: string): string[] {
  const [own, former] = [pluginPrefix + className, dynamicPrefix + className];
  const types = [`${networkType}$${former}`, `${networkType}$${own}`, former, own];
  const urns = names.flatMap((name) => types.map((type) => `${where}::${type}::${name}`));
  return [...new Set(urns)].filter((urn) => urn !== `${where}::${own}::${names[0]}`);
}

/**
 * A program for any network file, which all stacks of a project share. The configuration of a stack names its file.
 * @param sdk the exact version of Pulumi's SDK, for a program that others install
 * @param plugins the section of Pulumi.yaml that says where the provider plugin is
 */
export const programFiles = (project: string, sdk: string, plugins?: object): Record<string, string> => ({
  "Pulumi.yaml": yamlForAll({
    name: project,
    runtime: { name: "nodejs", options: { typescript: false } },
    ...(plugins && { plugins }),
  }),
  "package.json": `${JSON.stringify(
    {
      name: project,
      private: true,
      main: "index.js",
      dependencies: { "@pulumi/pulumi": sdk, "pulumi-consortium": version },
    },
    undefined,
    2,
  )}\n`,
  "index.js": `"use strict";
const { Config } = require("@pulumi/pulumi");
const { Network } = require("pulumi-consortium");

// If the stack ran as YAML, its resources had no parent: each gets the alias for that.
let network;
const fromYaml = ({ name, props, opts }) => {
  const aliases = opts.aliases ?? [];
  if (opts.parent === undefined) {
    network = [name, ...aliases.map((alias) => alias.name)];
    return undefined;
  }
  const former = [{}, ...aliases].flatMap((alias) => {
    const own = alias.name ?? name;
    const names = own.startsWith(network[0]) ? network.map((one) => one + own.slice(network[0].length)) : [own];
    return names.map((one) => ({ ...alias, name: one, parent: undefined }));
  });
  return { props, opts: { ...opts, aliases: [...aliases, ...former] } };
};

const config = new Config();
const options = { name: config.get("name"), transformations: [fromYaml] };
Network.fromFile(config.require("network"), options);
`,
});

/** The configuration of that program. @param file path of the network file, relative to the program or absolute */
export const programConfig = (project: string, file: string, network?: string): Record<string, string> => ({
  [`${project}:network`]: file,
  ...(network !== undefined && { [`${project}:name`]: network }),
});
