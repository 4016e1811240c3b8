import { type PolicyConfigJSONSchema } from "@pulumi/policy/schema";
import { definePolicy } from "./define";

export interface ConsensusSettings {
  allowed: Record<string, string[]>;
}

const protocols: PolicyConfigJSONSchema = { type: "array", items: { type: "string", enum: ["raft", "ibft", "poa"] } };

export const consensusForProvider = definePolicy<"consensus-for-provider", ConsensusSettings>({
  name: "consensus-for-provider",
  level: "mandatory",
  rule: "The consensus protocol of an environment is one that is allowed for its client.",
  settings: {
    allowed: {
      type: "object",
      properties: { quorum: protocols, geth: protocols },
      additionalProperties: false,
      // The service's own rule (spec, section 2.2); a test compares it with that of the provider, which is not loaded here.
      default: { quorum: ["raft", "ibft"], geth: ["poa"] },
      description: "The protocols that are allowed for each client; a client that is left out is not allowed at all.",
    },
  },
  resource(environment, { allowed }, report) {
    const [provider, consensusType] = [environment.text("provider"), environment.text("consensusType")];
    if (environment.kind !== "Environment" || provider === undefined) return;
    const possible = Object.hasOwn(allowed, provider) ? allowed[provider]! : [];
    if (possible.length === 0) {
      const clients = Object.keys(allowed).filter((name) => allowed[name]!.length > 0);
      report.violation(
        `Environment "${environment.name}" uses provider ${provider}, which is not allowed. Use ${clients.join(" or ")}.`,
      );
    } else if (consensusType !== undefined && !possible.includes(consensusType)) {
      const found = `Environment "${environment.name}" uses consensusType ${consensusType} with provider ${provider}`;
      report.violation(`${found}, which allows only ${possible.join(" or ")}. Use ${possible.join(" or ")}.`);
    }
  },
});
