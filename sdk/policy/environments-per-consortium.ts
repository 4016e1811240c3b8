import { definePolicy } from "./define";
import { limitSettings, type LimitSettings, overLimit } from "./limits";
import { ask, idOf, others } from "./live";
import { Families } from "./parents";

export const environmentsPerConsortium = definePolicy<"environments-per-consortium", LimitSettings>({
  name: "environments-per-consortium",
  level: "mandatory",
  rule: "A consortium holds no more environments than the service allows.",
  settings: limitSettings(3, "environments of one consortium"),
  async stack(stack, { max, live }, report) {
    const families = new Families(stack);
    for (const [key, mine] of families.group("Environment", "Consortium")) {
      if (key === undefined) continue;
      const consortium = families.find("Consortium", key);
      const existing = live
        ? await ask((consortium ?? mine[0])?.provider, report, async (organization) => {
            const id = await idOf(organization, families, "Consortium", key);
            return id === undefined ? [] : organization.environments(id);
          })
        : undefined;
      const problem = overLimit({
        ...{ owner: `Consortium "${consortium?.name ?? key}"`, things: "environments", mine, max },
        others: existing && others(mine, existing, families),
        mend: "Remove some, or put them into another consortium.",
      });
      if (problem) report.violation(problem, consortium?.urn);
    }
  },
});
