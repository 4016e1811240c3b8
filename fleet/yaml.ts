import { Document, Scalar, type ScalarTag, type Tags, visit } from "yaml";
import {
  printableLines,
  dynamicPrefix,
  networkType,
  ownKeys,
  pluginPrefix,
  check,
  readNetwork,
  argsOf,
  type Part,
  partsOf,
  Shown,
  Variable,
} from "pulumi-consortium/internal/fleet";
import { type FleetStack } from "./schema";

/* Network files as Pulumi YAML, and YAML that every reader understands alike. */

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
 * The resources of the network file of a stack, as `Network` registers them, but without that component. With their aliases, a stack that
 * has a `Network` on either provider moves here and replaces nothing.
 * @returns undefined if there is no network file, or Pulumi YAML cannot express the network
 */
export function plainResources(
  { definition: file, network, name: stack }: Pick<FleetStack, "definition" | "network" | "name">,
  project: string,
): Resources | undefined {
  if (file === undefined) return undefined;
  const { name, definition } = readNetwork(file, network);
  const { plan } = check(name, definition, undefined);
  const parts = plan ? partsOf(plan) : [];
  if (!plan || parts.length === 0 || !parts.every(({ args }) => isExpressible(args))) return undefined;
  const variables = new Map(parts.map(({ className, planned }, at) => [planned, `${className}${at + 1}`]));
  const expression = ({ planned }: Part, output = ""): string => `\${${variables.get(planned)!}${output}}`;
  const property = (value: unknown): unknown =>
    value instanceof Shown ? expression(value.by, `.${value.output}`) : literal(value);
  /** All names, with those under former names of the network. */
  const namesOf = ({ planned, formerly }: Part): string[] => {
    const own = [planned.names[0]!, ...formerly];
    const within = own.filter((one) => one.startsWith(name)).map((one) => one.slice(name.length));
    return [...own, ...within.flatMap((rest) => plan.formerly.map((other) => other + rest))];
  };
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

/** For readers of YAML 1.1, `1e-7` is text without a decimal point. */
const pointed: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^-?\d+\.0e/,
  identify: (value) => typeof value === "number" && /^-?\d+e/.test(String(value)),
  resolve: Number,
  stringify: ({ value }) => String(value).replace("e", ".0e"),
};

/**
 * YAML that means the same in version 1.2 and in version 1.1, which Kubernetes and Pulumi read: there, `no` is a boolean, and `0123`
 * and `12:30` are numbers. It has no anchors, so every part can be read by itself.
 */
export function yamlForAll(value: unknown): string {
  const customTags = (tags: Tags): Tags => [pointed, ...tags];
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1", customTags });
  visit(document, {
    // YAML 1.1 reads more characters as line breaks. In double quotes, escapes work.
    Scalar: (_, scalar) => {
      if (/[^ -~]/.test(String(scalar.value))) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
