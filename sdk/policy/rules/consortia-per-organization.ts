import { limits } from "../../../provider/facts";
import { providerTitle } from "../connection";
import { definePolicy } from "../define";
import { type Organization } from "../live";
import { checkMaximum, maximumSettings } from "../maximum";
import { groupBy, Parents } from "../parents";

export const consortiaPerOrganization = definePolicy({
  name: "consortia-per-organization",
  level: "mandatory",
  rule: "An organization owns no more consortia than the service allows.",
  settings: maximumSettings(limits.consortia, "consortia of one organization, counted for each provider instance"),
  async stack(stack, settings, report) {
    const parents = new Parents(stack);
    for (const mine of groupBy(stack.of("Consortium"), ({ provider }) => provider?.urn).values()) {
      const { provider } = mine[0]!;
      const counted = {
        owner: `The organization of ${providerTitle(provider)}`,
        things: "consortia",
        remedy: "Use fewer, or create some with a Provider of another organization.",
      };
      const list = (organization: Organization) => organization.consortia();
      await checkMaximum({ ...counted, mine, provider, list }, settings, parents, report);
    }
  },
});
