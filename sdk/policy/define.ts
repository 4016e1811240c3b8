import {
  type EnforcementLevel,
  type PolicyConfigSchema,
  type ReportViolation,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
} from "@pulumi/policy";
import { type PolicyConfigJSONSchema } from "@pulumi/policy/schema";
import { RunError } from "@pulumi/pulumi";
import { z } from "zod";
import { printableLines } from "../../provider/api/printable";
import { coded } from "../../provider/errors";
import { type Resource, resourceOf, Stack } from "./stack";

type SettingsGiven = { enforcementLevel?: EnforcementLevel } & Record<string, unknown>;

/** The settings of a policy by name. Each has a description, and is optional or has a default. */
type SettingsShape = Record<string, z.ZodType>;

/** One setting in the form that Pulumi publishes: JSON schema. */
interface Setting extends PolicyConfigJSONSchema {
  description: string;
}

const levels = ["advisory", "mandatory", "remediate", "disabled"] as const satisfies EnforcementLevel[];

/** Invalid settings: names the policy, the setting, and what it must be. A `RunError` shows no stack trace. */
export class PolicySettingsError extends RunError {
  override readonly name = "PolicySettingsError";
  readonly code = "invalid-setting";
  constructor(message: string) {
    super(coded(message, "invalid-setting"));
  }
}

/** A regular expression. A format of its own, because the engine would check `regex` by the rules of Go. */
export const regularExpression = z.stringFormat(
  "javascript-regex",
  (text) => {
    try {
      return new RegExp(text, "u") instanceof RegExp;
    } catch {
      return false;
    }
  },
  "must be a regular expression",
);

/** One of some texts. Its type is any text, because programs often pass one from their configuration. */
export const oneOf = (values: readonly string[]): z.ZodType<string> => z.enum(values);

/** The settings in force, with defaults, or what is wrong with the given ones. */
function readSettings(
  { name, settings, conflict }: Definition,
  given: object,
): { values?: SettingsGiven; problem?: string } {
  const shape = { enforcementLevel: z.enum(levels).optional(), ...settings };
  const { data, error } = z.strictObject(shape).safeParse(given);
  const both = error ? undefined : conflict?.(data);
  if (both !== undefined) return { problem: `Policy "${name}": ${both}.` };
  if (!error) return { values: data };
  const found = error.issues.map(({ path, message }) =>
    path.length > 0
      ? `setting ${path.join(".")}: ${message}`
      : `${message}; the settings are ${Object.keys(shape).join(", ")}`,
  );
  return { problem: `Policy "${name}": ${found.join("; ")}.` };
}

/** The settings as JSON schema. Pulumi does not support `anyOf`, so the `type` of a value lists its possible forms. */
const jsonSchemaOf = (shape: SettingsShape) =>
  z.toJSONSchema(z.strictObject(shape), {
    io: "input",
    override({ jsonSchema }) {
      const { anyOf } = jsonSchema;
      if (!anyOf) return;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, ...anyOf, { type: anyOf.map(({ type }) => type) });
    },
  }).properties as Record<string, Setting>;

export interface Report {
  /** The problem and its fix, shown below the rule. */
  violation(message: string, urn?: string): void;
  /** Shown at any level of the policy, and never stops a run. */
  advice(message: string, urn?: string): void;
}

interface Definition<Name extends string = string, Shape extends SettingsShape = SettingsShape> {
  name: Name;
  /** The rule in one sentence. */
  description: string;
  enforcementLevel: EnforcementLevel;
  settings: Shape;
  /** Problems with the combination of settings that are each allowed. */
  conflict?(this: void, settings: z.output<z.ZodObject<Shape>>): string | undefined;
  /** Validates one resource before anything is done with it. */
  validateResource?(resource: Resource, settings: z.output<z.ZodObject<Shape>>, report: Report): void;
  /** Validates all resources, as planned or as deployed. */
  validateStack?(stack: Stack, settings: z.output<z.ZodObject<Shape>>, report: Report): Promise<void> | void;
}

/** A level, or settings with or without one, as in a file for `--policy-pack-config`. */
export type Choice<S> = EnforcementLevel | ({ enforcementLevel?: EnforcementLevel } & Partial<S>);

/** A policy as a plain value, for any `PolicyPack` or for `withSettings`. */
export interface ConsortiumPolicy<Name extends string = string, S extends object = object>
  extends ResourceValidationPolicy, Partial<Pick<StackValidationPolicy, "validateStack">> {
  readonly name: Name;
  readonly enforcementLevel: EnforcementLevel;
  /** `additionalProperties` is missing in Pulumi's type. */
  readonly configSchema: PolicyConfigSchema & {
    properties: { [K in keyof S]-?: Setting };
    additionalProperties: false;
  };
}

const rootType = "pulumi:pulumi:Stack";
const definitions = new WeakMap<object, Definition>();

/** Reports with a level of its own, which the policy host accepts although its types do not say so. */
function reportAs(enforcementLevel: EnforcementLevel, report: ReportViolation, violation: object): void {
  (report as unknown as (violation: object) => void)({ ...violation, enforcementLevel });
}

/**
 * Pulumi decrypts secrets for policies, and does not tell which values they are: so messages contain no free text of a program except
 * logical names, and no characters that a terminal would not print.
 */
function reporting({ name, description }: Definition, report: ReportViolation): Report {
  return {
    violation: (message, urn) => report(printableLines(message), urn),
    advice: (text, urn) =>
      reportAs("advisory", report, { name, description, urn, message: `${description}\n${printableLines(text)}` }),
  };
}

export function definePolicy<Name extends string, Shape extends SettingsShape>(policy: Definition<Name, Shape>) {
  type Values = z.output<z.ZodObject<Shape>>;
  const definition = policy as unknown as Definition;
  const { description, enforcementLevel, settings } = policy;
  const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
    const { values, problem: message } = readSettings(definition, args.getConfig());
    // The root comes first, so wrong settings are refused before anything is done. The host's own check loses
    // `additionalProperties`, so settings that do not exist get this far.
    if (message !== undefined && args.type === rootType)
      reportAs("mandatory", report, { name: policy.name, description, message: coded(message, "invalid-setting") });
    const resource = values && resourceOf(args);
    if (resource) definition.validateResource?.(resource, values, reporting(definition, report));
  };
  const made: ConsortiumPolicy<Name, Values> = {
    name: policy.name,
    description,
    enforcementLevel,
    configSchema: {
      properties: jsonSchemaOf(settings) as { [K in keyof Values]-?: Setting },
      additionalProperties: false,
    },
    // With a type, the host calls the function for resources of that type only.
    validateResource: Object.assign(validateResource, !policy.validateResource && { __pulumiType: rootType }),
    ...(policy.validateStack && {
      validateStack: async (args, report) => {
        const { values } = readSettings(definition, args.getConfig());
        if (values) await definition.validateStack!(new Stack(args.resources), values, reporting(definition, report));
      },
    }),
  };
  definitions.set(made, definition);
  return made;
}

/** The same policy with another level or other settings, which `--policy-pack-config` can still change. */
export function withSettings<Name extends string, S extends object>(
  policy: ConsortiumPolicy<Name, S>,
  choice: Choice<S>,
): ConsortiumPolicy<Name, S> {
  const definition = definitions.get(policy);
  if (!definition) {
    throw new PolicySettingsError(
      `Policy "${policy.name}": only a policy of pulumi-consortium/policy itself takes settings.`,
    );
  }
  const given: SettingsGiven = typeof choice === "string" ? { enforcementLevel: choice } : { ...choice };
  const { problem } = readSettings(definition, given);
  if (problem !== undefined) throw new PolicySettingsError(problem);
  const { enforcementLevel = definition.enforcementLevel } = given;
  const settings = Object.fromEntries(
    Object.entries(definition.settings).map(([key, setting]) => [
      key,
      given[key] === undefined ? setting : setting.default(given[key]),
    ]),
  );
  return definePolicy({ ...definition, enforcementLevel, settings }) as unknown as ConsortiumPolicy<Name, S>;
}
