import { setMaxListeners } from "node:events";
import { ConsortiumClient, type SettingName, settingNames, type Settings, resolveSettings } from "../api";
import { environmentName, NoKeyError, processEnvironment } from "../api/settings";
import { type Clock, systemClock } from "../api/clock";
import { printable } from "../api/printable";
import { UserError } from "../core/user-error";
import { Origins } from "../core/origins";
import { newSession, type Session } from "../core/session";
import { onCancel, onEngineGone } from "./pulumi-internals";

/** What the host hands to `configure`: stack configuration, or the inputs of an explicit `Provider`. */
export interface HostConfig {
  get(key: string): string | undefined;
}

/** Input of an explicit `Provider` that lists the settings it was given itself, besides those from the stack. */
export const ownSettingsKey = "consortium:own";

let config: HostConfig | undefined;
let seen: { key: string; origins: Origins } | undefined;
let current: { key: string; session: Session } | undefined;

/** Keeps the configuration, nothing else: the host does not wait for it, and hands it over again for each type of resource. */
export const keepConfig = (given: HostConfig): void => {
  config = given;
};

function settings(): Settings {
  const own = new Set(config?.get(ownSettingsKey)?.split(","));
  const pick = (wanted: (name: SettingName) => boolean): Partial<Record<SettingName, unknown>> =>
    Object.fromEntries(settingNames.filter(wanted).map((name) => [name, config?.get(`consortium:${name}`)]));
  return resolveSettings({ provider: pick((name) => own.has(name)), stack: pick((name) => !own.has(name)) });
}

/** Refuses in a preview what could not be used later; that there is no key yet is no reason, since a preview makes no calls. */
export function checkSettings(): void {
  try {
    settings();
  } catch (error) {
    if (!(error instanceof NoKeyError)) throw error;
  }
}

let interrupt: AbortController | undefined;

/** Ends waiting when the user cancels; ends the process, with nobody left to tell, when the engine is gone. */
function watchEngine(): AbortSignal {
  if (interrupt) return interrupt.signal;
  const controller = (interrupt = new AbortController());
  onCancel(() => controller.abort());
  onEngineGone(() => process.exit(1));
  return controller.signal;
}

/** Time that stops at the user's word: whoever sleeps is woken with an error, and keeps what was made so far. */
function interruptible(signal: AbortSignal): Clock {
  setMaxListeners(0, signal); // one for each resource that waits
  const woken = (): never => {
    throw new UserError("interrupted while waiting.");
  };
  return {
    now: () => systemClock.now(),
    sleep: (ms, own) => systemClock.sleep(ms, own ? AbortSignal.any([signal, own]) : signal).catch(woken),
  };
}

const keyOf = (now: Settings): string => JSON.stringify([now.apiKey.reveal(), { ...now, apiKey: undefined }]);

/** What the states say that the engine showed to this process; the user confirms deletions in the environment, for one run. */
export function seenOrigins(): Origins {
  let key = ""; // a preview needs no key
  try {
    key = keyOf(settings());
  } catch {
    // It is said where the settings are used.
  }
  if (seen?.key !== key) {
    const confirmed = (processEnvironment()[environmentName("confirmDeleted")] ?? "").split(/[\s,]+/);
    seen = { key, origins: new Origins(new Set(confirmed)) };
  }
  return seen.origins;
}

const isTrue = (value: string | undefined): boolean => /^(true|1|yes)$/i.test(value ?? "");

/** The session of this process, made at first use and made anew when the settings change. */
export function session(): Session {
  const now = settings();
  const key = keyOf(now);
  if (current?.key !== key) {
    const say = (message: string): void => {
      // eslint-disable-next-line no-console -- the host shows what the provider process prints, line by line
      console.log(printable(message.replaceAll("\n", " ")));
    };
    const clock = interruptible(watchEngine());
    const client = new ConsortiumClient(now, {
      clock,
      onRetry: (error, delayMs) => {
        if (delayMs >= 2_000)
          say(`${error.call}: ${error.errorMessage}; trying again in ${Math.round(delayMs / 1000)} s`);
      },
    });
    const adoptAll = isTrue(processEnvironment()[environmentName("adopt")] ?? config?.get("consortium:adopt"));
    current = { key, session: newSession({ client, clock, say, adoptAll, origins: seenOrigins() }) };
  }
  return current.session;
}
