import { Document, parse, Scalar, type ScalarTag, visit } from "yaml";
import { printableLines } from "../../provider/api/printable";
import { dynamicPrefix, networkType, ownKeys, pluginPrefix } from "../../provider/constants";
import { check, readNetwork } from "../../sdk/network/load";
import { argsOf, type Part, partsOf, Shown } from "../../sdk/network/parts";
import { Variable } from "../../sdk/network/references";

/* Network files as Pulumi YAML, and YAML that says the same to every reader. */

/** A network file as one component of the provider plugin. The resource has the network's name. */
export function yamlProgram(file: string, network?: string): { resources: Record<string, object> } {
  const { name, definition } = readNetwork(file, network);
  delete definition.name;
  return { resources: { [name]: { type: networkType, properties: literal(definition) } } };
}

/** Pulumi YAML takes `${` for the beginning of an expression, and `$$` for one dollar. */
const literalText = (text: string): string => text.replaceAll(/\$+(?=\{)|\${2,}/g, (dollars) => dollars + dollars);

/** A value as Pulumi YAML reads it. An entry that says nothing, such as `acme:`, would be dropped. */
function literal(value: unknown): unknown {
  if (value === null) return {};
  if (typeof value === "string") return literalText(value);
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [literalText(key), literal(part)]));
}

/** Whether Pulumi YAML can say a value: it drops `null`, takes a key `fn::…` for a call, and knows no environment variables. */
function isSayable(value: unknown): boolean {
  if (value === null || value instanceof Variable) return false;
  if (typeof value !== "object" || value instanceof Shown) return true;
  return Object.entries(value).every(([key, part]) => !/^fn::/i.test(key) && isSayable(part));
}

type Resources = Record<string, { type: string; name?: string; properties: object; options: object }>;

export interface PlainOptions {
  file: string;
  /** In place of the name in the file. */
  network?: string;
  stack: string;
  project: string;
}

/**
 * The resources that a network file stands for, without a component, each as `Network` registers it. The aliases are those of a
 * stack that had them in a `Network`, on either provider: it replaces nothing.
 * @returns undefined if Pulumi YAML cannot say some of it
 */
export function plainResources({ file, network, stack, project }: PlainOptions): Resources | undefined {
  const { name, definition } = readNetwork(file, network);
  const { plan } = check(name, definition, undefined);
  const parts = plan ? partsOf(plan) : [];
  if (parts.length === 0 || !parts.every(({ args }) => isSayable(args))) return undefined;
  const variables = new Map(parts.map(({ kind, planned }, at) => [planned, `${kind}${at + 1}`]));
  const expression = ({ planned }: Part, output = ""): string => `\${${variables.get(planned)!}${output}}`;
  const property = (value: unknown): unknown => {
    if (value instanceof Shown) return expression(value.by, `.${value.output}`);
    return value instanceof Secret ? { "fn::secret": literal(value.value) } : literal(value);
  };
  /** Those in a network that was called something else, too. */
  const namesOf = (names: string[]): string[] => [
    ...names,
    ...names.flatMap((one) =>
      one.startsWith(name) ? plan!.formerly.map((other) => other + one.slice(name.length)) : [],
    ),
  ];
  const resource = (part: Part) => {
    const { kind, planned, formerly, deleteBeforeReplace, ignoreChanges, dependsOn } = part;
    const properties = Object.entries(argsOf(part, (value) => new Secret(value)))
      .filter(([key]) => !ownKeys.includes(key)) // of which the host of YAML knows nothing
      .map(([key, value]) => [key, property(value)]);
    return {
      type: pluginPrefix + kind,
      name: planned.names[0],
      properties: Object.fromEntries(properties) as object,
      options: {
        aliases: aliasesOf(kind, namesOf([planned.names[0]!, ...formerly]), `urn:pulumi:${stack}::${project}`),
        protect: planned.protect,
        deleteBeforeReplace,
        ignoreChanges,
        dependsOn: dependsOn?.map((one) => expression(one)),
      },
    };
  };
  return Object.fromEntries(parts.map((part) => [variables.get(part.planned)!, resource(part)]));
}

class Secret {
  constructor(readonly value: unknown) {}
}

/** As URNs, which all versions of Pulumi YAML take. */
function aliasesOf(kind: string, names: readonly string[], where: string): string[] {
  const [own, former] = [pluginPrefix + kind, dynamicPrefix + kind];
  const types = [`${networkType}$${former}`, `${networkType}$${own}`, former, own];
  return [...new Set(names)]
    .flatMap((name) => types.map((type) => `${where}::${type}::${name}`))
    .filter((urn) => urn !== `${where}::${own}::${names[0]}`);
}

const versions = ["1.1", "1.2"] as const;

/** Words and paths that no reader takes for anything else, except for `no`, `Null` and the like. */
const wordLike = /^[A-Za-z/][A-Za-z0-9_./@-]*(:[A-Za-z0-9_./@-]+)*$/;

const isPlain = (text: string): boolean =>
  wordLike.test(text) && versions.every((version) => parse(text, { version }) === text);

/** Without a point, an older reader takes `1e-7` for text. */
const pointed: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^-?\d+\.0e/,
  identify: (value) => typeof value === "number" && /^-?\d+e/.test(String(value)),
  resolve: Number,
  stringify: ({ value }) => String(value).replace("e", ".0e"),
};

/**
 * YAML that says the same to every reader: Kubernetes and Pulumi read by version 1.1, to which `no`, `0123` and `12:30` are a
 * boolean and numbers, and others by 1.2. Each value is written in full, so that every part can be read by itself.
 */
export function yamlForAll(value: unknown): string {
  // `keepUndefined` is off: what is not given is not written.
  const document = new Document(value, { aliasDuplicateObjects: false, customTags: (tags) => [pointed, ...tags] });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && !isPlain(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // What is left of characters that an older reader takes for a line break stands in double quotes, where escapes are read.
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
