import { setMaxListeners } from "node:events";
import { ConsortiumClient, resolveSettings, type Settings, type SettingSources } from "../api";
import { type Clock, systemClock } from "../api/clock";
import { printable } from "../api/printable";
import { environmentName, processEnvironment } from "../api/environment";
import { adoptsAll, NoKeyError } from "../api/settings";
import { Origins } from "../core/origins";
import { newSession, type Session } from "../core/session";
import { UserError } from "../core/user-error";

/** What an adapter knows of the engine that it serves. */
export interface Host {
  /** The settings that it was configured with, as they are now. */
  sources(): SettingSources;
  /** Shows one line to the user at once. */
  say(message: string): void;
  /** Aborted when the user cancels; asked for with the first session. */
  interrupted(): AbortSignal;
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

/** The sessions of one provider process: one at a time, made anew when the settings change, such as by a rotated key. */
export class Sessions {
  #checked?: SettingSources;
  #seen?: { key: string; origins: Origins };
  #current?: { key: string; session: Session };

  constructor(private readonly host: Host) {}

  #settings(): Settings {
    return resolveSettings(this.host.sources());
  }

  /** Refuses in a preview what could not be used later; that there is no key yet is no reason, since a preview makes no calls. */
  check(): void {
    const sources = this.host.sources();
    if (sources === this.#checked) return;
    adoptsAll(sources);
    try {
      resolveSettings(sources);
    } catch (error) {
      if (!(error instanceof NoKeyError)) throw error;
    }
    this.#checked = sources;
  }

  /** What the states say that the engine showed to this process; the user confirms deletions in the environment, for one run. */
  origins(): Origins {
    let key = ""; // a preview needs no key
    try {
      key = keyOf(this.#settings());
    } catch {
      // It is said where the settings are used.
    }
    if (this.#seen?.key !== key) {
      const confirmed = (processEnvironment()[environmentName("confirmDeleted")] ?? "").split(/[\s,]+/);
      this.#seen = { key, origins: new Origins(new Set(confirmed)) };
    }
    return this.#seen.origins;
  }

  current(): Session {
    const now = this.#settings();
    const key = keyOf(now);
    if (this.#current?.key !== key) this.#current = { key, session: this.#start(now) };
    return this.#current.session;
  }

  #start(settings: Settings): Session {
    const { host } = this;
    const say = (message: string): void => host.say(printable(message.replaceAll("\n", " ")));
    const clock = interruptible(host.interrupted());
    const client = new ConsortiumClient(settings, {
      clock,
      onRetry: (error, delayMs) => {
        if (delayMs >= 2_000)
          say(`${error.call}: ${error.errorMessage}; trying again in ${Math.round(delayMs / 1000)} s`);
      },
    });
    return newSession({ client, clock, say, adoptAll: adoptsAll(host.sources()), origins: this.origins() });
  }
}
