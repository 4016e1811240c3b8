import { limits } from "../../../provider/facts";
import { idOf } from "../live";
import { maximumPolicy } from "../maximum";

export const environmentsPerConsortium = maximumPolicy({
  name: "environments-per-consortium",
  rule: "A consortium holds no more environments than the service allows.",
  limit: limits.environments,
  things: "environments",
  per: "per consortium",
  remedy: "Remove some, or put them into another consortium.",
  counted: (parents) =>
    parents.siblings("Environment", "Consortium").map((siblings) => ({
      ...siblings,
      list: async (organization) =>
        organization.environments(await idOf(organization, parents, "Consortium", siblings.key)),
    })),
});
