import { isDeepStrictEqual } from "node:util";
import { type Advice, type KeyOrigin } from "../api/advice";
import { type Environment, environmentName, keySourceVariable, processEnvironment } from "../api/environment";
import {
  decisive,
  flag,
  type Found,
  foundIn,
  parse,
  readSettings,
  settingNames,
  type SettingName,
  type Settings,
  settingVariables as connectionVariables,
} from "../api/settings";

/* The settings of a provider: of the program, of the stack and of the environment. */

/** `adopt` is about the run, not the connection. */
type AnySetting = SettingName | "adopt";

/** A setting of a provider: its own, or the stack's. */
interface ProviderSetting {
  value: unknown;
  own: boolean;
}

export type ProviderSettings = Partial<Record<AnySetting, ProviderSetting>>;

export const providerSettingNames: readonly AnySetting[] = [...settingNames, "adopt"];

const variableOf = Object.fromEntries(providerSettingNames.map((name) => [name, environmentName(name)]));

/** All environment variables that hold settings. */
export const settingVariables: readonly string[] = [...connectionVariables, variableOf.adopt!];

/**
 * First match wins: environment, explicit provider, stack configuration (contract, "Connection settings"). A provider's own
 * setting comes first if it decides about the organization.
 */
function find(name: AnySetting, settings: ProviderSettings, env: Environment): Found | undefined {
  const variable = variableOf[name]!;
  const fleet = name === "apiKey" ? env[keySourceVariable] : undefined;
  const fromEnv = fleet
    ? foundIn(env[variable], fleet, "fleet")
    : foundIn(env[variable], `environment variable ${variable}`, "environment");
  const { value, own } = settings[name] ?? {};
  const given = own
    ? foundIn(value, `argument ${name} of the Provider`, "provider")
    : foundIn(value, `stack configuration consortium:${name}`, "stack");
  return own && decisive.includes(name) ? (given ?? fromEnv) : (fromEnv ?? given);
}

/** @throws SettingsError if the key is missing or a value is unusable */
export const resolveProviderSettings = (settings: ProviderSettings = {}, env = processEnvironment()): Settings =>
  readSettings((name) => find(name, settings, env), env, pulumiAdvice);

/**
 * Whether every resource of the run adopts the object with its name.
 * @throws SettingsError for a value other than true and false
 */
export function adoptsAll(settings: ProviderSettings = {}, env = processEnvironment()): boolean {
  const found = find("adopt", settings, env);
  return found !== undefined && parse("adopt", flag, found);
}

/** The input of a provider that says which of its settings are its own rather than the stack's. */
export const ownKey = "own";

/**
 * Reads it. SDKs generated from the schema set `true`, which may arrive as text. The plugin sets `false` for the provider that the
 * engine makes from stack configuration. The class `Provider` lists the names, which may be none: "".
 * @returns one answer for all settings, or their names. undefined: the provider does not say
 */
export function readOwn(given: unknown): boolean | readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (given === true || given === "true") return true;
  return typeof given !== "string" || given === "false" || given === "" ? false : given.split(",");
}

/** The engine's name for the provider that it makes from stack configuration. Programs may use such a name, too. */
const mayBeDefault = (name: string): boolean => /^default(_.+)?$/.test(name);

/**
 * Whether the engine made the provider from stack configuration: then it has exactly those settings. A program's provider says
 * that it is one, has another name, or has other settings.
 * @param stack the stack's configuration, if the engine tells it
 */
export function isDefaultProvider(
  name: string,
  { [ownKey]: given, ...settings }: Record<string, unknown>,
  stack?: Record<string, unknown>,
): boolean {
  const own = readOwn(given);
  if (own !== undefined) return own === false;
  return mayBeDefault(name) && (stack === undefined || isDeepStrictEqual(settings, stack));
}

/** The settings in a provider's inputs. @param name for providers that do not say which are their own */
export function settingsIn({ [ownKey]: given, ...values }: Record<string, unknown>, name: string): ProviderSettings {
  const own = readOwn(given) ?? !mayBeDefault(name);
  const isOwn = (key: string): boolean => (typeof own === "boolean" ? own : own.includes(key));
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, own: isOwn(key) }]));
}

/* Advice in errors for users of Pulumi. The client's own advice does not mention Pulumi. */

const keyVariable = environmentName("apiKey");

/** Plain destroy and refresh use the key of the last update; what overrides it depends on its source. */
function replaceKey({ place }: KeyOrigin): string {
  if (place === "environment" || place === "fleet") return "set a valid one there.";
  const present = "add --run-program to destroy and refresh, which otherwise use the settings of the last update";
  if (place === "provider") return `give that Provider a valid one; ${present}.`;
  return `set a valid one, for example in ${keyVariable}, which takes precedence; or ${present}.`;
}

function useKeyOf(organization: string, key: KeyOrigin): string {
  if (key.place === "fleet") return `Correct the fleet file: the key must belong to ${organization}.`;
  if (key.place === "environment") return `Unset ${keyVariable}, or set it to a key of ${organization}.`;
  return `Use a key of ${organization}: ${replaceKey(key)}`;
}

export const pulumiAdvice: Advice = {
  setKey:
    `Set the environment variable ${keyVariable}, or run \`pulumi config set --secret consortium:apiKey\`, ` +
    "or give apiKey to a Provider (destroy and refresh then need --run-program).",
  allowHttp: `run \`pulumi config set consortium:allowHttp true\` (${environmentName("allowHttp")}, or allowHttp of the Provider)`,
  replaceKey,
  useKeyOf,
  correct: "Fix in the program what the service reports",
  again: "run the same command again",
};
