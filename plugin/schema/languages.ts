import { stringify } from "yaml";
import { go } from "./go";
import { Choice, type Fields, Found, isUsed, type Look, type Program, Ref, Typed, type Value } from "./program";

const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string): string =>
  name.replaceAll("-", "_").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const indented = (lines: string, by: string): string => lines.replace(/^(?=.)/gm, by);
/** Lines between brackets, one for each part. */
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

/** What stands in a Pulumi.yaml below its head. */
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

/** What stands for a lookup's whole result where that is a list. */
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

/** A program in each language that examples are written in. */
export const languages = { typescript, python, go, yaml };
export type Language = keyof typeof languages;
