import { definePolicy } from "./define";

export interface ProtectSettings {
  stacks: string[];
}

export const protectLedgers = definePolicy<"protect-ledgers", ProtectSettings>({
  name: "protect-ledgers",
  level: "advisory",
  rule: "Environments and consortia are protected in stacks that are named, since deleting one destroys ledgers.",
  settings: {
    stacks: {
      type: "array",
      items: { type: "string" },
      default: ["prod", "production"],
      description: "Names of the stacks where ledgers matter.",
    },
  },
  resource({ kind, name, stack, protect }, { stacks }, report) {
    if ((kind !== "Environment" && kind !== "Consortium") || protect || !stacks.includes(stack)) return;
    report.violation(`${kind} "${name}" is not protected in stack "${stack}". Add the resource option protect: true.`);
  },
});
