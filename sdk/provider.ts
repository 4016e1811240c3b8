import {
  Config,
  getProject,
  type Input,
  log,
  output,
  ProviderResource,
  type ResourceOptions,
  RunError,
  runtime,
  secret,
} from "@pulumi/pulumi";
import { environmentName, processEnvironment } from "../provider/api/environment";
import type * as Suggest from "../provider/core/suggest";
import { version } from "../provider/version";
import { dynamicProvider, pluginProvider } from "../provider/constants";
import { onBothProviders } from "./aliases";
import { type ProviderArgs, settingNames } from "./generated";

const setting = "plugin";

/** What the stack's configuration may say of this package. */
const known: readonly string[] = [...settingNames, "adopt", setting];
const warned = new Set<string>();

/** @throws for a key that is no setting: a misspelt one would leave the region, say, to the default */
function refuseUnknownSettings(): void {
  const keys = Object.keys(runtime.allConfig()).flatMap((key) =>
    key.startsWith("consortium:") ? [key.slice("consortium:".length)] : [],
  );
  const strangers = keys.filter((key) => !known.includes(key) && !warned.has(key));
  if (strangers.length === 0) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- for the error alone, and errors are thrown at once
  const { nearest, unknownSetting } = require("../provider/core/suggest") as typeof Suggest;
  const [first = ""] = strangers;
  if (getProject() !== "consortium") throw new RunError(unknownSetting(first, known));
  // The project itself has keys in this namespace: one that looks like a setting may still be misspelt.
  for (const key of strangers) {
    warned.add(key);
    if (nearest(key, known) !== undefined) void log.warn(unknownSetting(key, known));
  }
}

/**
 * Whether the classes run on the provider plugin: only where the environment or the stack says so (`consortium:plugin`), since
 * the plugin must be installed. Default: on the dynamic provider, which needs nothing.
 */
export function onPlugin(): boolean {
  refuseUnknownSettings();
  const variable = environmentName(setting);
  const fromEnvironment = processEnvironment()[variable] || undefined;
  const text = fromEnvironment ?? new Config("consortium").get(setting) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const source =
    fromEnvironment === undefined ? "Stack configuration consortium:plugin" : `Environment variable ${variable}`;
  throw new RunError(`${source} is "${text}": it must be true or false.`);
}

/** What a Provider was given itself, as it was given. */
export interface Given {
  provider: string;
  settings: Partial<Record<keyof ProviderArgs, Input<string>>>;
}

/** @throws for a setting that there is not: a misspelt key would leave the organization to the environment */
function refuseUnknown(name: string, args: ProviderArgs): void {
  const known: readonly string[] = settingNames;
  const [stranger] = Object.entries(args).flatMap(([key, value]) =>
    known.includes(key) || value === undefined ? [] : [key],
  );
  if (stranger === undefined) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- for the error alone, and errors are thrown at once
  const { didYouMean } = require("../provider/core/suggest") as typeof Suggest;
  throw new RunError(`Provider ${name} has no argument "${stranger}"${didYouMean(stranger, known)}`);
}

/**
 * One organization. Resources with `{ provider }` are managed with its key, which wins over the environment
 * (contract, "Connection settings"); what it is not given comes from the environment, then from stack configuration.
 */
export class Provider extends ProviderResource {
  /** @internal for the lookups, which run in the program */
  readonly given: Given;

  constructor(name: string, args: ProviderArgs, opts?: ResourceOptions) {
    refuseUnknown(name, args);
    const stack = new Config("consortium");
    const given = settingNames.filter((key) => args[key] !== undefined);
    const inputs: Record<string, Input<string>> = {};
    for (const key of settingNames) {
      const text = given.includes(key) ? output(args[key]!).apply(String) : stack.get(key);
      if (text !== undefined) inputs[key] = key === "apiKey" ? secret(text) : text;
    }
    const adopt = stack.get("adopt");
    // Says which are its own: only those win over the environment of the provider process.
    const all = { ...inputs, ...(adopt !== undefined && { adopt }), own: given.join(",") };
    const named = Object.fromEntries(Object.entries(all).map(([key, value]) => [`consortium:${key}`, value]));
    const as = (type: string): ResourceOptions => ({ ...opts, aliases: onBothProviders(type, name, opts ?? {}) });
    if (onPlugin()) super("consortium", name, all, { version, ...as(pluginProvider) });
    else super("pulumi-nodejs", name, named, as(dynamicProvider));
    const settings = Object.fromEntries(given.map((key) => [key, inputs[key]!]));
    this.given = { provider: name, settings };
  }
}
