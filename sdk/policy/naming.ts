import { definePolicy } from "./define";
import { regularExpression } from "./settings";

const types = ["Consortium", "Membership", "Environment", "Node", "AppCred"] as const;

export interface NamingSettings {
  pattern: string | Partial<Record<(typeof types)[number], string>>;
}

const expression = { type: "string", format: regularExpression } as const;

export const naming = definePolicy<"naming", NamingSettings>({
  name: "naming",
  level: "disabled",
  rule: "Names keep to the pattern for their type of resource.",
  settings: {
    pattern: {
      ...expression,
      type: ["string", "object"],
      properties: Object.fromEntries(types.map((type) => [type, expression])),
      additionalProperties: false,
      default: "^[a-z][a-z0-9-]*$",
      description: "Regular expression for all names, or an object with one for each type: " + `${types.join(", ")}.`,
    },
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
