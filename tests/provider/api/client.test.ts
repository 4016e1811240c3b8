import { ConsortiumClient } from "../../../provider/api/client";
import { resolveSettings } from "../../../provider/api/settings";
import { network } from "../../support/network";
import { failure, json, peer, settingsFor } from "../../support/peer";
import { start } from "../../support/service";

/* Endpoints of the API (spec, section 4), with typed results. The calls of lookups are in tests/sdk/lookups. */

const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const tetherId = "tether0001";

const consortium = "/consortia/:consortiumId";
const environment = `${consortium}/environments/:environmentId`;

async function connected() {
  const started = await start({ tethers: [{ id: tetherId }], timing: { tetherHour: 1_000 } });
  const net = await network(started.service, started.time);
  return { ...started, net, client: new ConsortiumClient(resolveSettings()) };
}

test("each method makes one call with exactly its arguments, and returns the answer", async () => {
  const { service, calls, net, client } = await connected();
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

test("a tether's life: deployed, active, with reports, inactive", async () => {
  const { service, time, calls, client } = await connected();
  expect(await client.setTetherNetwork(tetherId, "rinkeby")).toMatchObject({ network: "rinkeby" });
  expect(await client.setTetherInterval(tetherId, 1)).toMatchObject({ interval: 1 });
  expect(await client.deployTether(tetherId)).toMatchObject({ network: "rinkeby" });
  expect(service.calls.map(({ body }) => body)).toEqual([{ network: "rinkeby" }, { interval: 1 }, {}]);
  expect(calls()).toEqual(["targetNetwork", "interval", "deploy"].map((one) => `POST /tether/:tetherId/${one}`));
  expect(await client.activateTether(tetherId)).toBe(true);
  time.pass(2_500);
  expect(await client.getTetherReportCount(tetherId)).toBe(3);
  const latest = await client.getTetherLastReport(tetherId);
  expect(latest).toEqual([expect.objectContaining({ node_name: "node-0" })]);
  expect(await client.getTetherReport(tetherId, 2)).toEqual(latest);
  expect(await client.deactivateTether(tetherId)).toBe(true);
  await client.close();
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
