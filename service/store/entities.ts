import type { Profile } from "../profiles";
import type { Settings, Timing } from "../settings/settings";

export type Wire = Record<string, unknown>;

/** Networks that tethers can pin to: those in the specification, and `local` for a chain of this machine. */
export const networks = ["mainnet", "rinkeby", "local"] as const;
export type Network = (typeof networks)[number];

/** A signed transaction of a tether. It can be sent again and again: with one nonce, it takes effect at most once. */
export interface Signed {
  nonce: number;
  hash: string;
  raw: string;
  /** The hash of the network's first block, if shown. */
  genesis?: string;
  /** The highest price per gas that it pays, in wei, where the network's base fee moves. */
  fee?: string;
  /** Hashes of the same transaction with a lower fee, which a block may have instead. */
  lower?: readonly string[];
}

/** The fields of each kind, besides the common ones. They have the API's names, so that a test can patch any. */
export interface FieldsOf {
  /** With the key that scopes calls to it. */
  organization: { name: string; apiKey: string };
  /** An additional API key of an organization, its parent. The key itself is shown once and not stored. */
  apiKey: { name: string; hash: string };
  consortium: { name: string; description?: string };
  membership: {
    org_name: string;
    org_id: string;
    minimum_nodes: number;
    maximum_nodes: number;
    verification_proof?: string;
    /** Whether the service created it with the consortium, so it is deleted with it. */
    founding?: boolean;
  };
  environment: {
    name?: string;
    description?: string;
    provider: "quorum" | "geth" | "pantheon";
    consensus_type: "raft" | "ibft" | "poa";
    chain_id: number;
    initial_delay: number;
    idle_hours: number;
    enable_tether: boolean;
    block_period: number;
    /** The member of each of the chain's accounts, by index. An account never passes to another member. */
    accountOwners?: string[];
    /** When the present pause began, and how long earlier ones took (ms). */
    pause?: { since?: number | undefined; before: number };
    region: string;
    release_id: string;
    /** Balances in the genesis block. */
    prefunded_accounts?: Record<string, { balance: string }>;
    test_features?: Wire;
  };
  node: {
    membership_id: string;
    name?: string;
    role: string;
    provider: string;
    consensus_type: string;
    size?: string;
    zone_id?: string;
    kms_id?: string;
    opsmetric_id?: string;
    backup_id?: string;
    networking_id?: string;
    node_config_id?: string;
    baf_id?: string;
    database_type?: string;
    hybrid_port_allocation?: number;
    /** The index of its account on the chain. */
    account?: number;
    /** The address of that account, once its chain has started. */
    first_user_account?: string;
  };
  /** A zone of a consortium or of an environment. */
  zone: { name?: string; region: string; cloud: string; type: string; bridge_id?: string };
  configuration: { name?: string; type: string; membership_id: string; details?: Wire };
  service: {
    name?: string;
    service: string;
    membership_id: string;
    zone_id?: string;
    size?: string;
    details?: Wire;
    hybrid_port_allocation?: number;
  };
  invitation: { org_name: string; email: string };
  /** In a service, under a name. */
  destination: { name: string; kaleido_managed: boolean };
  /** A membership that is registered with an id registry, its parent. */
  identity: { membership_id: string };
  credential: { membership_id: string; name?: string; passwordHash: string };
  tether: {
    /** The checksum of its account's key, once there is one. */
    keyChecksum?: string;
    environmentName?: string;
    /** The id of the environment that it pins, since its activation. */
    environment?: string | undefined;
    /** Whether its account was requested; matters only if accounts do not exist from the start. */
    hasAccount?: boolean;
    network?: Network;
    interval?: number;
    active: boolean;
    activated: boolean;
    balances: Partial<Record<Network, string>>;
    /** How many times its contract was deployed, per network. */
    deployments: Partial<Record<Network, number>>;
    /** When the next pinning transaction is due, in ms; only while active. */
    nextPin?: number;
    reports: number;
    /** The first report whose block may still be replaced. Reports before it are final. */
    firstOpen?: number | undefined;
    /** Reports that the network no longer shows, because their blocks were replaced. They are sent again. */
    replaced?: readonly number[];
    /** The following fields are for tethers on real chains. Contracts on the target networks: */
    contracts?: Partial<Record<Network, { address: string; chainId: number; transaction: Signed } | undefined>>;
    /** Deployments that have begun, with the signed transaction, so that none is paid for twice. */
    deploying?: Partial<Record<Network, ({ address: string } & Signed) | undefined>>;
    /** Contracts that a network no longer shows. The next deployment sends the same transaction first, because the network may be wrong. */
    lost?: FieldsOf["tether"]["deploying"];
    /** The report that is being pinned, with its signed transaction. */
    pinning?: {
      network: Network;
      index: number;
      hash: string;
      at: number;
      states: Record<string, unknown>[];
      transaction?: Signed | undefined;
    };
    /** Networks on which the account has received its first balance. */
    granted?: Partial<Record<Network, boolean>>;
    /** Why the last pin failed. */
    problem?: string;
  };
  /** A chain with a folder, which must exist from then on. */
  ledger: { profile?: Profile };
  report: {
    states: Record<string, unknown>[];
    /** The place of its pin, if it was pinned on a real chain. */
    pin?: {
      network: Network;
      contract_address: string;
      contract_index: number;
      hash: string;
      [field: string]: unknown;
    };
    /** Its transaction, until its block is final. */
    sent?: Signed | undefined;
  };
}

export type Kind = keyof FieldsOf;
// prettier-ignore
export const kinds = ["organization", "apiKey", "consortium", "membership", "environment", "node", "credential", "zone", "configuration", "service", "invitation", "destination", "identity", "tether", "report", "ledger"] as const satisfies readonly Kind[];

/** The kinds that are created, listed and deleted through the API. */
// prettier-ignore
export type ManagedKind = "consortium" | "membership" | "environment" | "node" | "credential" | "zone" | "configuration" | "service" | "invitation";

/** One version of an object; a change makes a new one. Times are in ms since 1970. */
export interface Entity<K extends Kind = Kind> {
  readonly kind: K;
  readonly id: string;
  /** The id of its parent: an organization, consortium, environment, service or tether. */
  readonly parent: string;
  readonly organization: string;
  /** The last state that was set. The current state may follow from `due`: see `stateAt`. */
  readonly state: string;
  readonly due?: number | undefined;
  /** When it first started, if it was reset since. */
  readonly firstStart?: number | undefined;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly revision: number;
  readonly order?: number;
  readonly deletedAt?: number;
  readonly hiddenAt?: number;
  readonly fields: FieldsOf[K];
  /** Other fields of its create. They have no meaning here, and are shown unchanged. */
  readonly given?: Wire;
}

/** States that change by themselves: the state, the next one, and how long that takes. */
const steps: Partial<Record<Kind, Record<string, { to: string; after: keyof Timing }>>> = {
  environment: {
    initializing: { to: "setup", after: "environmentStart" },
    upgrade: { to: "setup", after: "upgrade" },
  },
  node: { initializing: { to: "started", after: "nodeStart" } },
  service: {
    initializing: { to: "started", after: "nodeStart" },
    provisioning: { to: "started", after: "nodeStart" },
  },
};
/** The first states of other kinds; all others are `active`. */
const settled: Partial<Record<Kind, string>> = { consortium: "setup", invitation: "sent" };

/** An object's first state. Its end is fixed now, so that it survives a restart. */
export function firstState(kind: Kind, now: number, { timing, quirks }: Settings): { state: string; due?: number } {
  if (!steps[kind]) return { state: settled[kind] ?? "active" };
  if (kind === "environment" && quirks.environmentsWait) return { state: "initializing" };
  return begun(kind, kind === "service" && quirks.provisioning ? "provisioning" : "initializing", now, timing);
}

/** A state that ends by itself, and when. */
export function begun(kind: Kind, state: string, now: number, timing: Timing): { state: string; due: number } {
  return { state, due: now + timing[steps[kind]![state]!.after] };
}

/** The state at a time. It depends only on the time: no timers run. */
export function stateAt(entity: Entity, at: number): string {
  if (entity.deletedAt !== undefined && at >= entity.deletedAt) return "deleted";
  const step = steps[entity.kind]?.[entity.state];
  return step && entity.due !== undefined && at >= entity.due ? step.to : entity.state;
}

/** Whether it is being deleted. It still counts, but takes no changes. */
export const isGoing = ({ state }: Entity): boolean => state === "deleting" || state === "delete_pending";

const utilities: readonly string[] = ["idregistry"];

/** Utility services exist once per environment, for all members. Others belong to one member. */
export const isUtility = (entity: Entity): boolean =>
  entity.kind === "service" && utilities.includes((entity as Entity<"service">).fields.service);

/** When a node or a service first started, regardless of resets. */
export function firstStart(entity: Entity, at: number): number | undefined {
  if (entity.firstStart !== undefined) return entity.firstStart;
  return stateAt(entity, at) === "started" ? (entity.due ?? entity.changedAt) : undefined;
}
