import { Config, type InvokeOptions, RunError } from "@pulumi/pulumi";
import { type ConsortiumClient, type SettingName } from "../provider/api";
import { Provider } from "./provider";

const clients = new Map<string, ConsortiumClient>();

function settingsOf(provider: unknown): Promise<Partial<Record<SettingName, string>>> {
  if (!(provider instanceof Provider)) return Promise.resolve({});
  return new Promise((resolve) => provider.settings.apply(resolve));
}

/** Runs a lookup with the settings that the program has now; one client for all lookups of one organization. */
export async function lookUp<T>(
  opts: InvokeOptions | undefined,
  run: (client: ConsortiumClient) => Promise<T>,
): Promise<T> {
  const { ApiError, ConsortiumClient, resolveSettings, settingNames, SettingsError } =
    await import("../provider/api/index.js");
  try {
    const config = new Config("consortium");
    const stack = Object.fromEntries(settingNames.map((name) => [name, config.get(name)]));
    const settings = resolveSettings({
      provider: await settingsOf(opts?.provider ?? opts?.parent?.getProvider("pulumi-nodejs::")),
      stack,
    });
    const key = JSON.stringify([settings.apiKey.reveal(), settings.baseUrl]);
    const client = clients.get(key) ?? new ConsortiumClient(settings);
    clients.set(key, client);
    return await run(client);
  } catch (error) {
    // As one line for people instead of a stack; the cause is there for programs.
    if (error instanceof ApiError || error instanceof SettingsError)
      throw Object.assign(new RunError(error.message), { cause: error });
    throw error;
  }
}
