import { z } from "zod";
import { holdsLedger } from "../../../provider/constants";
import { definePolicy } from "../define";

export const protectLedgers = definePolicy({
  name: "protect-ledgers",
  level: "advisory",
  rule: "Environments and consortia are protected in the listed stacks, since deleting one destroys ledgers.",
  settings: {
    stacks: z.array(z.string()).default(["prod", "production"]).describe("Stacks whose ledgers must not be lost."),
  },
  resource({ kind, name, stack, protect }, { stacks }, report) {
    if (!holdsLedger(kind) || protect || !stacks.includes(stack)) return;
    report.violation(`${kind} "${name}" is not protected in stack "${stack}". Add the resource option protect: true.`);
  },
});
