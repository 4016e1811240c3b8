import { type EnforcementLevel } from "@pulumi/policy";
import { type PolicyConfigJSONSchema } from "@pulumi/policy/schema";
import { RunError } from "@pulumi/pulumi";

/** One setting of a policy, as JSON schema: the policy host checks the form with it, and so does this module. */
export interface Setting extends PolicyConfigJSONSchema {
  description: string;
}

export type SettingsSchema<S> = { [K in keyof S]-?: Setting };

export const levels = ["advisory", "mandatory", "remediate", "disabled"] as const satisfies EnforcementLevel[];

/** The format of a setting that is a regular expression; a name that the host does not know, since it would take it for Go's. */
export const regularExpression = "javascript-regex";

/** Settings that cannot be used: names the policy, the setting, and what it has to be. A `RunError` shows no stack. */
export class PolicySettingsError extends RunError {
  override readonly name = "PolicySettingsError";
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kinds: Record<string, { is: (value: unknown) => boolean; name: string }> = {
  integer: { is: Number.isInteger, name: "a whole number" },
  number: { is: (value) => typeof value === "number" && Number.isFinite(value), name: "a number" },
  string: { is: (value) => typeof value === "string", name: "text" },
  boolean: { is: (value) => typeof value === "boolean", name: "true or false" },
  array: { is: Array.isArray, name: "a list" },
  object: { is: isObject, name: "an object" },
};

const isPattern = (text: string): boolean => {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
};

/** What is wrong with a value, by place in it (`.quorum.0`), or undefined. */
function wrong(schema: PolicyConfigJSONSchema, value: unknown, place: string): string | undefined {
  const found = `not ${JSON.stringify(value)}`;
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => kinds[type]?.is(value))) {
    return `${place} must be ${types.map((type) => kinds[type]?.name).join(" or ")}, ${found}`;
  }
  const choices = schema.enum?.map(String);
  if (choices && !choices.includes(String(value))) {
    return `${place} must be one of ${choices.join(", ")}, ${found}`;
  }
  if (typeof value === "number" && schema.minimum !== undefined && value < schema.minimum) {
    return `${place} must be at least ${schema.minimum}, ${found}`;
  }
  if (typeof value === "number" && schema.maximum !== undefined && value > schema.maximum) {
    return `${place} must be at most ${schema.maximum}, ${found}`;
  }
  if (typeof value === "string" && schema.format === regularExpression && !isPattern(value)) {
    return `${place} must be a regular expression, ${found}`;
  }
  if (Array.isArray(value) && isObject(schema.items)) {
    const items: PolicyConfigJSONSchema = schema.items;
    return first(value.map((item, index) => wrong(items, item, `${place}.${index}`)));
  }
  return isObject(value) ? wrongMember(schema, value, place) : undefined;
}

function wrongMember(schema: PolicyConfigJSONSchema, value: Record<string, unknown>, place: string) {
  const { properties = {}, additionalProperties } = schema;
  return first(
    Object.entries(value).map(([key, member]) => {
      const known = properties[key] ?? additionalProperties;
      if (known === false) {
        return `${place} has no member "${key}"; its members are ${Object.keys(properties).join(", ")}`;
      }
      return isObject(known) ? wrong(known, member, `${place}.${key}`) : undefined;
    }),
  );
}

const first = (problems: (string | undefined)[]): string | undefined => problems.find((problem) => problem);

/** What is wrong with settings of a policy, in one sentence each. */
export function problemsOf(policy: string, schema: SettingsSchema<object>, given: object): string[] {
  const settings = schema as Record<string, Setting>;
  return Object.entries(given).flatMap(([key, value]) => {
    const setting = settings[key];
    const names = Object.keys(settings).join(", ");
    const problem = setting
      ? wrong(setting, value, `setting ${key}`)
      : `there is no setting "${key}"; ${names ? `the settings are ${names}` : "it has no settings"}`;
    return problem ? [`Policy "${policy}": ${problem}.`] : [];
  });
}

/** The values that hold when nothing else is said. */
export const defaultsOf = <S extends object>(schema: SettingsSchema<S>): S =>
  Object.fromEntries(
    Object.entries<Setting>(schema).flatMap(([key, setting]) =>
      setting.default === undefined ? [] : [[key, setting.default]],
    ),
  ) as S;
