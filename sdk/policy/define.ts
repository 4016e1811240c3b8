import {
  type EnforcementLevel,
  type PolicyConfigSchema,
  type ReportViolation,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
} from "@pulumi/policy";
import { type Resource, resourceOf, type Stack, stackOf } from "./resources";
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

/** An unknown setting is refused here, since the host drops `additionalProperties` on the way to its own check. */
const refusing = (report: ReportViolation, policy: string): ((message: string) => void) => {
  const whole = report as unknown as (violation: object) => void;
  return (message) =>
    whole({ name: policy, description: "Settings of policies", message, enforcementLevel: "mandatory" });
};

function reporting(report: ReportViolation, policy: string, rule: string): Report {
  // The host takes a violation with a level of its own, which its types do not tell.
  const whole = report as unknown as (violation: object) => void;
  return {
    violation: report,
    advice: (message, urn) =>
      whole({ name: policy, description: rule, message: `${rule}\n${message}`, urn, enforcementLevel: "advisory" }),
  };
}

export function definePolicy<Name extends string, S extends object>(spec: Spec<Name, S>): ConsortiumPolicy<Name, S> {
  const { name, rule, level, settings: schema } = spec;
  const standard = defaultsOf(schema);
  let refused = false;

  /** The settings in force, or undefined when they are refused, which is said once. */
  const settingsFor = (config: object, report: ReportViolation): S | undefined => {
    const problems = problemsOf(name, schema, config);
    if (problems.length === 0) return { ...standard, ...config };
    if (!refused) problems.forEach(refusing(report, name));
    refused = true;
    return undefined;
  };

  const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
    // The root comes before everything else: wrong settings are refused there, before anything is done.
    const resource = resourceOf(args);
    if (args.type !== rootType && !(spec.resource && resource)) return;
    const settings = settingsFor(args.getConfig(), report);
    if (settings && resource) spec.resource?.(resource, settings, reporting(report, name, rule));
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
        const settings = settingsFor(args.getConfig(), report);
        if (settings) await spec.stack!(stackOf(args.resources), settings, reporting(report, name, rule));
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
