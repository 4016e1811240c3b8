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
import { coded, type ErrorCode } from "../provider/errors";
import { version } from "../provider/version";
import { dynamicProvider, pluginProvider } from "../provider/constants";
import { onBothProviders } from "./aliases";
import { type ProviderArgs, settingNames } from "./generated";

/** An error in a program: Pulumi shows a RunError without its stack. */
export const programError = (code: ErrorCode, message: string): RunError =>
  Object.assign(new RunError(coded(message, code)), { code });

const setting = "plugin";

/** The keys of this package in stack configuration. */
const known: readonly string[] = [...settingNames, "adopt", setting];
const warned = new Set<string>();
const keyInStack = "consortium:apiKey";

/** @throws for a key that is not a setting: with a misspelled one, the region, say, would silently be the default */
function refuseUnknownSettings(): void {
  const keys = Object.keys(runtime.allConfig()).flatMap((key) =>
    key.startsWith("consortium:") ? [key.slice("consortium:".length)] : [],
  );
  const unknown = keys.filter((key) => !known.includes(key) && !warned.has(key));
  if (unknown.length === 0) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- for the error alone, and errors are thrown at once
  const { nearest, unknownSetting } = require("../provider/core/suggest") as typeof Suggest;
  const [first = ""] = unknown;
  if (getProject() !== "consortium") throw programError("unknown-setting", unknownSetting(first, known));
  // The project itself has keys in this namespace, but one that looks like a setting may still be misspelled.
  for (const key of unknown) {
    warned.add(key);
    if (nearest(key, known) !== undefined) void log.warn(unknownSetting(key, known));
  }
}

/** Pulumi's language host tells which configuration is secret; inline programs are not told in this variable. */
function warnOfClearKey(): void {
  const secrets = processEnvironment().PULUMI_CONFIG_SECRET_KEYS;
  if (secrets === undefined || warned.has(keyInStack) || runtime.allConfig()[keyInStack] === undefined) return;
  warned.add(keyInStack);
  if (!(JSON.parse(secrets) as string[]).includes(keyInStack))
    void log.warn(
      "The API key is not encrypted in the stack configuration, and so may be in clear in the state, too. Encrypt it with " +
        `\`pulumi config set --secret ${keyInStack}\`, or set ${environmentName("apiKey")} instead.`,
    );
}

/**
 * Whether the classes run on the provider plugin: only if the environment or the stack says so (`consortium:plugin`), because the
 * plugin must be installed. The default is the dynamic provider, which needs nothing.
 */
export function onPlugin(): boolean {
  refuseUnknownSettings();
  warnOfClearKey();
  const variable = environmentName(setting);
  const fromEnvironment = processEnvironment()[variable] || undefined;
  const text = fromEnvironment ?? new Config("consortium").get(setting) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const source =
    fromEnvironment === undefined ? "Stack configuration consortium:plugin" : `Environment variable ${variable}`;
  throw programError("invalid-setting", `${source} is "${text}": it must be true or false.`);
}

/** The settings that a Provider was given itself, unchanged. */
export interface Given {
  provider: string;
  settings: Partial<Record<keyof ProviderArgs, Input<string>>>;
}

/** @throws for an argument that does not exist: with a misspelled key, the environment would choose the organization */
function refuseUnknown(name: string, args: ProviderArgs): void {
  const known: readonly string[] = settingNames;
  const unknown = Object.entries(args).find(([key, value]) => !known.includes(key) && value !== undefined)?.[0];
  if (unknown === undefined) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- for the error alone, and errors are thrown at once
  const { didYouMean } = require("../provider/core/suggest") as typeof Suggest;
  throw programError("unknown-argument", `Provider ${name} has no argument "${unknown}"${didYouMean(unknown, known)}`);
}

/**
 * One organization. Resources with `{ provider }` are managed with its key, which takes precedence over the environment.
 * Settings that it is not given come from the environment, then from stack configuration. See docs/settings.md.
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
    // `own` names the settings that take precedence over the environment of the provider process.
    const all = { ...inputs, ...(adopt !== undefined && { adopt }), own: given.join(",") };
    const named = Object.fromEntries(Object.entries(all).map(([key, value]) => [`consortium:${key}`, value]));
    const as = (type: string): ResourceOptions => ({ ...opts, aliases: onBothProviders(type, name, opts ?? {}) });
    if (onPlugin()) super("consortium", name, all, { version, ...as(pluginProvider) });
    else super("pulumi-nodejs", name, named, as(dynamicProvider));
    const settings = Object.fromEntries(given.map((key) => [key, inputs[key]!]));
    this.given = { provider: name, settings };
  }
}
