import { type ConsortiumClient } from "../../provider/api";
import { facts } from "../generated";
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
const shown = <T>(item: object): T =>
  Object.fromEntries(Object.entries(item).map(([key, value]: [string, unknown]) => [camel(key), value])) as T;

/** A lookup of a list: all of it, or what has the name that is given. */
const listOf = <R, A extends { [K in N]?: string } & object, N extends keyof A & keyof R>(
  name: string,
  naming: N,
  list: (client: ConsortiumClient, args: A) => Promise<object[]>,
) =>
  lookup<A, R[]>(name, "list", async (client, args) =>
    (await list(client, args))
      .map(shown<R>)
      .filter((item) => args[naming] === undefined || (item[naming] as unknown) === args[naming]),
  );

interface OfConsortium {
  consortiumId: string;
}
interface OfEnvironment extends OfConsortium {
  environmentId: string;
}
interface OfNode extends OfEnvironment {
  nodeId: string;
}

export const [
  /** Consortia of the organization, all or those of one name. */
  getConsortia,
  getConsortiaOutput,
] = listOf<ConsortiumResult, { name?: string }, "name">("getConsortia", "name", (client, { name }) =>
  client.listConsortia({ name }),
);

export const [
  /** Memberships of a consortium, all or those of one business. */
  getMemberships,
  getMembershipsOutput,
] = listOf<MembershipResult, OfConsortium & { orgName?: string }, "orgName">(
  "getMemberships",
  "orgName",
  (client, { consortiumId, orgName }) => client.listMemberships(consortiumId, { org_name: orgName }),
);

export const [
  /** Environments of a consortium; deleted ones, which the service may still list, are left out. */
  getEnvironments,
  getEnvironmentsOutput,
] = listOf<EnvironmentResult, OfConsortium & { name?: string }, "name">(
  "getEnvironments",
  "name",
  async (client, { consortiumId }) =>
    (await client.listEnvironments(consortiumId)).filter(({ state }) => state !== "deleted"),
);

export const [
  /** Nodes of an environment, all or those of one name. */
  getNodes,
  getNodesOutput,
] = listOf<NodeResult, OfEnvironment & { name?: string }, "name">(
  "getNodes",
  "name",
  (client, { consortiumId, environmentId, name }) => client.listNodes(consortiumId, environmentId, { name }),
);

export const [
  /** Endpoints, accounts and block height of a node. */
  getNodeStatus,
  getNodeStatusOutput,
] = lookup<OfNode, NodeStatusResult>("getNodeStatus", "one", async (client, args) => {
  const status = await client.getNodeStatus(args.consortiumId, args.environmentId, args.nodeId);
  const { id, geth, ...rest } = status;
  const all = shown<Record<string, unknown>>({ ...rest, ...geth, node_key: id });
  return Object.fromEntries([...facts.Node.unlisted, "blockHeight"].map((key) => [key, all[key]]));
});

export const [
  /** The last lines of a node's log, of `geth` (the default) or `constellation`. */
  getNodeLogs,
  getNodeLogsOutput,
] = lookup<OfNode & { client?: "geth" | "constellation"; maxLines?: number }, string[]>(
  "getNodeLogs",
  "list",
  (client, { consortiumId, environmentId, nodeId, client: process, maxLines }) =>
    client.getNodeLogs(consortiumId, environmentId, nodeId, process, maxLines),
);

export const [
  /** Address and balance of a tether service on the network it is set to. */
  getTetherAccount,
  getTetherAccountOutput,
] = lookup<{ tetherId: string }, TetherAccountResult>("getTetherAccount", "one", (client, { tetherId }) =>
  client.getTetherAccount(tetherId),
);

export const [
  /** Balance of a tether service on a network, in wei, as decimal text. */
  getTetherBalance,
  getTetherBalanceOutput,
] = lookup<{ tetherId: string; network: TetherNetworkName }, { network: TetherNetworkName; balanceWei?: string }>(
  "getTetherBalance",
  "one",
  async (client, { tetherId, network }) => ({
    network,
    balanceWei: await client.getTetherBalance(tetherId, network),
  }),
);

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

export const [
  /** Reports of a tether service: `count` (10) of them from index `from`; without `from`, the latest. */
  getTetherReports,
  getTetherReportsOutput,
] = lookup<{ tetherId: string; from?: number; count?: number }, TetherReportResult[]>(
  "getTetherReports",
  "list",
  async (client, { tetherId, from, count = 10 }) => {
    const total = await client.getTetherReportCount(tetherId);
    const first = Math.max(0, from ?? total - count);
    const indexes = Array.from({ length: Math.max(0, Math.min(count, total - first)) }, (_, offset) => first + offset);
    return Promise.all(
      indexes.map(async (index) => reportResult(index, await client.getTetherReport(tetherId, index))),
    );
  },
);
