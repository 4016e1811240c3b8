import { z } from "zod";
import { EnvironmentObject } from "../api";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { consensusOf, limits, lossWarnings } from "../constants";
import { adopt, consortiumId, customTimeouts, description, environments, extra, nameText, output } from "./fields";

const providers = ["quorum", "geth"] as const;
const consensusTypes = ["raft", "ibft", "poa"] as const;

export const environment: Definition = {
  type: "Environment",
  title: "environment",
  doc: `A blockchain network: one ledger, with a client and a consensus protocol. A consortium has at most ${limits.environments} environments.`,
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    provider: field(
      z.enum(providers, { error: `provider must be one of ${providers.join(", ")}` }),
      "Client that the nodes run: `quorum` or `geth`.",
      { replace: true },
    ),
    consensusType: field(
      z.enum(consensusTypes, { error: `consensusType must be one of ${consensusTypes.join(", ")}` }),
      "Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`.",
      { replace: true },
    ),
    name: field(nameText("name"), "Name of the environment.", { default: "the name of the resource" }),
    description: description(),
    chainId: field(
      z.int({ error: "chainId must be a whole number" }).min(1, "chainId must be at least 1").optional(),
      "Chain id of the ledger.",
      { default: "the service chooses one", replace: true, computed: true },
    ),
    adopt: adopt(),
    extra: extra(),
    customTimeouts: customTimeouts(),
  }),
  outputs: z.object({
    state: output.state(),
    region: field(z.string().optional(), "Region it runs in."),
    releaseId: field(z.string().optional(), "Release of the service's software that it runs."),
    blockPeriod: field(z.number().int().optional(), "Seconds between blocks."),
    initialDelay: field(z.number().int().optional(), "Delay before the first block, as reported by the service."),
    idleHours: field(z.number().int().optional(), "Idle hours after which the service may pause it."),
    enableTether: field(z.boolean().optional(), "Whether a tether service is enabled for it."),
    revision: output.revision(),
    createdAt: output.createdAt(),
  }),
  timeouts: { create: 1800, update: 1800, delete: 1800 },
  wire: EnvironmentObject,
  naming: "name",
  shownLater: ["state", "createdAt", "chainId"],
  place: environments,
  emptyWhenMade: ["nodes", "appcreds"],
  rules({ provider, consensusType }) {
    const allowed = typeof provider === "string" ? consensusOf[provider] : undefined;
    if (!allowed || typeof consensusType !== "string" || allowed.includes(consensusType)) return [];
    const other = Object.keys(consensusOf).find((name) => consensusOf[name]!.includes(consensusType));
    const reason = `${String(provider)} runs ${allowed.join(" or ")}, not ${consensusType}: choose one of these, or provider: "${other}"`;
    return [{ property: "consensusType", reason }];
  },
  replaceWarning: lossWarnings.replaceEnvironment,
};
