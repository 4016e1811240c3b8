import { type z } from "zod";
import { type Definition, type Issue, nameKey, type Props } from "./definition";
import { brokenReason, brokenTexts } from "../api/printable";
import { type FieldMeta, metaOf, wireName } from "./field";
import { at, fieldsOf } from "../plain";
import { isMeant, unmarked } from "../constants";
import { didYouMean, nearest, notKnown } from "./suggest";
import { isUnknown } from "./values";

type Shape = Record<string, z.ZodType>;

/** Arguments as programs write them. For a parent they can also give the resource, whose id arrives here. */
const argumentsOf = (shape: Shape): string[] =>
  Object.keys(shape)
    .filter((name) => name !== "customTimeouts")
    .flatMap((name) => [metaOf(shape[name]!).argument ?? [], name].flat());

/** The arguments of a resource or of a lookup. */
type Checkable = Pick<Definition, "type" | "inputs" | "steps" | "naming">;

/**
 * Unknown arguments, each with the one that is probably meant. The engine prints the value of a property that a failure names: one that
 * may be a misspelt secret is named in the reason alone.
 */
function unknownArguments(definition: Checkable, shape: Shape, news: Props): (Issue & { meant?: string })[] {
  const unknownOnes = Object.keys(news).filter(
    (key) => !(key in shape || key.startsWith("__") || isMissing(news[key])),
  );
  if (unknownOnes.length === 0) return [];
  const secrets = Object.keys(shape).filter((key) => metaOf(shape[key]!).secret);
  return unknownOnes.map((key) => {
    const known = argumentsOf(shape).filter((name) => name !== key); // only TypeScript has that argument
    const meant = nearest(key, known);
    const reason = `${definition.type} has no argument "${key}"${
      meant
        ? didYouMean(key, known)
        : `. Its arguments are ${known.join(", ")}${"extra" in shape ? "; fields beyond these go into extra" : ""}.`
    }`;
    return {
      property: secrets.length > 0 && (!meant || secrets.includes(meant)) ? "" : key,
      reason,
      meant,
      code: "unknown-argument",
    };
  });
}

/** Properties that identify an object after a lost answer. In `extra`, they would contradict the program. */
function overridden(definition: Checkable, shape: Shape, { extra }: Props): Issue[] {
  const identifying = [...new Set([nameKey(definition) ?? [], definition.naming ?? [], ["membershipId"]].flat())];
  return identifying
    .filter((key) => key in shape && wireName(key) in fieldsOf(extra))
    .map((key) => {
      const argument = metaOf(shape[key]!).argument ?? key;
      return { property: "extra", reason: `extra must not hold ${wireName(key)}: give it as ${argument} instead` };
    });
}

/** The message about a value. Includes the value if that helps to correct it. */
function reasonOf(property: string, issue: z.core.$ZodIssue, given: unknown, schema: z.ZodType): string {
  if (issue.code === "invalid_value" && typeof given === "string") {
    const meant = nearest(given, issue.values.map(String));
    return `${issue.message}, not "${given}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
  }
  const wantsText = issue.code === "invalid_type" && issue.expected === "string";
  if (wantsText && typeof given === "object" && given !== null)
    return `${property} must be text, not ${Array.isArray(given) ? "a list" : "an object"}`;
  if (wantsText && (typeof given === "number" || typeof given === "boolean") && schema.safeParse(String(given)).success)
    return `${property} must be text: write "${given}" instead of ${given}`;
  return issue.message;
}

/** Missing parents. Only the innermost is reported: it knows the others. */
function knownByInner(shape: Shape, news: Props): string[] {
  const isNeeded = (key: string): boolean => !shape[key]!.safeParse(undefined).success;
  const isMissed = (key: string): boolean => metaOf(shape[key]!).parent === "path" && isMissing(news[key]);
  const missing = Object.keys(shape).filter((key) => isMissed(key) && isNeeded(key));
  return missing.slice(0, -1);
}

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Whether a program may have to mark a value as meant. */
const isMarkable = ({ known, seen, onChange }: FieldMeta): boolean =>
  known !== undefined || (seen !== undefined && onChange === "replace");

/** Values that were not seen, and would replace an object. A new object loses nothing. */
function unseenValues(shape: Shape, olds: Props, inputs: Props): Issue[] {
  return Object.entries(shape).flatMap(([key, schema]) => {
    const meta = metaOf(schema);
    const { seen, normal = (value: unknown) => value } = meta;
    if (!seen || !isMarkable(meta) || isUnknown(inputs[key])) return [];
    const [was, is] = [normal(olds[key], olds), normal(inputs[key], inputs)];
    if (typeof was !== "string" || typeof is !== "string") return [];
    if (was === unmarked(is) || isMeant(is) || seen.includes(is)) return [];
    return [{ property: key, reason: `${notKnown(key, is, seen)} As it is, it would replace what exists.` }];
  });
}

/** Why a value does not fit its schema. */
const issuesOf = (key: string, value: unknown, schema: z.ZodType, { issues }: z.ZodError): Issue[] =>
  issues.map((issue) => {
    const property = [key, ...issue.path].join(".");
    const given = at(value, issue.path);
    const reason = reasonOf(property, issue, given, schema);
    return { property, reason, ...(isMissing(given) && { code: "missing-argument" }) };
  });

/**
 * Validates inputs by property, without a call. Lets the unknown values of a preview through.
 * Fills in defaults, so that states and policies see them.
 * @param olds earlier inputs of the resource, if it has any
 */
export function check(definition: Checkable, news: Props, olds: Props = {}): { inputs: Props; issues: Issue[] } {
  const inputs: Props = {};
  const shape: Shape = definition.inputs.shape;
  const unknownOnes = unknownArguments(definition, shape, news);
  const issues = unknownOnes.map(({ property, reason, code }): Issue => ({ property, reason, code }));
  // Do not report these as missing, too.
  const reported = new Set(unknownOnes.flatMap(({ meant }) => [meant, `${meant}Id`]).concat(knownByInner(shape, news)));
  for (const [key, schema] of Object.entries(shape)) {
    const value = news[key];
    if (value !== undefined && isUnknown(value)) {
      inputs[key] = value;
      continue;
    }
    if (isMissing(value) && reported.has(key)) continue;
    const broken = brokenTexts(value, [key]);
    if (broken.length > 0) {
      issues.push(...broken.map((path) => ({ property: path.join("."), reason: brokenReason })));
      continue;
    }
    const result = schema.safeParse(value ?? undefined);
    if (!result.success) {
      issues.push(...issuesOf(key, value, schema, result.error));
    } else if (result.data !== undefined) {
      inputs[key] = result.data;
    }
  }
  issues.push(...overridden(definition, shape, inputs));
  const known = Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isUnknown(value)));
  issues.push(...unseenValues(shape, olds, inputs));
  if (issues.length === 0) issues.push(...(definition.steps?.rules?.(known, inputs) ?? []));
  for (const [key, value] of Object.entries(inputs)) if (isMarkable(metaOf(shape[key]!))) inputs[key] = unmarked(value);
  return { inputs, issues };
}
