import { z } from "zod";

/** The connection settings of the contract, by their names in a `Provider` and in stack configuration. */
export const settingNames = [
  "apiKey",
  "region",
  "baseUrl",
  "maxConcurrency",
  "requestTimeout",
  "organization",
] as const;
export type SettingName = (typeof settingNames)[number];

/** Settings that an explicit `Provider` holds against the environment, so that two organizations never mix. */
const heldByProvider: readonly SettingName[] = ["apiKey", "region", "baseUrl", "organization"];

export const regions = ["us", "eu", "ap", "ko"] as const;
export type Region = (typeof regions)[number];

/** Where settings may come from. Every value is the text (or number) as it was given there. */
export interface SettingSources {
  /** Environment variables. Default: those of this process. */
  env?: Record<string, string | undefined>;
  /** What an explicit `Provider` was given itself. */
  provider?: Partial<Record<SettingName, unknown>>;
  /** Stack configuration of the namespace `consortium`. */
  stack?: Partial<Record<SettingName, unknown>>;
}

export interface Settings {
  apiKey: ApiKey;
  region: Region;
  /** Base address without a slash at the end, such as `https://console.kaleido.io/api/v1`. */
  baseUrl: string;
  /** Where the base address comes from, for error messages. */
  baseUrlSource: string;
  /** Most requests in flight at once. */
  maxConcurrency: number;
  /** Seconds that one request may take. */
  requestTimeout: number;
  /** Id of the organization that the key has to belong to, and where that was said. Default: none is required. */
  organization?: RequiredOrganization;
}

export interface RequiredOrganization {
  id: string;
  source: string;
}

/** An API key that cannot be printed by accident; `source` says where it was found. */
export class ApiKey {
  readonly #value: string;
  constructor(
    value: string,
    readonly source: string,
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

/** A setting that is missing or wrong: says which, where it came from, and how to mend it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** There is no key at all: a preview needs none. */
export class NoKeyError extends SettingsError {}

/** `maxConcurrency` becomes `CONSORTIUM_MAX_CONCURRENCY`. */
export const environmentName = (name: string): string =>
  `CONSORTIUM_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** The one place where the process environment is read. */
export const processEnvironment = (): Record<string, string | undefined> => process.env;

interface Found {
  value: unknown;
  source: string;
}

/** First match wins: environment, explicit provider, stack configuration (contract, "Connection settings"). */
function find(name: SettingName, { env = processEnvironment(), provider, stack }: SettingSources): Found | undefined {
  const given = (value: unknown, source: string): Found | undefined =>
    value === undefined || value === null || value === "" ? undefined : { value, source };
  const variable = environmentName(name);
  const fromEnv = given(env[variable], `environment variable ${variable}`);
  const fromProvider = given(provider?.[name], `argument ${name} of the Provider`);
  const fromStack = given(stack?.[name], `stack configuration consortium:${name}`);
  return heldByProvider.includes(name)
    ? (fromProvider ?? fromEnv ?? fromStack)
    : (fromEnv ?? fromProvider ?? fromStack);
}

const count = (most: number) => z.coerce.number().int().min(1).max(most);

const schemas = {
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "an API key has no spaces, line breaks or other special characters"),
  region: z.enum(regions, { error: ({ input }) => `"${String(input)}" is not one of ${regions.join(", ")}` }),
  maxConcurrency: count(256),
  requestTimeout: z.coerce.number().positive().max(3600),
  organization: z.string().trim().min(1),
} as const;

function parse<T>(name: SettingName, schema: z.ZodType<T>, found: Found): T {
  const result = schema.safeParse(found.value);
  if (result.success) return result.data;
  const reasons = result.error.issues.map((issue) => issue.message).join("; ");
  throw new SettingsError(`The setting ${name} from ${found.source} is not usable: ${reasons}.`);
}

function parseBaseUrl({ value, source }: Found): string {
  const text = String(value).trim().replace(/\/+$/, "");
  const refuse = (why: string): never => {
    throw new SettingsError(
      `The base address from ${source} ${why}. It is an http(s) address that ends in /api/v1, such as https://console.kaleido.io/api/v1.`,
    );
  };
  const url = URL.canParse(text) ? new URL(text) : refuse("is not an address");
  if (!/^https?:$/.test(url.protocol)) return refuse(`starts with ${url.protocol}//`);
  if (url.username || url.password) return refuse("holds a user name or password; the API key goes into apiKey");
  if (url.search || url.hash) return refuse("has a query or fragment");
  if (!/\/api\/v1$/.test(url.pathname)) return refuse(`has the path "${url.pathname}"`);
  return text;
}

const defaultBaseUrl = (region: Region): string =>
  `https://console${region === "us" ? "" : `-${region}`}.kaleido.io/api/v1`;

/**
 * Looks the connection settings up; call it at every use, so that a rotated key is seen.
 * @throws SettingsError when the key is missing or a value is not usable.
 */
export function resolveSettings(sources: SettingSources = {}): Settings {
  const read = <T>(name: SettingName, schema: z.ZodType<T>, otherwise: T): T => {
    const found = find(name, sources);
    return found ? parse(name, schema, found) : otherwise;
  };
  const region = read("region", schemas.region, "us");
  const address = find("baseUrl", sources);
  const organization = find("organization", sources);
  const rest = {
    region,
    baseUrl: address ? parseBaseUrl(address) : defaultBaseUrl(region),
    baseUrlSource: address?.source ?? `the default for region ${region}`,
    maxConcurrency: read("maxConcurrency", schemas.maxConcurrency, 8),
    requestTimeout: read("requestTimeout", schemas.requestTimeout, 30),
    ...(organization && {
      organization: { id: parse("organization", schemas.organization, organization), source: organization.source },
    }),
  };
  const key = find("apiKey", sources);
  if (!key) {
    throw new NoKeyError(
      "No API key is set. Set the environment variable CONSORTIUM_API_KEY, or run " +
        "`pulumi config set --secret consortium:apiKey`, or give apiKey to a Provider. " +
        "Keys are made in the console (API tab, new API key).",
    );
  }
  return { apiKey: new ApiKey(parse("apiKey", schemas.apiKey, key), key.source), ...rest };
}
