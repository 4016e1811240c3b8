import { z } from "zod";
import { checked } from "../errors";
import {
  apiQuirks,
  type CallLimits,
  callLimits,
  type Limits,
  limits,
  optionsLike,
  type Timing,
  timing,
} from "./settings";

const text = z.string().trim().min(1);
const hostName = z.string().regex(/^[^\s:/?#@]+$|^\[[\da-f:.]+\]$/i, "must be a name or an address, without a port");
const origin = z.string().regex(/^[a-z][a-z\d+.-]*:\/\/[^\s/?#]+$/i, "must be an origin, such as https://app.example");
const rpc = z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional();
const wei = z.string().regex(/^\d+$/, "must be a whole number of wei, as a string").optional();
const distinct =
  <T>(what: string, key: (item: T) => string) =>
  (items: T[], context: z.RefinementCtx) => {
    if (new Set(items.map(key)).size < items.length) context.addIssue(`each ${what} must be different`);
  };

/** Optional fields. Each schema describes its fields. */
type Given<Shape extends z.ZodRawShape, Needed extends keyof Shape = never> = {
  [Name in keyof Pick<Shape, Needed>]: z.input<Shape[Name]>;
} & { [Name in keyof Omit<Shape, Needed>]?: z.input<Shape[Name]> };

const ofOrganization = {
  /** Its name, unique in the service. */
  name: text,
  /** Its API key. Default: the one kept in `data`, or a new random one. */
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "must be visible characters without spaces")
    .optional(),
};
const organization: z.ZodType<OrganizationOptions, OrganizationOptions> = z.strictObject(ofOrganization);

/** An organization whose API key scopes every call. */
export type OrganizationOptions = Given<typeof ofOrganization, "name">;

const ofTether = {
  /** The tether id, as in the paths `/tether/{id}/…`. */
  id: z.string().regex(/^[\w-]+$/, "must be letters, digits, - or _"),
  /** The environment that it pins from its activation on: name, `consortium/name` or id. Default: the organization's first one. */
  environment: text.optional(),
  /** Name of the organization that it belongs to. Default: the first one. */
  organization: text.optional(),
  /** The first balances of its account, in wei as decimal strings. Default: 1 ether on rinkeby and local, nothing on mainnet. */
  funds: z.strictObject({ mainnet: wei, rinkeby: wei, local: wei }).optional(),
};
const tether: z.ZodType<TetherOptions, TetherOptions> = z.strictObject(ofTether);

/** A tether service. The API cannot create one, so define it here. */
export type TetherOptions = Given<typeof ofTether, "id">;

const ofLedger = {
  /** Path of the anvil binary. Default: the package's. */
  anvil: text.optional(),
  /** RPC addresses of the networks that tethers pin to. Default: a local chain each. */
  targets: z.strictObject({ mainnet: rpc, rinkeby: rpc, local: rpc }).optional(),
  /** How long after its last call a ledger with a block period still makes empty blocks (ms); `Infinity`: forever. Default 3600000. */
  idleAfter: z.number().nonnegative().or(z.literal(Infinity)).optional(),
};
const ledger: z.ZodType<LedgerOptions, LedgerOptions> = z.strictObject(ofLedger);

/** Settings of the ledger. */
export type LedgerOptions = Given<typeof ofLedger>;

const tls = z.strictObject({ cert: text, key: text });

/** A certificate and its key, as PEM texts. */
export type TlsOptions = z.output<typeof tls>;

const ofService = {
  /** Address to listen on. Default `127.0.0.1`. */
  host: text.default("127.0.0.1"),
  /** Port to listen on; 0 picks a free one. Default 0. */
  port: z.number().int().min(0).max(65_535).default(0),
  /** Additional host names that clients may use, such as a container's; see docs/reference/embedded-service.md. Default: none. */
  allowHosts: z.array(hostName).default([]),
  /** Origins of web pages that may call the service, such as `https://app.example`. Default: only this machine's. */
  allowOrigins: z.array(origin).default([]),
  /** Folder for all data and the API keys. Default: in memory only. */
  data: text.optional(),
  /** @deprecated The former name of `data`. */
  dataDir: text.optional(),
  /** Organizations; the first one's key is `service.apiKey`. Default: one, named `local`. */
  organizations: z
    .array(organization)
    .min(1)
    .superRefine(distinct("name", ({ name }) => name))
    .default([{ name: "local" }]),
  /** Tether services that exist from the start. Default: none. */
  tethers: z
    .array(tether)
    .superRefine(distinct("id", ({ id }) => id))
    .default([]),
  /** Quotas. Default: the hosted service's. */
  limits: limits.prefault({}) as z.ZodType<Limits, Partial<Limits> | undefined>,
  /** Limits of calls to chains. */
  callLimits: callLimits.prefault({}) as z.ZodType<CallLimits, Partial<CallLimits> | undefined>,
  /** Durations in milliseconds. */
  timing: timing.prefault({}) as z.ZodType<Timing, Partial<Timing> | undefined>,
  /** Behavior that the API does not specify. */
  answers: apiQuirks.prefault({}),
  /** What a file of `consortium probe` says to people. It has no effect, so that such a file can be passed as it is. */
  seen: z.looseObject({}).optional(),
  /**
   * A real chain for each environment, and for each network that a tether pins to, on platforms that anvil runs on. Default
   * false; `consortium serve` switches it on.
   */
  ledger: z
    .boolean()
    .or(ledger)
    .optional()
    .transform((given) => (given === true ? {} : given || undefined)),
  /** Serve https and wss with this certificate and key (PEM texts). Default: plain http and ws. */
  tls: tls.optional(),
  /** Log requests to standard output, without credentials. Default false. */
  log: z.boolean().default(false),
  /** Whether the call log keeps bodies. Default true; `consortium serve` keeps none. */
  recordBodies: z.boolean().default(true),
  /** The time in milliseconds since 1970, for tests. Default `Date.now`. */
  clock: z.custom<() => number>((value) => typeof value === "function", "must be a function").default(() => Date.now),
};

/** Settings of the embedded service, all optional. */
export type ServiceOptions = Given<typeof ofService>;

/** The options with every default filled in. */
export type ResolvedOptions = z.output<typeof options>;

const options = z.strictObject(ofService).transform(({ tethers, dataDir, data = dataDir, ...others }, context) => {
  const [first] = others.organizations;
  if (dataDir !== undefined && data !== dataDir)
    context.addIssue("data and dataDir name two folders: leave dataDir out");
  const owned = tethers.map((tether) => ({ ...tether, organization: tether.organization ?? first!.name }));
  for (const { id, organization } of owned) {
    if (others.organizations.some(({ name }) => name === organization)) continue;
    context.addIssue(`tether ${id} names an unknown organization, ${organization}`);
  }
  return { ...others, data, tethers: owned };
});

export const resolveOptions = (given: ServiceOptions): ResolvedOptions =>
  checked("startService options", options, optionsLike(given));
