import { type PolicyProviderResource } from "@pulumi/policy";
import { type SettingSources } from "../../provider/api/settings";
import { read, unknown } from "./resources";

/** What a provider instance was given: by the program itself, or by the configuration of the stack. */
export type Given = Required<Pick<SettingSources, "provider" | "stack">>;

const prefix = "consortium:";

/**
 * The settings of a provider instance, as the provider process gets them: `consortium:own` lists those that an explicit
 * `Provider` was given itself. `unknown` when one of them is not known yet.
 */
export function settingsOf(provider: PolicyProviderResource | undefined): Given | typeof unknown {
  const props = provider?.props ?? {};
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(props)) if (key.startsWith(prefix)) given[key.slice(prefix.length)] = read(props, key);
  if (Object.values(given).includes(unknown)) return unknown;
  const { own, ...values } = given;
  const owned = new Set(typeof own === "string" ? own.split(",") : []);
  const pick = (mine: boolean): Record<string, unknown> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => owned.has(name) === mine));
  return { provider: pick(true), stack: pick(false) };
}

/** How messages call a provider instance. */
export const providerTitle = (provider: PolicyProviderResource | undefined): string =>
  provider && !/^default(_|$)/.test(provider.name) ? `provider "${provider.name}"` : "the default provider";
