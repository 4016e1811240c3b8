import { createServer, type AddressInfo } from "node:net";
import { request } from "undici";
import { type Service } from "../../service/index";

/** Ids of a consortium that other people made: two members, an environment, and a node of the first member. */
export type Network = Awaited<ReturnType<typeof network>>;

/** The address of a service, and the key. */
export type Place = Pick<Service, "baseUrl" | "apiKey">;

interface Made {
  readonly [field: string]: unknown;
  readonly _id: string;
  readonly id: string;
}

/** Asks the service without the client under test. */
export async function send<T = Made>(service: Place, method: string, path: string, body?: object): Promise<T> {
  const answer = await request(service.baseUrl + path, {
    method: method as "GET",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** A port of the loopback interface that nobody listens on, for programs that choose none. */
export const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once("error", fail);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

/** Builds the network and lets it start. */
export async function network(service: Service, time: { pass(ms: number): void }) {
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

/** Makes a tether pin to rinkeby, every so many hours. */
export async function startPinning(post: (path: string, body: object) => Promise<unknown>, id: string, interval = 1) {
  const actions = { targetNetwork: { network: "rinkeby" }, interval: { interval }, deploy: {}, activate: {} };
  for (const [action, body] of Object.entries(actions)) await post(`/tether/${id}/${action}`, body);
}

/** Ids of one of each other kind. */
export type Others = Awaited<ReturnType<typeof others>>;

/** Adds one of each other kind: the services are the first member's, and the document store has the destination `inbox`. */
export async function others(service: Service, time: { pass(ms: number): void }, net: Network) {
  const create = async (path: string, body: object): Promise<string> => (await send(service, "POST", path, body))._id;
  const { consortiumId, membershipId: membership_id } = net;
  const consortium = `/consortia/${consortiumId}`;
  const environment = `${consortium}/environments/${net.environmentId}`;
  const consortiumZoneId = await create(`${consortium}/zones`, { name: "ohio", region: "us-east-2", cloud: "aws" });
  const invitationId = await create(`${consortium}/invitations`, { org_name: "third", email: "ops@third.example" });
  const environmentZoneId = await create(`${environment}/zones`, { name: "ohio", region: "us-east-2", cloud: "aws" });
  const settings = { name: "gas", type: "node_config", membership_id, details: { gas_price: "hush" } };
  const configurationId = await create(`${environment}/configurations`, settings);
  const registry = { name: "registry", service: "idregistry", membership_id };
  const documents = { name: "documents", service: "documentstore", membership_id, zone_id: environmentZoneId };
  const registryId = await create(`${environment}/services`, registry);
  time.pass(1); // lists of what is alike go by age, and then by name
  const documentsId = await create(`${environment}/services`, documents);
  time.pass(60_000);
  await send(service, "POST", `${consortium}/memberships/${membership_id}/verify`, { test_certificate: true });
  await send(service, "POST", `/idregistry/${registryId}/identity`, { membership_id });
  await send(service, "PUT", `/documentstore/${documentsId}/destinations/inbox`, { name: "inbox" });
  time.pass(60_000);
  service.clearCalls();
  return { consortiumZoneId, invitationId, environmentZoneId, configurationId, registryId, documentsId };
}
