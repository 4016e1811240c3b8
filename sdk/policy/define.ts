import {
  type EnforcementLevel,
  type PolicyConfigSchema,
  type ReportViolation,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
} from "@pulumi/policy";
import { type z } from "zod";
import { secretsKey } from "../../provider/constants";
import { secretPaths } from "../../provider/core/values";
import { Secrets } from "../../provider/api/secrets";
import { read, type Resource, resourceOf, Stack } from "./resources";
import {
  jsonSchemaOf,
  levels,
  PolicySettingsError,
  readSettings,
  type Setting,
  type SettingsShape,
} from "./policy-settings";

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
        ...{ name, description: rule, urn, enforcementLevel: "advisory" },
        message: `${rule}\n${secrets.mask(message)}`,
      }),
  };
}

export function definePolicy<Name extends string, Shape extends SettingsShape>(spec: Spec<Name, Shape>) {
  type Values = z.output<z.ZodObject<Shape>>;
  const { name, rule, level, settings: shape } = spec;
  let refused = false;

  /** The settings in force; undefined: they cannot be used, and nothing is judged by them. */
  const settingsFrom = (config: object) => readSettings(name, shape, config).values as Values | undefined;

  /** An unknown setting gets this far, since the host drops `additionalProperties` on the way to its own check. */
  const refuse = (config: object, report: ReportViolation): void => {
    const { problems } = readSettings(name, shape, config);
    for (const message of problems) {
      reportAs(report, { name, description: rule, message, enforcementLevel: "mandatory" });
    }
    refused = problems.length > 0;
  };

  const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
    // The root comes before everything else: wrong settings are refused there, before anything is done.
    if (args.type === rootType) return refuse(args.getConfig(), report);
    const resource = spec.resource && resourceOf(args);
    const settings = resource && settingsFrom(args.getConfig());
    if (settings) spec.resource?.(resource, settings, reporting(report, name, rule, [args]));
  };

  const properties = jsonSchemaOf(shape) as { [K in keyof Values]-?: Setting };
  const policy: ConsortiumPolicy<Name, Values> = {
    name,
    description: rule,
    enforcementLevel: level,
    configSchema: { properties, ...{ additionalProperties: false } },
    // A type on the function spares the host from calling it for others.
    validateResource: spec.resource ? validateResource : Object.assign(validateResource, { __pulumiType: rootType }),
    ...(spec.stack && {
      validateStack: async (args, report) => {
        const settings = settingsFrom(args.getConfig());
        if (settings)
          return spec.stack!(new Stack(args.resources), settings, reporting(report, name, rule, args.resources));
        if (!refused) refuse(args.getConfig(), report);
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
  const refuse = (problem: string): never => {
    throw new PolicySettingsError(problem);
  };
  const spec =
    specs.get(policy) ??
    refuse(`Policy "${policy.name}": only a policy of pulumi-consortium/policy itself takes settings.`);
  const { enforcementLevel: level = spec.level, ...given } =
    typeof choice === "string" ? { enforcementLevel: choice } : { ...choice };
  if (!levels.includes(level)) {
    refuse(
      `Policy "${policy.name}": enforcementLevel must be one of ${levels.join(", ")}, not ${JSON.stringify(level)}.`,
    );
  }
  const [problem] = readSettings(policy.name, spec.settings, given).problems;
  if (problem) refuse(problem);
  const values: Record<string, unknown> = given;
  const settings = Object.fromEntries(
    Object.entries(spec.settings).map(([key, setting]) => [
      key,
      values[key] === undefined ? setting : setting.default(values[key]),
    ]),
  );
  return definePolicy({ ...spec, level, settings }) as unknown as ConsortiumPolicy<Name, S>;
}
