import { type Region, regions, resolveSettings, SettingsError } from "../../provider/api";
import { type Given } from "./connection";

const isRegion = (text: string): text is Region => (regions as readonly string[]).includes(text);

/** The region that a provider instance works in; undefined: its settings are wrong, which the run itself will say. */
export function regionOf({ provider, stack }: Given): Region | undefined {
  try {
    // The key has no part in this, and need not be there.
    const { region, baseUrl } = resolveSettings({ provider: { ...provider, apiKey: "none" }, stack });
    const host = /^console(?:-([a-z]+))?\.kaleido\.io$/.exec(new URL(baseUrl).hostname);
    const said = host && (host[1] ?? "us");
    return said && isRegion(said) ? said : region;
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}
