import { setMaxListeners } from "node:events";
import { type Clock, ConsortiumClient, isApiError, type Settings } from "../api";
import { briefOf } from "../api/api-error";
import { systemClock } from "../api/clock";
import { environmentName, processEnvironment } from "../api/environment";
import { paths } from "../api/paths";
import { printable } from "../api/printable";
import { Secrets } from "../api/secrets";
import { SettingsError } from "../api/settings";
import { begin } from "../api/trace";
import { type Props } from "../core/field";
import { newSession, Run, type Session } from "../core/session";
import { times } from "../core/times";
import { coded, codeOf, hasCode, Incomplete, UserError } from "../errors";
import { type Path, at, messageOf } from "../plain";
import { adoptsAll, type ProviderSettings, resolveProviderSettings, settingVariables } from "./settings";
import { CreateLog, StackLog } from "./stack-log";

/** Facts about the engine that only an adapter knows. */
interface Host {
  /** The settings of the provider: another object after each change. */
  settings(): ProviderSettings;
  /** Shows one line to the user at once. */
  say(message: string): void;
  /** Aborted when the user cancels. Called with the first session. */
  interrupted(): AbortSignal;
}

/** A clock that stops when the user cancels: sleepers wake with an error, so that what exists is kept. */
function interruptible(signal: AbortSignal): Clock {
  setMaxListeners(0, signal); // one for each resource that waits
  const woken = (): never => {
    throw new UserError("interrupted", "interrupted while waiting.");
  };
  return {
    now: () => systemClock.now(),
    sleep: (ms, own) => systemClock.sleep(ms, own ? AbortSignal.any([signal, own]) : signal).catch(woken),
  };
}

/** If it is `true`, previews make no calls. */
const offlineVariable = environmentName("offlinePreview");
const withoutKey = `To preview without a key, as for a pull request from a fork, set ${offlineVariable}=true.`;

export function isOffline(env = processEnvironment()): boolean {
  const text = env[offlineVariable] || "false";
  if (text === "true" || text === "false") return text === "true";
  throw new UserError(
    "invalid-setting",
    `Set environment variable ${offlineVariable} to true or false: it is "${printable(text)}".`,
  );
}

/** Settings, or the error of resolving them; `key` differs for other settings. */
type Resolved = { key: string } & ({ settings: Settings } | { error: unknown });

function resolve(given: ProviderSettings): Resolved {
  try {
    const settings = resolveProviderSettings(given);
    return { settings, key: JSON.stringify([settings.apiKey.reveal(), { ...settings, apiKey: undefined }]) };
  } catch (error) {
    return { error, key: "" };
  }
}

/** The sessions of one provider process, one at a time. A change of the settings, such as a rotated key, starts a new one. */
export class Sessions {
  /** Secrets that this process was given. */
  readonly secrets = new Secrets();
  /** Log of creates. */
  readonly log = new StackLog((line) => this.host.say(line));
  #checked?: Resolved;
  #resolved?: { from: unknown[]; now: Resolved };
  #fresh = false;
  #run?: { key: string; run: Run };
  #current?: { key: string; session: Session };
  #ended = false;
  #proof?: Promise<string | undefined>;
  #accepted = false;

  constructor(private readonly host: Host) {}

  /** Masks the values at these paths from now on. */
  hide(props: Props, paths: readonly Path[]): void {
    this.secrets.learn(paths.map((path) => at(props, path)));
  }

  /**
   * An error for people. A failure that all resources share is shown in full once. That of a call names the resource: logs and the
   * Automation API show it without Pulumi's heading.
   * @param where the resource that failed
   */
  shown(error: unknown, where?: string): UserError {
    let cause = error;
    while (cause instanceof UserError) ({ cause } = cause);
    const named = where !== undefined && isApiError(cause) ? `${where}: ${messageOf(error)}` : messageOf(error);
    const code = codeOf(error) ?? codeOf(cause);
    const brief = this.#told(error, where);
    const text = this.secrets.mask(brief === undefined ? coded(named, code) : `${brief} [${code}]`);
    const masked = new UserError(code ?? "service-failed", text);
    return error instanceof Incomplete ? new Incomplete(error.id, error.state, masked) : masked;
  }

  /** The short form, if another resource has shown it in full. */
  #told(error: unknown, where?: string): string | undefined {
    const cause = error instanceof UserError && isApiError(error.cause) ? error.cause : error;
    const brief = isApiError(cause) ? briefOf(cause) : (cause as { brief?: string }).brief;
    if (brief === undefined || where === undefined) return undefined;
    const { told } = this.run();
    const first = told.get(brief) ?? where;
    told.set(brief, first);
    return first === where ? undefined : `${brief[0]!.toUpperCase()}${brief.slice(1)}: see the error for ${first}.`;
  }

  /** Work as a span for OpenTelemetry, if somebody asks for that. @param what the kind of the resource, or the name of a lookup */
  traced<T>(verb: string, what: string, resource: string | undefined, work: () => Promise<T>): Promise<T> {
    const attributes = { "consortium.verb": verb, "consortium.type": what, "consortium.name": resource };
    const warn = (message: string): void => this.host.say(`WARNING: ${message}`);
    const counted = verb === "create" ? (): Promise<T> => this.log.creating(work) : work;
    return begin({ name: `${verb} ${what}`, attributes }, { mask: (text) => this.secrets.mask(text), warn }, counted);
  }

  /** The current settings, resolved again only after a change of what they come from. */
  #now(): Resolved {
    const given = this.host.settings();
    if (this.#fresh && this.#resolved?.from[0] === given) return this.#resolved.now;
    // Every verb asks several times, and to read the environment is slow: within one turn, nothing else can change it.
    this.#fresh = true;
    void Promise.resolve().then(() => (this.#fresh = false)); // queueMicrotask takes longer
    const env = processEnvironment();
    const from = [given, ...settingVariables.map((name) => env[name])];
    const isSame = this.#resolved !== undefined && from.every((one, index) => one === this.#resolved!.from[index]);
    if (!isSame) this.#resolved = { from, now: resolve(given) };
    return this.#resolved!.now;
  }

  /** Rejects unusable settings, without a call. `proveKey` reports a missing key. */
  check(): void {
    const now = this.#now();
    if (now === this.#checked) return;
    adoptsAll(this.host.settings());
    if ("error" in now && !hasCode(now.error, "no-key")) throw now.error;
    this.#checked = now;
  }

  /**
   * Asks the service whether it accepts the key, so that a preview fails if no `up` could follow. One call serves all
   * resources, and only the first one fails.
   * @returns a warning if the service cannot tell
   * @throws UserError if there is no key, or the service refuses it
   */
  async proveKey(): Promise<string | undefined> {
    if (isOffline()) return undefined;
    if (this.#proof) return void (await this.#proof.catch(() => undefined));
    this.#proof = this.traced("check", "key", undefined, () => this.#askForKey());
    return this.#proof;
  }

  /** Whether the service has accepted the key for `proveKey`. */
  get isAccepted(): boolean {
    return this.#accepted;
  }

  async #askForKey(): Promise<string | undefined> {
    try {
      const { client, clock, run } = this.current();
      const deadline = {
        at: clock.now() + times.previewMs,
        limit: `${times.previewMs / 1000} s`,
        setting: "a preview waits no longer",
      };
      const startedAt = clock.now();
      const items = await client.until(deadline).proveKey();
      run.at(paths.consortia).list = { startedAt, until: Infinity, items: Promise.resolve({ items }) };
      this.#accepted = true;
    } catch (error) {
      const isRefused = error instanceof SettingsError || isApiError(error, "denied");
      if (isRefused) throw new UserError(codeOf(error)!, `${messageOf(error)} ${withoutKey}`);
      return `could not verify the API key; the update may fail: ${messageOf(error)}`;
    }
    return undefined;
  }

  /** Everything this process knows under the current settings. */
  run(): Run {
    const { key } = this.#now();
    if (this.#run?.key !== key) {
      const confirmed = (processEnvironment()[environmentName("confirmDeleted")] ?? "").split(/[\s,]+/);
      this.#run = { key, run: new Run(new Set(confirmed)) };
    }
    return this.#run.run;
  }

  /** undefined: there is no usable key, which a preview does not need. */
  known(): Settings | undefined {
    const now = this.#now();
    return "settings" in now ? now.settings : undefined; // an error is reported when the settings are used
  }

  current(): Session {
    const now = this.#now();
    if ("error" in now) throw now.error;
    const { key, settings } = now;
    if (this.#current?.key !== key) this.#current = { key, session: this.#start(settings) };
    return this.#current.session;
  }

  /** Call when the engine ends the process after a run: all that it has made is in the state. */
  left(): void {
    const { shown, deleted } = this.#run?.run ?? {};
    this.log.end(shown ?? new Set(), deleted);
  }

  /** Sends nothing from now on, as if the process had ended. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#current?.session.client.end();
  }

  #start(settings: Settings): Session {
    if (this.#ended) throw new UserError("interrupted", "the run has ended.");
    const { host, secrets } = this;
    const say = (message: string): void => host.say(printable(secrets.mask(message).replaceAll("\n", " ")));
    const clock = interruptible(host.interrupted());
    const client = new ConsortiumClient(settings, {
      clock,
      secrets,
      onRetry: (error, delayMs) => {
        if (delayMs >= times.toldPauseMs)
          say(`${error.call}: ${error.errorMessage}; trying again in ${Math.round(delayMs / 1000)} s`);
      },
    });
    const createLog = new CreateLog(this.log, settings);
    return newSession(client, { clock, say, adoptAll: adoptsAll(host.settings()), createLog, run: this.run() });
  }
}
