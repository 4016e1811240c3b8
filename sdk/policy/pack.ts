import { type PolicyPackArgs } from "@pulumi/policy";
import { allowedNetworks } from "./rules/allowed-networks";
import { allowedRegions } from "./rules/allowed-regions";
import { balancedMembership } from "./rules/balanced-membership";
import { consensusForProvider } from "./rules/consensus-for-provider";
import { consortiaPerOrganization } from "./rules/consortia-per-organization";
import { credentialPerMember } from "./rules/credential-per-member";
import { type Choice, type ConsortiumPolicy, withSettings } from "./define";
import { environmentsPerConsortium } from "./rules/environments-per-consortium";
import { naming } from "./rules/naming";
import { nodesPerEnvironment } from "./rules/nodes-per-environment";
import { protectLedgers } from "./rules/protect-ledgers";
import { PolicySettingsError } from "./policy-settings";
import { tetherAfterConfiguration } from "./rules/tether-after-configuration";
import { tetherInterval } from "./rules/tether-interval";

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
