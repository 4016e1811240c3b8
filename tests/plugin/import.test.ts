import { Metadata } from "@grpc/grpc-js";
import { ReadRequest, type ReadResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ProviderService } from "../../plugin/service";
import { network, others, send, startPinning } from "../support/network";
import { start } from "../support/service";
import { type ServiceOptions } from "../../service/index";

/** Answers of `Read` for an id that is in no stack yet. */

const tetherId = "t0import00";

async function world(options: ServiceOptions = {}) {
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
      calls.read({ request, metadata: new Metadata() } as never, (error, answer) =>
        error ? reject(new Error((error as { details?: string }).details)) : resolve(answer!),
      ),
    );
    const shown = [response.getInputs(), response.getProperties()].map((struct) => struct?.toJavaScript());
    return { id: response.getId(), inputs: shown[0], state: shown[1] };
  };
  started.service.clearCalls();
  return { ...started, net, credential: _id ?? id, read };
}

test("names and ids in one path, ids first; values that the service chose are not inputs", async () => {
  const { read, net, service } = await world();
  await send(service, "POST", "/consortia", { name: net.consortiumId }); // named like the other's id
  const inputs = { consortiumId: net.consortiumId, provider: "quorum", consensusType: "ibft", name: "main" };
  for (const path of [`${net.consortiumId}/main`, `fixture/${net.environmentId}`, "fixture/main", net.environmentId])
    expect(await read("Environment", path)).toMatchObject({ id: net.environmentId, inputs });
  const { inputs: given, state } = await read("Environment", net.environmentId);
  expect(given).toEqual(inputs);
  expect(state).toMatchObject({ chainId: expect.any(Number) as number });
});

test("a hundred imports share the lists: each collection is requested once, the nodes once more after they are found", async () => {
  const { read, net, calls } = await world();
  const wanted = [`fixture/main/node-0`, net.nodeId];
  await Promise.all(Array.from({ length: 100 }, (_, index) => read("Node", wanted[index % 2]!)));
  const lists = calls().filter((call) => !/\/status$/.test(call));
  expect(lists.sort()).toEqual([
    "GET /apikeys",
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

test("a namesake that has ended does not count", async () => {
  const { read, net, service } = await world();
  const invited = { org_name: "Guest", email: "a@b.example" };
  const path = `/consortia/${net.consortiumId}/invitations`;
  const [ended, open] = [
    await send(service, "POST", path, invited),
    await send(service, "POST", path, { ...invited, org_name: "Other" }),
  ];
  service.store.invitations.patch(open._id, { org_name: "Guest" });
  service.store.invitations.setState(ended._id, "revoked");
  expect(await read("Invitation", "fixture/Guest")).toMatchObject({ id: open._id });
  expect(await read("Invitation", `fixture/${ended._id}`)).toMatchObject({ id: ended._id });
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

test("zones, configurations, services, invitations and destinations, by path and by id", async () => {
  const { read, net, service, time } = await world();
  const { consortiumId, environmentId, membershipId } = net;
  const ids = await others(service, time, net);
  const inside = { consortiumId, environmentId };
  const ohio = { name: "ohio", region: "us-east-2", cloud: "aws", type: "kaleido" };
  const destination = { ...inside, serviceId: ids.documentsId, serviceType: "documentstore", name: "inbox" };
  const cases: [type: string, id: string, paths: string[], inputs: object][] = [
    ["ConsortiumZone", ids.consortiumZoneId, ["fixture/ohio"], { consortiumId, ...ohio }],
    ["Invitation", ids.invitationId, ["fixture/third"], { consortiumId, orgName: "third", email: "ops@third.example" }],
    ["EnvironmentZone", ids.environmentZoneId, ["fixture/main/ohio"], { ...inside, ...ohio }],
    [
      "Configuration",
      ids.configurationId,
      ["fixture/main/gas"],
      { ...inside, membershipId, name: "gas", type: "node_config" },
    ],
    ["Service", ids.documentsId, ["fixture/main/documents"], { ...inside, membershipId, service: "documentstore" }],
    ["Destination", "inbox", ["fixture/main/documents/inbox", `fixture/main/${ids.documentsId}/inbox`], destination],
  ];
  for (const [type, id, paths, inputs] of cases)
    for (const path of [id, ...paths]) expect(await read(type, path)).toMatchObject({ id, inputs });
  const { inputs } = await read("Configuration", ids.configurationId);
  expect(inputs).not.toHaveProperty("details");
  await expect(read("Destination", "fixture/main/inbox")).rejects.toThrow(
    /does not say which destination: give its id, or the path consortium\/environment\/service\/destination/,
  );
  await expect(read("Destination", "outbox")).rejects.toThrow(/no destination with the id "outbox"/);
});

test("a destination in two services is not found by its name alone; a kind that the service lacks cannot be imported", async () => {
  const { read, net, service, time } = await world();
  const ids = await others(service, time, net);
  const path = `/consortia/${net.consortiumId}/environments/${net.environmentId}/services`;
  const exchange = { name: "exchange", service: "dataexchange", membership_id: net.membershipId };
  const { _id } = await send(service, "POST", path, exchange);
  time.pass(60_000);
  await send(service, "PUT", `/dataexchange/${_id}/destinations/inbox`, { name: "inbox" });
  await expect(read("Destination", "inbox")).rejects.toThrow(/Give the path consortium\/.*several have the id "inbox"/);
  const found = await read("Destination", "fixture/main/exchange/inbox");
  expect(found.inputs).toMatchObject({ serviceId: _id, serviceType: "dataexchange" });
  expect(ids.documentsId).not.toBe(_id);
});

test.each(["EnvironmentZone", "Service", "Invitation"])("%s: an error says that the service has none", async (type) => {
  const { read } = await world({ answers: { extended: false } });
  await expect(read(type, "x0nowhere0")).rejects.toThrow(
    /This service does not list any \w+, so none can be imported\. \[unsupported:/,
  );
});

test("a credential is found by its id alone, with the resource's name if the service shows none", async () => {
  const { read, net, credential } = await world();
  expect(await read("AppCred", credential, "app")).toMatchObject({
    id: credential,
    inputs: { name: "app", membershipId: net.membershipId, environmentId: net.environmentId },
  });
});

test("if the service lists no credentials, the import says what to do instead", async () => {
  const { read, credential } = await world({ answers: { listCredentials: 404 } });
  const message =
    /leave the import out to create a new one.*does not list any credential, so none can be imported\. \[unsupported:/;
  for (const id of [credential, `fixture/main/${credential}`])
    await expect(read("AppCred", id)).rejects.toThrow(message);
});

test("an active tether is imported with everything that the service shows, by its id or its address", async () => {
  const { read, service } = await world({ ledger: false });
  await startPinning((path, body) => send(service, "POST", path, body), tetherId, 6);
  for (const id of [tetherId, `https://console.example.com/tethers/${tetherId}`])
    expect(await read("TetherService", id)).toMatchObject({
      id: tetherId,
      inputs: { tetherId, network: "rinkeby", intervalHours: 6, active: true },
      state: { state: "active", deployedNetworks: ["rinkeby"], account: expect.stringMatching(/^0x/) as string },
    });
});
