import { type PolicyProviderResource } from "@pulumi/policy";
import { type Given, isDefaultProvider, noneOwn, ownKey, sourcesOf } from "../../provider/api/settings";
import { type Props } from "../../provider/core/definition";
import { pluginProvider } from "../../provider/constants";
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
  return sourcesOf(given, onPlugin ? name : "default"); // on the dynamic provider, the class `Provider` always says which
}

/** What it says of its settings, where it has some of its own. */
function given({ props, type }: PolicyProviderResource): Props {
  const own = read(props, type === pluginProvider ? ownKey : dynamicPrefix + ownKey);
  return own === noneOwn ? {} : { [ownKey]: own };
}

/** How messages call a provider instance. */
export const providerTitle = (provider: PolicyProviderResource | undefined): string =>
  provider && !isDefaultProvider(provider.name, given(provider))
    ? `provider "${provider.name}"`
    : "the default provider";
