import { definePolicy } from "../define";
import { groupBy, Parents } from "../parents";

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
