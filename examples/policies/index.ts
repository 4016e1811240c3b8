import { PolicyPack, type ResourceValidationPolicy, validateResourceOfType } from "@pulumi/policy";
import { Environment } from "pulumi-consortium";
import { consortiumPolicies } from "pulumi-consortium/policy";

// This company's own rule: everybody who opens the console must be able to tell what a ledger is for.
const describedEnvironments: ResourceValidationPolicy = {
  name: "described-environments",
  description: "An environment has a description of its purpose.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(Environment, (environment, args, reportViolation) => {
    if (!environment.description) {
      reportViolation(`Environment "${args.name}" has no description. Set its argument description.`);
    }
  }),
};

// All rules of the package. A misspelled name or setting does not compile.
const { policies, ...pack } = consortiumPolicies({
  // Two nodes of each environment are reserved for partners.
  "nodes-per-environment": { max: 2 },
  // The operations team supports only one protocol.
  "consensus-for-provider": { allowed: { quorum: ["ibft"] } },
  // Pins to mainnet cost money: outside of these stacks they are an error here, not just advice.
  "allowed-networks": { enforcementLevel: "mandatory", mainnetStacks: ["live"] },
});

new PolicyPack("company-rules", { ...pack, policies: [...policies, describedEnvironments] });
