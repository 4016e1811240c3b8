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

export const credentialPerMember = definePolicy({
  name: "credential-per-member",
  level: "advisory",
  rule: "Every membership that owns nodes in an environment has a credential there; without one, nobody can use them.",
  settings: {},
  stack(stack, _, report) {
    const parents = new Parents(stack);
    const credentials = parents.group("AppCred", "Environment");
    for (const [key, nodes] of parents.group("Node", "Environment")) {
      // A credential of which it is not known yet where it belongs may be the one.
      if (key === undefined || credentials.has(undefined)) continue;
      const holders = new Set((credentials.get(key) ?? []).map((credential) => parents.key(credential, "Membership")));
      const environment = parents.find("Environment", key);
      for (const member of groupBy(nodes, (node) => parents.key(node, "Membership")).keys()) {
        if (member === undefined || holders.has(member) || holders.has(undefined)) continue;
        const membership = parents.find("Membership", member);
        const [who, where] = [membership?.name ?? member, environment?.name ?? key];
        report.violation(
          `Membership "${who}" owns nodes of environment "${where}", but has no AppCred there. ` +
            "Add an AppCred with this environment and membership.",
          membership?.urn,
        );
      }
    }
  },
});
