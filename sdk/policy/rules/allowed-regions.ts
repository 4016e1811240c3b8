import { z } from "zod";
import { printable } from "../../../provider/api/printable";
import {
  defaultBaseUrl,
  type Given,
  type Region,
  regions,
  resolveSettings,
  SettingsError,
} from "../../../provider/api/settings";
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
    hosts: z
      .array(z.string())
      .default([])
      .describe("Hosts that are allowed besides those of the regions, such as a proxy of your own."),
  },
  stack(stack, { regions: allowed, hosts }, report) {
    for (const [, [first]] of groupBy(stack.members, ({ provider }) => provider?.urn)) {
      const given = settingsOf(first!.provider);
      if (given === unknown) continue;
      const address = addressOf(given);
      if (address === undefined || hosts.includes(address.host)) continue;
      if (address.region !== undefined && allowed.includes(address.region)) continue;
      const title = providerTitle(first!.provider).replace(/^./, (letter) => letter.toUpperCase());
      const violation =
        address.region === undefined
          ? `${title} uses the host ${printable(address.host)}, whose region is not known. If it is in an allowed region, add it ` +
            "to the setting hosts of this policy; else remove baseUrl."
          : `${title} works in region ${address.region}. Set region to ${allowed.join(" or ")}: as an argument of the Provider, ` +
            "or with `pulumi config set consortium:region`.";
      report.violation(violation, first!.provider?.urn);
    }
  },
});

interface Address {
  host: string;
  /** undefined: the host is none of the service's own. */
  region: Region | undefined;
}

/** Where a provider instance sends its calls; undefined: its settings are wrong, which the run itself reports. */
function addressOf({ provider, stack }: Given): Address | undefined {
  try {
    // The key plays no part in this, and may be missing.
    const { baseUrl } = resolveSettings({ provider: { ...provider, apiKey: "none" }, stack });
    const host = new URL(baseUrl).hostname;
    return { host, region: regions.find((region) => new URL(defaultBaseUrl(region)).hostname === host) };
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}
