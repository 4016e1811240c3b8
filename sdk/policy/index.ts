import { type PolicyPackArgs } from "@pulumi/policy";
import { type Choice, type ConsortiumPolicy, PolicySettingsError, withSettings } from "./define";
import * as limits from "./rules/limits";
import * as resources from "./rules/resources";
import * as stack from "./rules/stack";

export { type Choice, type ConsortiumPolicy, PolicySettingsError, withSettings } from "./define";
export * from "./rules/limits";
export * from "./rules/resources";
export * from "./rules/stack";

/** All policies, with their default levels and settings. */
export const policies = [
  limits.consortiaPerOrganization,
  limits.environmentsPerConsortium,
  limits.nodesPerEnvironment,
  limits.resourcesPerEnvironment,
  resources.consensusForProvider,
  resources.nodeSize,
  resources.allowedServices,
  resources.tetherInterval,
  stack.tetherAfterConfiguration,
  resources.allowedNetworks,
  stack.allowedRegions,
  resources.naming,
  resources.protectLedgers,
  stack.balancedMembership,
  stack.credentialPerMember,
] as const;

type Policy = (typeof policies)[number];
type SettingsOf<P> = P extends ConsortiumPolicy<string, infer S> ? S : never;

/** Settings by the names of the policies: the same form as a file for `--policy-pack-config`. */
export type PackSettings = { [P in Policy as P["name"]]?: Choice<SettingsOf<P>> };

type PackArgs = Omit<PolicyPackArgs, "policies"> & { policies: ConsortiumPolicy[] };

/**
 * The arguments of a `PolicyPack` with all policies: `new PolicyPack("limits", consortiumPolicies({ naming: "mandatory" }))`.
 * @throws PolicySettingsError for a policy, a setting or a level that does not exist, and for a value of the wrong type.
 */
export function consortiumPolicies(settings: PackSettings = {}): PackArgs {
  const names: string[] = policies.map(({ name }) => name);
  const unknown = Object.keys(settings).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new PolicySettingsError(`There is no policy "${unknown}"; the policies are ${names.join(", ")}.`);
  }
  const chosen = settings as Partial<Record<string, Choice<object>>>;
  return {
    displayName: "Consortium limits and good practice",
    description: "Limits of the Consortium service and good practice, checked before anything is created.",
    policies: policies.map((policy: ConsortiumPolicy) => withSettings(policy, chosen[policy.name] ?? {})),
  };
}
