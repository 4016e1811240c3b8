import { definePolicy } from "./define";
import { Families, groupBy } from "./parents";

export const credentialPerMember = definePolicy<"credential-per-member", object>({
  name: "credential-per-member",
  level: "advisory",
  rule: "Every membership that owns nodes of an environment has a credential there, or nobody can use them.",
  settings: {},
  stack(stack, _, report) {
    const families = new Families(stack);
    const credentials = families.group("AppCred", "Environment");
    for (const [key, nodes] of families.group("Node", "Environment")) {
      // A credential of which it is not known yet where it belongs may be the one.
      if (key === undefined || credentials.has(undefined)) continue;
      const holders = new Set((credentials.get(key) ?? []).map((credential) => families.key(credential, "Membership")));
      const environment = families.find("Environment", key);
      for (const member of groupBy(nodes, (node) => families.key(node, "Membership")).keys()) {
        if (member === undefined || holders.has(member) || holders.has(undefined)) continue;
        const membership = families.find("Membership", member);
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
