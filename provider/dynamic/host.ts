import type { log } from "@pulumi/pulumi";
import { engineAddress, onEngineGone, onLeaving } from "../pulumi/engine";
import { Sessions } from "../pulumi/sessions";
import { ownKey, providerSettingNames, type ProviderSettings, settingsIn } from "../pulumi/settings";
import { previewKey, providerKey, secretSignature, signatureKey } from "../constants";
import { Verbs } from "../pulumi/verbs";
import { type Definition, type Props, secretKeys } from "../core/definition";
import { isUnknown } from "../core/values";
import { isObject, messageOf } from "../plain";
import { Incomplete, reasonShown } from "../errors";
import { printableLines } from "../api/printable";

/** The argument of `configure`: stack configuration, or the inputs of an explicit `Provider`. */
export interface HostConfig {
  get(key: string): string | undefined;
}

let interrupt: AbortController | undefined;

/** Printed once if the host is built differently. */
const unheard =
  "WARNING: this @pulumi/pulumi is newer than this pulumi-consortium knows. Everything works, but after Ctrl-C " +
  "a run may keep waiting for the service: press Ctrl-C again.";

/** Stops waiting when the user cancels. Ends the process when the engine is gone. */
function watchEngine(): AbortSignal {
  if (interrupt) return interrupt.signal;
  const controller = (interrupt = new AbortController());
  const engine = engineAddress();
  const heard = onCancel(() => controller.abort());
  // eslint-disable-next-line no-console -- this SDK is not known: nothing else is sure to show it
  if (engine !== undefined && !heard) console.log(unheard);
  onEngineGone(engine, () => process.exit(1));
  return controller.signal;
}

/** The data of one provider's process: its configuration and its sessions. */
export class HostProcess {
  #config?: HostConfig;
  #settings?: ProviderSettings;
  #isWatching: boolean;
  readonly sessions: Sessions;

  constructor(interrupted?: () => AbortSignal) {
    this.sessions = new Sessions({
      settings: () => (this.#settings ??= this.#read()),
      say: (message) => void show(message),
      interrupted: interrupted ?? watchEngine,
    });
    this.#isWatching = interrupted !== undefined;
  }

  /** Only keeps the configuration: the host does not wait for this, and calls it again for each resource type. */
  configure(given: HostConfig): void {
    this.#config = given;
    this.#settings = undefined;
    if (!this.#isWatching && engineAddress() !== undefined) onLeaving(() => this.sessions.left());
    this.#isWatching = true;
  }

  #read(): ProviderSettings {
    const names = [...providerSettingNames, ownKey];
    const given = Object.fromEntries(names.map((name) => [name, this.#config?.get(`consortium:${name}`)]));
    return settingsIn(given, "default"); // the class `Provider` says which are its own
  }
}

export const hostProcess = new HostProcess();

/**
 * Marks what is always a secret: the program cannot, where one of its transforms set it. The host passes the marks on. Each value within an
 * object has its own, because newer engines drop the mark of the whole object.
 */
function withSecrets(definition: Definition, inputs: Props): Props {
  const marked = (value: unknown): unknown => {
    if (isUnknown(value) && !isObject(value)) return value;
    if (!isObject(value)) return { [signatureKey]: secretSignature, value };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, marked(inner)]));
  };
  const keys = secretKeys(definition).filter((key) => inputs[key] !== undefined);
  return { ...inputs, ...Object.fromEntries(keys.map((key) => [key, marked(inputs[key])])) };
}

export type Handler = ReturnType<typeof handler>;

/** The verbs of one resource, as the host of dynamic providers calls them. */
export function handler(definition: Definition, host = hostProcess) {
  const { sessions } = host;
  const verbs = new Verbs(definition, sessions);

  /** An incomplete object keeps its id and state. Every other error keeps its message. */
  async function guarded<T>(props: Props, run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const shown = sessions.shown(error, verbs.called(props));
      throw shown instanceof Incomplete ? notReady(shown, props[providerKey]) : refusal(shown);
    }
  }

  const showMasked = (lines: readonly string[]): Promise<void> =>
    show(...lines.map((line) => sessions.secrets.mask(line)));

  return {
    configure: ({ config }: { config: HostConfig }) => host.configure(config),

    check: (olds: Props, news: Props) =>
      guarded(news, async () => {
        const { lines, ...checked } = verbs.check(olds, news);
        await showMasked(lines);
        const isPreview = news[previewKey] === true && checked.failures.length === 0;
        const warning = isPreview ? await sessions.proveKey() : undefined;
        if (warning !== undefined) await showMasked([warns + warning]);
        if (isPreview && Object.keys(olds).length === 0)
          await showMasked((await verbs.adoption({ ...news, ...checked.inputs })).lines);
        const failures = checked.failures.map((issue) => ({ property: issue.property, reason: reasonShown(issue) }));
        return { inputs: withSecrets(definition, checked.inputs), failures };
      }),

    diff: (id: string, olds: Props, news: Props) =>
      guarded(news, async () => {
        const { changes, replaces, deleteBeforeReplace, warnings } = await verbs.diff(id, olds, news);
        await showMasked(warnings.map((warning) => warns + warning));
        // A state of the plugin names no code. Without it, this host could not read or delete the object later.
        return { changes: changes || olds[providerKey] === undefined, replaces, deleteBeforeReplace };
      }),

    create: (inputs: Props) =>
      guarded(inputs, async () => {
        const { id, state } = await verbs.create(inputs);
        return { id, outs: state };
      }),

    read: (id: string, state: Props): Promise<{ id: string; props?: Props; inputs?: Props }> =>
      guarded(state, async () => {
        const found = await verbs.read(id, state);
        return found ? { id, ...found } : { id: "" };
      }),

    update: (id: string, olds: Props, news: Props) =>
      guarded(news, async () => ({
        outs: await verbs.update(id, olds, news),
      })),

    delete: (id: string, state: Props) => guarded(state, () => verbs.delete(id, state)),
  };
}

/*
 * Everything that depends on how Pulumi's host of dynamic providers (`cmd/dynamic-provider` of @pulumi/pulumi) is built. There
 * is no public way to do these things. tests/provider/dynamic/host.test.ts and tests/e2e fail when they stop working.
 */

/** Begins a warning. */
const warns = "WARNING: ";

/** Shows lines: warnings as Pulumi's own, and as messages what the host shows because the process prints it. */
async function show(...lines: string[]): Promise<void> {
  for (const line of lines) {
    const isShown = line.startsWith(warns) && (await warn(line.slice(warns.length)));
    if (!isShown) console.log(line); // eslint-disable-line no-console -- the host shows it
  }
}

let logging: Promise<typeof log> | undefined;

/** The SDK's log, which the host does not point to the engine. */
async function logOf(engine: string): Promise<typeof log> {
  const { resetOptions } = await import("@pulumi/pulumi/runtime/settings.js");
  resetOptions("", "", -1, engine, "", false, "");
  return import("@pulumi/pulumi/log/index.js");
}

/** @returns whether the engine can show warnings */
async function warn(text: string): Promise<boolean> {
  const engine = engineAddress();
  if (engine === undefined) return false;
  try {
    await (await (logging ??= logOf(engine))).warn(text);
    return true;
  } catch {
    return false; // this SDK is built differently
  }
}

/** For some verbs the host prints `${error}: ${error.stack}` before the message, which is enough by itself. */
const printed = { title: "consortium", stack: "its error is shown with the resource" };
const print = console.error; // eslint-disable-line no-console -- the host's
// eslint-disable-next-line no-console
console.error = (...args: unknown[]): void => {
  if (args[0] !== `${printed.title}: ${printed.stack}`) print(...args);
};

/** An error as the host shows it: the message, without a stack. */
export function refusal(error: unknown): Error {
  const shown = new Error(printableLines(messageOf(error)));
  return Object.assign(shown, { stack: printed.stack, toString: () => printed.title });
}

/** An error that the state keeps as "created, not ready". The host reads id, properties and reasons, but does not add the provider. */
export function notReady(error: Incomplete, provider: unknown): Error {
  const shown = refusal(error);
  const properties: Props = { ...error.state, [providerKey]: provider };
  return Object.assign(shown, { id: error.id, properties, reasons: [shown.message] });
}

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";

interface StreamServer {
  on(event: "stream", listener: (stream: unknown, headers: Record<string, unknown>) => void): void;
}

/**
 * Calls back when the engine asks the providers to stop (Ctrl-C). The host's server receives that call and answers it itself.
 * @returns whether that server was found: otherwise Ctrl-C is left to Pulumi
 */
export function onCancel(callback: () => void): boolean {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles?: () => unknown[] };
  const servers = (handles?.call(process) ?? []).filter((handle): handle is StreamServer => {
    return handle?.constructor.name === "Http2Server" && typeof (handle as Partial<StreamServer>).on === "function";
  });
  for (const server of servers) {
    server.on("stream", (_stream, headers) => {
      if (headers[":path"] === cancelPath) callback();
    });
  }
  return servers.length > 0;
}
