import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelOfNetworkFile } from "../../inventory/file";
import { LiveNetwork } from "../../inventory/live";
import { objectsOf, type NetworkModel, displayName } from "../../inventory/model";
import { modelOfPlan } from "../../inventory/plan/changes";
import { readPlan } from "../../inventory/plan/read";
import { readStack, type StackRead } from "../../inventory/stack";
import { definitions } from "../../provider/resources";
import { ConsortiumClient } from "../../provider/api/client";
import { later, planned, step } from "../cli/plans";
import { stackOf } from "../observe/models";
import { network, others, send } from "../support/network";
import { start } from "../support/service";

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

/** Zones, configurations and the like, first those of the consortium. */
const othersIn = ({ consortia: [consortium] }: NetworkModel): unknown[] =>
  [consortium!, ...consortium!.environments].flatMap(({ others: all }) =>
    all.map(({ kind, id, name, state, membershipId, facts }) => [kind, id, name, state, membershipId, facts]),
  );

test("a stack of the dynamic provider and of the plugin make the same model, without a secret", () => {
  const model = readStack(golden("dynamic")).model;
  expect(model.title).toBe("e2e/test");
  expect(new Set(objectsOf(model).map(({ kind }) => kind))).toEqual(new Set(Object.keys(definitions)));
  const { memberships, environments } = model.consortia.find(({ name }) => name === "trade")!;
  const { nodes } = environments.find(({ name }) => name === "ledger")!;
  expect(nodes[0]!.membershipId).toBe(memberships.find(({ orgName }) => orgName === "acme")!.id);
  const lines = (one: NetworkModel) => outline(one).map((line) => line.replace(/t0(dynamic0|plugin00)/, "the tether"));
  expect(lines(readStack(golden("plugin")).model).sort()).toEqual(lines(model).sort());
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
  const facts = { region: "us-east-2", cloud: "aws" };
  const [docs, zone, none] = ["trade/prod/docs", "trade/prod/ohio", undefined];
  expect(othersIn(model)).toEqual([
    ["consortiumZone", "trade/ohio", "ohio", none, none, facts],
    ["invitation", "trade/third", "third", none, none, { email: "ops@third.example" }],
    ["service", docs, "docs", none, "trade/acme", { service: "documentstore", zoneId: zone }],
    ["destination", `${docs}/inbox`, "inbox", none, "trade/acme", { serviceId: docs }],
    ["configuration", "trade/prod/gas", "gas", none, "trade/acme", { type: "node_config" }],
    ["environmentZone", zone, "ohio", none, none, facts],
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
  async function made() {
    const { service, time, calls } = await start();
    const ids = await network(service, time);
    const path = `/consortia/${ids.consortiumId}/environments/${ids.environmentId}/appcreds`;
    const { _id: credentialId } = await send(service, "POST", path, { membership_id: ids.membershipId }); // without a name
    service.clearCalls();
    return { ...ids, credentialId, service, client: connected(), calls };
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
    const { client, consortiumId, membershipId, environmentId, credentialId } = await made();
    const within = { consortiumId, environmentId, membershipId };
    const stack = stackOf(
      ["Consortium", "c", consortiumId, { name: "fixture", description: "of theirs" }],
      ["Membership", "m", membershipId, { consortiumId, orgName: "other name" }],
      ["Environment", "e", environmentId, { consortiumId, name: "main", provider: "quorum" }],
      ["Node", "n", "n-gone", { ...within, name: "node-1" }],
      ["AppCred", "app", credentialId, { ...within, name: "app" }],
    );
    const look = (...stacks: StackRead[]) => new LiveNetwork(client).look({ stacks });
    expect(outline(await look(stack))).toEqual([
      'consortium fixture c description is not set, and "of theirs" in the stack',
      ...['membership first m orgName is "first", and "other name" in the stack'],
      ...["membership second not in stacks", "environment main e", "node node-0 not in stacks"],
      "node node-1 n the stack has node-1, but the service does not show it",
      ...[`appCred ${credentialId} app`, "environment spare not in stacks"],
    ]);
    // Each stack that has an object is compared with it.
    const names = ["first", "another", "third"].map((name, at) =>
      stackOf(["Membership", `m${at}`, membershipId, { consortiumId, orgName: name }]),
    );
    expect(outline(await look(...names))).toContain(
      'membership first m2 orgName is "first", and "another" in the stack orgName is "first", and "third" in the stack',
    );
  });

  async function withOthers() {
    const { service, time } = await start();
    const net = await network(service, time);
    return { service, net, ids: await others(service, time, net), client: connected() };
  }

  test("shows zones, configurations and the like with their properties, but without settings of configurations", async () => {
    const { ids, net, client } = await withOthers();
    const model = await new LiveNetwork(client).look();
    const { membershipId: member } = net;
    const ohio = ["ohio", "active", undefined, { region: "us-east-2", cloud: "aws", type: "kaleido" }];
    const like = (facts: object) => expect.objectContaining(facts) as unknown;
    const docs = { service: "documentstore", serviceType: "member", size: "small", zoneId: ids.environmentZoneId };
    const inbox = { setupComplete: true, serviceId: ids.documentsId };
    expect(othersIn(model)).toEqual([
      ["consortiumZone", ids.consortiumZoneId, ...ohio],
      ["invitation", ids.invitationId, "third", expect.any(String), undefined, { email: "ops@third.example" }],
      ["service", ids.documentsId, "documents", "started", member, like(docs)],
      ["service", ids.registryId, "registry", "started", member, like({ service: "idregistry" })],
      ["destination", `${ids.documentsId}/inbox`, "inbox", undefined, undefined, like(inbox)],
      ["configuration", ids.configurationId, "gas", "active", member, { type: "node_config" }],
      ["environmentZone", ids.environmentZoneId, ...ohio],
    ]);
    const [service] = model.consortia[0]!.environments.flatMap((one) => one.others);
    expect(service!.urls!.http).toMatch(/^http/);
    expect(JSON.stringify(model)).not.toContain("hush");
  });

  test("compares them with the stack; shared ones only in the inputs that must fit", async () => {
    const { ids, net, client, service } = await withOthers();
    const { consortiumId, environmentId } = net;
    const inside = { consortiumId, environmentId };
    const zone = { name: "east", region: "us-east-2", cloud: "aws", type: "kaleido" };
    const destination = { ...inside, serviceType: "documentstore", serviceId: ids.documentsId };
    const stack = stackOf(
      ["ConsortiumZone", "cz", ids.consortiumZoneId, { consortiumId, ...zone }],
      ["EnvironmentZone", "ez", ids.environmentZoneId, { ...inside, ...zone, adopt: true }, { how: "shared" }],
      ["Service", "docs", ids.documentsId, { ...inside, name: "documents", service: "documentstore" }],
      ["Destination", "in", "inbox", { ...destination, name: "inbox", kaleidoManaged: true }],
      ["Destination", "out", "outbox", { ...destination, name: "outbox" }],
    );
    const said = async () => {
      const lines = outline(await new LiveNetwork(client).look({ stacks: [stack] }));
      return lines.filter((line) => /^(destination|\w+Zone)/.test(line)).sort();
    };
    expect(await said()).toEqual([
      'consortiumZone ohio cz name is "ohio", and "east" in the stack',
      "destination inbox in",
      "destination outbox out the stack has outbox, but the service does not show it",
      "environmentZone ohio ez",
    ]);
    // A service that is not started does not show its destinations, so none counts as gone.
    service.store.services.setState(ids.documentsId, "stopped");
    expect((await said()).slice(1, 3)).toEqual(["destination inbox in", "destination outbox out"]);
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
