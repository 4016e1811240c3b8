import { type PolicyProviderResource } from "@pulumi/policy";
import { type Given, isDefaultProvider, sourcesOf } from "../../provider/adapter/sources";
import { pluginProvider } from "../../provider/facts";
import { read, unknown } from "./resources";

/** Before the names of settings on the dynamic provider, which serves other packages, too. */
const dynamicPrefix = "consortium:";

/** The settings of a provider instance, as the provider process gets them. `unknown` when one of them is not known yet. */
export function settingsOf(provider: PolicyProviderResource | undefined): Given | typeof unknown {
  const { props, type, name } = provider ?? { props: {}, type: "", name: "" };
  const onPlugin = type === pluginProvider;
  const prefix = onPlugin ? "" : dynamicPrefix;
  const keys = Object.keys(props).filter((key) => key.startsWith(prefix));
  const given = Object.fromEntries(keys.map((key) => [key.slice(prefix.length), read(props, key)]));
  if (Object.values(given).includes(unknown)) return unknown;
  return sourcesOf(given, onPlugin && !isDefaultProvider(name));
}

/** How messages call a provider instance. */
export const providerTitle = (provider: PolicyProviderResource | undefined): string =>
  provider && !isDefaultProvider(provider.name) ? `provider "${provider.name}"` : "the default provider";
