import { z } from "zod";
import { definePolicy } from "../define";
import { groupBy, Parents } from "../parents";

/** Fewest nodes of which one may fail: a majority of raft nodes, more than two thirds of ibft nodes have to be left. */
const tolerant: Record<string, number> = { raft: 3, ibft: 4 };

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const balancedMembership = definePolicy({
  name: "balanced-membership",
  level: "advisory",
  rule: "No membership owns too many nodes of an environment, and one node may fail.",
  settings: {
    maxShare: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe("Largest share of an environment's nodes that one membership may own, from 0 to 1."),
  },
  stack(stack, { maxShare }, report) {
    const parents = new Parents(stack);
    const groups = parents.group("Node", "Environment");
    // Nodes whose environment is not known yet may belong to any of them.
    if (groups.has(undefined)) return;
    for (const [key, nodes] of groups) {
      // Of an environment that another stack manages, others may own nodes that are not seen here.
      const environment = parents.find("Environment", key!);
      if (!environment) continue;
      for (const [member, owned] of groupBy(nodes, (node) => parents.key(node, "Membership"))) {
        const share = owned.length / nodes.length;
        if (member === undefined || share <= maxShare) continue;
        const membership = parents.find("Membership", member)?.name ?? member;
        report.violation(
          `Membership "${membership}" would own ${owned.length} of ${nodes.length} nodes of environment ` +
            `"${environment.name}" (${percent(share)}), but at most ${percent(maxShare)} is advised. ` +
            "Add nodes of other memberships, or remove some of its own.",
          environment.urn,
        );
      }
      const protocol = environment.text("consensusType");
      const needed = protocol === undefined ? undefined : tolerant[protocol];
      if (needed === undefined || nodes.length >= needed) continue;
      report.violation(
        `Environment "${environment.name}" would have ${nodes.length} ${nodes.length === 1 ? "node" : "nodes"}, but ` +
          `${protocol} needs ${needed} for one of them to fail without harm. Add ${needed - nodes.length}.`,
        environment.urn,
      );
    }
  },
});
