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
import { secretsKey } from "../../provider/constants";
import { secretPaths } from "../../provider/core/values";
import { Secrets } from "../../provider/api/secrets";
import { read, type Resource, resourceOf, Stack } from "./stack";

type Settings = Record<string, unknown>;

/** The settings of a policy by name. Each has a description, and is optional or has a default. */
type SettingsShape = Record<string, z.ZodType>;

/** One setting in the form that Pulumi publishes: JSON schema. */
interface Setting extends PolicyConfigJSONSchema {
  description: string;
}

const levels = ["advisory", "mandatory", "remediate", "disabled"] as const satisfies EnforcementLevel[];

/** Settings that cannot be used: names the policy, the setting, and what it must be. A `RunError` shows no stack trace. */
export class PolicySettingsError extends RunError {
  override readonly name = "PolicySettingsError";
}

/** A regular expression. The engine does not know this format: it would check `regex` by the rules of Go. */
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

/** One of some texts. Programs may pass any text, which is often one from their configuration. */
export const oneOf = (values: readonly string[]): z.ZodType<string> => z.enum(values);

/** The settings in force, with defaults; or what is wrong with those that were given. */
function readSettings(policy: string, shape: SettingsShape, given: object): { values?: Settings; problem?: string } {
  const all = { enforcementLevel: z.enum(levels).optional(), ...shape };
  const { data, error } = z.strictObject(all).safeParse(given);
  if (!error) return { values: data };
  const found = error.issues.map(({ path, message }) =>
    path.length > 0
      ? `setting ${path.join(".")}: ${message}`
      : `${message}; the settings are ${Object.keys(all).join(", ")}`,
  );
  return { problem: `Policy "${policy}": ${found.join("; ")}.` };
}

/** The same settings as JSON schema. Where a value may have several forms, its `type` lists them: Pulumi knows no `anyOf`. */
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
  /** What was found, and how to fix it; shown below the rule. */
  violation(message: string, urn?: string): void;
  /** Shown whatever the level of the policy, and never stops a run. */
  advice(message: string, urn?: string): void;
}

interface Spec<Name extends string, Shape extends SettingsShape> {
  name: Name;
  level: EnforcementLevel;
  /** What must hold, in one sentence. */
  rule: string;
  settings: Shape;
  /** Judges one resource before anything is done with it. */
  resource?(resource: Resource, settings: z.output<z.ZodObject<Shape>>, report: Report): void;
  /** Judges the whole plan, or what has become of it. */
  stack?(stack: Stack, settings: z.output<z.ZodObject<Shape>>, report: Report): Promise<void> | void;
}

/** A level, or settings with or without one: as in a file for `--policy-pack-config`. */
export type Choice<S> = EnforcementLevel | ({ enforcementLevel?: EnforcementLevel } & Partial<S>);

type Both = ResourceValidationPolicy & Partial<StackValidationPolicy>;

/** A policy as a plain value: takes part in any `PolicyPack`, or first in `withSettings`. */
export interface ConsortiumPolicy<Name extends string = string, S extends object = object> extends Both {
  readonly name: Name;
  readonly enforcementLevel: EnforcementLevel;
  readonly configSchema: PolicyConfigSchema & { properties: { [K in keyof S]-?: Setting } };
}

const rootType = "pulumi:pulumi:Stack";
const specs = new WeakMap<object, Spec<string, SettingsShape>>();

/** A violation with a level of its own, which the policy host accepts although its types do not say so. */
type Violation = {
  name: string;
  description: string;
  message: string;
  urn?: string;
  enforcementLevel: EnforcementLevel;
};
const reportAs = (report: ReportViolation, violation: Violation): void =>
  (report as unknown as (violation: Violation) => void)(violation);

/** What the host tells of resources: it opens what is secret, so that messages have to be without it. */
type Judged = Pick<ResourceValidationArgs, "props">;

/** A value without what is not known yet. */
const knownIn = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.keys(value).map((key) => knownIn(read(value as Record<string, unknown>, key)))
    : value;

function secretsIn(props: Record<string, unknown>): unknown[] {
  const marks = { [secretsKey]: read(props, secretsKey) };
  return secretPaths(marks).map((path) => knownIn(path.reduce<unknown>(inside, props)));
}

const inside = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null ? read(value as Record<string, unknown>, String(key)) : undefined;

function reporting(report: ReportViolation, name: string, rule: string, judged: readonly Judged[]): Report {
  const secrets = new Secrets(judged.map(({ props }) => secretsIn(props)));
  return {
    violation: (message, urn) => report(secrets.mask(message), urn),
    advice: (message, urn) =>
      reportAs(report, {
        name,
        description: rule,
        urn,
        enforcementLevel: "advisory",
        message: `${rule}\n${secrets.mask(message)}`,
      }),
  };
}

export function definePolicy<Name extends string, Shape extends SettingsShape>(spec: Spec<Name, Shape>) {
  type Values = z.output<z.ZodObject<Shape>>;
  const { name, rule, level, settings: shape } = spec;
  const settingsFrom = (config: object) => readSettings(name, shape, config);

  const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
    const { values, problem: message } = settingsFrom(args.getConfig());
    // The root comes before everything else: wrong settings are refused there, before anything is done. The host drops
    // `additionalProperties` on the way to its own check, so settings that do not exist get this far.
    if (message !== undefined && args.type === rootType)
      reportAs(report, { name, description: rule, message, enforcementLevel: "mandatory" });
    const resource = spec.resource && values && resourceOf(args);
    if (resource) spec.resource!(resource, values as Values, reporting(report, name, rule, [args]));
  };

  const policy: ConsortiumPolicy<Name, Values> = {
    name,
    description: rule,
    enforcementLevel: level,
    configSchema: {
      properties: jsonSchemaOf(shape) as { [K in keyof Values]-?: Setting },
      ...{ additionalProperties: false }, // which Pulumi's type lacks
    },
    // A type on the function spares the host from calling it for others.
    validateResource: spec.resource ? validateResource : Object.assign(validateResource, { __pulumiType: rootType }),
    ...(spec.stack && {
      validateStack: async (args, report) => {
        const { values } = settingsFrom(args.getConfig());
        if (values)
          await spec.stack!(new Stack(args.resources), values as Values, reporting(report, name, rule, args.resources));
      },
    }),
  };
  specs.set(policy, spec);
  return policy;
}

/** The same policy with another level or other settings, which `--policy-pack-config` may still change. */
export function withSettings<Name extends string, S extends object>(
  policy: ConsortiumPolicy<Name, S>,
  choice: Choice<S>,
): ConsortiumPolicy<Name, S> {
  const spec = specs.get(policy);
  if (!spec) {
    throw new PolicySettingsError(
      `Policy "${policy.name}": only a policy of pulumi-consortium/policy itself takes settings.`,
    );
  }
  const given: Settings = typeof choice === "string" ? { enforcementLevel: choice } : { ...choice };
  const { problem } = readSettings(policy.name, spec.settings, given);
  if (problem !== undefined) throw new PolicySettingsError(problem);
  const settings = Object.fromEntries(
    Object.entries(spec.settings).map(([key, setting]) => [
      key,
      given[key] === undefined ? setting : setting.default(given[key]),
    ]),
  );
  const level = (given.enforcementLevel as EnforcementLevel | undefined) ?? spec.level;
  return definePolicy({ ...spec, level, settings }) as unknown as ConsortiumPolicy<Name, S>;
}
