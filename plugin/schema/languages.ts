import { stringify } from "yaml";
import { definitions } from "../../provider/resources";
import { goModule } from "../../provider/version";

/* A small program as data, and its form in every language. */

/** An output of a resource, such as `urls.rpc` of `grower-1`. */
export class Ref {
  constructor(
    readonly name: string,
    readonly path: string,
  ) {}
}

/** A result of one of the program's lookups, such as `nodes`. */
export class Found extends Ref {}

/** A value of one of the schema's enums. */
export class Choice {
  constructor(
    readonly type: string,
    readonly value: string,
  ) {}
}

/** An object of one of the schema's types. */
export class Typed {
  constructor(
    readonly type: string,
    readonly fields: Fields,
  ) {}
}

/** Text, numbers, true or false, references, lists, and mappings of keys to these. */
type Value = string | number | boolean | Ref | Choice | Typed | Value[] | { [key: string]: Value };
export type Fields = Record<string, Value>;

export interface Part {
  type: string;
  /** Logical name, from which languages make the variable's name. */
  name: string;
  args: Fields;
  dependsOn?: string[];
  /** A comment above it, which also covers what follows. */
  comment?: string;
}

/** A lookup and its variable. */
interface Look {
  /** The name of the variable. */
  name: string;
  lookup: string;
  args: Fields;
  /** The key of its list. TypeScript's form returns the list itself. */
  list?: string;
}

export interface Program {
  parts: Part[];
  lookups?: Look[];
  outputs: Fields;
}

/** Whether the program refers to the resource. */
const isUsed = ({ parts, outputs }: Program, name: string): boolean => {
  const refers = (value: Value): boolean =>
    value instanceof Ref
      ? value.name === name
      : value instanceof Typed
        ? refers(value.fields)
        : typeof value === "object" && !(value instanceof Choice) && Object.values(value).some(refers);
  return refers(outputs) || parts.some(({ args, dependsOn }) => refers(args) || dependsOn?.includes(name));
};

const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string): string =>
  name.replaceAll("-", "_").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const indented = (lines: string, by: string): string => lines.replace(/^(?=.)/gm, by);
/** Parts between brackets, one per line. */
const block = (open: string, parts: string[], close: string, by = "  "): string =>
  parts.length === 0 ? open + close : `${open}\n${parts.map((part) => `${indented(part, by)},\n`).join("")}${close}`;

function yamlValue(value: Value): unknown {
  if (value instanceof Ref) return `\${${value.name}.${value.path}}`;
  if (value instanceof Choice) return value.value;
  if (value instanceof Typed) return yamlValue(value.fields);
  if (Array.isArray(value)) return value.map(yamlValue);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, yamlValue(member)]));
}

/** The body of a Pulumi.yaml, below its head. */
export function yamlBody({ parts, lookups = [], outputs }: Program): string {
  const resources = parts.map(({ type, name, args, dependsOn, comment }) => {
    const properties = Object.keys(args).length > 0 && { properties: yamlValue(args) };
    const options = dependsOn && { options: { dependsOn: dependsOn.map((other) => `\${${other}}`) } };
    const text = stringify({ [name]: { type: `consortium:${type}`, ...properties, ...options } }, { lineWidth: 0 });
    return indented((comment ? `# ${comment}\n` : "") + text, "  ");
  });
  const variables = lookups.map(({ name, lookup, args }) => {
    return [name, { "fn::invoke": { function: `consortium:${lookup}`, arguments: yamlValue(args) } }];
  });
  const section = (key: string, value: object) =>
    Object.keys(value).length > 0 ? stringify({ [key]: value }, { lineWidth: 0 }) : "";
  return [
    resources.length > 0 ? `resources:\n${resources.join("")}` : "",
    section("variables", Object.fromEntries(variables) as object),
    section("outputs", yamlValue(outputs) as object),
  ].join("");
}

const yaml = (program: Program): string => `name: coffee\nruntime: yaml\n${yamlBody(program)}`;

function tsValue(value: Value): string {
  if (value instanceof Ref) return `${camel(value.name)}.${value.path}`;
  if (value instanceof Choice) return JSON.stringify(value.value);
  if (value instanceof Typed) return tsValue(value.fields);
  if (Array.isArray(value)) return `[${value.map(tsValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const key = (text: string): string => (/^\w+$/.test(text) ? text : JSON.stringify(text));
  return block(
    "{",
    Object.entries(value).map(([name, member]) => `${key(name)}: ${tsValue(member)}`),
    "}",
  );
}

/** The lookup whose whole result this value is, if that is a list. */
const listOf = ({ lookups = [] }: Program, value: Value): Look | undefined =>
  value instanceof Found ? lookups.find(({ name, list }) => name === value.name && list === value.path) : undefined;

function typescript(program: Program): string {
  const { parts, lookups = [], outputs } = program;
  const imported = [...parts.map(({ type }) => type), ...lookups.map(({ lookup }) => `${lookup}Output`)];
  const names = [...new Set(imported)].sort();
  const lines = parts.map(({ type, name, args, dependsOn, comment }) => {
    const options = dependsOn ? `, { dependsOn: [${dependsOn.map(camel).join(", ")}] }` : "";
    const made = `new ${type}("${name}", ${tsValue(args)}${options});\n`;
    return `${comment ? `// ${comment}\n` : ""}${isUsed(program, name) ? `const ${camel(name)} = ` : ""}${made}`;
  });
  const looks = lookups.map(({ name, lookup, args }) => `const ${name} = ${lookup}Output(${tsValue(args)});\n`);
  const shown = Object.entries(outputs).map(([name, value]) => {
    return `export const ${name} = ${listOf(program, value)?.name ?? tsValue(value)};\n`;
  });
  const head = `import { ${names.join(", ")} } from "pulumi-consortium";\n\n`;
  return head + lines.join("") + looks.join("") + (shown.length > 0 ? `\n${shown.join("")}` : "");
}

function pythonValue(value: Value): string {
  if (value instanceof Ref) return `${snake(value.name)}.${value.path.split(".").map(snake).join(".")}`;
  if (value instanceof Choice) return `consortium.${value.type}.${value.value.toUpperCase()}`;
  if (value instanceof Typed) return block(`consortium.${value.type}Args(`, pythonArguments(value.fields), ")", "    ");
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member)}`);
  return block("{", members, "}", "    ");
}

const pythonArguments = (args: Fields): string[] =>
  Object.entries(args).map(([name, value]) => `${snake(name)}=${pythonValue(value)}`);

function python(program: Program): string {
  const lines = program.parts.map(({ type, name, args, dependsOn, comment }) => {
    const options = dependsOn && `opts=pulumi.ResourceOptions(depends_on=[${dependsOn.map(snake).join(", ")}])`;
    const given = [`"${name}"`, ...pythonArguments(args), ...(options ? [options] : [])];
    const made = given.length === 1 ? `("${name}")` : block("(", given, ")", "    ");
    const variable = isUsed(program, name) ? `${snake(name)} = ` : "";
    return `${comment ? `# ${comment}\n` : ""}${variable}consortium.${type}${made}\n`;
  });
  const looks = (program.lookups ?? []).map(({ name, lookup, args }) => {
    return `${snake(name)} = consortium.${snake(lookup)}_output${block("(", pythonArguments(args), ")", "    ")}\n`;
  });
  const shown = Object.entries(program.outputs).map(
    ([name, value]) => `pulumi.export("${name}", ${pythonValue(value)})\n`,
  );
  const needsPulumi = shown.length > 0 || program.parts.some(({ dependsOn }) => dependsOn);
  const head = `${needsPulumi ? "import pulumi\n" : ""}import pulumi_consortium as consortium\n\n`;
  return head + lines.join("") + looks.join("") + (shown.length > 0 ? `\n${shown.join("")}` : "");
}

/** Where Go programs import the SDK from. */
export const goImport = `${goModule}/consortium`;

/** `consortium_id`, `grower-1` and `rpc` as exported names in Go. */
const goName = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
const goVariable = (name: string): string => goName(name).replace(/^./, (letter) => letter.toLowerCase());

const braces = (open: string, parts: string[]): string => block(`${open}{`, parts, "}", "\t");

/** Keys with their values, aligned as gofmt does for neighboring lines. */
function aligned(pairs: [string, string][]): string[] {
  return pairs.map(([key, text], index) => {
    const isLine = (at: number): boolean => pairs[at] !== undefined && !pairs[at][1].includes("\n");
    if (!isLine(index)) return `${key}: ${text}`;
    let [first, last] = [index, index];
    while (isLine(first - 1)) first -= 1;
    while (isLine(last + 1)) last += 1;
    const width = Math.max(...pairs.slice(first, last + 1).map(([one]) => one.length));
    return `${`${key}:`.padEnd(width + 2)}${text}`;
  });
}

const goFields = (args: Fields): string[] =>
  aligned(Object.entries(args).map(([name, value]) => [goName(name), goValue(value)]));

const isTyped = (value: Value): value is Typed => value instanceof Typed;

function goValue(value: Value): string {
  if (value instanceof Ref) {
    const [first = "", ...rest] = value.path.split(".");
    const property = value instanceof Found ? `${goName(first)}()` : first === "id" ? "ID()" : goName(first);
    return [goVariable(value.name), property, ...rest.map((name) => `${goName(name)}()`)].join(".");
  }
  if (value instanceof Choice) return `consortium.${value.type}${goName(value.value)}`;
  if (isTyped(value)) return braces(`consortium.${value.type}Args`, goFields(value.fields));
  if (Array.isArray(value)) return `pulumi.Array{${value.map(goValue).join(", ")}}`;
  if (typeof value === "object") {
    const typed = Object.values(value).find(isTyped);
    const pairs = Object.entries(value).map(([key, one]): [string, string] => [JSON.stringify(key), goValue(one)]);
    return braces(typed ? `consortium.${typed.type}Map` : "pulumi.Map", aligned(pairs));
  }
  if (typeof value === "boolean") return `pulumi.Bool(${value})`;
  return typeof value === "string" ? `pulumi.String(${JSON.stringify(value)})` : `pulumi.Int(${value})`;
}

function goResource(program: Program, { type, name, args, dependsOn, comment }: Part, isFirst: boolean): string {
  const given = braces(`&consortium.${type}Args`, goFields(args));
  const options = dependsOn ? `, pulumi.DependsOn([]pulumi.Resource{${dependsOn.map(goVariable).join(", ")}})` : "";
  const used = isUsed(program, name);
  const variables = used ? `${goVariable(name)}, err :=` : `_, err ${isFirst ? ":=" : "="}`;
  const made = `${variables} consortium.New${type}(ctx, "${name}", ${given}${options})\nif err != nil {\n\treturn err\n}\n`;
  return (comment ? `// ${comment}\n` : "") + made;
}

/** `GetNode` is how Go reads the resource itself, so Pulumi calls the lookup `LookupNode`. */
const goFunction = (lookup: string): string =>
  goName(
    Object.values(definitions).some(({ type }) => lookup === `get${type}`) ? lookup.replace("get", "lookup") : lookup,
  );

function go(program: Program): string {
  const parts = program.parts.map((part, index) => goResource(program, part, index === 0));
  const looks = (program.lookups ?? []).map(({ name, lookup, args }) => {
    const method = goFunction(lookup);
    const given = braces(`consortium.${method}OutputArgs`, goFields(args));
    return `${goVariable(name)} := consortium.${method}Output(ctx, ${given})\n`;
  });
  const shown = Object.entries(program.outputs).map(([name, value]) => `ctx.Export("${name}", ${goValue(value)})\n`);
  const body = `${parts.join("")}${looks.join("")}${shown.join("")}return nil\n`;
  return `package main

import (
\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
\t"${goImport}"
)

func main() {
\tpulumi.Run(func(ctx *pulumi.Context) error {
${indented(body, "\t\t")}\t})
}
`;
}

/** Each language's form of a program. */
export const languages = { typescript, python, go, yaml };
export type Language = keyof typeof languages;
