import { z } from "zod";
import { printable } from "../../provider/api/printable";
import { didYouMean } from "../../provider/core/suggest";
import { at } from "../../provider/plain";
import { isWithin, type Path, type Problem, type Reading } from "./problems";

type Issue = z.core.$ZodIssue;

/** A strict object. Its errors say what it is and suggest a known key for each unknown one, one per line. */
export const mapping = <S extends z.ZodRawShape>(what: string, shape: S) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return `${what} must be a mapping of settings`;
      const known = Object.keys(shape);
      return issue.keys.map((one) => `${what} has no "${printable(one)}"${didYouMean(one, known)}`).join("\n");
    },
  });

/** `42` where text is expected: it needs quotes in YAML. */
function quoted(issue: Issue, path: Path, { value: root, source }: Reading): string {
  const value = at(root, path);
  const wantsText = issue.code === "invalid_type" && issue.expected === "string";
  if (!wantsText || (typeof value !== "number" && typeof value !== "boolean")) return "";
  const shown = source?.(path) ?? String(value);
  return ` (${shown} is a ${typeof value}: write "${shown}")`;
}

/** If a value may have several forms, reports the issues of the form that it has. */
function ofUnion(issue: Extract<Issue, { code: "invalid_union" }>): Issue[] | undefined {
  const isOther = ({ path, code }: Issue): boolean => path.length === 0 && code === "invalid_type";
  const [meant, second] = issue.errors.filter((issues) => !issues.some(isOther));
  return meant && !second ? meant : undefined;
}

/** The problems in an issue of zod, each with its place. */
function problemsOf(issue: Issue, reading: Reading, base: Path = []): Problem[] {
  const path = [...base, ...(issue.path as Path)];
  const message = issue.message + quoted(issue, path, reading);
  switch (issue.code) {
    case "unrecognized_keys":
      return message
        .split("\n")
        .map((one, index) => ({ path: [...path, issue.keys[index]!], message: one, atKey: true }));
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? message, atKey: true }];
    case "invalid_union":
      return ofUnion(issue)?.flatMap((inner) => problemsOf(inner, reading, path)) ?? [{ path, message }];
    case "invalid_value": {
      const given = at(reading.value, path);
      const meant = typeof given === "string" ? didYouMean(given, issue.values.map(String)) : "";
      return [{ path, message: message + (meant.includes("did you mean") ? meant : "") }];
    }
    default:
      return [{ path, message }];
  }
}

/** Validates a definition against a schema and removes invalid values, so that the rest can be checked as a whole. */
export function checkShape(reading: Reading, schema: z.ZodType): Problem[] {
  const issues = schema.safeParse(reading.value).error?.issues ?? [];
  const wrong = issues.flatMap((issue) => problemsOf(issue, reading));
  for (const { path } of wrong) {
    const whole = ["value", ...path];
    const parent = at(reading, whole.slice(0, -1));
    if (typeof parent === "object" && parent !== null) delete (parent as Record<string, unknown>)[whole.at(-1)!];
  }
  // A value that could not be read is already reported.
  const isSaid = ({ path }: Problem) => reading.problems.some((one) => one.path.length > 0 && isWithin(path, one.path));
  return wrong.filter((one) => !isSaid(one));
}
