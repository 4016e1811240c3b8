import type { Timing } from "../settings/settings";

/** An object as the API shows it. */
export type Wire = Record<string, unknown>;

export const networks = ["mainnet", "rinkeby"] as const;
export type Network = (typeof networks)[number];

/** What is kept of each kind of object, besides what every object has. Wire names, so that a test can patch any field. */
export interface FieldsOf {
  organization: { name: string };
  /** A further API key of its parent, an organization; the key itself is shown once and not kept. */
  apiKey: { name: string; hash: string };
  consortium: { name: string; description?: string };
  membership: {
    org_name: string;
    org_id: string;
    minimum_nodes: number;
    maximum_nodes: number;
    /** Shows that its organization was verified. */
    verification_proof?: string;
    /** Made by the service together with the consortium, so it goes with it. */
    founding?: boolean;
  };
  environment: {
    name?: string;
    description?: string;
    provider: "quorum" | "geth";
    consensus_type: "raft" | "ibft" | "poa";
    chain_id: number;
    initial_delay: number;
    idle_hours: number;
    enable_tether: boolean;
    block_period: number;
    /** Which member each of the chain's accounts is for, by its index: none is ever given to another one. */
    accountOwners?: string[];
    region: string;
    release_id: string;
    /** What accounts own from the genesis on. */
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
    /** Which of the chain's accounts is its own. */
    account?: number;
    /** That account, once its chain has said so. */
    first_user_account?: string;
  };
  /** Of a consortium or of an environment. */
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
  /** Of a service, known by its name. */
  destination: { name: string; kaleido_managed: boolean };
  /** A membership that an id registry, its parent, knows. */
  identity: { membership_id: string };
  credential: { membership_id: string; name?: string; passwordHash: string };
  tether: {
    /** The checksum of its account's key, once there is one. */
    keyChecksum?: string;
    environmentName?: string;
    network?: Network;
    interval?: number;
    active: boolean;
    /** Whether it was ever active. */
    activated: boolean;
    balances: Record<Network, string>;
    /** How many times its contract was deployed, per network. */
    deployments: Record<Network, number>;
    /** When the next pinning transaction is due, in ms; only while active. */
    nextPin?: number;
    reports: number;
    /** What follows is of tethers that really pin. Contracts on the target networks: */
    contracts?: Partial<Record<Network, { address: string; chainId: number } | undefined>>;
    /** Deployments that were begun, with their signed transaction, so that none is paid twice. */
    deploying?: Partial<Record<Network, { address: string; nonce: number; hash?: string; raw?: string } | undefined>>;
    /** The report that is being pinned, with its signed transaction. */
    pinning?: {
      network: Network;
      index: number;
      hash: string;
      at: number;
      states: Record<string, unknown>[];
      transaction?: { nonce: number; hash: string; raw: string } | undefined;
    };
    /** Networks on which the account has got what it has at first. */
    granted?: Partial<Record<Network, boolean>>;
    /** Why the last pin failed. */
    problem?: string;
  };
  /** A chain that was begun: its folder must be there from then on. */
  ledger: Record<string, never>;
  report: {
    states: Record<string, unknown>[];
    /** Where it was pinned, if it really was. */
    pin?: Record<string, unknown>;
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
  /** Id of what it lives in: organization, consortium, environment, service or tether. */
  readonly parent: string;
  /** Id of the organization that owns it. */
  readonly organization: string;
  /** The state it was put in; the state it is in now may follow from `due` (see states-over-time.ts). */
  readonly state: string;
  /** When it leaves that state by itself. */
  readonly due?: number | undefined;
  /** When it was started for the first time, if it was reset since. */
  readonly firstStart?: number | undefined;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly revision: number;
  /** From when on it cannot be reached any more. */
  readonly deletedAt?: number;
  /** From when on lists do not show it any more. */
  readonly hiddenAt?: number;
  readonly fields: FieldsOf[K];
  /** What it was created with besides: fields that mean nothing here, and are shown as they came. */
  readonly given?: Wire;
}

/** What happens by itself: a state, the one after it, and how long that takes. */
const steps: Partial<Record<Kind, { from: string; to: string; after: keyof Timing }>> = {
  environment: { from: "initializing", to: "setup", after: "environmentStart" },
  node: { from: "initializing", to: "started", after: "nodeStart" },
  service: { from: "initializing", to: "started", after: "nodeStart" },
};
/** How the others are. */
const settled: Partial<Record<Kind, string>> = { consortium: "setup", invitation: "sent" };

/** How an object begins; when it leaves that state by itself is fixed now, so that it survives a restart. */
export function firstState(kind: Kind, now: number, timing: Timing): { state: string; due?: number } {
  const step = steps[kind];
  if (step) return { state: step.from, due: now + timing[step.after] };
  return { state: settled[kind] ?? "active" };
}

/** The state at a time: nothing ticks, it follows from the time alone. */
export function stateAt(entity: Entity, at: number): string {
  const step = steps[entity.kind];
  const left = entity.state === step?.from && entity.due !== undefined && at >= entity.due;
  return left ? step.to : entity.state;
}

/** When a node or a service was started for the first time: a reset does not make it another one. */
export function firstStart(entity: Entity, at: number): number | undefined {
  if (entity.firstStart !== undefined) return entity.firstStart;
  return stateAt(entity, at) === "started" ? (entity.due ?? entity.changedAt) : undefined;
}
