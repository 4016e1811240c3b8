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

let interrupt: AbortController | undefined;

/** Of a host that is built differently: what is missing then, once. */
const unheard =
  "WARNING: this @pulumi/pulumi is newer than this pulumi-consortium knows. Everything works but one thing: Ctrl-C does not end " +
  "waiting for the service at once; a second Ctrl-C does.";

/** Ends waiting when the user cancels; ends the process, with nobody left to tell, when the engine is gone. */
function watchEngine(): AbortSignal {
  if (interrupt) return interrupt.signal;
  const controller = (interrupt = new AbortController());
  const engine = engineAddress();
  const heard = onCancel(() => controller.abort());
  // eslint-disable-next-line no-console -- the host shows what the provider process prints
  if (engine !== undefined && !heard) console.log(unheard);
  onEngineGone(engine, () => process.exit(1));
  return controller.signal;
}

/** What a provider process keeps, which serves one provider: its configuration, and the sessions with it. */
export class HostProcess {
  #config?: HostConfig;
  readonly sessions: Sessions;

  constructor(interrupted: () => AbortSignal = watchEngine) {
    this.sessions = new Sessions({
      sources: () => this.#sources(),
      // eslint-disable-next-line no-console -- the host shows what the provider process prints, line by line
      say: (message) => console.log(message),
      interrupted,
    });
  }

  /** Keeps the configuration, nothing else: the host does not wait for it, and hands it over again for each type of resource. */
  configure(given: HostConfig): void {
    this.#config = given;
  }

  #sources(): SettingSources {
    const own = new Set(this.#config?.get(ownSettingsKey)?.split(","));
    const pick = (wanted: (name: string) => boolean): SettingSources["stack"] =>
      Object.fromEntries(
        [...settingNames, "adopt"].filter(wanted).map((name) => [name, this.#config?.get(`consortium:${name}`)]),
      );
    return { provider: pick((name) => own.has(name)), stack: pick((name) => !own.has(name)) };
  }
}

export const hostProcess = new HostProcess();
