import { type Service } from "../../service";

/** Ids of a consortium that other people made: two members, an environment, and a node of the first member. */
export interface Network {
  consortiumId: string;
  membershipId: string;
  otherMembershipId: string;
  environmentId: string;
  otherEnvironmentId: string;
  nodeId: string;
}

interface Made {
  readonly [field: string]: unknown;
  readonly _id: string;
  readonly id: string;
}

/** Asks the service without the client under test. */
export async function send(service: Service, method: string, path: string, body?: object): Promise<Made> {
  const answer = await fetch(service.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as Made;
}

/** Builds the network and lets it start. */
export async function network(service: Service, time: { pass(ms: number): void }): Promise<Network> {
  const create = async (path: string, body: object): Promise<string> => (await send(service, "POST", path, body))._id;
  const consortiumId = await create("/consortia", { name: "fixture" });
  const within = `/consortia/${consortiumId}`;
  const membershipId = await create(`${within}/memberships`, { org_name: "first" });
  const otherMembershipId = await create(`${within}/memberships`, { org_name: "second" });
  const kind = { provider: "quorum", consensus_type: "ibft" };
  const environmentId = await create(`${within}/environments`, { name: "main", ...kind });
  const otherEnvironmentId = await create(`${within}/environments`, { name: "spare", ...kind });
  const nodes = `${within}/environments/${environmentId}/nodes`;
  const nodeId = await create(nodes, { name: "node-0", membership_id: membershipId });
  time.pass(10_000);
  service.clearCalls();
  return { consortiumId, membershipId, otherMembershipId, environmentId, otherEnvironmentId, nodeId };
}
