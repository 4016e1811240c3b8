import { type Input, type InvokeOptions, output, type Output } from "@pulumi/pulumi";
import { type ConsortiumClient, type TetherAccount } from "../provider/api";
import { lookUp } from "./connection";

/** What every object of the service has (spec, section 2). */
interface Found {
  /** The service's id (`_id`), as in the `id` of the resource. */
  id: string;
  state?: string;
  revision?: string;
  createdAt?: string;
}

export interface ConsortiumResult extends Found {
  name?: string;
  description?: string;
  owner?: string;
}
export interface MembershipResult extends Found {
  orgName?: string;
  orgId?: string;
  minimumNodes?: number;
  maximumNodes?: number;
}
export interface EnvironmentResult extends Found {
  name?: string;
  description?: string;
  provider?: string;
  consensusType?: string;
  chainId?: number;
  region?: string;
  releaseId?: string;
  blockPeriod?: number;
  initialDelay?: number;
  idleHours?: number;
  enableTether?: boolean;
}
export interface NodeResult extends Found {
  name?: string;
  membershipId?: string;
  role?: string;
  provider?: string;
  consensusType?: string;
}
export interface NodeStatusResult {
  /** Identifier of the node on the blockchain network, hex. */
  nodeKey?: string;
  publicAddress?: string;
  validators?: string[];
  userAccounts?: string[];
  blockHeight?: number;
  urls?: { rpc?: string; wss?: string };
}
export interface TetherReportResult {
  /** Place in the ordered list of reports, from 0. */
  index: number;
  /** The report as the service shows it: its fields are not documented (spec, section 2.8). */
  report: unknown;
}

type Inputs<A> = { [K in keyof A]: Input<A[K]> };
export type TetherNetworkName = "mainnet" | "rinkeby";

const camel = (key: string): string =>
  key.replace(/^_/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields under the names that the resources use; unknown ones are kept. */
const shown = <T>(item: object): T => {
  const renamed = Object.entries<unknown>(item as Record<string, unknown>).map(([key, value]) => [camel(key), value]);
  return Object.fromEntries(renamed) as T;
};

/** A lookup, and its form for arguments that are outputs. */
function lookup<A, R>(run: (client: ConsortiumClient, args: A) => Promise<R>) {
  const get = (args: A, opts?: InvokeOptions): Promise<R> => lookUp(opts, (client) => run(client, args));
  const getOutput = (args: Inputs<A>, opts?: InvokeOptions): Output<R> =>
    output(args).apply<R>((known) => get(known as A, opts));
  return [get, getOutput] as const;
}

const [consortia, consortiaOutput] = lookup<{ name?: string }, ConsortiumResult[]>(async (client, { name }) =>
  (await client.listConsortia({ name }))
    .filter((item) => name === undefined || item.name === name)
    .map(shown<ConsortiumResult>),
);
const [memberships, membershipsOutput] = lookup<{ consortiumId: string; orgName?: string }, MembershipResult[]>(
  async (client, { consortiumId, orgName }) =>
    (await client.listMemberships(consortiumId, { org_name: orgName }))
      .filter((item) => orgName === undefined || item.org_name === orgName)
      .map(shown<MembershipResult>),
);
const [environments, environmentsOutput] = lookup<{ consortiumId: string; name?: string }, EnvironmentResult[]>(
  async (client, { consortiumId, name }) =>
    (await client.listEnvironments(consortiumId))
      .filter((item) => item.state !== "deleted" && (name === undefined || item.name === name))
      .map(shown<EnvironmentResult>),
);
const [nodes, nodesOutput] = lookup<{ consortiumId: string; environmentId: string; name?: string }, NodeResult[]>(
  async (client, { consortiumId, environmentId, name }) =>
    (await client.listNodes(consortiumId, environmentId, { name }))
      .filter((item) => name === undefined || item.name === name)
      .map(shown<NodeResult>),
);

interface WhichNode {
  consortiumId: string;
  environmentId: string;
  nodeId: string;
}
const [nodeStatus, nodeStatusOutput] = lookup<WhichNode, NodeStatusResult>(
  async (client, { consortiumId, environmentId, nodeId }) => {
    const { id, geth, user_accounts, block_height, urls } = await client.getNodeStatus(
      consortiumId,
      environmentId,
      nodeId,
    );
    return {
      nodeKey: id,
      publicAddress: geth?.public_address,
      validators: geth?.validators,
      userAccounts: user_accounts,
      blockHeight: block_height,
      urls: urls && { rpc: urls.rpc, wss: urls.wss },
    };
  },
);
const [nodeLogs, nodeLogsOutput] = lookup<
  WhichNode & { client?: "geth" | "constellation"; maxLines?: number },
  string[]
>((client, { consortiumId, environmentId, nodeId, client: process, maxLines }) =>
  client.getNodeLogs(consortiumId, environmentId, nodeId, process, maxLines),
);

const [tetherAccount, tetherAccountOutput] = lookup<{ tetherId: string }, TetherAccount>((client, { tetherId }) =>
  client.getTetherAccount(tetherId),
);
const [tetherBalance, tetherBalanceOutput] = lookup<
  { tetherId: string; network: TetherNetworkName },
  { network: TetherNetworkName; balanceWei?: string }
>(async (client, { tetherId, network }) => ({ network, balanceWei: await client.getTetherBalance(tetherId, network) }));
const [tetherReports, tetherReportsOutput] = lookup<
  { tetherId: string; from?: number; count?: number },
  TetherReportResult[]
>(async (client, { tetherId, from, count = 10 }) => {
  const total = await client.getTetherReportCount(tetherId);
  const first = Math.max(0, from ?? total - count);
  const indexes = Array.from({ length: Math.max(0, Math.min(count, total - first)) }, (_, offset) => first + offset);
  return Promise.all(indexes.map(async (index) => ({ index, report: await client.getTetherReport(tetherId, index) })));
});

export {
  /** Consortia of the organization, all or those of one name (spec, section 4.1). */
  consortia as getConsortia,
  consortiaOutput as getConsortiaOutput,
  /** Environments of a consortium; deleted ones, which the service may still list, are left out. */
  environments as getEnvironments,
  environmentsOutput as getEnvironmentsOutput,
  /** Memberships of a consortium, all or those of one business. */
  memberships as getMemberships,
  membershipsOutput as getMembershipsOutput,
  /** The last lines of a node's log, of `geth` (the default) or `constellation`. */
  nodeLogs as getNodeLogs,
  nodeLogsOutput as getNodeLogsOutput,
  /** Nodes of an environment, all or those of one name. */
  nodes as getNodes,
  nodesOutput as getNodesOutput,
  /** Endpoints, accounts and block height of a node (spec, section 2.5). */
  nodeStatus as getNodeStatus,
  nodeStatusOutput as getNodeStatusOutput,
  /** Address and balance of a tether service on the network it is set to. */
  tetherAccount as getTetherAccount,
  tetherAccountOutput as getTetherAccountOutput,
  /** Balance of a tether service on a network, in wei, as decimal text. */
  tetherBalance as getTetherBalance,
  tetherBalanceOutput as getTetherBalanceOutput,
  /** Reports of a tether service: `count` (10) of them from index `from`; without `from`, the latest. */
  tetherReports as getTetherReports,
  tetherReportsOutput as getTetherReportsOutput,
};
