import { type PolicyPackArgs } from "@pulumi/policy";
import { allowedNetworks } from "./allowed-networks";
import { allowedRegions } from "./allowed-regions";
import { balancedMembership } from "./balanced-membership";
import { consensusForProvider } from "./consensus-for-provider";
import { consortiaPerOrganization } from "./consortia-per-organization";
import { credentialPerMember } from "./credential-per-member";
import { type Choice, type ConsortiumPolicy, withSettings } from "./define";
import { environmentsPerConsortium } from "./environments-per-consortium";
import { naming } from "./naming";
import { nodesPerEnvironment } from "./nodes-per-environment";
import { protectLedgers } from "./protect-ledgers";
import { PolicySettingsError } from "./settings";
import { tetherAfterConfiguration } from "./tether-after-configuration";
import { tetherInterval } from "./tether-interval";

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
  const strangers = Object.keys(settings).filter((name) => !names.includes(name));
  if (strangers.length > 0) {
    throw new PolicySettingsError(`There is no policy "${strangers[0]}"; the policies are ${names.join(", ")}.`);
  }
  const chosen = settings as Partial<Record<string, Choice<object>>>;
  return {
    displayName: "Consortium limits and good practice",
    description: "Limits of the Consortium service and good practice, checked before anything is created.",
    policies: policies.map((policy: ConsortiumPolicy) => withSettings(policy, chosen[policy.name] ?? {})),
  };
}
