import { limits } from "../../../provider/facts";
import { providerTitle } from "../connection";
import { maximumPolicy } from "../maximum";
import { groupBy } from "../parents";

export const consortiaPerOrganization = maximumPolicy({
  name: "consortia-per-organization",
  rule: "An organization owns no more consortia than the service allows.",
  limit: limits.consortia,
  things: "consortia",
  per: "per organization, counted for each provider instance",
  remedy: "Use fewer, or create some with a Provider of another organization.",
  counted: (_, stack) =>
    [...groupBy(stack.of("Consortium"), ({ provider }) => provider?.urn).values()].map((mine) => {
      const { provider } = mine[0]!;
      const owner = `The organization of ${providerTitle(provider)}`;
      return { owner, mine, provider, list: (organization) => organization.consortia() };
    }),
});
