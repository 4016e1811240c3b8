import { type z } from "zod";
import { type NetworkDefinition } from "./generated";
import { type Path } from "./problems";
import { type Found } from "./reading";
import { Network } from "./schema";
import { didYouMean } from "./suggest";

type Issue = z.core.$ZodIssue;

const wayOf = (issue: Issue): Path => issue.path.map((step) => (typeof step === "number" ? step : String(step)));

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[step] : undefined,
    value,
  );
}

/** `42` where text is expected: in YAML that takes quotes. */
function quoted(issue: Issue, value: unknown): string {
  if (issue.code !== "invalid_type" || issue.expected !== "string") return "";
  return typeof value === "number" || typeof value === "boolean"
    ? ` (${value} is a ${typeof value}: write "${value}")`
    : "";
}

/** Where a value may have several forms, what counts is the form that it has. */
function ofUnion(issue: Extract<Issue, { code: "invalid_union" }>): Issue[] | undefined {
  const isOther = ({ path, code }: Issue): boolean => path.length === 0 && code === "invalid_type";
  const [meant, second] = issue.errors.filter((issues) => !issues.some(isOther));
  return meant && !second ? meant : undefined;
}

function foundOf(issue: Issue, value: unknown, base: Path): Found[] {
  const path = [...base, ...wayOf(issue)];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.message
        .split("\n")
        .map((message, index) => ({ path: [...path, issue.keys[index]!], message, atKey: true }));
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? issue.message, atKey: true }];
    case "invalid_union":
      return (
        ofUnion(issue)?.flatMap((inner) => foundOf(inner, value, path)) ?? [
          { path, message: issue.message + quoted(issue, at(value, path)) },
        ]
      );
    case "invalid_value": {
      const given = at(value, path);
      const meant = typeof given === "string" ? didYouMean(given, issue.values.map(String)) : "";
      return [{ path, message: issue.message + (meant.includes("did you mean") ? meant : "") }];
    }
    default:
      return [{ path, message: issue.message + quoted(issue, at(value, path)) }];
  }
}

/** Takes out what is wrong by itself, so that the rest can be checked as a whole. */
function remove(value: unknown, path: Path): void {
  const parent = at(value, path.slice(0, -1));
  const last = path.at(-1);
  if (last !== undefined && typeof parent === "object" && parent !== null)
    delete (parent as Record<string, unknown>)[last];
}

/** What is wrong with the form of something that was read. */
export function shapeOf({ value }: { value: unknown }, schema: z.ZodType): Found[] {
  return schema.safeParse(value).error?.issues.flatMap((issue) => foundOf(issue, value, [])) ?? [];
}

/** Checks the form of a definition. What is left in `definition` has it, but for what is missing; undefined: nothing is. */
export function checkShape(value: unknown): { definition: NetworkDefinition | undefined; found: Found[] } {
  const found = shapeOf({ value }, Network);
  if (found.some(({ path }) => path.length === 0)) return { definition: undefined, found };
  for (const { path } of found) remove(value, path);
  return { definition: value as NetworkDefinition, found };
}
