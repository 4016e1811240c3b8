import { z } from "zod";
import { definePolicy } from "../define";
import { oneOf } from "../policy-settings";

const protocols = z.array(oneOf(["raft", "ibft", "poa"])).optional();

export const consensusForProvider = definePolicy({
  name: "consensus-for-provider",
  level: "mandatory",
  rule: "The consensus protocol of an environment is allowed for its client.",
  settings: {
    allowed: z
      .strictObject({ quorum: protocols, geth: protocols })
      // The service's own rule (spec, section 2.2); a test compares it with that of the provider, which is not loaded here.
      .default({ quorum: ["raft", "ibft"], geth: ["poa"] })
      .describe("Protocols allowed for each client; a client that is not listed is not allowed at all."),
  },
  resource(environment, { allowed }, report) {
    const [provider, consensusType] = [environment.text("provider"), environment.text("consensusType")];
    if (environment.kind !== "Environment" || provider === undefined) return;
    const choices = new Map<string, string[]>(Object.entries(allowed));
    const possible = choices.get(provider) ?? [];
    if (possible.length === 0) {
      const clients = [...choices.keys()].filter((name) => choices.get(name)!.length > 0);
      report.violation(
        `Environment "${environment.name}" uses provider ${provider}, which is not allowed. Use ${clients.join(" or ")}.`,
      );
    } else if (consensusType !== undefined && !possible.includes(consensusType)) {
      const found = `Environment "${environment.name}" uses consensusType ${consensusType} with provider ${provider}`;
      report.violation(`${found}, which allows only ${possible.join(" or ")}. Use ${possible.join(" or ")}.`);
    }
  },
});
