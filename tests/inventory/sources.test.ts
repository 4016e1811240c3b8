import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelOfNetworkFile } from "../../inventory/file";
import { LiveNetwork } from "../../inventory/live";
import { objectsOf, type NetworkModel, displayName } from "../../inventory/model";
import { modelOfPlan } from "../../inventory/plan/changes";
import { readPlan } from "../../inventory/plan/read";
import { readStack, type StackRead, withStacks } from "../../inventory/stack";
import { ConsortiumClient } from "../../provider/api/client";
import { type Service } from "../../service/index";
import { later, planned, step } from "../cli/plans";
import { stackOf } from "../observe/models";
import { network, type Network, others, type Others, send } from "../support/network";
import { start, type Started } from "../support/service";

const root = join(__dirname, "../..");
/** The golden state on one of the providers: one resource of each kind. */
const golden = (adapter: string): object =>
  JSON.parse(readFileSync(join(root, "tests/golden/0.3.0", adapter, "stack.json"), "utf8")) as object;

const clients: ConsortiumClient[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

/** A client of the service that is started last, closed with the test. */
function connected(): ConsortiumClient {
  clients.push(new ConsortiumClient());
  return clients.at(-1)!;
}

/** The place of each object, and the remarks on it. */
const outline = (model: NetworkModel): string[] =>
  objectsOf(model).map(({ kind, object: { change, drift, managed, ...object } }) => {
    const by = managed === undefined ? [] : [managed === "not in stacks" ? managed : managed.name];
    return [kind, displayName(object), ...by, ...(change ? [change] : []), ...(drift ?? [])].join(" ");
  });

test("a stack of the dynamic provider and of the plugin make the same model, without a secret", () => {
  const model = readStack(golden("dynamic")).model;
  expect(model.title).toBe("e2e/test");
  expect(new Set(objectsOf(model).map(({ kind }) => kind))).toEqual(
    new Set([
      ...["consortium", "membership", "environment", "node", "appCred", "consortiumZone", "environmentZone"],
      ...["configuration", "service", "invitation", "destination", "tetherService"],
    ]),
  );
  const { memberships, environments } = model.consortia.find(({ name }) => name === "trade")!;
  const { nodes } = environments.find(({ name }) => name === "ledger")!;
  expect(nodes[0]!.membershipId).toBe(memberships.find(({ orgName }) => orgName === "acme")!.id);
  const lines = (one: NetworkModel) => outline(one).map((line) => line.replace(/t0(dynamic0|plugin00)/, "the tether"));
  expect(lines(readStack(golden("plugin")).model).sort()).toEqual(lines(model).sort());
  const ofPlugin = JSON.stringify(golden("dynamic")).replaceAll(
    "pulumi-nodejs:dynamic/consortium:",
    "consortium:index:",
  );
  const urnsAside = (one: NetworkModel) => JSON.stringify(one).replaceAll(/"urn":"[^"]*"/g, "");
  expect(urnsAside(readStack(JSON.parse(ofPlugin)).model)).toBe(urnsAside(model));
  expect(JSON.stringify(model)).not.toMatch(/password|ciphertext|basicAuth|gas_price/i);
  expect(() => readStack([])).toThrow("The document is not the state of a stack.");
});

test("a tether was changed when its stack last did that, or else made it", () => {
  const changedAt = (more: object) =>
    stackOf(["TetherService", "t", "t1", { tetherId: "t1" }, {}, more]).model.tethers[0]!.changedAt;
  expect([changedAt({ created: "1", modified: "2" }), changedAt({ created: "1" })]).toEqual(["2", "1"]);
});

test("a network file, with logical names as ids", async () => {
  const model = await modelOfNetworkFile(join(root, "examples/network-file/network.yaml"));
  expect(outline(model)).toEqual([
    ...["consortium Coffee trade", "membership Highland Growers", "membership Roaster & Sons", "membership bank"],
    ...["environment ledger", "node grower-1", "node grower-2", "node roaster-1", "node roaster-2"],
    ...["appCred grower", "appCred roaster", "appCred roaster-reports"],
    ...["environment trial", "node trial-node", "appCred grower"],
  ]);
  expect(model.limits).toContainEqual({ kind: "environments", of: "coffee", used: 2, most: 3 });
});

test("a network file with zones, configurations, services, invitations and destinations", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "network-")), "trade.yaml");
  const ohio = "{ region: us-east-2, cloud: aws }";
  const text = `
members: [acme]
zones: { ohio: ${ohio} }
invitations: { third: ops@third.example }
environments:
  prod:
    provider: quorum
    consensusType: ibft
    zones: { ohio: ${ohio} }
    configurations: { gas: { member: acme, type: node_config, details: { gas_price: hush } } }
    services: { docs: { member: acme, service: documentstore, zone: ohio, destinations: [inbox] } }
`;
  writeFileSync(file, text);
  const model = await modelOfNetworkFile(file);
  const [{ others, environments }] = model.consortia as [NetworkModel["consortia"][0]];
  const facts = { region: "us-east-2", cloud: "aws" };
  expect(others).toEqual([
    { kind: "consortiumZone", id: "trade/ohio", name: "ohio", facts },
    { kind: "invitation", id: "trade/third", name: "third", facts: { email: "ops@third.example" } },
  ]);
  const owned = { membershipId: "trade/acme" };
  expect(environments[0]!.others).toEqual([
    {
      kind: "service",
      id: "trade/prod/docs",
      name: "docs",
      ...owned,
      facts: { service: "documentstore", zoneId: "trade/prod/ohio" },
    },
    {
      kind: "destination",
      id: "trade/prod/docs/inbox",
      name: "inbox",
      ...owned,
      facts: { serviceId: "trade/prod/docs" },
    },
    { kind: "configuration", id: "trade/prod/gas", name: "gas", ...owned, facts: { type: "node_config" } },
    { kind: "environmentZone", id: "trade/prod/ohio", name: "ohio", facts },
  ]);
  expect(JSON.stringify(model)).not.toContain("hush");
});

test("a plan: a new object is in its parent, although its id is only known later", () => {
  const within = { consortiumId: "c1", environmentId: "e1", membershipId: "m1" };
  const old = (id: string, inputs: object) => ({ id, inputs, outputs: { ...inputs, state: "started" } });
  const steps = [
    step("same", "Consortium", "trade", old("c1", { name: "Trade" }), old("c1", { name: "Trade" })),
    step("same", "Membership", "acme", old("m1", { orgName: "Acme", consortiumId: "c1" }), undefined),
    step("replace", "Environment", "prod", old("e1", { name: "prod", consortiumId: "c1", consensusType: "raft" }), {
      inputs: { name: "prod", consortiumId: "c1", consensusType: "ibft" },
    }),
    step("replace", "Node", "old", old("n1", { name: "old", ...within }), {
      inputs: { name: "old", ...within, environmentId: later },
    }),
    step("create", "Node", "new", undefined, {
      inputs: { name: "new", consortiumId: "c1", environmentId: later, membershipId: "m1" },
    }),
    step("delete", "AppCred", "app", old("a1", { name: "app", ...within })),
  ];
  expect(outline(modelOfPlan(readPlan(planned(steps), "plan")))).toEqual([
    ...["consortium Trade trade", "membership Acme acme", "environment prod prod replace"],
    ...["node new new create", "node old old replace", "appCred app app delete"],
  ]);
});

describe("the live network", () => {
  interface Made extends Network {
    service: Service;
    client: ConsortiumClient;
    calls: () => string[];
    stop: () => void;
  }
  async function made(): Promise<Made> {
    const { service, time, calls } = await start();
    const ids = await network(service, time);
    const path = `/consortia/${ids.consortiumId}/environments/${ids.environmentId}/appcreds`;
    await send(service, "POST", path, { membership_id: ids.membershipId });
    service.clearCalls();
    const stop = () => void service.store.nodes.remove(ids.nodeId);
    return { ...ids, service, client: connected(), calls, stop };
  }

  test("makes one request for each list, however many look within seconds", async () => {
    const { client, calls } = await made();
    const live = new LiveNetwork(client);
    const [model] = await Promise.all([1, 2, 3, 4].map(() => live.look({ nodeStatus: true })));
    expect(calls().sort()).toEqual(
      [
        "GET /consortia",
        ...["memberships", "environments", "zones", "invitations"].map((one) => `GET /consortia/:consortiumId/${one}`),
        ...["nodes", "appcreds", "zones", "configurations", "services"].flatMap((one) =>
          Array<string>(2).fill(`GET /consortia/:consortiumId/environments/:environmentId/${one}`),
        ),
        "GET /consortia/:consortiumId/environments/:environmentId/nodes/:nodeId/status",
      ].sort(),
    );
    expect(model!.limits).toContainEqual({ kind: "consortia", used: 1, most: 2 });
    expect(model!.organization).toMatch(/^o\w+$/);
    expect(model!.consortia[0]!.environments[0]!.nodes[0]!.urls!.rpc).toMatch(/^http/);
  });

  test("of one of two consortia, counts both, and names the organization unless one of them is another's", async () => {
    const { client, consortiumId, service } = await made();
    await client.http.request("POST", "/consortia", { body: { name: "second" } });
    const look = () => new LiveNetwork(client).look({ consortium: consortiumId });
    const own = await look();
    expect(own.consortia.map(({ id }) => id)).toEqual([consortiumId]);
    expect(own.limits).toContainEqual({ kind: "consortia", used: 2, most: 2 });
    expect(own.organization).toMatch(/^o\w+$/);
    const list = (await client.http.request("GET", "/consortia")).body as object[];
    const body = list.map((one, at) => ({ ...one, owner: `o${at}` }));
    service.faults.add({ kind: "status", status: 200, route: "/consortia", body, times: Infinity });
    expect(await look()).not.toHaveProperty("organization");
  });

  test("shows the managing stacks, and which objects are not in stacks, drifted or are gone", async () => {
    const { client, consortiumId, membershipId, environmentId, nodeId, stop } = await made();
    const within = { consortiumId, environmentId, membershipId };
    const stack = stackOf(
      ["Consortium", "c", consortiumId, { name: "fixture" }],
      ["Membership", "m", membershipId, { consortiumId, orgName: "other name" }],
      ["Environment", "e", environmentId, { consortiumId, name: "main", provider: "quorum" }],
      ["Node", "n", nodeId, { ...within, name: "node-0" }],
    );
    const look = (...stacks: StackRead[]) => new LiveNetwork(client).look({ stacks });
    const said = outline(await look(stack)).filter((line) => !line.startsWith("appCred"));
    expect(said).toEqual([
      ...["consortium fixture c", 'membership first m orgName is "first", and "other name" in the stack'],
      ...["membership second not in stacks", "environment main e", "node node-0 n", "environment spare not in stacks"],
    ]);
    // A stack has only the ids of another stack's objects.
    const other = stackOf(["AppCred", "app", "u-other", { ...within, name: "app" }]);
    for (const stacks of [
      [stack, other],
      [other, stack],
    ])
      expect(outline(await look(...stacks))).toEqual(expect.arrayContaining(said));
    expect(outline(await look(other))).toContain("consortium fixture not in stacks");
    // Each stack that has an object is compared with it.
    const names = ["first", "another", "third"].map((name, at) =>
      stackOf(["Membership", `m${at}`, membershipId, { consortiumId, orgName: name }]),
    );
    expect(outline(await look(...names))).toContain(
      'membership first m2 orgName is "first", and "another" in the stack orgName is "first", and "third" in the stack',
    );
    // A service need not list credentials, so none counts as gone.
    const unlisted = await look();
    for (const environment of unlisted.consortia[0]!.environments)
      Object.assign(environment, { credentials: [], unlisted: ["appCred"] });
    const third = stackOf(["AppCred", "third", "u-third", { ...within, name: "third" }]);
    const credentials = outline(withStacks(unlisted, [other.model, third.model, third.model])).filter((line) =>
      /^appCred/.test(line),
    );
    expect(credentials).toEqual(["appCred app app", "appCred third third"]);
    stop();
    const now = outline(await look(stack));
    expect(now).toContain("node node-0 n the stack has node-0, but the service does not show it");
  });

  test.each([
    [" FIRST", "Main"],
    ["first", "MAIN "],
  ])("names that the service writes in another way have not drifted: %j and %j", async (orgName, name) => {
    const { client, consortiumId, membershipId, environmentId } = await made();
    const stack = stackOf(
      ["Membership", "m", membershipId, { consortiumId, orgName }, { answered: { orgName: "first" } }],
      ["Environment", "e", environmentId, { consortiumId, name }, { answered: { name: "main" } }],
    );
    const said = outline(await new LiveNetwork(client).look({ stacks: [stack] }));
    expect(said).toEqual(expect.arrayContaining(["membership first m", "environment main e"]));
  });

  test("an object without a name in the service has not drifted", async () => {
    const { client, consortiumId, environmentId, membershipId } = await made();
    const live = await new LiveNetwork(client).look();
    const credential = live.consortia[0]!.environments.flatMap(({ credentials }) => credentials)[0]!;
    expect(credential.name).toBe(credential.id); // it was made without one
    const inputs = { consortiumId, environmentId, membershipId, name: "app" };
    const stack = stackOf(["AppCred", "app", credential.id, inputs]);
    const now = await new LiveNetwork(client).look({ stacks: [stack] });
    expect(outline(now).filter((line) => line.includes("in the stack"))).toEqual([]);
  });
});

describe("zones, configurations, services, invitations and destinations", () => {
  type Made = Started & { net: Network; ids: Others; client: ConsortiumClient };
  async function made(): Promise<Made> {
    const started = await start();
    const net = await network(started.service, started.time);
    const ids = await others(started.service, started.time, net);
    return { ...started, net, ids, client: connected() };
  }

  test("are in their consortium or environment with their properties, but without settings of configurations", async () => {
    const { ids, net, client } = await made();
    const model = await new LiveNetwork(client).look();
    const [{ others: inConsortium, environments }] = model.consortia as [NetworkModel["consortia"][0]];
    const ohio = { name: "ohio", state: "active", facts: { region: "us-east-2", cloud: "aws", type: "kaleido" } };
    expect(inConsortium).toEqual([
      { kind: "consortiumZone", id: ids.consortiumZoneId, ...ohio },
      {
        kind: "invitation",
        id: ids.invitationId,
        name: "third",
        state: expect.any(String) as string,
        facts: { email: "ops@third.example" },
      },
    ]);
    const { membershipId } = net;
    const own = { state: "started", membershipId };
    expect(environments.find(({ id }) => id === net.environmentId)!.others).toEqual([
      expect.objectContaining({
        ...own,
        kind: "service",
        id: ids.documentsId,
        name: "documents",
        facts: expect.objectContaining({
          service: "documentstore",
          serviceType: "member",
          size: "small",
          zoneId: ids.environmentZoneId,
        }) as object,
        urls: { http: expect.stringMatching(/^http/) as string },
      }),
      expect.objectContaining({ kind: "service", id: ids.registryId, name: "registry" }),
      expect.objectContaining({
        kind: "destination",
        id: `${ids.documentsId}/inbox`,
        name: "inbox",
        facts: expect.objectContaining({ setupComplete: true, serviceId: ids.documentsId }) as object,
      }),
      {
        kind: "configuration",
        id: ids.configurationId,
        name: "gas",
        state: "active",
        membershipId,
        facts: { type: "node_config" },
      },
      { kind: "environmentZone", id: ids.environmentZoneId, ...ohio },
    ]);
    expect(JSON.stringify(model)).not.toContain("hush");
  });

  test("are compared with the stack; shared ones only in the inputs that must fit", async () => {
    const { ids, net, client, service } = await made();
    const { consortiumId, environmentId, membershipId } = net;
    const inside = { consortiumId, environmentId };
    const owned = { ...inside, membershipId };
    const zone = { region: "us-east-2", cloud: "aws", type: "kaleido" };
    const destination = { ...inside, serviceType: "documentstore", serviceId: ids.documentsId };
    const adopted = { ...inside, name: "east", ...zone, adopt: true };
    const stack = stackOf(
      ["ConsortiumZone", "cz", ids.consortiumZoneId, { consortiumId, name: "east", ...zone }],
      ["EnvironmentZone", "ez", ids.environmentZoneId, adopted, { how: "shared" }],
      ["Service", "ids", ids.registryId, { ...owned, name: "registry", service: "idregistry", size: "large" }],
      ["Service", "docs", ids.documentsId, { ...owned, name: "documents", service: "documentstore" }],
      ["Destination", "in", "inbox", { ...destination, name: "inbox", kaleidoManaged: true }],
      ["Destination", "out", "outbox", { ...destination, name: "outbox" }],
      ["Invitation", "inv", "i-gone", { consortiumId, orgName: "fourth", email: "a@b" }],
    );
    const kinds = /^(consortiumZone|environmentZone|service|destination|configuration|invitation) /;
    const said = async () =>
      outline(await new LiveNetwork(client).look({ stacks: [stack] }))
        .filter((line) => kinds.test(line))
        .sort();
    expect(await said()).toEqual([
      "configuration gas not in stacks",
      'consortiumZone ohio cz name is "ohio", and "east" in the stack',
      "destination inbox in",
      "destination outbox out the stack has outbox, but the service does not show it",
      "environmentZone ohio ez",
      "invitation fourth inv the stack has fourth, but the service does not show it",
      "invitation third not in stacks",
      "service documents docs",
      'service registry ids size is "small", and "large" in the stack',
    ]);
    // A service that is not started does not show its destinations, so none counts as gone.
    service.store.services.setState(ids.documentsId, "stopped");
    const now = await said();
    expect(now.filter((line) => line.startsWith("destination"))).toEqual([
      "destination inbox in",
      "destination outbox out",
    ]);
  });

  test("an answer that failed is not kept: the next look asks again", async () => {
    const id = "tether0001";
    const { service, time } = await start({ tethers: [{ id }] });
    const live = new LiveNetwork(connected(), 600_000, time);
    for (let look = 0; look < 2; look++) {
      service.faults.add({ kind: "status", status: 403, route: /^\/tether\//, times: 3 });
      await expect(live.tether(id)).rejects.toThrow("HTTP 403");
    }
    service.faults.clear();
    expect((await live.tether(id)).row.props).toMatchObject({ reports: 0 });
  });
});
