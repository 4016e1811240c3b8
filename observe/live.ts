import {
  AppCredObject,
  type ConsortiumClient,
  ConsortiumObject,
  EnvironmentObject,
  isApiError,
  MembershipObject,
  NodeObject,
} from "../provider/api";
import { paths } from "../provider/api/paths";
import { conditionOf } from "../provider/api/states";
import { SharedAnswers } from "./answers";
import { chosenConsortium } from "./choose";
import { bound, observeTether } from "./live-tether";
import {
  type ConsortiumModel,
  type CredentialModel,
  type EnvironmentModel,
  limitsUsed,
  type MembershipModel,
  type NetworkModel,
  type NodeModel,
} from "./model";

export interface LiveOptions {
  /** Id or name of the one consortium to look at. Default: all. */
  consortium?: string;
  /** Ids of the tethers to look at: the API has no list of them. */
  tethers?: readonly string[];
  /** Whether to ask every started node for its addresses and height: one request each. Default: no. */
  nodeStatus?: boolean;
  /** What was answered within the last seconds, shared by all who look. Default: nothing. */
  answers?: SharedAnswers;
}

/** The network as the service shows it now. */
export async function observeLive(client: ConsortiumClient, options: LiveOptions = {}): Promise<NetworkModel> {
  const { consortium: wanted, nodeStatus = false, answers = new SharedAnswers(client) } = options;
  const [all, tethers] = await Promise.all([
    answers.list(paths.consortia, ConsortiumObject),
    Promise.all((options.tethers ?? []).map((id) => observeTether(answers, id))),
  ]);
  const chosen = wanted === undefined ? all : [chosenConsortium(all, wanted)];
  const consortia = await Promise.all(chosen.map((one) => observeConsortium(answers, one, nodeStatus)));
  for (const environment of consortia.flatMap(({ environments }) => environments)) {
    const tether = tethers.find((one) => bound(one, environment.nodes));
    if (tether) environment.tether = tether.model.id;
  }
  const owners = new Set(all.map(({ owner }) => owner));
  return {
    source: "live",
    ...(owners.size === 1 && { organization: all[0]?.owner }),
    // The limit of consortia is the organization's, whichever are shown.
    limits: limitsUsed(consortia).map((one) => (one.kind === "consortia" ? { ...one, used: all.length } : one)),
    consortia: sorted(consortia),
    tethers: tethers.map(({ model }) => model),
  };
}

async function observeConsortium(
  answers: SharedAnswers,
  { id, name = id, description, owner, state }: ConsortiumObject,
  nodeStatus: boolean,
): Promise<ConsortiumModel> {
  const [memberships, environments] = await Promise.all([
    present(answers.list(paths.memberships(id), MembershipObject)),
    present(answers.list(paths.environments(id), EnvironmentObject)),
  ]);
  const inside = environments.map((one) => observeEnvironment(answers, id, one, nodeStatus));
  return {
    ...{ id, name, description, owner, state },
    memberships: sorted(memberships.map(membershipOf)),
    environments: sorted(await Promise.all(inside)),
  };
}

const membershipOf = (one: MembershipObject): MembershipModel => ({
  ...{ id: one.id, orgName: one.org_name ?? one.id, orgId: one.org_id, state: one.state },
  ...{ minimumNodes: one.minimum_nodes, maximumNodes: one.maximum_nodes },
});

async function observeEnvironment(
  answers: SharedAnswers,
  consortiumId: string,
  one: EnvironmentObject,
  nodeStatus: boolean,
): Promise<EnvironmentModel> {
  const { id } = one;
  const [nodes, credentials] = await Promise.all([
    present(answers.list(paths.nodes(consortiumId, id), NodeObject)),
    present(answers.list(paths.appcreds(consortiumId, id), AppCredObject)),
  ]);
  const looked = nodes.map(async (node): Promise<NodeModel> => {
    const { id: nodeId, name = nodeId, membership_id: membershipId, state, role } = node;
    const status = nodeStatus ? await statusOf(answers, consortiumId, id, node) : {};
    return { id: nodeId, name, membershipId, state, role, ...status };
  });
  return {
    ...{ id, name: one.name ?? id, state: one.state, chainId: one.chain_id, region: one.region },
    ...{ provider: one.provider, consensusType: one.consensus_type, releaseId: one.release_id },
    ...{ blockPeriod: one.block_period, idleHours: one.idle_hours },
    nodes: sorted(await Promise.all(looked)),
    credentials: credentials.map(credentialOf).sort(byName),
  };
}

const credentialOf = ({ id, name, membership_id: membershipId }: AppCredObject): CredentialModel => ({
  ...{ id, name, membershipId },
});

/** What a started node shows of itself; nothing while it does not. */
async function statusOf(
  answers: SharedAnswers,
  consortiumId: string,
  environmentId: string,
  { id, state }: NodeObject,
): Promise<Partial<NodeModel>> {
  if (conditionOf(state) !== "ready") return {};
  try {
    const status = await answers.get(`${consortiumId}/${environmentId}/${id}/status`, (client) =>
      client.getNodeStatus(consortiumId, environmentId, id),
    );
    const { urls, geth, block_height: blockHeight } = status;
    return {
      ...{ blockHeight, publicAddress: geth?.public_address, validators: geth?.validators },
      ...(urls && { urls: { rpc: urls.rpc, wss: urls.wss } }),
    };
  } catch (error) {
    if (isApiError(error, "missing", "conflict", "invalid", "server", "unavailable", "unsupported")) return {};
    throw error;
  }
}

/** What is gone meanwhile has nothing in it; and a service need not list credentials (spec, section 4.1). */
async function present<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (isApiError(error, "missing", "unsupported")) return [];
    throw error;
  }
}

/** In an order of their own: that of the lists may be another one tomorrow. */
const sorted = <T extends Named>(objects: T[]): T[] => objects.sort(byName);

type Named = { id: string; name?: string; orgName?: string };

const byName = (a: Named, b: Named): number =>
  (a.orgName ?? a.name ?? a.id).localeCompare(b.orgName ?? b.name ?? b.id, "en", { numeric: true }) ||
  (a.id < b.id ? -1 : 1);
