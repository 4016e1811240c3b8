import { z } from "zod";
import { explain, ServiceError } from "../http/errors";
import {
  answersSchema,
  defaults,
  limitsSchema,
  overlay,
  overlayAnswers,
  timingSchema,
  type AnswersChange,
  type Limits,
  type Settings,
  type Timing,
} from "./answers";

/** An organization whose API key scopes every call. */
export interface OrganizationOptions {
  /** Its name, unique in the service. */
  name: string;
  /** Its API key. Default: the one kept in `dataDir`, or a new random one. */
  apiKey?: string;
}

/** A tether service. The API cannot create one, so they are given here. */
export interface TetherOptions {
  /** The tether id, as in the paths `/tether/{id}/…`. */
  id: string;
  /** Name of the environment it pins, looked up when needed. Default: the organization's first environment. */
  environment?: string;
  /** Name of the organization it belongs to. Default: the first one. */
  organization?: string;
  /** What its account owns at first, in wei as decimal strings. Default: 1 ether on rinkeby, nothing on mainnet. */
  funds?: { mainnet?: string; rinkeby?: string };
}

/** Settings of the ledger. */
export interface LedgerOptions {
  /** The chain's program. Default: that of the package. */
  anvil?: string;
  /** RPC addresses of the networks that tethers pin to. Default: a local chain each. */
  targets?: { mainnet?: string; rinkeby?: string };
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
  /** Port to listen on; 0 takes any free one. Default 0. */
  port?: number;
  /** Further names under which it is called, such as that of a container; see docs/service.md. Default: none. */
  allowHosts?: string[];
  /** Folder that keeps all data and the API keys over restarts. Default: in memory only. */
  dataDir?: string;
  /** Organizations; the first one's key is `service.apiKey`. Default: one, named `local`. */
  organizations?: OrganizationOptions[];
  /** Tether services that exist from the start. Default: none. */
  tethers?: TetherOptions[];
  /** Quotas. Default: those of the hosted service. */
  limits?: Partial<Limits>;
  /** Durations in milliseconds. */
  timing?: Partial<Timing>;
  /** How to answer where the API does not say. */
  answers?: AnswersChange;
  /**
   * A real chain for each environment, and for each network that a tether pins to; needs the optional package
   * `@foundry-rs/anvil`, and says so where it is missing. Default false; `consortium serve` switches it on.
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

/** Options with every default filled in. */
export interface Resolved extends Settings {
  host: string;
  allowHosts: string[];
  port: number;
  dataDir: string | undefined;
  organizations: OrganizationOptions[];
  tethers: (TetherOptions & { organization: string })[];
  ledger: LedgerOptions | undefined;
  tls: TlsOptions | undefined;
  log: boolean;
  recordBodies: boolean;
  clock: () => number;
}

const text = z.string().trim().min(1);
const rpc = z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional();
const wei = z.string().regex(/^\d+$/, "must be a whole number of wei, as a string");
const distinct =
  <T>(what: string, key: (item: T) => string) =>
  (items: T[], context: z.RefinementCtx) => {
    if (new Set(items.map(key)).size < items.length) context.addIssue(`each ${what} must be different`);
  };

const schema = z.strictObject({
  host: text.optional(),
  allowHosts: z
    .array(z.string().regex(/^[^\s:/?#@]+$|^\[[\da-f:.]+\]$/i, "must be a name or an address, without a port"))
    .optional(),
  port: z.number().int().min(0).max(65_535).optional(),
  dataDir: text.optional(),
  organizations: z
    .array(
      z.strictObject({
        name: text,
        apiKey: z
          .string()
          .regex(/^[\x21-\x7e]+$/, "must be visible characters without spaces")
          .optional(),
      }),
    )
    .min(1)
    .superRefine(distinct("name", (organization) => organization.name))
    .optional(),
  tethers: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[\w-]+$/, "must be letters, digits, - or _"),
        environment: text.optional(),
        organization: text.optional(),
        funds: z.strictObject({ mainnet: wei.optional(), rinkeby: wei.optional() }).optional(),
      }),
    )
    .superRefine(distinct("id", (tether) => tether.id))
    .optional(),
  limits: limitsSchema.optional(),
  timing: timingSchema.optional(),
  answers: answersSchema.optional(),
  ledger: z
    .boolean()
    .or(z.strictObject({ anvil: text.optional(), targets: z.strictObject({ mainnet: rpc, rinkeby: rpc }).optional() }))
    .optional(),
  tls: z.strictObject({ cert: text, key: text }).optional(),
  log: z.boolean().optional(),
  recordBodies: z.boolean().optional(),
  clock: z.custom<() => number>((value) => typeof value === "function", "must be a function").optional(),
} satisfies Record<keyof ServiceOptions, z.ZodType>);

/** Checks what a caller gave, and says what is wrong with it in one sentence. */
export function checked<T>(what: string, rules: z.ZodType<T>, value: unknown): T {
  const result = rules.safeParse(value);
  if (!result.success) throw new ServiceError(`${what}: ${explain(result.error)}`);
  return result.data;
}

export function resolve(options: ServiceOptions): Resolved {
  const given = checked("startService options", schema, options);
  const organizations = given.organizations ?? [{ name: "local" }];
  const tethers = (given.tethers ?? []).map((tether) => {
    const organization = tether.organization ?? organizations[0]!.name;
    if (!organizations.some(({ name }) => name === organization)) {
      throw new ServiceError(
        `startService options: tether ${tether.id} names an unknown organization, ${organization}`,
      );
    }
    return { ...tether, organization };
  });
  return {
    host: given.host ?? "127.0.0.1",
    allowHosts: given.allowHosts ?? [],
    port: given.port ?? 0,
    dataDir: given.dataDir,
    organizations,
    tethers,
    limits: overlay(defaults.limits, given.limits),
    timing: overlay(defaults.timing, given.timing),
    answers: overlayAnswers(defaults.answers, given.answers),
    ledger: given.ledger === true ? {} : given.ledger || undefined,
    tls: given.tls,
    log: given.log ?? false,
    recordBodies: given.recordBodies ?? true,
    clock: given.clock ?? Date.now,
  };
}
