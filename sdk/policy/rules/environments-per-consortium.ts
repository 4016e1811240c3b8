import { limits } from "../../../provider/facts";
import { definePolicy } from "../define";
import { idOf, type Organization } from "../live";
import { checkMaximum, maximumSettings } from "../maximum";
import { Parents } from "../parents";

export const environmentsPerConsortium = definePolicy({
  name: "environments-per-consortium",
  level: "mandatory",
  rule: "A consortium holds no more environments than the service allows.",
  settings: maximumSettings(limits.environments, "environments of one consortium"),
  async stack(stack, settings, report) {
    const parents = new Parents(stack);
    for (const siblings of parents.siblings("Environment", "Consortium")) {
      const counted = {
        ...siblings,
        things: "environments",
        remedy: "Remove some, or put them into another consortium.",
        list: async (organization: Organization) =>
          organization.environments(await idOf(organization, parents, "Consortium", siblings.key)),
      };
      await checkMaximum(counted, settings, parents, report);
    }
  },
});
