import { z } from "zod";
import { definePolicy } from "../define";
import { regularExpression } from "../policy-settings";

const pattern = regularExpression.optional();
const types = { Consortium: pattern, Membership: pattern, Environment: pattern, Node: pattern, AppCred: pattern };

export const naming = definePolicy({
  name: "naming",
  level: "disabled",
  rule: "Names match the pattern for their resource type.",
  settings: {
    pattern: z
      .union([regularExpression, z.strictObject(types)])
      .default("^[a-z][a-z0-9-]*$")
      .describe(`Regular expression for all names, or an object with one per type: ${Object.keys(types).join(", ")}.`),
  },
  resource({ kind, name, text }, { pattern }, report) {
    const property = kind === "Membership" ? "orgName" : "name";
    const given = text(property);
    if (kind === "TetherService" || given === undefined) return;
    const wanted = typeof pattern === "string" ? pattern : pattern[kind];
    if (wanted === undefined || new RegExp(wanted, "u").test(given)) return;
    report.violation(
      `${kind} "${name}" has ${property} "${given}", which does not match ${wanted}. Change ${property}.`,
    );
  },
});
