import { z } from "zod";
import { type Advice, clientAdvice, type KeyOrigin } from "./advice";
import { type Environment, environmentName, keySourceVariable, processEnvironment } from "./environment";
import { type ErrorCode, UserError } from "../errors";
import { printable } from "./printable";

/** The settings of the connection (contract). */
export const settingNames = [
  "apiKey",
  "region",
  "baseUrl",
  "maxConcurrency",
  "requestTimeout",
  "allowHttp",
  "organization",
  "log",
  "logLevel",
] as const;
export type SettingName = (typeof settingNames)[number];

/** Settings that decide about the organization: given values take precedence over the environment, so that two never mix. */
export const decisive: readonly string[] = [
  "apiKey",
  "region",
  "baseUrl",
  "allowHttp",
  "organization",
] satisfies SettingName[];

const httpProxy = ["http_proxy", "HTTP_PROXY"];
const httpsProxy = ["https_proxy", "HTTPS_PROXY", ...httpProxy];

/** All environment variables that hold settings. */
export const settingVariables: readonly string[] = [
  ...settingNames.map(environmentName),
  keySourceVariable,
  ...httpsProxy,
  "no_proxy",
  "NO_PROXY",
];

export const regions = ["us", "eu", "ap", "ko", "us1", "eu1"] as const;
export type Region = (typeof regions)[number];

/** Sources of settings. Each value is the text (or number) as given there. */
export interface SettingSources {
  /** They take precedence over the environment for what `decisive` names. */
  given?: Partial<Record<SettingName, unknown>>;
  /** Environment variables. Default: this process's own. */
  env?: Environment;
}

export interface Settings {
  apiKey: ApiKey;
  region: Region;
  /** Base address without a trailing slash, such as `https://console.kaleido.io/api/v1`. */
  baseUrl: string;
  baseUrlSource: string;
  maxConcurrency: number;
  /** In seconds. */
  requestTimeout: number;
  /** Which the key must belong to. */
  organization?: { id: string; source: string };
  /** Whether the key may cross a network in clear text, to a base address that begins with `http://`. */
  allowHttp: boolean;
  log?: { file: string; source: string };
  /** Only failures; all calls; all calls with what their bodies say of ids, states and the like; or whole bodies. */
  logLevel: LogLevel;
  proxy?: Proxy;
  advice: Advice;
}

const logLevels = ["errors", "calls", "bodies", "full"] as const;

export type LogLevel = (typeof logLevels)[number];

/** An HTTP proxy, from the usual environment variables. */
export interface Proxy {
  address: string;
  source: string;
  /** `NO_PROXY`: hosts that are reached without it. */
  except: string;
}

/** An API key that cannot be printed by accident. `source` describes where it was found. */
export class ApiKey implements KeyOrigin {
  readonly #value: string;
  /** @param place where it was found, for decisions. undefined: it was passed as a value */
  constructor(
    value: string,
    readonly source: string,
    readonly place?: string,
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

export class SettingsError extends UserError {
  override readonly name = "SettingsError";
  /** @param setting the setting, if its value may be shown @param brief all resources of a run fail for the same reason */
  constructor(
    code: ErrorCode,
    message: string,
    readonly setting?: string,
    brief = "the connection settings are invalid",
  ) {
    super(code, message, { brief });
  }
}

export interface Found {
  value: unknown;
  source: string;
  place?: string;
}

export type Find = (name: SettingName) => Found | undefined;

export const foundIn = (value: unknown, source: string, place?: string): Found | undefined =>
  value === undefined || value === null || value === "" ? undefined : { value, source, place };

/** First match wins: given, environment; for settings about the connection alone, the other way round. */
function findIn({ env = processEnvironment(), given = {} }: SettingSources): Find {
  const unknown = Object.keys(given).find((name) => !(settingNames as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new SettingsError(
      "unknown-setting",
      `There is no setting "${printable(unknown)}". The settings are ${settingNames.join(", ")}.`,
    );
  }
  return (name) => {
    const variable = environmentName(name);
    const fromEnv = foundIn(env[variable], `environment variable ${variable}`, "environment");
    const fromGiven = foundIn(given[name], "the given settings");
    return decisive.includes(name) ? (fromGiven ?? fromEnv) : (fromEnv ?? fromGiven);
  };
}

const whole = "must be a whole number from 1 to 256";
const seconds = "must be a number of seconds above 0, at most 3600";
export const flag = z.preprocess(String, z.stringbool({ error: "must be true or false" }));

const schemas = {
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "must have no spaces, line breaks or other special characters"),
  region: z.enum(regions, { error: ({ input }) => `must be one of ${regions.join(", ")}, not "${String(input)}"` }),
  maxConcurrency: z.coerce.number(whole).int(whole).min(1, whole).max(256, whole),
  requestTimeout: z.coerce.number(seconds).positive(seconds).max(3600, seconds),
  organization: z.string().trim().min(1, "must not be empty"),
  allowHttp: flag,
  log: z.string().trim().min(1, "must name a file"),
  logLevel: z.enum(logLevels, {
    error: ({ input }) => `must be one of ${logLevels.join(", ")}, not "${String(input)}"`,
  }),
} as const;

/** @throws SettingsError that names the setting and its source */
export function parse<T>(name: string, schema: z.ZodType<T>, found: Found): T {
  const result = schema.safeParse(found.value);
  if (result.success) return result.data;
  const reasons = result.error.issues.map((issue) => issue.message).join("; ");
  throw new SettingsError("invalid-setting", `The setting ${name} from ${found.source} ${reasons}.`, name);
}

/** Whether requests to it stay on this machine. URLs have addresses in their shortest form. */
const isThisMachine = ({ hostname }: URL): boolean => /^127(\.\d+){3}$|^\[::1\]$|(^|\.)localhost\.?$/.test(hostname);

function parseBaseUrl({ value, source }: Found, allowHttp: boolean, advice: Advice): string {
  const text = String(value).trim().replace(/\/+$/, "");
  const refuse = (why: string, setting?: SettingName): never => {
    throw new SettingsError(
      "wrong-address",
      `Give an http(s) address that ends in /api/v1, such as https://console.kaleido.io/api/v1. The base address from ${source} ${why}.`,
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
      "clear-text",
      `Use https://; or, if you trust the network, ${advice.allowHttp}. The base address ${text} from ${source} begins with http:// and is ` +
        "not on this machine: the API key would cross the network in clear text.",
      "baseUrl",
    );
  }
  return text;
}

/**
 * The proxy for a base address, from `HTTPS_PROXY` or `HTTP_PROXY`. The transport applies `NO_PROXY`. A proxy on another machine
 * cannot reach an address of this one, and would see the key if the address begins with `http://`.
 */
function proxyFor(baseUrl: string, env: Environment): Proxy | undefined {
  const url = new URL(baseUrl);
  const source = (url.protocol === "https:" ? httpsProxy : httpProxy).find((name) => env[name]);
  if (source === undefined) return undefined;
  const text = env[source]!.trim();
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new SettingsError(
      "invalid-setting",
      `The proxy from environment variable ${source} must be an http(s) address, such as http://proxy.example:3128.`,
    );
  }
  if (isThisMachine(url) && !isThisMachine(new URL(address))) return undefined;
  return { address, source, except: env.no_proxy ?? env.NO_PROXY ?? "" };
}

export const defaultBaseUrl = (region: Region): string =>
  `https://console${region === "us" ? "" : `-${region}`}.kaleido.io/api/v1`;

/** The other region that a key's id names, such as `eu` for a key that begins with `e0`. undefined: no other region. */
export function otherRegionOfKey({ apiKey, region, baseUrl }: Settings): Region | undefined {
  const [, letter] = /^([a-z])\d[0-9a-z]{8}-/.exec(apiKey.reveal()) ?? [];
  const named = regions.find((one) => one.startsWith(letter ?? "-"));
  return region.startsWith(letter!) || baseUrl !== defaultBaseUrl(region) ? undefined : named;
}

/**
 * Resolves the connection settings. Call it for every use, so that a rotated key takes effect.
 * @throws SettingsError if the key is missing or a value is unusable
 */
export const resolveSettings = (sources: SettingSources = {}): Settings =>
  readSettings(findIn(sources), sources.env, clientAdvice);

/** Settings from the given sources. @throws SettingsError */
export function readSettings(find: Find, env = processEnvironment(), advice: Advice): Settings {
  const read = <T>(name: SettingName, schema: z.ZodType<T>, otherwise: T): T => {
    const found = find(name);
    return found ? parse(name, schema, found) : otherwise;
  };
  const region = read("region", schemas.region, "us");
  const address = find("baseUrl");
  const organization = find("organization");
  const log = find("log");
  const allowHttp = read("allowHttp", schemas.allowHttp, false);
  const baseUrl = address ? parseBaseUrl(address, allowHttp, advice) : defaultBaseUrl(region);
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
    ...(log && { log: { file: parse("log", schemas.log, log), source: log.source } }),
    logLevel: read("logLevel", schemas.logLevel, "bodies"),
    proxy: proxyFor(baseUrl, env),
    advice,
  };
  const key = find("apiKey");
  if (!key)
    throw new SettingsError(
      "no-key",
      `${advice.setKey} No API key is set. Create one in the console (API tab, new API key).`,
      undefined,
      "no API key is set",
    );
  return { apiKey: new ApiKey(parse("apiKey", schemas.apiKey, key), key.source, key.place), ...rest };
}
