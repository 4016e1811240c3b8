import type { FastifyInstance } from "fastify";
import type { Chain } from "./ledger/chains";
import type { Settings } from "./settings/settings";
import type { Entity, Network, Wire } from "./store/entities";
import type { Organizations } from "./store/organizations";
import type { Store } from "./store/store";
import type { Targets } from "./tether/targets";

/** What every part of the service works with. */
export interface Base {
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: () => number;
  /** `http://HOST:PORT` of this service, for whoever sent this Host header; known once it listens. */
  readonly origin: (asked?: string) => string;
  /** Says what whoever runs the service must know. */
  readonly warn: (text: string) => void;
}

/** What the routes work with. */
export interface Context extends Base {
  readonly organizations: Organizations;
  readonly backend: Backend;
}

/** `missing`: wanted, but its program is not on this machine. */
export type LedgerState = "on" | "off" | "missing";

/** What stands behind nodes and tethers: real chains, or a simulation. */
export interface Backend {
  readonly state: LedgerState;
  readonly ledger: Ledger;
  readonly tethers: Tethering;
  /** The networks that tethers pin to; none in a simulation. */
  readonly targets?: Targets;
  /** Puts the nodes' addresses under the service. */
  serveNodes(app: FastifyInstance): void | Promise<void>;
  /** Hears of what is deleted, with all that was in it. */
  removed(entities: readonly Entity[]): void;
  /** Drops the WebSockets to nodes. */
  drop: () => void;
  /** Goes on where the last run of the service ended. */
  resume(): void;
  close(): Promise<void>;
}

/** The blockchains of the environments, real or simulated. */
export interface Ledger {
  /** An environment has got a node: its chain will be needed. */
  prepare(environment: Entity<"environment">): void;
  /** What a started node tells of itself. `host`: the Host header of whoever asks. */
  status(environment: Entity<"environment">, node: Entity<"node">, host: string | undefined): Promise<Wire>;
  /** The account that a node signs for, as far as it is known. */
  accountOf(node: Entity<"node">): string | undefined;
  /** The lines of a node's log, oldest first. */
  log(environment: Entity<"environment">, node: Entity<"node">, client: string): Promise<readonly string[]>;
  /** The environment's chain; a simulation has none. */
  chain?(environment: Entity<"environment">): Promise<Chain>;
}

/** What a tether service does on the networks it pins to. */
export interface Tethering {
  /** The tether as it is now; no read waits for a transaction. */
  current(tether: Entity<"tether">): Entity<"tether">;
  account(tether: Entity<"tether">): string;
  balance(tether: Entity<"tether">, network: Network): Promise<string>;
  /** It was activated: its first report is due. */
  activated(tether: Entity<"tether">): Promise<void>;
  /** Whether the contract is there; a network may have lost it. */
  isDeployed(tether: Entity<"tether">, network: Network): Promise<boolean>;
  /** Deploys the contract; answers what is known of it. */
  deploy(tether: Entity<"tether">, network: Network): Promise<Wire>;
  fund(tether: Entity<"tether">, network: Network, wei: bigint): Promise<void>;
  /** What else is shown of it. */
  shown(tether: Entity<"tether">): Wire;
}
