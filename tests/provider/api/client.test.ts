import { ConsortiumClient } from "../../../provider/api/client";
import { resolveSettings } from "../../../provider/api/settings";
import { network, type Network } from "../../support/network";
import { start } from "../../support/service";

/* Every endpoint of the API once (spec, section 4), with typed results; what lookups ask for: tests/sdk/lookups. */

const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const tetherId = "tether0001";

interface World extends Network {
  client: ConsortiumClient;
  /** Ids of an environment, and of a node in it. */
  inside: [consortiumId: string, environmentId: string];
  node: [consortiumId: string, environmentId: string, nodeId: string];
}

const consortium = "/consortia/:consortiumId";
const environment = `${consortium}/environments/:environmentId`;
const oneNode = `${environment}/nodes/:nodeId`;
const tether = "/tether/:tetherId";

const endpoints: [call: string, act: (world: World) => Promise<unknown>, result: unknown, body?: unknown][] = [
  [
    "POST /consortia",
    ({ client }) => client.createConsortium({ name: "c", description: "d" }),
    { id: text, name: "c", description: "d", _revision: "0", created_at: text },
    { name: "c", description: "d" },
  ],
  [
    `POST ${consortium}/memberships`,
    ({ client, consortiumId }) => client.createMembership(consortiumId, { org_name: "m" }),
    { org_name: "m", org_id: text, state: "active", minimum_nodes: number, maximum_nodes: number },
    { org_name: "m" },
  ],
  [
    `POST ${consortium}/environments`,
    ({ client, consortiumId }) =>
      client.createEnvironment(consortiumId, { provider: "geth", consensus_type: "poa", chain_id: 5 }),
    {
      state: "initializing",
      provider: "geth",
      consensus_type: "poa",
      chain_id: 5,
      region: text,
      release_id: text,
      block_period: number,
      enable_tether: false,
    },
    { provider: "geth", consensus_type: "poa", chain_id: 5 },
  ],
  [
    `POST ${environment}/nodes`,
    ({ client, inside, membershipId }) => client.createNode(...inside, { membership_id: membershipId, name: "n" }),
    { name: "n", state: "initializing", membership_id: text, provider: "quorum", consensus_type: "ibft" },
    { membership_id: text, name: "n" },
  ],
  [`GET ${oneNode}`, ({ client, node }) => client.getNode(...node), { name: "node-0", state: "started" }],
  [
    `POST ${environment}/appcreds`,
    ({ client, inside, membershipId }) => client.createAppCred(...inside, { membership_id: membershipId }),
    { id: text, username: text, password: text, auth_type: "basic_auth" },
    { membership_id: text },
  ],
  [
    `DELETE ${environment}`,
    ({ client, consortiumId, otherEnvironmentId }) =>
      client.delete(`/consortia/${consortiumId}/environments/${otherEnvironmentId}`),
    { state: "deleted" },
  ],
  [
    `DELETE ${oneNode}`,
    ({ client, consortiumId, environmentId, nodeId }) =>
      client.delete(`/consortia/${consortiumId}/environments/${environmentId}/nodes/${nodeId}`),
    undefined,
  ],
  [
    `POST ${tether}/targetNetwork`,
    ({ client }) => client.setTetherNetwork(tetherId, "mainnet"),
    { network: "mainnet" },
    { network: "mainnet" },
  ],
  [`POST ${tether}/interval`, ({ client }) => client.setTetherInterval(tetherId, 3), { interval: 3 }, { interval: 3 }],
  [`POST ${tether}/deploy`, ({ client }) => client.deployTether(tetherId), { network: "rinkeby" }, {}],
];

const table = endpoints.map(([call, act, result, body]) => [call, { act, result, body }] as const);
test.each(table)("%s", async (call, { act, result, body }) => {
  const { service, time, calls } = await start({ tethers: [{ id: tetherId }] });
  const net = await network(service, time);
  const client = new ConsortiumClient(resolveSettings());
  await client.setTetherNetwork(tetherId, "rinkeby");
  service.clearCalls();

  const { consortiumId, environmentId, nodeId } = net;
  const inside: World["inside"] = [consortiumId, environmentId];
  const answer = await act({ ...net, client, inside, node: [...inside, nodeId] });
  if (typeof result === "object" && result !== null && !(result as { asymmetricMatch?: unknown }).asymmetricMatch) {
    expect(answer).toMatchObject(result);
    if (Array.isArray(result)) expect(answer).toHaveLength(result.length);
  } else expect(answer).toEqual(result);
  if (body !== undefined) expect(service.calls[0]!.body).toEqual(body);
  expect(calls()).toEqual([call]);
  await client.close();
});

test("a tether's life: deployed, active, with reports, inactive", async () => {
  const { service, time } = await start({ tethers: [{ id: tetherId }], timing: { tetherHour: 1_000 } });
  await network(service, time);
  const client = new ConsortiumClient(resolveSettings());
  await client.setTetherNetwork(tetherId, "rinkeby");
  await client.setTetherInterval(tetherId, 1);
  await client.deployTether(tetherId);
  expect(await client.activateTether(tetherId)).toBe(true);
  time.pass(2_500);
  expect(await client.getTetherReportCount(tetherId)).toBe(3);
  const latest = await client.getTetherLastReport(tetherId);
  expect(latest).toEqual([expect.objectContaining({ node_name: "node-0" })]);
  expect(await client.getTetherReport(tetherId, 2)).toEqual(latest);
  expect(await client.deactivateTether(tetherId)).toBe(true);
  await client.close();
});
