import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { environmentName, keySourceVariable, processEnvironment } from "./environment";
import { isDeepStrictEqual } from "node:util";

/** The connection settings (contract), as a `Provider` and stack configuration name them. */
export const settingNames = [
  "apiKey",
  "region",
  "baseUrl",
  "maxConcurrency",
  "requestTimeout",
  "allowHttp",
  "organization",
] as const;
export type SettingName = (typeof settingNames)[number];

/** `adopt` is about the run, not the connection. */
type AnySetting = SettingName | "adopt";

/** Settings that an explicit `Provider` takes before the environment, so that two organizations never mix. */
const heldByProvider: readonly AnySetting[] = ["apiKey", "region", "baseUrl", "allowHttp", "organization"];

export const regions = ["us", "eu", "ap", "ko"] as const;
export type Region = (typeof regions)[number];

/** Sources of settings. Each value is the text (or number) as given there. */
export interface SettingSources {
  /** Environment variables. Default: those of this process. */
  env?: Record<string, string | undefined>;
  /** Arguments of an explicit `Provider`. */
  provider?: Partial<Record<AnySetting, unknown>>;
  /** Stack configuration in the namespace `consortium`. */
  stack?: Partial<Record<AnySetting, unknown>>;
}

export interface Settings {
  apiKey: ApiKey;
  region: Region;
  /** Base address without a trailing slash, such as `https://console.kaleido.io/api/v1`. */
  baseUrl: string;
  /** Where the base address comes from, for error messages. */
  baseUrlSource: string;
  /** Most requests in flight at once. */
  maxConcurrency: number;
  /** Seconds that one request may take. */
  requestTimeout: number;
  /** Id of the organization that the key must belong to, and its source. Default: none is required. */
  organization?: RequiredOrganization;
  /** Whether the key may cross a network in clear text, to a base address that begins with `http://`. */
  allowHttp: boolean;
  /** The proxy between this machine and the base address. */
  proxy?: Proxy;
}

/** An HTTP proxy, from the usual environment variables. */
export interface Proxy {
  address: string;
  /** The variable that names it, for error messages. */
  source: string;
  /** `NO_PROXY`: hosts that are reached without it. */
  except: string;
}

/** The organization that the key must belong to. */
export interface RequiredOrganization {
  id: string;
  source: string;
}

/** The kind of place that a setting was found in. How users correct it depends on this. */
export type Place = "environment" | "fleet" | "provider" | "stack";

/** An API key that cannot be printed by accident. `source` describes where it was found. */
export class ApiKey {
  readonly #value: string;
  /** @param place where it was found, for decisions; undefined: in a program */
  constructor(
    value: string,
    readonly source: string,
    readonly place?: Place,
  ) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return "[secret]";
  }
  toJSON(): string {
    return "[secret]";
  }
}

/** A missing or wrong setting: which one, its source, and how to correct it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** The short form, since every resource of a run fails alike. */
  readonly brief: string = "the settings of the connection cannot be used";
  /** @param setting the setting, if its value may be shown */
  constructor(
    message: string,
    readonly setting?: AnySetting,
  ) {
    super(message);
  }
}

/** There is no key. A preview needs none. */
export class NoKeyError extends SettingsError {
  override readonly brief = "no API key is set";
}

interface Found {
  value: unknown;
  source: string;
  place: Place;
}

/**
 * First match wins: environment, explicit provider, stack configuration (contract, "Connection settings"). An explicit provider
 * comes first for settings that decide about the organization (`heldByProvider`).
 */
function find(name: AnySetting, { env = processEnvironment(), provider, stack }: SettingSources): Found | undefined {
  const given = (value: unknown, place: Place, source: string): Found | undefined =>
    value === undefined || value === null || value === "" ? undefined : { value, source, place };
  const variable = environmentName(name);
  const fleet = name === "apiKey" ? env[keySourceVariable] : undefined;
  const fromEnv = fleet
    ? given(env[variable], "fleet", fleet)
    : given(env[variable], "environment", `environment variable ${variable}`);
  const fromProvider = given(provider?.[name], "provider", `argument ${name} of the Provider`);
  const fromStack = given(stack?.[name], "stack", `stack configuration consortium:${name}`);
  return heldByProvider.includes(name)
    ? (fromProvider ?? fromEnv ?? fromStack)
    : (fromEnv ?? fromProvider ?? fromStack);
}

const whole = "must be a whole number from 1 to 256";
const seconds = "must be a number of seconds above 0, at most 3600";
const flag = z.preprocess(String, z.stringbool({ error: "must be true or false" }));

const schemas = {
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "must have no spaces, line breaks or other special characters"),
  region: z.enum(regions, { error: ({ input }) => `must be one of ${regions.join(", ")}, not "${String(input)}"` }),
  maxConcurrency: z.coerce.number(whole).int(whole).min(1, whole).max(256, whole),
  requestTimeout: z.coerce.number(seconds).positive(seconds).max(3600, seconds),
  organization: z.string().trim().min(1, "must not be empty"),
  allowHttp: flag,
} as const;

function parse<T>(name: AnySetting, schema: z.ZodType<T>, found: Found): T {
  const result = schema.safeParse(found.value);
  if (result.success) return result.data;
  const reasons = result.error.issues.map((issue) => issue.message).join("; ");
  throw new SettingsError(`The setting ${name} from ${found.source} ${reasons}.`, name);
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether requests to it stay on this machine. */
function isThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  return family ? loopback.check(host, family === 4 ? "ipv4" : "ipv6") : /(^|\.)localhost$/.test(host);
}

function parseBaseUrl({ value, source }: Found, allowHttp: boolean): string {
  const text = String(value).trim().replace(/\/+$/, "");
  const refuse = (why: string, setting?: SettingName): never => {
    throw new SettingsError(
      `The base address from ${source} ${why}. It must be an http(s) address that ends in /api/v1, such as https://console.kaleido.io/api/v1.`,
      setting,
    );
  };
  const url = URL.canParse(text) ? new URL(text) : refuse("is not an address", "baseUrl");
  if (!/^https?:$/.test(url.protocol)) return refuse(`starts with ${url.protocol}//`, "baseUrl");
  if (url.username || url.password) return refuse("holds a user name or password; the API key goes into apiKey");
  if (url.search || url.hash) return refuse("has a query or fragment");
  if (!/\/api\/v1$/.test(url.pathname)) return refuse(`has the path "${url.pathname}"`, "baseUrl");
  if (url.protocol === "http:" && !allowHttp && !isThisMachine(url)) {
    throw new SettingsError(
      `The base address ${text} from ${source} begins with http:// and is not on this machine: the API key would cross ` +
        "the network in clear text. Use https://; or, if you trust that network, set " +
        "`pulumi config set consortium:allowHttp true` (CONSORTIUM_ALLOW_HTTP, or allowHttp of the Provider).",
      "baseUrl",
    );
  }
  return text;
}

/**
 * The proxy for a base address, from `HTTPS_PROXY` or `HTTP_PROXY`. The transport applies `NO_PROXY`. A proxy on another machine
 * cannot reach an address of this one, and would see the key if the address begins with `http://`.
 */
function proxyFor(baseUrl: string, env: Record<string, string | undefined>): Proxy | undefined {
  const url = new URL(baseUrl);
  const plain = ["http_proxy", "HTTP_PROXY"];
  const names = url.protocol === "https:" ? ["https_proxy", "HTTPS_PROXY", ...plain] : plain;
  const source = names.find((name) => env[name]);
  if (source === undefined) return undefined;
  const text = env[source]!.trim();
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new SettingsError(
      `The proxy from environment variable ${source} must be an http(s) address, such as http://proxy.example:3128.`,
    );
  }
  if (isThisMachine(url) && !isThisMachine(new URL(address))) return undefined;
  return { address, source, except: env.no_proxy ?? env.NO_PROXY ?? "" };
}

export const defaultBaseUrl = (region: Region): string =>
  `https://console${region === "us" ? "" : `-${region}`}.kaleido.io/api/v1`;

/**
 * Resolves the connection settings. Call it for every use, so that a rotated key takes effect.
 * @throws SettingsError if the key is missing or a value is unusable
 */
export function resolveSettings(sources: SettingSources = {}): Settings {
  const read = <T>(name: SettingName, schema: z.ZodType<T>, otherwise: T): T => {
    const found = find(name, sources);
    return found ? parse(name, schema, found) : otherwise;
  };
  const region = read("region", schemas.region, "us");
  const address = find("baseUrl", sources);
  const organization = find("organization", sources);
  const allowHttp = read("allowHttp", schemas.allowHttp, false);
  const baseUrl = address ? parseBaseUrl(address, allowHttp) : defaultBaseUrl(region);
  const rest = {
    region,
    baseUrl,
    baseUrlSource: address?.source ?? `the default for region ${region}`,
    maxConcurrency: read("maxConcurrency", schemas.maxConcurrency, 8),
    requestTimeout: read("requestTimeout", schemas.requestTimeout, 30),
    ...(organization && {
      organization: { id: parse("organization", schemas.organization, organization), source: organization.source },
    }),
    allowHttp,
    proxy: proxyFor(baseUrl, sources.env ?? processEnvironment()),
  };
  const key = find("apiKey", sources);
  if (!key) {
    throw new NoKeyError(
      "No API key is set. Set the environment variable CONSORTIUM_API_KEY, or run " +
        "`pulumi config set --secret consortium:apiKey`, or give apiKey to a Provider. " +
        "Create a key in the console (API tab, new API key).",
    );
  }
  return { apiKey: new ApiKey(parse("apiKey", schemas.apiKey, key), key.source, key.place), ...rest };
}

/**
 * Whether every resource of the run adopts the object with its name.
 * @throws SettingsError for a value other than true and false
 */
export function adoptsAll(sources: SettingSources = {}): boolean {
  const found = find("adopt", sources);
  return found !== undefined && parse("adopt", flag, found);
}

/** Settings of one provider, by source. */
export type Given = Required<Pick<SettingSources, "provider" | "stack">>;

/**
 * Which settings are a provider's own rather than the stack's. The class `Provider` lists them; SDKs generated from the schema say
 * `allOwn`. Otherwise the plugin finds out when it checks the provider, and the state keeps it.
 */
export const ownSettings = "own";
export const allOwn = "*";
export const noneOwn = "";

/** The engine's name for the provider that it makes from stack configuration. Programs may use such a name, too. */
const mayBeDefault = (name: string): boolean => /^default(_.+)?$/.test(name);

/**
 * Whether the engine made the provider from stack configuration: then it has exactly those settings. A program's provider says
 * that it is one, has another name, or has other settings.
 * @param stack the stack's configuration, if the engine tells it
 */
export function isDefaultProvider(
  name: string,
  { [ownSettings]: own, ...settings }: Record<string, unknown>,
  stack?: Record<string, unknown>,
): boolean {
  if (typeof own === "string") return own === noneOwn;
  return mayBeDefault(name) && (stack === undefined || isDeepStrictEqual(settings, stack));
}

/** The settings of a provider, by source. @param name for providers registered before `own` was kept */
export function sourcesOf({ [ownSettings]: given, ...settings }: Record<string, unknown>, name: string): Given {
  const own = typeof given === "string" ? given : mayBeDefault(name) ? noneOwn : allOwn;
  const pick = (mine: boolean): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => (own === allOwn || own.split(",").includes(key)) === mine),
    );
  return { provider: pick(true), stack: pick(false) };
}
