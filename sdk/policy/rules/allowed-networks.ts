import { z } from "zod";
import { definePolicy } from "../define";

export const allowedNetworks = definePolicy({
  name: "allowed-networks",
  level: "advisory",
  rule: "Only listed stacks pin to mainnet, where each pin costs money.",
  settings: {
    mainnetStacks: z.array(z.string()).default([]).describe("Stacks that may use mainnet."),
  },
  resource(tether, { mainnetStacks }, report) {
    if (tether.kind !== "TetherService" || tether.text("network") !== "mainnet") return;
    if (mainnetStacks.includes(tether.stack)) return;
    report.violation(
      `Tether service "${tether.name}" uses network mainnet in stack "${tether.stack}". ` +
        `Use rinkeby, or add "${tether.stack}" to the setting mainnetStacks.`,
    );
  },
});
