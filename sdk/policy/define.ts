import {
  type EnforcementLevel,
  type PolicyConfigSchema,
  type ReportViolation,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
} from "@pulumi/policy";
import { type Resource, resourceOf, Stack } from "./resources";
import { defaultsOf, levels, PolicySettingsError, problemsOf, type Setting, type SettingsSchema } from "./settings";

export interface Report {
  /** What was found, and how to mend it; shown below the rule. */
  violation(message: string, urn?: string): void;
  /** Said whatever the level of the policy, and never stops a run. */
  advice(message: string, urn?: string): void;
}

interface Spec<Name extends string, S> {
  name: Name;
  level: EnforcementLevel;
  /** What must hold, in one sentence. */
  rule: string;
  settings: SettingsSchema<S>;
  /** Judges one resource before anything is done with it. */
  resource?(resource: Resource, settings: S, report: Report): void;
  /** Judges the whole plan, or what has become of it. */
  stack?(stack: Stack, settings: S, report: Report): Promise<void> | void;
}

/** A level, or settings with or without one: as in a file for `--policy-pack-config`. */
export type Choice<S> = EnforcementLevel | ({ enforcementLevel?: EnforcementLevel } & Partial<S>);

type Both = ResourceValidationPolicy & Partial<StackValidationPolicy>;

/** A policy as a plain value: takes part in any `PolicyPack`, or first in `withSettings`. */
export interface ConsortiumPolicy<Name extends string = string, S extends object = object> extends Both {
  readonly name: Name;
  readonly enforcementLevel: EnforcementLevel;
  readonly configSchema: PolicyConfigSchema & { properties: SettingsSchema<S> };
}

const rootType = "pulumi:pulumi:Stack";
const specs = new WeakMap<object, Spec<string, object>>();

/** A violation with a level of its own: the host takes it, though its types do not tell. */
type Whole = { name: string; description: string; message: string; urn?: string; enforcementLevel: EnforcementLevel };
const reportWhole = (report: ReportViolation, violation: Whole): void =>
  (report as unknown as (violation: Whole) => void)(violation);

const reporting = (report: ReportViolation, name: string, rule: string): Report => ({
  violation: report,
  advice: (message, urn) =>
    reportWhole(report, { name, description: rule, message: `${rule}\n${message}`, urn, enforcementLevel: "advisory" }),
});

export function definePolicy<Name extends string, S extends object>(spec: Spec<Name, S>): ConsortiumPolicy<Name, S> {
  const { name, rule, level, settings: schema } = spec;
  const standard = defaultsOf(schema);
  let refused = false;

  /** The settings in force; undefined: they cannot be used, and nothing is judged by them. */
  const settingsFrom = (config: object): S | undefined =>
    problemsOf(name, schema, config).length === 0 ? { ...standard, ...config } : undefined;

  /** An unknown setting comes as far as this: the host drops `additionalProperties` on the way to its own check. */
  const refuse = (config: object, report: ReportViolation): void => {
    const problems = problemsOf(name, schema, config);
    for (const message of problems) {
      reportWhole(report, { name, description: rule, message, enforcementLevel: "mandatory" });
    }
    refused = problems.length > 0;
  };

  const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
    // The root comes before everything else: wrong settings are refused there, before anything is done.
    if (args.type === rootType) return refuse(args.getConfig(), report);
    const resource = spec.resource && resourceOf(args);
    const settings = resource && settingsFrom(args.getConfig());
    if (settings) spec.resource?.(resource, settings, reporting(report, name, rule));
  };

  const policy: ConsortiumPolicy<Name, S> = {
    name,
    description: rule,
    enforcementLevel: level,
    configSchema: { properties: schema, ...{ additionalProperties: false } },
    // A type on the function spares the host from calling it for others.
    validateResource: spec.resource ? validateResource : Object.assign(validateResource, { __pulumiType: rootType }),
    ...(spec.stack && {
      validateStack: async (args, report) => {
        const settings = settingsFrom(args.getConfig());
        if (settings) return spec.stack!(new Stack(args.resources), settings, reporting(report, name, rule));
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
  const spec = specs.get(policy) as Spec<Name, S> | undefined;
  const refuse = (problem: string): never => {
    throw new PolicySettingsError(problem);
  };
  if (!spec) return refuse(`Policy "${policy.name}": only a policy of pulumi-consortium/policy itself takes settings.`);
  const { enforcementLevel = spec.level, ...given } =
    typeof choice === "string" ? { enforcementLevel: choice } : { ...choice };
  if (!levels.includes(enforcementLevel)) {
    const found = JSON.stringify(enforcementLevel);
    return refuse(`Policy "${policy.name}": enforcementLevel must be one of ${levels.join(", ")}, not ${found}.`);
  }
  const [problem] = problemsOf(policy.name, spec.settings, given);
  if (problem) return refuse(problem);
  const values = given as Record<string, Setting["default"]>;
  const settings = Object.fromEntries(
    Object.entries<Setting>(spec.settings).map(([key, setting]) => [
      key,
      values[key] === undefined ? setting : { ...setting, default: values[key] },
    ]),
  ) as SettingsSchema<S>;
  return definePolicy({ ...spec, level: enforcementLevel, settings });
}
