import { ConsortiumClient, type SettingName, settingNames, type Settings, resolveSettings } from "../api";
import { environmentName, processEnvironment } from "../api/settings";
import { systemClock } from "../api/clock";
import { newSession, type Session } from "../core/session";

/** What the host hands to `configure`: stack configuration, or the inputs of an explicit `Provider`. */
export interface HostConfig {
  get(key: string): string | undefined;
}

/** Input of an explicit `Provider` that lists the settings it was given itself, besides those from the stack. */
export const ownSettingsKey = "consortium:own";

let config: HostConfig | undefined;
let current: { key: string; session: Session } | undefined;

/** Keeps the configuration, nothing else: the host does not wait for it, and never asks again. */
export const keepConfig = (given: HostConfig): void => {
  config = given;
};

function settings(): Settings {
  const own = new Set(config?.get(ownSettingsKey)?.split(","));
  const pick = (wanted: (name: SettingName) => boolean): Partial<Record<SettingName, unknown>> =>
    Object.fromEntries(settingNames.filter(wanted).map((name) => [name, config?.get(`consortium:${name}`)]));
  return resolveSettings({ provider: pick((name) => own.has(name)), stack: pick((name) => !own.has(name)) });
}

const isTrue = (value: string | undefined): boolean => /^(true|1|yes)$/i.test(value ?? "");

/** The session of this process, made at first use and made anew when the settings change. */
export function session(): Session {
  const now = settings();
  const key = JSON.stringify([now.apiKey.reveal(), { ...now, apiKey: undefined }]);
  if (current?.key !== key) {
    const say = (message: string): void => {
      // eslint-disable-next-line no-console -- the host shows what the provider process prints, line by line
      console.log(message.replaceAll("\n", " "));
    };
    const client = new ConsortiumClient(now, {
      onRetry: (error, delayMs) => {
        if (delayMs >= 2_000)
          say(`${error.call}: ${error.errorMessage}; trying again in ${Math.round(delayMs / 1000)} s`);
      },
    });
    const adoptAll = isTrue(processEnvironment()[environmentName("adopt")] ?? config?.get("consortium:adopt"));
    current = { key, session: newSession({ client, clock: systemClock, say, adoptAll }) };
  }
  return current.session;
}
