import { type PolicyPackArgs } from "@pulumi/policy";
import { type Choice, type ConsortiumPolicy, withSettings } from "./define";
import { PolicySettingsError } from "./policy-settings";
import { allowedRegions } from "./rules/allowed-regions";
import { consensusForProvider } from "./rules/consensus-for-provider";
import { consortiaPerOrganization, environmentsPerConsortium, nodesPerEnvironment } from "./rules/limits";
import { balancedMembership, credentialPerMember } from "./rules/memberships";
import { naming } from "./rules/naming";
import { protectLedgers } from "./rules/protect-ledgers";
import { allowedNetworks, tetherAfterConfiguration, tetherInterval } from "./rules/tethers";

/** All policies, with their default levels and settings. */
export const policies = [
  consortiaPerOrganization,
  environmentsPerConsortium,
  nodesPerEnvironment,
  consensusForProvider,
  tetherInterval,
  tetherAfterConfiguration,
  allowedNetworks,
  allowedRegions,
  naming,
  protectLedgers,
  balancedMembership,
  credentialPerMember,
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
