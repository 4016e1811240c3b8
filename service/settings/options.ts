import { z } from "zod";
import { answers } from "./answers";
import { checked } from "./check";
import { limits } from "./limits";
import { timing } from "./timing";

const text = z.string().trim().min(1);
const hostName = z.string().regex(/^[^\s:/?#@]+$|^\[[\da-f:.]+\]$/i, "must be a name or an address, without a port");
const rpc = z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional();
const wei = z.string().regex(/^\d+$/, "must be a whole number of wei, as a string").optional();
const distinct =
  <T>(what: string, key: (item: T) => string) =>
  (items: T[], context: z.RefinementCtx) => {
    if (new Set(items.map(key)).size < items.length) context.addIssue(`each ${what} must be different`);
  };

/** An organization whose API key scopes every call. */
const organization = z.strictObject({
  /** Its name, unique in the service. */
  name: text,
  /** Its API key. Default: the one kept in `dataDir`, or a new random one. */
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "must be visible characters without spaces")
    .optional(),
});

/** A tether service. The API cannot create one, so they are given here. */
const tether = z.strictObject({
  /** The tether id, as in the paths `/tether/{id}/…`. */
  id: z.string().regex(/^[\w-]+$/, "must be letters, digits, - or _"),
  /** Name of the environment it pins, looked up when needed. Default: the organization's first environment. */
  environment: text.optional(),
  /** Name of the organization it belongs to. Default: the first one. */
  organization: text.optional(),
  /** What its account owns at first, in wei as decimal strings. Default: 1 ether on rinkeby, nothing on mainnet. */
  funds: z.strictObject({ mainnet: wei, rinkeby: wei }).optional(),
});

/** Settings of the ledger. */
const ledger = z.strictObject({
  /** The chain's program. Default: that of the package. */
  anvil: text.optional(),
  /** RPC addresses of the networks that tethers pin to. Default: a local chain each. */
  targets: z.strictObject({ mainnet: rpc, rinkeby: rpc }).optional(),
});

/** A certificate and its key, as PEM texts. */
const tls = z.strictObject({ cert: text, key: text });

const options = z
  .strictObject({
    /** Address to listen on. Default `127.0.0.1`. */
    host: text.default("127.0.0.1"),
    /** Port to listen on; 0 takes any free one. Default 0. */
    port: z.number().int().min(0).max(65_535).default(0),
    /** Further names under which it is called, such as that of a container; see docs/service.md. Default: none. */
    allowHosts: z.array(hostName).default([]),
    /** Folder that keeps all data and the API keys over restarts. Default: in memory only. */
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
    /** Quotas. Default: those of the hosted service. */
    limits: limits.prefault({}),
    /** Durations in milliseconds. */
    timing: timing.prefault({}),
    /** How to answer where the API does not say. */
    answers: answers.prefault({}),
    /**
     * A real chain for each environment, and for each network that a tether pins to; needs the optional package
     * `@foundry-rs/anvil`, and says so where it is missing. Default false; `consortium serve` switches it on.
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
  })
  .transform(({ tethers, ...others }, context) => {
    const [first] = others.organizations;
    const owned = tethers.map((tether) => ({ ...tether, organization: tether.organization ?? first!.name }));
    for (const { id, organization } of owned) {
      if (others.organizations.some(({ name }) => name === organization)) continue;
      context.addIssue(`tether ${id} names an unknown organization, ${organization}`);
    }
    return { ...others, tethers: owned };
  });

export type OrganizationOptions = z.input<typeof organization>;
export type TetherOptions = z.input<typeof tether>;
export type LedgerOptions = z.input<typeof ledger>;
export type TlsOptions = z.input<typeof tls>;
/** Settings of the embedded service, all optional. */
export type ServiceOptions = z.input<typeof options>;
/** Options with every default filled in. */
export type ResolvedOptions = z.output<typeof options>;
/** The settings in force; routes read them at every call, so a change takes effect at once. */
export type Settings = Pick<ResolvedOptions, "limits" | "timing" | "answers">;

export const resolveOptions = (given: ServiceOptions): ResolvedOptions =>
  checked("startService options", options, given);
