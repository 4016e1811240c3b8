import { Choice, type Fields, Found, isUsed, type Part, type Program, Ref, Typed, type Value } from "./program";

/** Where Go programs import the SDK from. */
export const goImport = "pulumi-consortium/sdk/go/consortium";

/** `consortium_id`, `grower-1` and `rpc` as Go writes what others may use. */
const pascal = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
const camel = (name: string): string => pascal(name).replace(/^./, (letter) => letter.toLowerCase());

const indented = (lines: string, by: number): string => lines.replace(/^(?=.)/gm, "\t".repeat(by));
const block = (open: string, parts: string[]): string =>
  `${open}{${parts.length === 0 ? "" : `\n${parts.map((part) => `${indented(part, 1)},\n`).join("")}`}}`;

/** Keys with their values, which gofmt puts below one another where all stand on one line. */
function members(pairs: [string, string][]): string[] {
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

const fields = (args: Fields): string[] =>
  members(Object.entries(args).map(([name, value]) => [pascal(name), goValue(value)]));

const isTyped = (value: Value): value is Typed => value instanceof Typed;

function goValue(value: Value): string {
  if (value instanceof Ref) {
    const [first = "", ...rest] = value.path.split(".");
    const property = first === "id" ? "ID()" : value instanceof Found ? `${pascal(first)}()` : pascal(first);
    return [camel(value.name), property, ...rest.map((name) => `${pascal(name)}()`)].join(".");
  }
  if (value instanceof Choice) return `consortium.${value.type}${pascal(value.value)}`;
  if (isTyped(value)) return block(`consortium.${value.type}Args`, fields(value.fields));
  if (Array.isArray(value)) return `pulumi.Array{${value.map(goValue).join(", ")}}`;
  if (typeof value === "object") {
    const typed = Object.values(value).find(isTyped);
    const pairs = Object.entries(value).map(([key, one]): [string, string] => [JSON.stringify(key), goValue(one)]);
    return block(typed ? `consortium.${typed.type}Map` : "pulumi.Map", members(pairs));
  }
  return typeof value === "string" ? `pulumi.String(${JSON.stringify(value)})` : `pulumi.Int(${value})`;
}

function resource(program: Program, { type, name, args, dependsOn, comment }: Part, isFirst: boolean): string {
  const given = block(`&consortium.${type}Args`, fields(args));
  const options = dependsOn ? `, pulumi.DependsOn([]pulumi.Resource{${dependsOn.map(camel).join(", ")}})` : "";
  const used = isUsed(program, name);
  const variables = used ? `${camel(name)}, err :=` : `_, err ${isFirst ? ":=" : "="}`;
  const made = `${variables} consortium.New${type}(ctx, "${name}", ${given}${options})\nif err != nil {\n\treturn err\n}\n`;
  return (comment ? `// ${comment}\n` : "") + made;
}

export function go(program: Program): string {
  const parts = program.parts.map((part, index) => resource(program, part, index === 0));
  const looks = (program.lookups ?? []).map(({ name, lookup, args }) => {
    const given = block(`consortium.${pascal(lookup)}OutputArgs`, fields(args));
    return `${camel(name)} := consortium.${pascal(lookup)}Output(ctx, ${given})\n`;
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
${indented(body, 2)}\t})
}
`;
}
