import { providerTitle, settingsOf } from "./connection";
import { definePolicy } from "./define";
import { groupBy } from "./parents";
import { unknown } from "./resources";

export interface RegionSettings {
  regions: string[];
}

const regions = ["us", "eu", "ap", "ko"] as const;

export const allowedRegions = definePolicy<"allowed-regions", RegionSettings>({
  name: "allowed-regions",
  level: "disabled",
  rule: "Every provider that is used works in a region that is allowed.",
  settings: {
    regions: {
      type: "array",
      items: { type: "string", enum: [...regions] },
      default: [...regions],
      description: "The regions that are allowed.",
    },
  },
  async stack(stack, { regions: allowed }, report) {
    for (const [, [first]] of groupBy(stack.members, ({ provider }) => provider?.urn)) {
      const given = settingsOf(first!.provider);
      if (given === unknown) continue;
      const { regionOf } = await import("./region.js");
      const region = regionOf(given);
      if (region === undefined || allowed.includes(region)) continue;
      const title = providerTitle(first!.provider);
      report.violation(
        `${title.replace(/^./, (letter) => letter.toUpperCase())} works in region ${region}. ` +
          `Set region to ${allowed.join(" or ")}: as an argument of the Provider, or with \`pulumi config set consortium:region\`.`,
        first!.provider?.urn,
      );
    }
  },
});
