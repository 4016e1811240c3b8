import { lookup } from "./lookup";
import {
  type ConsortiumResult,
  type EnvironmentResult,
  type MembershipResult,
  type NodeReport,
  type NodeResult,
  type NodeStatusResult,
  type TetherAccountResult,
  type TetherNetworkName,
  type TetherReportResult,
} from "./results";

const camel = (key: string): string =>
  key.replace(/^_/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields under the names that the resources use; unknown ones are kept. */
const shown = <T>(item: object): T => {
  const renamed = Object.entries<unknown>(item as Record<string, unknown>).map(([key, value]) => [camel(key), value]);
  return Object.fromEntries(renamed) as T;
};

/** A service shows the nodes' reports bare, or within an object that says where they are pinned. */
function reportResult(index: number, report: unknown): TetherReportResult {
  const isObject = typeof report === "object" && report !== null && !Array.isArray(report);
  const whole = isObject ? shown<Record<string, unknown>>(report) : {};
  const inner = isObject ? whole.reports : report;
  const nodes = Array.isArray(inner) ? (inner as (object | null)[]) : [];
  const reports = nodes
    .filter((node) => typeof node === "object" && node !== null)
    .map((node) => shown<NodeReport>(node));
  return { ...whole, index, reports, report };
}

const [consortia, consortiaOutput] = lookup<{ name?: string }, ConsortiumResult[]>(
  "getConsortia",
  "list",
  async (client, { name }) =>
    (await client.listConsortia({ name }))
      .filter((item) => name === undefined || item.name === name)
      .map(shown<ConsortiumResult>),
);
const [memberships, membershipsOutput] = lookup<{ consortiumId: string; orgName?: string }, MembershipResult[]>(
  "getMemberships",
  "list",
  async (client, { consortiumId, orgName }) =>
    (await client.listMemberships(consortiumId, { org_name: orgName }))
      .filter((item) => orgName === undefined || item.org_name === orgName)
      .map(shown<MembershipResult>),
);
const [environments, environmentsOutput] = lookup<{ consortiumId: string; name?: string }, EnvironmentResult[]>(
  "getEnvironments",
  "list",
  async (client, { consortiumId, name }) =>
    (await client.listEnvironments(consortiumId))
      .filter((item) => item.state !== "deleted" && (name === undefined || item.name === name))
      .map(shown<EnvironmentResult>),
);
const [nodes, nodesOutput] = lookup<{ consortiumId: string; environmentId: string; name?: string }, NodeResult[]>(
  "getNodes",
  "list",
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
  "getNodeStatus",
  "one",
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
>("getNodeLogs", "list", (client, { consortiumId, environmentId, nodeId, client: process, maxLines }) =>
  client.getNodeLogs(consortiumId, environmentId, nodeId, process, maxLines),
);

const [tetherAccount, tetherAccountOutput] = lookup<{ tetherId: string }, TetherAccountResult>(
  "getTetherAccount",
  "one",
  (client, { tetherId }) => client.getTetherAccount(tetherId),
);
const [tetherBalance, tetherBalanceOutput] = lookup<
  { tetherId: string; network: TetherNetworkName },
  { network: TetherNetworkName; balanceWei?: string }
>("getTetherBalance", "one", async (client, { tetherId, network }) => ({
  network,
  balanceWei: await client.getTetherBalance(tetherId, network),
}));
const [tetherReports, tetherReportsOutput] = lookup<
  { tetherId: string; from?: number; count?: number },
  TetherReportResult[]
>("getTetherReports", "list", async (client, { tetherId, from, count = 10 }) => {
  const total = await client.getTetherReportCount(tetherId);
  const first = Math.max(0, from ?? total - count);
  const indexes = Array.from({ length: Math.max(0, Math.min(count, total - first)) }, (_, offset) => first + offset);
  return Promise.all(indexes.map(async (index) => reportResult(index, await client.getTetherReport(tetherId, index))));
});

export {
  /** Consortia of the organization, all or those of one name. */
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
  /** Endpoints, accounts and block height of a node. */
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
