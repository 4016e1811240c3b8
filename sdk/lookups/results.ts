import { type TetherNetwork } from "../../provider/facts";
import {
  type ConsortiumListed,
  type EnvironmentListed,
  type facts,
  type MembershipListed,
  type NodeListed,
  type NodeProperties,
} from "../generated";
import { type Shown } from "../properties";

/** What every object of the service has. */
interface Found {
  /** The service's id (`_id`), as in the `id` of the resource. */
  id: string;
}

export interface ConsortiumResult extends Found, ConsortiumListed {}
export interface MembershipResult extends Found, MembershipListed {}
export interface EnvironmentResult extends Found, EnvironmentListed {}
export interface NodeResult extends Found, NodeListed {}

/** What a node itself says: its outputs that the service's list does not show. */
export interface NodeStatusResult extends Omit<Shown<NodeProperties, (typeof facts.Node.unlisted)[number]>, "urls"> {
  blockHeight?: number;
  urls?: Partial<NodeProperties["urls"]>;
}

/** The account that pays for a tether's pins. */
export interface TetherAccountResult {
  /** Address on the public chain, 0x and 40 hex digits. */
  account?: string;
  /** Balance in wei, decimal text. */
  balanceWei?: string;
}
export type TetherNetworkName = TetherNetwork;

/** What one node reported of itself; none of it is documented, so each part may be missing. */
export interface NodeReport {
  nodeId?: string;
  nodeName?: string;
  environmentId?: string;
  state?: string;
  blockHeight?: number;
  blockHash?: string;
  stateRoot?: string;
  reportedAt?: string;
  /** Whatever else the service shows. */
  [field: string]: unknown;
}

export interface TetherReportResult {
  /** Place in the ordered list of reports, from 0. */
  index: number;
  pinnedAt?: string;
  network?: TetherNetworkName;
  chainId?: number;
  contractAddress?: string;
  transactionHash?: string;
  blockNumber?: number;
  /** Place in the contract: another network has another contract, and counts from 0 again. */
  contractIndex?: number;
  /** Hash of all that the nodes reported, as it is on the public chain. */
  hash?: string;
  /** One for each node. */
  reports: NodeReport[];
  /** The report exactly as the service shows it: `verifyReport` takes it. */
  report: unknown;
  /** Whatever else the service shows. */
  [field: string]: unknown;
}
