import type { FastifyInstance } from "fastify";
import type { Chain } from "./ledger/chains";
import type { Settings } from "./settings/settings";
import type { Entity, Network, Wire } from "./store/entities";
import type { Organizations } from "./store/organizations";
import type { Store } from "./store/store";
import type { Targets } from "./tether/targets";

export interface Base {
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: () => number;
  /** `http://HOST:PORT` of this service, for a caller with this Host header. Known once the service listens. */
  readonly origin: (asked?: string) => string;
  readonly warn: (text: string) => void;
  /** Reports an unexpected error, which fails only its own call. */
  readonly report: (error: unknown) => void;
}

export interface Context extends Base {
  readonly organizations: Organizations;
  readonly backend: Backend;
}

/** `missing`: requested, but anvil does not exist for this platform. */
export type LedgerState = "on" | "off" | "missing";

/** The backend of nodes and tethers: real chains, or a simulation. */
export interface Backend {
  readonly state: LedgerState;
  readonly ledger: Ledger;
  readonly tethers: Tethering;
  /** The networks that tethers pin to; none in a simulation. */
  readonly targets?: Targets;
  /** Adds the routes of the nodes' addresses. */
  serveNodes(app: FastifyInstance): void | Promise<void>;
  /** Is told of all objects that were deleted. */
  removed?(entities: readonly Entity[]): void;
  drop?: () => void;
  /** Continues the unfinished work of the last run. */
  resume?(): void;
  close?(): Promise<void>;
}

/** The blockchains of the environments, real or simulated. */
export interface Ledger {
  /** Starts an environment's chain in the background, because it has a node now. */
  prepare?(environment: Entity<"environment">): void;
  /** Stops an environment's chain, which makes no blocks until the environment is resumed. */
  pause?(environment: Entity<"environment">): void;
  /** The status of a started node. `host`: the caller's Host header. */
  status(environment: Entity<"environment">, node: Entity<"node">, host: string | undefined): Promise<Wire>;
  /** The account that a node signs for, once known. */
  accountOf(node: Entity<"node">): string | undefined;
  /** The lines of a node's log, oldest first. */
  log(environment: Entity<"environment">, node: Entity<"node">, client: string): Promise<readonly string[]>;
  /** The environment's chain; a simulation has none. */
  chain?(environment: Pick<Entity<"environment">, "id">): Promise<Chain>;
}

/** The actions of a tether service on its target networks. */
export interface Tethering {
  /** The tether with all reports that are due. Does not wait for a transaction. */
  current(tether: Entity<"tether">): Entity<"tether">;
  account(tether: Entity<"tether">): string;
  balance(tether: Entity<"tether">, network: Network): Promise<string>;
  /** Makes the first report of a tether that was just activated. */
  activated(tether: Entity<"tether">): Promise<void>;
  /** Whether the contract exists; a network may have lost it. */
  isDeployed(tether: Entity<"tether">, network: Network): Promise<boolean>;
  /** Deploys the contract, and returns the fields to show. */
  deploy(tether: Entity<"tether">, network: Network): Promise<Wire>;
  fund(tether: Entity<"tether">, network: Network, wei: bigint): Promise<void>;
  /** The address of its contract, if there is one. */
  contract(tether: Entity<"tether">, network: Network): string | undefined;
  /** Additional fields to show. */
  shown(tether: Entity<"tether">): Wire;
}
