import { Config, type Input, output, ProviderResource, type ResourceOptions, RunError, secret } from "@pulumi/pulumi";
import type * as Suggest from "../provider/core/suggest";
import { version } from "../provider/version";
import { dynamicProvider, pluginProvider } from "../provider/constants";
import { onBothProviders } from "./aliases";
import { type ProviderArgs, settingNames } from "./generated";
import { onPlugin } from "./plugin";

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
