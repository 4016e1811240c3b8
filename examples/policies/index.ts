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

// A rule of this company alone: whoever reads the console has to know what a ledger is for.
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
    // Limits of the service, as they are.
    consortiaPerOrganization,
    environmentsPerConsortium,
    // Two nodes of each environment stay free for partners.
    withSettings(nodesPerEnvironment, { max: 2 }),
    // The operations team knows one protocol.
    withSettings(consensusForProvider, { allowed: { quorum: ["ibft"] } }),
    // Pins to mainnet cost money: elsewhere than in these stacks they are an error here, not only advice.
    withSettings(allowedNetworks, { enforcementLevel: "mandatory", mainnetStacks: ["live"] }),
    describedEnvironments,
  ],
});
