import type { Entity, Wire } from "../store/entities";
import type { Chain } from "./chains";

/** A member's nodes come and go over the years, and no account is ever another member's. */
export const accountsOfChain = 32;

export type Environment = Entity<"environment">;
export type Node = Entity<"node">;

/** The blockchains of the environments, real or simulated. */
export interface Ledger {
  /** An environment has got a node: its chain will be needed. */
  prepare(environment: Environment): void;
  /** What a started node tells of itself. `host`: the Host header of whoever asks. */
  status(environment: Environment, node: Node, host: string | undefined): Promise<Wire>;
  /** The lines of a node's log, oldest first. */
  log(environment: Environment, node: Node, client: string): Promise<readonly string[]>;
  /** The environment's chain; a simulation has none. */
  chain?(environment: Environment): Promise<Chain>;
}
