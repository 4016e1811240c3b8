import { ReadRequest, type ReadResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ProviderService } from "../../plugin/service";
import { network, type Network, send } from "../support/network";
import { start, type Started } from "../support/service";
import { type ServiceOptions } from "../../service";

/** What `Read` answers for an id that is in no stack yet. */

interface World extends Started {
  net: Network;
  credential: string;
  read: (type: string, id: string, resource?: string) => Promise<{ id: string; inputs: unknown; state: unknown }>;
}

const tetherId = "t0import00";

async function world(options: ServiceOptions = {}): Promise<World> {
  const started = await start({ tethers: [{ id: tetherId }], ...options });
  const net = await network(started.service, started.time);
  const credentials = `/consortia/${net.consortiumId}/environments/${net.environmentId}/appcreds`;
  const { _id, id } = await send(started.service, "POST", credentials, { membership_id: net.membershipId });
  const { calls } = new ProviderService();
  const read = async (type: string, given: string, resource = "a") => {
    const request = new ReadRequest();
    request.setId(given);
    request.setUrn(`urn:pulumi:test::test::consortium:index:${type}::${resource}`);
    const response = await new Promise<ReadResponse>((resolve, reject) =>
      calls.read({ request } as never, (error, answer) =>
        error ? reject(new Error((error as { details?: string }).details)) : resolve(answer!),
      ),
    );
    const shown = [response.getInputs(), response.getProperties()].map((struct) => struct?.toJavaScript());
    return { id: response.getId(), inputs: shown[0], state: shown[1] };
  };
  started.service.clearCalls();
  return { ...started, net, credential: _id ?? id, read };
}

test("names and ids in one path, ids first; what the service chose is no input", async () => {
  const { read, net, service } = await world();
  await send(service, "POST", "/consortia", { name: net.consortiumId }); // named like the other's id
  const inputs = { consortiumId: net.consortiumId, provider: "quorum", consensusType: "ibft", name: "main" };
  for (const path of [`${net.consortiumId}/main`, `fixture/${net.environmentId}`, "fixture/main", net.environmentId])
    expect(await read("Environment", path)).toMatchObject({ id: net.environmentId, inputs });
  const { inputs: given, state } = await read("Environment", net.environmentId);
  expect(given).toEqual(inputs);
  expect(state).toMatchObject({ chainId: expect.any(Number) as number });
});

test("a hundred imports share the lists: each collection is asked for once, that of nodes once more for what is found", async () => {
  const { read, net, calls } = await world();
  const wanted = [`fixture/main/node-0`, net.nodeId];
  await Promise.all(Array.from({ length: 100 }, (_, index) => read("Node", wanted[index % 2]!)));
  const lists = calls().filter((call) => !call.endsWith("/status"));
  expect(lists.sort()).toEqual([
    "GET /consortia",
    "GET /consortia/:consortiumId/environments",
    "GET /consortia/:consortiumId/environments/:environmentId/nodes",
    "GET /consortia/:consortiumId/environments/:environmentId/nodes",
  ]);
});

test("namesakes are refused with their ids; a slash in a name is escaped", async () => {
  const { read, net, service } = await world();
  const nodes = `/consortia/${net.consortiumId}/environments/${net.environmentId}/nodes`;
  const other = await send(service, "POST", nodes, { name: "node-0", membership_id: net.membershipId });
  await send(service, "POST", nodes, { name: "100% / a", membership_id: net.membershipId });
  const both = new RegExp(`${net.nodeId}, ${other._id}|${other._id}, ${net.nodeId}`);
  await expect(read("Node", "fixture/main/node-0")).rejects.toThrow(both);
  expect(await read("Node", "fixture/main/100%25 %2F a")).toMatchObject({ inputs: { name: "100% / a" } });
  await expect(read("Node", "fixture/main/100% / a")).rejects.toThrow(/path consortium\/environment\/node, .*%2F/);
});

test.each([
  ["Consortium", "fixtrue", /no consortium "fixtrue" in \/consortia; did you mean "fixture"\?/],
  [
    "Node",
    "fixture/main",
    /"fixture\/main" does not say which node: give its id, or the path consortium\/environment\/node/,
  ],
  ["Node", "fixture//node-0", /does not say which node/],
  ["Consortium", "a / b", /does not say which consortium: give its id or name\. A "\/" in a name is written %2F/],
  ["Node", "n0nowhere0", /no node with the id "n0nowhere0" in any consortium that the API key shows/],
  ["Membership", "fixture/third", /no membership "third".*; there are first, second\./],
  ["TetherService", "t0nowhere0", /TetherService "t0nowhere0" was not found: check the id/],
  [
    "TetherService",
    tetherId,
    /cannot be imported: the service does not show network and intervalHours\. .*leave the import out/,
  ],
])("%s %s: one clear error", async (type, id, message) => {
  const { read, service } = await world();
  await expect(read(type, id)).rejects.toThrow(message);
  expect(service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("a credential is found by its id alone, under the name of the resource where the service shows none", async () => {
  const { read, net, credential } = await world();
  expect(await read("AppCred", credential, "app")).toMatchObject({
    id: credential,
    inputs: { name: "app", membershipId: net.membershipId, environmentId: net.environmentId },
  });
});

test("where the service lists no credentials, the import says what to do instead", async () => {
  const { read, credential } = await world({ answers: { listCredentials: 404 } });
  const message = /does not list each credential, so none can be imported\. .*leave the import out to make a new one/;
  for (const id of [credential, `fixture/main/${credential}`])
    await expect(read("AppCred", id)).rejects.toThrow(message);
});

test("a tether that pins is imported with all that the service shows, by its id or its address", async () => {
  const { read, service } = await world({ ledger: false });
  for (const [call, body] of Object.entries({
    targetNetwork: { network: "rinkeby" },
    interval: { interval: 6 },
    deploy: {},
  }))
    await send(service, "POST", `/tether/${tetherId}/${call}`, body);
  await send(service, "POST", `/tether/${tetherId}/activate`, {}).catch(() => undefined); // its answer is no object
  for (const id of [tetherId, `https://console.example.com/tethers/${tetherId}`])
    expect(await read("TetherService", id)).toMatchObject({
      id: tetherId,
      inputs: { tetherId, network: "rinkeby", intervalHours: 6, active: true },
      state: { state: "active", deployedNetworks: ["rinkeby"], account: expect.stringMatching(/^0x/) as string },
    });
});
