/*
 * Generated from the lookups (provider/lookups/) by `npm run generate`. Do not edit.
 * Plain types instead of inferred ones: programs that use them compile and start without loading the schemas.
 */
import { lookup } from "./lookup";

export type { TetherNetwork as TetherNetworkName } from "../../provider/constants";

/** Properties of each object that the service lists. */
interface Listed {
  /** The service's id (`_id`), as in the `id` of the resource. */
  id: string;
  /** Last known state, in the service's own words. */
  state?: string;
  /** Revision counter: starts at `0` and increases with every change. */
  revision?: string;
  /** Creation time: ISO 8601, UTC. */
  createdAt?: string;
}

/** Properties of each `Consortium` that the service lists. */
export interface ConsortiumResult extends Listed {
  /** Name of the consortium. */
  name?: string;
  /** Description for people. */
  description?: string;
  /** Id of the organization that owns it. */
  owner?: string;
}

/** Properties of each `Membership` that the service lists. */
export interface MembershipResult extends Listed {
  /** Name of the business. */
  orgName?: string;
  /** Id of the organization that it represents. */
  orgId?: string;
  /** Minimum number of nodes that it must own in an environment. */
  minimumNodes?: number;
  /** Maximum number of nodes that it may own in an environment. */
  maximumNodes?: number;
}

/** Properties of each `Environment` that the service lists. */
export interface EnvironmentResult extends Listed {
  /** Client that the nodes run: `quorum`, `geth`, `pantheon` (Besu), `fabric` or `corda`. */
  provider?: "quorum" | "geth" | "pantheon" | "fabric" | "corda" | `other:${string}`;
  /** Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`; `ibft` or `poa` with `pantheon`. */
  consensusType?: "raft" | "ibft" | "poa" | `other:${string}`;
  /** Name of the environment. */
  name?: string;
  /** Description for people. */
  description?: string;
  /** Chain id of the ledger. */
  chainId?: number;
  /** Release of the service's software that it runs. An upgrade takes minutes for each node and cannot be undone. */
  releaseId?: string;
  /** Whether it is paused: it makes no blocks, and its nodes do not answer. `false` resumes it, even if the service has paused it. A new environment always starts running; the next update pauses it. */
  paused?: boolean;
  /** Seconds between blocks. */
  blockPeriod?: number;
  /** Region it runs in. */
  region?: string;
  /** Hours after its creation in which the service does not pause it. */
  initialDelay?: number;
  /** Hours without a transaction after which the service may pause it. */
  idleHours?: number;
  /** Whether a tether service is enabled for it. */
  enableTether?: boolean;
}

/** Properties of each `Node` that the service lists. */
export interface NodeResult extends Listed {
  /** Id of the membership that owns it. */
  membershipId?: string;
  /** Name of the node. */
  name?: string;
  /** Role in the consensus. */
  role?: string;
  /** Size of the machine. */
  size?: string;
  /** Id of the environment's zone that it runs in. */
  zoneId?: string;
  /** Id of the configuration of its key management. */
  kmsId?: string;
  /** Id of the configuration of its metrics. */
  opsmetricId?: string;
  /** Id of the configuration of its backups. */
  backupId?: string;
  /** Id of the configuration of its networking. */
  networkingId?: string;
  /** Id of the configuration of the client, such as its gas price. */
  nodeConfigId?: string;
  /** Id of the configuration of its application firewall. */
  bafId?: string;
  /** Database that its client keeps the ledger in. The service decides which values are allowed. */
  databaseType?: string;
  /** Client that it runs, from its environment. */
  provider?: string;
  /** Consensus protocol, from its environment. */
  consensusType?: string;
  /** First account that the node holds for its users. */
  firstUserAccount?: string;
  /** Port that a hybrid deployment gives it. */
  hybridPortAllocation?: number;
}

/** Data that a node reports about itself. */
export interface NodeStatusResult {
  /** Runtime endpoints: `rpc` (JSON-RPC over HTTPS) and `wss` (WebSocket). They require an AppCred of the same member and environment. */
  urls?: { rpc?: string; wss?: string };
  /** Identifier of the node on the blockchain network, hex. */
  nodeKey?: string;
  /** Address of the node's own account, hex. */
  publicAddress?: string;
  /** Addresses of the validators that it knows. */
  validators?: string[];
  /** Accounts that the node holds for its users. */
  userAccounts?: string[];
  /** Number of the latest block that the node knows. */
  blockHeight?: number;
}

/** Properties of each `Zone` that the service lists. */
export interface ZoneResult extends Listed {
  /** Name of the zone. */
  name?: string;
  /** Region of the cloud, by the cloud's own name, such as `us-east-2`. */
  region?: string;
  /** Cloud that it is in. */
  cloud?: string;
  /** Who runs its machines: `kaleido` is the service itself. */
  type?: string;
  /** Id of the bridge that connects it with machines of your own. */
  bridgeId?: string;
}

/** Properties of each `Configuration` that the service lists. */
export interface ConfigurationResult extends Listed {
  /** Id of the membership that owns it. */
  membershipId?: string;
  /** What it sets, by the service's own name. */
  type?: string;
  /** Name of the configuration. */
  name?: string;
}

/** Properties of each `Service` that the service lists. */
export interface ServiceResult extends Listed {
  /** Id of the membership that owns it. */
  membershipId?: string;
  /** Type of the service. */
  service?: string;
  /** Name of the service. */
  name?: string;
  /** Id of the environment's zone that it runs in. */
  zoneId?: string;
  /** Size of the machine. */
  size?: string;
  /** Settings, under the names of the service's type. Settings that the service adds do not count as a change. */
  details?: Record<string, unknown>;
  /** `member` for a service of one member, `utility` for one that all members share. */
  serviceType?: string;
  /** Addresses of the service, by name of the endpoint. */
  urls?: Record<string, string>;
  /** Port that a hybrid deployment gives it. */
  hybridPortAllocation?: number;
}

/** Properties of each `Invitation` that the service lists. */
export interface InvitationResult extends Listed {
  /** Name of the business. */
  orgName?: string;
  /** Address that the invitation is sent to. */
  email?: string;
}

/** A release of the software that environments run. */
export interface ReleaseResult {
  /** The service's id (`_id`): what `releaseId` of an `Environment` takes. */
  id: string;
  /** Client that it is for, such as `quorum`. */
  provider?: string;
  /** Version of the software. */
  version?: string;
  /** Status, in the service's own words. */
  releaseStatus?: string;
}

/** The account that pays for a tether's pins. */
export interface TetherAccountResult {
  /** Address on the public chain, 0x and 40 hex digits. */
  account?: string;
  /** Balance in wei, decimal text. */
  balanceWei?: string;
}

/** Balance of a tether service on one network. */
export interface TetherBalanceResult {
  /** Public chain of the account. */
  network: string;
  /** Balance in wei, decimal text. */
  balanceWei?: string;
}

/** One report of a tether service, and where it is pinned. */
export interface TetherReportResult {
  /** Place in the ordered list of reports, from 0. */
  index: number;
  /** Time of the pin. */
  pinnedAt?: string;
  /** Public chain that it is pinned to. */
  network?: string;
  /** Chain id of that chain. */
  chainId?: number;
  /** Address of the contract that holds the pin. */
  contractAddress?: string;
  /** Hash of the transaction that pinned it. */
  transactionHash?: string;
  /** Number of the block with that transaction. */
  blockNumber?: number;
  /** Place in the contract: another network has another contract, and counts from 0 again. */
  contractIndex?: number;
  /** Hash of all reports of the nodes, as pinned to the public chain. */
  hash?: string;
  /** One for each node. */
  reports: NodeReport[];
  /** The report exactly as the service shows it: `verifyReport` takes it. */
  report: unknown;
  /** Other fields that the service shows. */
  [field: string]: unknown;
}

/** Data that one node reported about itself. The fields are undocumented, so any of them may be missing. */
export interface NodeReport {
  /** Id of the node. */
  nodeId?: string;
  /** Name of the node. */
  nodeName?: string;
  /** Id of its environment. */
  environmentId?: string;
  /** State of the node. */
  state?: string;
  /** Number of the latest block. */
  blockHeight?: number;
  /** Hash of that block. */
  blockHash?: string;
  /** Root of the ledger's state at that block. */
  stateRoot?: string;
  /** Time of the report. */
  reportedAt?: string;
  /** Other fields that the service shows. */
  [field: string]: unknown;
}

/** Which environment. */
interface InEnvironment {
  /** Id of the consortium. */
  consortiumId: string;
  /** Id of the environment. */
  environmentId: string;
}

/** Arguments of `getConsortia`. */
export interface GetConsortiaArgs {
  /** Name of the consortia. Default: all. */
  name?: string;
}

export const [
  /** Consortia of the organization, optionally filtered by name. */
  getConsortia,
  /** Consortia of the organization, optionally filtered by name. For arguments that are outputs. */
  getConsortiaOutput,
] = lookup<GetConsortiaArgs, ConsortiumResult[]>("getConsortia", "list");

/** Arguments of `getMemberships`. */
export interface GetMembershipsArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Name of the business. Default: all. */
  orgName?: string;
}

export const [
  /** Memberships of a consortium, optionally filtered by business. */
  getMemberships,
  /** Memberships of a consortium, optionally filtered by business. For arguments that are outputs. */
  getMembershipsOutput,
] = lookup<GetMembershipsArgs, MembershipResult[]>("getMemberships", "list");

/** Arguments of `getEnvironments`. */
export interface GetEnvironmentsArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Name of the environments. Default: all. */
  name?: string;
}

export const [
  /** Environments of a consortium, optionally filtered by name. Deleted ones, which the service may still list, are left out. */
  getEnvironments,
  /** Environments of a consortium, optionally filtered by name. Deleted ones, which the service may still list, are left out. For arguments that are outputs. */
  getEnvironmentsOutput,
] = lookup<GetEnvironmentsArgs, EnvironmentResult[]>("getEnvironments", "list");

/** Arguments of `getNodes`. */
export interface GetNodesArgs extends InEnvironment {
  /** Name of the nodes. Default: all. */
  name?: string;
}

export const [
  /** Nodes of an environment, optionally filtered by name. */
  getNodes,
  /** Nodes of an environment, optionally filtered by name. For arguments that are outputs. */
  getNodesOutput,
] = lookup<GetNodesArgs, NodeResult[]>("getNodes", "list");

/** Arguments of `getConsortium`. */
export interface GetConsortiumArgs {
  /** Name of the consortium. */
  name: string;
}

export const [
  /** The consortium with a name. It fails if there is none, or more than one. */
  getConsortium,
  /** The consortium with a name. It fails if there is none, or more than one. For arguments that are outputs. */
  getConsortiumOutput,
] = lookup<GetConsortiumArgs, ConsortiumResult>("getConsortium", "one");

/** Arguments of `getMembership`. */
export interface GetMembershipArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Name of the membership. */
  orgName: string;
}

export const [
  /** The membership with a name. It fails if there is none, or more than one. */
  getMembership,
  /** The membership with a name. It fails if there is none, or more than one. For arguments that are outputs. */
  getMembershipOutput,
] = lookup<GetMembershipArgs, MembershipResult>("getMembership", "one");

/** Arguments of `getEnvironment`. */
export interface GetEnvironmentArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Name of the environment. */
  name: string;
}

export const [
  /** The environment with a name. It fails if there is none, or more than one. */
  getEnvironment,
  /** The environment with a name. It fails if there is none, or more than one. For arguments that are outputs. */
  getEnvironmentOutput,
] = lookup<GetEnvironmentArgs, EnvironmentResult>("getEnvironment", "one");

/** Arguments of `getNode`. */
export interface GetNodeArgs extends InEnvironment {
  /** Name of the node. */
  name: string;
}

export const [
  /** The node with a name. It fails if there is none, or more than one. */
  getNode,
  /** The node with a name. It fails if there is none, or more than one. For arguments that are outputs. */
  getNodeOutput,
] = lookup<GetNodeArgs, NodeResult>("getNode", "one");

/** Arguments of `getNodeStatus`. */
export interface GetNodeStatusArgs extends InEnvironment {
  /** Id of the node. */
  nodeId: string;
}

export const [
  /** Endpoints, accounts and block height of a node. */
  getNodeStatus,
  /** Endpoints, accounts and block height of a node. For arguments that are outputs. */
  getNodeStatusOutput,
] = lookup<GetNodeStatusArgs, NodeStatusResult>("getNodeStatus", "one");

/** Arguments of `getNodeLogs`. */
export interface GetNodeLogsArgs extends InEnvironment {
  /** Id of the node. */
  nodeId: string;
  /** Process that writes the log: `geth`, or `constellation` in a quorum environment. Default: `geth`. */
  client?: "geth" | "constellation";
  /** Maximum number of lines. Default: as many as the service gives. */
  maxLines?: number;
}

export const [
  /** The last lines of a node's log, of `geth` (the default) or `constellation`. */
  getNodeLogs,
  /** The last lines of a node's log, of `geth` (the default) or `constellation`. For arguments that are outputs. */
  getNodeLogsOutput,
] = lookup<GetNodeLogsArgs, string[]>("getNodeLogs", "list");

/** Arguments of `getZones`. */
export interface GetZonesArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Id of the environment. Default: the zones of the consortium itself. */
  environmentId?: string;
  /** Region of the cloud, such as `us-east-2`. Default: all. */
  region?: string;
  /** Cloud, such as `aws`. Default: all. */
  cloud?: string;
}

export const [
  /** Zones of a consortium or of one of its environments, optionally filtered by region or cloud. */
  getZones,
  /** Zones of a consortium or of one of its environments, optionally filtered by region or cloud. For arguments that are outputs. */
  getZonesOutput,
] = lookup<GetZonesArgs, ZoneResult[]>("getZones", "list");

/** Arguments of `getConfigurations`. */
export interface GetConfigurationsArgs extends InEnvironment {
  /** Name of the configurations. Default: all. */
  name?: string;
  /** Type of the configurations, such as `node_config`. Default: all. */
  type?: string;
}

export const [
  /** Configurations of an environment, optionally filtered by name or type. Their secret `details` are left out. */
  getConfigurations,
  /** Configurations of an environment, optionally filtered by name or type. Their secret `details` are left out. For arguments that are outputs. */
  getConfigurationsOutput,
] = lookup<GetConfigurationsArgs, ConfigurationResult[]>("getConfigurations", "list");

/** Arguments of `getServices`. */
export interface GetServicesArgs extends InEnvironment {
  /** Name of the services. Default: all. */
  name?: string;
  /** Type of the services, such as `ipfs`. Default: all. */
  service?: string;
}

export const [
  /** Services of an environment, optionally filtered by name or type. */
  getServices,
  /** Services of an environment, optionally filtered by name or type. For arguments that are outputs. */
  getServicesOutput,
] = lookup<GetServicesArgs, ServiceResult[]>("getServices", "list");

/** Arguments of `getInvitations`. */
export interface GetInvitationsArgs {
  /** Id of the consortium. */
  consortiumId: string;
  /** Name of the business. Default: all. */
  orgName?: string;
}

export const [
  /** Invitations to a consortium, optionally filtered by business. */
  getInvitations,
  /** Invitations to a consortium, optionally filtered by business. For arguments that are outputs. */
  getInvitationsOutput,
] = lookup<GetInvitationsArgs, InvitationResult[]>("getInvitations", "list");

/** Arguments of `getReleases`. */
export interface GetReleasesArgs {
  /** Client that the releases are for, such as `quorum`. Default: all. */
  provider?: string;
  /** Version of the releases. Default: all. */
  version?: string;
}

export const [
  /** Releases of the software that environments run, optionally filtered by client or version. */
  getReleases,
  /** Releases of the software that environments run, optionally filtered by client or version. For arguments that are outputs. */
  getReleasesOutput,
] = lookup<GetReleasesArgs, ReleaseResult[]>("getReleases", "list");

/** Arguments of `getTetherAccount`. */
export interface GetTetherAccountArgs {
  /** Id of the tether service: the last 10 characters of its console address. */
  tetherId: string;
}

export const [
  /** Address and balance of a tether service on the network it is set to. */
  getTetherAccount,
  /** Address and balance of a tether service on the network it is set to. For arguments that are outputs. */
  getTetherAccountOutput,
] = lookup<GetTetherAccountArgs, TetherAccountResult>("getTetherAccount", "one");

/** Arguments of `getTetherBalance`. */
export interface GetTetherBalanceArgs {
  /** Id of the tether service: the last 10 characters of its console address. */
  tetherId: string;
  /** Public chain: `mainnet`, `rinkeby`, or `local` on the embedded service. A value that is not known, and is meant: `other:<value>`. */
  network: "mainnet" | "rinkeby" | "local" | `other:${string}`;
}

export const [
  /** Balance of a tether service on a network, in wei, as decimal text. */
  getTetherBalance,
  /** Balance of a tether service on a network, in wei, as decimal text. For arguments that are outputs. */
  getTetherBalanceOutput,
] = lookup<GetTetherBalanceArgs, TetherBalanceResult>("getTetherBalance", "one");

/** Arguments of `getTetherReports`. */
export interface GetTetherReportsArgs {
  /** Id of the tether service: the last 10 characters of its console address. */
  tetherId: string;
  /** Index of the first report. Default: the latest ones. */
  from?: number;
  /** Maximum number of reports. Default: 10. */
  count?: number;
}

export const [
  /** Reports of a tether service: `count` (10) of them from index `from`; without `from`, the latest. */
  getTetherReports,
  /** Reports of a tether service: `count` (10) of them from index `from`; without `from`, the latest. For arguments that are outputs. */
  getTetherReportsOutput,
] = lookup<GetTetherReportsArgs, TetherReportResult[]>("getTetherReports", "list");
