import { providerTitle } from "./connection";
import { definePolicy } from "./define";
import { limitSettings, type LimitSettings, overLimit } from "./limits";
import { ask, others } from "./live";
import { Families, groupBy } from "./parents";

export const consortiaPerOrganization = definePolicy<"consortia-per-organization", LimitSettings>({
  name: "consortia-per-organization",
  level: "mandatory",
  rule: "An organization owns no more consortia than the service allows.",
  settings: limitSettings(2, "consortia of one organization, counted for each provider instance"),
  async stack(stack, { max, live }, report) {
    const families = new Families(stack);
    for (const mine of groupBy(stack.of("Consortium"), ({ provider }) => provider?.urn).values()) {
      const { provider } = mine[0]!;
      const existing = live ? await ask(provider, report, (organization) => organization.consortia()) : undefined;
      const problem = overLimit({
        ...{ owner: `The organization of ${providerTitle(provider)}`, things: "consortia", mine, max },
        others: existing && others(mine, existing, families),
        mend: "Use fewer, or create some with a Provider of another organization.",
      });
      if (problem) report.violation(problem);
    }
  },
});
