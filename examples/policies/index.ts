import { PolicyPack, type ResourceValidationPolicy, validateResourceOfType } from "@pulumi/policy";
import { Environment } from "pulumi-consortium";
import {
  allowedNetworks,
  consensusForProvider,
  consortiaPerOrganization,
  environmentsPerConsortium,
  nodesPerEnvironment,
  withSettings,
} from "pulumi-consortium/policy";

// This company's own rule: everybody who opens the console must be able to tell what a ledger is for.
const describedEnvironments: ResourceValidationPolicy = {
  name: "described-environments",
  description: "An environment says what it is for.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(Environment, (environment, args, reportViolation) => {
    if (!environment.description) {
      reportViolation(`Environment "${args.name}" has no description. Set its argument description.`);
    }
  }),
};

new PolicyPack("company-rules", {
  policies: [
    // The service's limits, unchanged.
    consortiaPerOrganization,
    environmentsPerConsortium,
    // Two nodes of each environment are reserved for partners.
    withSettings(nodesPerEnvironment, { max: 2 }),
    // The operations team supports only one protocol.
    withSettings(consensusForProvider, { allowed: { quorum: ["ibft"] } }),
    // Pins to mainnet cost money: outside of these stacks they are an error here, not just advice.
    withSettings(allowedNetworks, { enforcementLevel: "mandatory", mainnetStacks: ["live"] }),
    describedEnvironments,
  ],
});
