import { z } from "zod";
import { checked } from "../errors";
import { optionsLike } from "./like";
import {
  apiQuirks,
  type ApiQuirksChange,
  type CallLimits,
  callLimits,
  type Limits,
  limits,
  type Timing,
  timing,
} from "./settings";

/** An organization whose API key scopes every call. */
export interface OrganizationOptions {
  /** Its name, unique in the service. */
  name: string;
  /** Its API key. Default: the one kept in `dataDir`, or a new random one. */
  apiKey?: string;
}

/** A tether service. The API cannot create one, so it is given here. */
export interface TetherOptions {
  /** The tether id, as in the paths `/tether/{id}/…`. */
  id: string;
  /** Name of the environment that it pins, looked up when needed. Default: the organization's first environment. */
  environment?: string;
  /** Name of the organization that it belongs to. Default: the first one. */
  organization?: string;
  /** The first balances of its account, in wei as decimal strings. Default: 1 ether on rinkeby and local, nothing on mainnet. */
  funds?: { mainnet?: string; rinkeby?: string; local?: string };
}

/** Settings of the ledger. */
export interface LedgerOptions {
  /** Path of the anvil binary. Default: that of the package. */
  anvil?: string;
  /** RPC addresses of the networks that tethers pin to. Default: a local chain each. */
  targets?: { mainnet?: string; rinkeby?: string; local?: string };
  /** How long after its last call a ledger with a block period still makes empty blocks (ms); `Infinity`: forever. Default 3600000. */
  idleAfter?: number;
}

/** A certificate and its key, as PEM texts. */
export interface TlsOptions {
  cert: string;
  key: string;
}

/** Settings of the embedded service, all optional. */
export interface ServiceOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  host?: string;
  /** Port to listen on; 0 picks a free one. Default 0. */
  port?: number;
  /** Additional host names that clients may use, such as that of a container; see docs/reference/embedded-service.md. Default: none. */
  allowHosts?: string[];
  /** Folder for all data and the API keys. Default: in memory only. */
  dataDir?: string;
  /** Organizations; the first one's key is `service.apiKey`. Default: one, named `local`. */
  organizations?: OrganizationOptions[];
  /** Tether services that exist from the start. Default: none. */
  tethers?: TetherOptions[];
  /** Quotas. Default: those of the hosted service. */
  limits?: Partial<Limits>;
  /** Limits of calls to chains. */
  callLimits?: Partial<CallLimits>;
  /** Durations in milliseconds. */
  timing?: Partial<Timing>;
  /** Behavior that the API does not specify. */
  answers?: ApiQuirksChange;
  /**
   * A real chain for each environment, and for each network that a tether pins to, on platforms that anvil runs on. Default
   * false; `consortium serve` switches it on.
   */
  ledger?: boolean | LedgerOptions;
  /** Serve https and wss with this certificate and key (PEM texts). Default: plain http and ws. */
  tls?: TlsOptions;
  /** Log requests to standard output, without credentials. Default false. */
  log?: boolean;
  /** Whether the call log keeps bodies. Default true; `consortium serve` keeps none. */
  recordBodies?: boolean;
  /** The time in milliseconds since 1970, for tests. Default `Date.now`. */
  clock?: () => number;
}

/** The options with every default filled in. */
export type ResolvedOptions = z.output<typeof options>;

const text = z.string().trim().min(1);
const hostName = z.string().regex(/^[^\s:/?#@]+$|^\[[\da-f:.]+\]$/i, "must be a name or an address, without a port");
const rpc = z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional();
const wei = z.string().regex(/^\d+$/, "must be a whole number of wei, as a string").optional();
const key = z.string().regex(/^[\x21-\x7e]+$/, "must be visible characters without spaces");
const id = z.string().regex(/^[\w-]+$/, "must be letters, digits, - or _");
const distinct =
  <T>(what: string, key: (item: T) => string) =>
  (items: T[], context: z.RefinementCtx) => {
    if (new Set(items.map(key)).size < items.length) context.addIssue(`each ${what} must be different`);
  };

const organization = z.strictObject({ name: text, apiKey: key.optional() });
const tether = z.strictObject({
  id,
  environment: text.optional(),
  organization: text.optional(),
  funds: z.strictObject({ mainnet: wei, rinkeby: wei, local: wei }).optional(),
});
const targets = z.strictObject({ mainnet: rpc, rinkeby: rpc, local: rpc });
const idleAfter = z.number().nonnegative().or(z.literal(Infinity));
const ledger = z
  .boolean()
  .or(z.strictObject({ anvil: text.optional(), targets: targets.optional(), idleAfter: idleAfter.optional() }));

const options = z
  .strictObject({
    host: text.default("127.0.0.1"),
    port: z.number().int().min(0).max(65_535).default(0),
    allowHosts: z.array(hostName).default([]),
    dataDir: text.optional(),
    organizations: z
      .array(organization)
      .min(1)
      .superRefine(distinct("name", ({ name }) => name))
      .default([{ name: "local" }]),
    tethers: z
      .array(tether)
      .superRefine(distinct("id", ({ id }) => id))
      .default([]),
    limits: limits.prefault({}),
    callLimits: callLimits.prefault({}),
    timing: timing.prefault({}),
    answers: apiQuirks.prefault({}),
    ledger: ledger.optional().transform((given) => (given === true ? {} : given || undefined)),
    tls: z.strictObject({ cert: text, key: text }).optional(),
    log: z.boolean().default(false),
    recordBodies: z.boolean().default(true),
    clock: z.custom<() => number>((value) => typeof value === "function", "must be a function").default(() => Date.now),
  } satisfies Record<keyof ServiceOptions, z.ZodType>)
  .transform(({ tethers, ...others }, context) => {
    const [first] = others.organizations;
    const owned = tethers.map((tether) => ({ ...tether, organization: tether.organization ?? first!.name }));
    for (const { id, organization } of owned) {
      if (others.organizations.some(({ name }) => name === organization)) continue;
      context.addIssue(`tether ${id} names an unknown organization, ${organization}`);
    }
    return { ...others, tethers: owned };
  });

export const resolveOptions = (given: ServiceOptions): ResolvedOptions =>
  checked("startService options", options, optionsLike(given));
