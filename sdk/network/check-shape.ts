import { type z } from "zod";
import { type NetworkDefinition } from "./generated";
import { type Path } from "./problems";
import { type Found, isWithin, type Reading } from "./reading";
import { Network } from "./schema";
import { didYouMean } from "../../provider/core/suggest";

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
function quoted(issue: Issue, path: Path, { value: root, source }: Reading): string {
  const value = at(root, path);
  const wantsText = issue.code === "invalid_type" && issue.expected === "string";
  if (!wantsText || (typeof value !== "number" && typeof value !== "boolean")) return "";
  const shown = source?.(path) ?? String(value);
  return ` (${shown} is a ${typeof value}: write "${shown}")`;
}

/** Where a value may have several forms, what counts is the form that it has. */
function ofUnion(issue: Extract<Issue, { code: "invalid_union" }>): Issue[] | undefined {
  const isOther = ({ path, code }: Issue): boolean => path.length === 0 && code === "invalid_type";
  const [meant, second] = issue.errors.filter((issues) => !issues.some(isOther));
  return meant && !second ? meant : undefined;
}

function foundOf(issue: Issue, reading: Reading, base: Path = []): Found[] {
  const path = [...base, ...wayOf(issue)];
  const message = issue.message + quoted(issue, path, reading);
  switch (issue.code) {
    case "unrecognized_keys":
      return message
        .split("\n")
        .map((one, index) => ({ path: [...path, issue.keys[index]!], message: one, atKey: true }));
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? message, atKey: true }];
    case "invalid_union":
      return ofUnion(issue)?.flatMap((inner) => foundOf(inner, reading, path)) ?? [{ path, message }];
    case "invalid_value": {
      const given = at(reading.value, path);
      const meant = typeof given === "string" ? didYouMean(given, issue.values.map(String)) : "";
      return [{ path, message: message + (meant.includes("did you mean") ? meant : "") }];
    }
    default:
      return [{ path, message }];
  }
}

/** Where something could not be read, it is no news that it has not the right form. */
const isSaid = ({ found }: Reading, { path }: Found): boolean =>
  found.some((one) => one.path.length > 0 && isWithin(path, one.path));

/** Takes out what is wrong by itself, so that the rest can be checked as a whole. */
function remove(value: unknown, path: Path): void {
  const parent = at(value, path.slice(0, -1));
  const last = path.at(-1);
  if (last !== undefined && typeof parent === "object" && parent !== null)
    delete (parent as Record<string, unknown>)[last];
}

/** What is wrong with the form of something that was read. */
export function shapeOf(reading: Reading, schema: z.ZodType): Found[] {
  return (schema.safeParse(reading.value).error?.issues ?? []).flatMap((issue) => foundOf(issue, reading));
}

/** Checks the form of a definition. What is left in `definition` has it, but for what is missing; undefined: nothing is. */
export function checkShape(reading: Reading): { definition: NetworkDefinition | undefined; found: Found[] } {
  const { value } = reading;
  const wrong = shapeOf(reading, Network);
  const found = wrong.filter((one) => !isSaid(reading, one));
  if (wrong.some(({ path }) => path.length === 0)) return { definition: undefined, found };
  for (const { path } of wrong) remove(value, path);
  return { definition: value as NetworkDefinition, found };
}
