import { Config, type Input, output, ProviderResource, type ResourceOptions, secret } from "@pulumi/pulumi";
import { type SettingName } from "../provider/api/settings";
import { version } from "../provider/version";
import { dynamicProvider, pluginProvider } from "../provider/facts";
import { onPlugin } from "./plugin";

/** All settings of the client, whose own list would bring zod with it: the compiler says when they differ. */
const every: Record<SettingName, true> = {
  ...{ apiKey: true, region: true, baseUrl: true, maxConcurrency: true },
  ...{ requestTimeout: true, allowHttp: true, organization: true },
};
const names = Object.keys(every) as (keyof ProviderArgs)[];

export interface ProviderArgs {
  /** API key of the organization; kept encrypted in the state. */
  apiKey: Input<string>;
  /** Region of the service: `us`, `eu`, `ap` or `ko`. Default: `us`. */
  region?: Input<"us" | "eu" | "ap" | "ko">;
  /** Base address, which ends in `/api/v1`. Default: that of the region. */
  baseUrl?: Input<string>;
  /** Most requests in flight at once. Default: 8. */
  maxConcurrency?: Input<number>;
  /** Seconds that one request may take. Default: 30. */
  requestTimeout?: Input<number>;
  /** Id of the organization that the key has to belong to. Default: the one that the state was made with. */
  organization?: Input<string>;
  /** Whether the key may go over a network in clear, to a base address that begins with `http://`. Default: false. */
  allowHttp?: Input<boolean>;
}

/** What a Provider was given itself, as it was given. */
export interface Given {
  provider: string;
  settings: Partial<Record<keyof ProviderArgs, Input<string>>>;
}

/**
 * One organization. Resources with `{ provider }` are managed with its key, which wins over the environment
 * (contract, "Connection settings"); what it is not given comes from the environment, then from stack configuration.
 */
export class Provider extends ProviderResource {
  /** @internal for the lookups, which run in the program */
  readonly given: Given;

  constructor(name: string, args: ProviderArgs, opts?: ResourceOptions) {
    const stack = new Config("consortium");
    const given = names.filter((key) => args[key] !== undefined);
    const inputs: Record<string, Input<string>> = {};
    for (const key of names) {
      const text = given.includes(key) ? output(args[key]!).apply(String) : stack.get(key);
      if (text !== undefined) inputs[key] = key === "apiKey" ? secret(text) : text;
    }
    const adopt = stack.get("adopt");
    // Says which are its own: only those win over the environment of the provider process.
    const all = { ...inputs, ...(adopt !== undefined && { adopt }), own: given.join(",") };
    const named = Object.fromEntries(Object.entries(all).map(([key, value]) => [`consortium:${key}`, value]));
    const also = (type: string): ResourceOptions => ({ ...opts, aliases: [...(opts?.aliases ?? []), { type }] });
    if (onPlugin()) super("consortium", name, all, { version, ...also(dynamicProvider) });
    else super("pulumi-nodejs", name, named, also(pluginProvider));
    const settings = Object.fromEntries(given.map((key) => [key, inputs[key]!]));
    this.given = { provider: name, settings };
  }
}
