import { engineAddress, onEngineGone } from "../adapter/engine";
import { Sessions } from "../adapter/sessions";
import { settingNames, type SettingSources } from "../api";
import { onCancel } from "./pulumi-internals";

/** What the host hands to `configure`: stack configuration, or the inputs of an explicit `Provider`. */
export interface HostConfig {
  get(key: string): string | undefined;
}

/** Input of an explicit `Provider` that lists the settings it was given itself, besides those from the stack. */
const ownSettingsKey = "consortium:own";

let config: HostConfig | undefined;

/** Keeps the configuration, nothing else: the host does not wait for it, and hands it over again for each type of resource. */
export const keepConfig = (given: HostConfig): void => {
  config = given;
};

let interrupt: AbortController | undefined;

/** Ends waiting when the user cancels; ends the process, with nobody left to tell, when the engine is gone. */
function watchEngine(): AbortSignal {
  if (interrupt) return interrupt.signal;
  const controller = (interrupt = new AbortController());
  onCancel(() => controller.abort());
  onEngineGone(engineAddress(), () => process.exit(1));
  return controller.signal;
}

/** The sessions of this process, which serves one provider. */
export const sessions = new Sessions({
  sources() {
    const own = new Set(config?.get(ownSettingsKey)?.split(","));
    const pick = (wanted: (name: string) => boolean): SettingSources["stack"] =>
      Object.fromEntries(
        [...settingNames, "adopt"].filter(wanted).map((name) => [name, config?.get(`consortium:${name}`)]),
      );
    return { provider: pick((name) => own.has(name)), stack: pick((name) => !own.has(name)) };
  },
  // eslint-disable-next-line no-console -- the host shows what the provider process prints, line by line
  say: (message) => console.log(message),
  interrupted: watchEngine,
});
