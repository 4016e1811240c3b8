import { Config, type InvokeOptions, type ProviderResource, RunError, runtime } from "@pulumi/pulumi";
import { type ConsortiumClient, type SettingName } from "../../provider/api";
import { type Props } from "../../provider/core/definition";
import { type LookupName } from "../../provider/lookups";
import { onPlugin } from "../plugin";
import { Provider } from "../provider";

const clients = new Map<string, ConsortiumClient>();

/** The provider that a resource with these options would have; undefined: the default one. */
export const providerOf = (opts: InvokeOptions | undefined): ProviderResource | undefined =>
  opts?.provider ?? opts?.parent?.getProvider(onPlugin() ? "consortium::" : "pulumi-nodejs::");

interface OwnSettings {
  known: Partial<Record<SettingName, string>>;
  /** Those that depend on what is still to be made, in a preview. */
  unknown: string[];
}

/** What an explicit `Provider` was given itself, awaited. */
export async function ownSettings(provider: ProviderResource | undefined): Promise<OwnSettings> {
  const found: OwnSettings = { known: {}, unknown: [] };
  if (!(provider instanceof Provider)) return found;
  const { provider: name, settings } = provider.given;
  for (const [key, input] of Object.entries(settings)) {
    const title = `the setting ${key} of the Provider "${name}"`;
    const value: unknown = await runtime.serializeProperty(title, input).catch((error: unknown) => {
      throw runError(`The lookup has no settings: ${title} failed: ${messageOf(error)}`, error);
    });
    if (value === runtime.unknownValue) found.unknown.push(title);
    else found.known[key as SettingName] = runtime.unwrapRpcSecret(value) as string;
  }
  return found;
}

/**
 * One line for people; the cause is there for programs. Without a stack: Pulumi does not show that of a RunError, but formats it
 * with colors, for which Node takes a minute when frames of Pulumi itself are in it.
 */
const runError = (message: string, cause?: unknown): RunError =>
  Object.assign(new RunError(message), { stack: undefined, cause });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs a lookup with the settings that the program has now; one client for all lookups of one organization. */
export async function lookUp(lookup: LookupName, given: Props, opts: InvokeOptions | undefined): Promise<unknown> {
  const { known: provider, unknown } = await ownSettings(providerOf(opts));
  if (unknown.length > 0) {
    throw runError(
      `${lookup} has no settings: ${unknown.join(", ")} will only be known once the run has made what it comes from. ` +
        `Use ${lookup}Output, which waits for that.`,
    );
  }
  const { ApiError, ConsortiumClient, resolveSettings, settingNames, SettingsError } =
    await import("../../provider/api/index.js");
  const { checkArguments, lookups } = await import("../../provider/lookups/index.js");
  const { inputs, issues } = checkArguments(lookups[lookup], given);
  const reasons = issues.map(({ reason }) => (reason.startsWith(lookup) ? reason : `${lookup}: ${reason}`));
  if (reasons.length > 0) throw runError(reasons.join("\n"));
  try {
    const config = new Config("consortium");
    const stack = Object.fromEntries(settingNames.map((name) => [name, config.get(name)]));
    const settings = resolveSettings({ provider, stack });
    const key = JSON.stringify([settings.apiKey.reveal(), { ...settings, apiKey: undefined }]);
    const client = clients.get(key) ?? new ConsortiumClient(settings);
    clients.set(key, client);
    await client.requireOrganization();
    return await lookups[lookup].run(client, inputs);
  } catch (error) {
    if (error instanceof ApiError || error instanceof SettingsError) throw runError(error.message, error);
    throw error;
  }
}
