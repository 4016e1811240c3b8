import { z } from "zod";
import { type Region, regions, resolveSettings, SettingsError } from "../../../provider/api/settings";
import { type Given } from "../../../provider/adapter/sources";
import { providerTitle, settingsOf } from "../connection";
import { definePolicy } from "../define";
import { groupBy } from "../parents";
import { unknown } from "../resources";
import { oneOf } from "../policy-settings";

export const allowedRegions = definePolicy({
  name: "allowed-regions",
  level: "disabled",
  rule: "Every provider in use works in an allowed region.",
  settings: {
    regions: z
      .array(oneOf(regions))
      .default([...regions])
      .describe("Allowed regions."),
  },
  stack(stack, { regions: allowed }, report) {
    for (const [, [first]] of groupBy(stack.members, ({ provider }) => provider?.urn)) {
      const given = settingsOf(first!.provider);
      if (given === unknown) continue;
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

/** The region that a provider instance works in; undefined: its settings are wrong, which the run itself reports. */
function regionOf({ provider, stack }: Given): Region | undefined {
  try {
    // The key plays no part in this, and may be missing.
    const { region, baseUrl } = resolveSettings({ provider: { ...provider, apiKey: "none" }, stack });
    const host = /^console(?:-([a-z]+))?\.kaleido\.io$/.exec(new URL(baseUrl).hostname);
    return host ? (regions.find((name) => name === (host[1] ?? "us")) ?? region) : region;
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}
