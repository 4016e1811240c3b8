import { ConsortiumClient } from "../../../provider/api/client";
import { resolveSettings } from "../../../provider/api/settings";
import { network } from "../../support/network";
import { failure, json, peer, settingsFor } from "../../support/peer";
import { start } from "../../support/service";

/* Endpoints of the API (spec, section 4), with typed results. Calls of lookups: sdk/lookups; of a tether: provider/resources/tether. */

const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const tetherId = "tether0001";

const consortium = "/consortia/:consortiumId";
const environment = `${consortium}/environments/:environmentId`;

test("each method makes one call with exactly its arguments, and returns the answer", async () => {
  const { service, time, calls } = await start();
  const net = await network(service, time);
  const client = new ConsortiumClient(resolveSettings());
  const { consortiumId, environmentId, nodeId, membershipId: membership_id } = net;
  const inside = [consortiumId, environmentId] as const;
  const within = `/consortia/${consortiumId}/environments`;
  const geth = { provider: "geth", consensus_type: "poa", chain_id: 5 };
  const ofGeth = { region: text, release_id: text, block_period: number, enable_tether: false };
  const member = { org_id: text, state: "active", minimum_nodes: number, maximum_nodes: number };
  const ofQuorum = { state: "initializing", provider: "quorum", consensus_type: "ibft" };
  const credential = { id: text, username: text, password: text, auth_type: "basic_auth" };

  const creates: [where: string, body: object, create: (body: never) => Promise<object>, shows: object][] = [
    [
      "/consortia",
      { name: "c", description: "d" },
      (body) => client.createConsortium(body),
      { id: text, _revision: "0", created_at: text },
    ],
    [`${consortium}/memberships`, { org_name: "m" }, (body) => client.createMembership(consortiumId, body), member],
    [`${consortium}/environments`, geth, (body) => client.createEnvironment(consortiumId, body), ofGeth],
    [`${environment}/nodes`, { membership_id, name: "n" }, (body) => client.createNode(...inside, body), ofQuorum],
    [`${environment}/appcreds`, { membership_id }, (body) => client.createAppCred(...inside, body), credential],
  ];
  for (const [where, body, create, shows] of creates) {
    expect(await create(body as never)).toMatchObject({ ...(where.endsWith("/appcreds") ? {} : body), ...shows });
    expect(service.calls.map((call) => call.body)).toEqual([body]);
    expect(calls()).toEqual([`POST ${where}`]);
  }

  expect(await client.getNode(...inside, nodeId)).toMatchObject({ name: "node-0", state: "started" });
  expect(await client.delete(`${within}/${environmentId}/nodes/${nodeId}`)).toBeUndefined();
  expect(await client.delete(`${within}/${net.otherEnvironmentId}`)).toMatchObject({ state: "deleted" });
  const oneNode = `${environment}/nodes/:nodeId`;
  expect(calls()).toEqual([`GET ${oneNode}`, `DELETE ${oneNode}`, `DELETE ${environment}`]);
  await client.close();
});

test("the last report of a tether", async () => {
  const { baseUrl, requests } = await peer(json(200, [{ node_name: "node-0" }]));
  const client = new ConsortiumClient(settingsFor(baseUrl));
  expect(await client.getTetherLastReport(tetherId)).toEqual([{ node_name: "node-0" }]);
  expect(requests.map(({ url }) => url)).toEqual([`/api/v1/tether/${tetherId}/lastReport`]);
});

describe.each(["activate", "deactivate"] as const)("%s", (action) => {
  const isStarted = action === "activate";
  const answered = async (body: unknown) => {
    const { baseUrl } = await peer(json(200, body));
    return new ConsortiumClient(settingsFor(baseUrl))[`${action}Tether`](tetherId);
  };

  test.each([[{ started: isStarted }], [{ config: { started: isStarted } }], [{ config: {} }], [true]])(
    "%j is a yes",
    async (body) => expect(await answered(body)).toEqual(body),
  );
  test.each([[{ started: !isStarted }], [{ config: { started: !isStarted } }]])("%j is a no", async (body) => {
    const { message } = await failure(answered(body));
    expect(message).toContain(`POST /tether/${tetherId}/${action}`);
    expect(message).toContain(`started: ${!isStarted}`);
  });
});
