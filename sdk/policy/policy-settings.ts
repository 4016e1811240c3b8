import { type EnforcementLevel } from "@pulumi/policy";
import { type PolicyConfigJSONSchema } from "@pulumi/policy/schema";
import { RunError } from "@pulumi/pulumi";
import { z } from "zod";

/** The settings of a policy by name. Each has a description, and is optional or has a default. */
export type SettingsShape = Record<string, z.ZodType>;

/** One setting in the form that Pulumi publishes: JSON schema. */
export interface Setting extends PolicyConfigJSONSchema {
  description: string;
}

export const levels = ["advisory", "mandatory", "remediate", "disabled"] as const satisfies EnforcementLevel[];

/** Settings that cannot be used: names the policy, the setting, and what it has to be. A `RunError` shows no stack trace. */
export class PolicySettingsError extends RunError {
  override readonly name = "PolicySettingsError";
}

/** A regular expression. The engine does not know this format: it would check `regex` by the rules of Go. */
export const regularExpression = z.stringFormat("javascript-regex", (text) => {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
});

/** One of some texts. Programs may pass any text, which is often one from their configuration. */
export const oneOf = (values: readonly string[]): z.ZodType<string> => z.enum(values);

const kinds: Record<string, string> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

const requirement: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kinds[issue.inst instanceof z.ZodNumber && issue.inst.isInt ? "int" : issue.expected]}`;
    case "invalid_union":
      return `must be ${issue.errors
        .flat()
        .map((one) => "expected" in one && kinds[one.expected])
        .join(" or ")}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_format":
      return "must be a regular expression";
    case "unrecognized_keys":
      return `has no member "${issue.keys[0]}"; its members are ${Object.keys((issue.inst as z.ZodObject).shape).join(", ")}`;
    default:
      return undefined;
  }
};

type Issue = z.core.$ZodIssue;

/** Where a value may have several forms, the issues of the form that it has. */
function unfold(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const isOtherForm = ({ code, path }: Issue): boolean => code === "invalid_type" && path.length === 0;
  const meant = issue.errors.find((issues) => !issues.some(isOtherForm));
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue];
}

function sentences(issue: Issue, names: string[]): string[] {
  const place = `setting ${issue.path.join(".")}`;
  if (issue.code !== "unrecognized_keys") return [`${place} ${issue.message}, not ${JSON.stringify(issue.input)}`];
  if (issue.path.length > 0) return [`${place} ${issue.message}`];
  const known = names.length > 0 ? `the settings are ${names.join(", ")}` : "it has no settings";
  return issue.keys.map((key) => `there is no setting "${key}"; ${known}`);
}

/** The settings in force, with defaults; or what is wrong with those that were given, one sentence each. */
export function readSettings(policy: string, shape: SettingsShape, given: object) {
  const { data, error } = z.strictObject(shape).safeParse(given, { error: requirement, reportInput: true });
  const found = (error?.issues ?? []).flatMap(unfold).flatMap((issue) => sentences(issue, Object.keys(shape)));
  return { values: data, problems: found.map((problem) => `Policy "${policy}": ${problem}.`) };
}

/** The same settings as JSON schema. Where a value may have several forms, its `type` lists them: Pulumi knows no `anyOf`. */
export const jsonSchemaOf = (shape: SettingsShape) =>
  z.toJSONSchema(z.strictObject(shape), {
    io: "input",
    override({ jsonSchema }) {
      const { anyOf } = jsonSchema;
      if (!anyOf) return;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, ...anyOf, { type: anyOf.map(({ type }) => type) });
    },
  }).properties as Record<string, Setting>;
