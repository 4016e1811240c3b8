import { Metadata } from "@grpc/grpc-js";
import { ListRequest } from "@pulumi/pulumi/proto/provider_pb";
import { ProviderService } from "../../plugin/service";
import { definitions } from "../../provider/resources";
import { deletionOrder } from "../../provider/resources/tree";
import { unknown } from "../support/engine";
import { network, others, send } from "../support/network";
import { Protocol } from "../support/protocol";
import { start } from "../support/service";

const protocols: Protocol[] = [];
afterEach(() => protocols.splice(0).forEach((one) => one.close()));

async function world(options: Parameters<typeof start>[0] = {}) {
  const started = await start(options);
  const net = await network(started.service, started.time);
  const protocol = await Protocol.start();
  protocols.push(protocol);
  await protocol.configure({});
  started.service.clearCalls();
  const names = async (...asked: Parameters<Protocol["list"]>) =>
    (await protocol.list(...asked)).items.map(({ name }) => name);
  return { ...started, net, protocol, names };
}

describe("lists", () => {
  /** Results of `List`, for `pulumi do … list` and for tools that look for objects to import. */

  test("every type, with the id that an import takes", async () => {
    const { net, protocol, service, time } = await world();
    const made = await others(service, time, net);
    const path = `/consortia/${net.consortiumId}/environments/${net.environmentId}`;
    const credential = await send(service, "POST", `${path}/appcreds`, {
      membership_id: net.membershipId,
      name: "app",
    });
    const tether = { name: "pins", service: "tether", membership_id: net.membershipId };
    const pins = await send(service, "POST", `${path}/services`, tether);
    const { consortiumId: c, environmentId: e } = net;
    const expected: Record<string, [id: string, name: string][]> = {
      Consortium: [[c, "fixture"]],
      Membership: [
        [`${c}/${net.membershipId}`, "first"],
        [`${c}/${net.otherMembershipId}`, "second"],
      ],
      Environment: [
        [`${c}/${e}`, "main"],
        [`${c}/${net.otherEnvironmentId}`, "spare"],
      ],
      Node: [[`${c}/${e}/${net.nodeId}`, "node-0"]],
      AppCred: [[`${c}/${e}/${credential._id}`, "app"]],
      ConsortiumZone: [[`${c}/${made.consortiumZoneId}`, "ohio"]],
      EnvironmentZone: [[`${c}/${e}/${made.environmentZoneId}`, "ohio"]],
      Configuration: [[`${c}/${e}/${made.configurationId}`, "gas"]],
      Invitation: [[`${c}/${made.invitationId}`, "third"]],
      Destination: [[`${c}/${e}/${made.documentsId}/inbox`, "inbox"]],
      TetherService: [[pins._id, "pins"]],
    };
    const types = [...deletionOrder, "tetherService" as const].map((kind) => definitions[kind].type);
    for (const type of types) {
      const { items, next, computed } = await protocol.list(type);
      expect({ next, computed }).toEqual({ next: "", computed: false });
      if (type === "Service") expect(items.map(({ name }) => name)).toContain("documents");
      else expect([type, items]).toEqual([type, expected[type]!.map(([id, name]) => ({ id, name }))]);
      if (type === "TetherService") continue; // its Read asks a real tether
      for (const { id, name } of items) {
        const read = await protocol.read(type, id, {});
        expect(read.id).toBe(decodeURIComponent(id.split("/").at(-1)!));
        expect(Object.values(read.inputs)).toContain(name);
      }
    }
  });

  const lists = [
    "GET /apikeys",
    "GET /consortia",
    "GET /consortia/:consortiumId/environments",
    "GET /consortia/:consortiumId/environments/:environmentId/nodes",
  ];

  test("each collection is requested once, and not again for some seconds", async () => {
    const { calls, names, service } = await world();
    expect(await names("Node")).toEqual(["node-0"]);
    expect(calls().sort()).toEqual([...lists, lists[3]]); // two environments
    service.clearCalls();
    expect(await names("Node", { environmentId: "main" })).toEqual(["node-0"]);
    expect(calls()).toEqual([]);
  });

  test.each([
    ["name", "spare", []],
    ["id", "", ["node-0"]],
  ])("with a parent in the query, by %s, only its contents are requested", async (_, name, expected) => {
    const { calls, names, net } = await world();
    const environmentId = name || net.environmentId;
    expect(await names("Node", { consortiumId: "fixture", environmentId })).toEqual(expected);
    expect(calls().sort()).toEqual(lists);
  });

  test("pages: as many as asked for, and the rest with the token; a limit counts all pages", async () => {
    const { net, protocol, names, service } = await world();
    const path = `/consortia/${net.consortiumId}/memberships`;
    for (const org_name of ["third", "fourth", "fifth"]) await send(service, "POST", path, { org_name });
    const all = ["first", "second", "third", "fourth", "fifth"];
    expect((await names("Membership")).sort()).toEqual([...all].sort());
    const order = await names("Membership");
    const pages: string[][] = [];
    for (let token = ""; ;) {
      const { items, next } = await protocol.list("Membership", {}, { pageSize: 2, continuationToken: token });
      pages.push(items.map(({ name }) => name));
      if (next === "") break;
      token = next;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(order);
    expect(await protocol.list("Membership", {}, { limit: 2 })).toMatchObject({ items: { length: 2 }, next: "" });
    const first = await protocol.list("Membership", {}, { limit: 3, pageSize: 2 });
    const rest = await protocol.list("Membership", {}, { limit: 3, pageSize: 2, continuationToken: first.next });
    expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(order.slice(0, 3));
    expect(rest.next).toBe("");
    expect(await protocol.list("Membership", {}, { pageSize: 5 })).toMatchObject({ next: "" });
  });

  test("a page continues although the last item of the previous one is gone", async () => {
    const { net, protocol, time, service } = await world();
    const path = `/consortia/${net.consortiumId}/memberships`;
    for (const org_name of ["third", "fourth"]) await send(service, "POST", path, { org_name });
    const all = (await protocol.list("Membership")).items.map(({ name }) => name);
    const { items, next } = await protocol.list("Membership", {}, { pageSize: 1 });
    expect(items).toHaveLength(1);
    const second = await protocol.list("Membership", {}, { pageSize: 1, continuationToken: next });
    await send(service, "DELETE", `${path}/${second.items[0]!.id.split("/")[1]}`);
    time.pass(200_000);
    const third = await protocol.list("Membership", {}, { continuationToken: second.next });
    expect(third.items.map(({ name }) => name)).toEqual(all.slice(2));
    await expect(protocol.list("Membership", {}, { continuationToken: "x" })).rejects.toMatchObject({
      details: expect.stringContaining("does not belong to this plugin") as string,
    });
  });

  test("a shared consortium shows only the organization's own objects", async () => {
    const { net, names, service, protocol } = await world({ organizations: [{ name: "north" }, { name: "south" }] });
    const path = `/consortia/${net.consortiumId}`;
    const invited = await send(service, "POST", `${path}/invitations`, {
      org_name: "south",
      email: "it@south.example",
    });
    const membership = service.store.invitations.accept(invited._id).id;
    const south = { baseUrl: service.baseUrl, apiKey: service.organizations[1]!.apiKey };
    const node = { name: "of south", membership_id: membership };
    await send(south, "POST", `${path}/environments/${net.environmentId}/nodes`, node);
    expect((await names("Node")).sort()).toEqual(["node-0", "of south"]); // the owner's
    await protocol.configure({ apiKey: south.apiKey }, "south");
    const { items } = await protocol.list("Node");
    expect(items.map(({ name }) => name)).toEqual(["of south"]);
    expect(await names("Membership")).toEqual(["south"]);
    for (const type of ["Consortium", "Environment"]) expect(await names(type)).toEqual([]);
  });

  test("what the service does not list is one clear error, and no empty list", async () => {
    const { protocol, names } = await world({ answers: { listCredentials: 404 } });
    await expect(protocol.list("AppCred")).rejects.toMatchObject({
      details: expect.stringContaining("This service does not list any credential") as string,
    });
    expect(await names("Node")).toEqual(["node-0"]);
  });

  test("a query with unknown values has an unknown answer; a parent that does not exist is one clear error", async () => {
    const { protocol, calls } = await world();
    expect(await protocol.list("Node", { environmentId: unknown })).toEqual({ items: [], next: "", computed: true });
    expect(calls()).toEqual([]);
    const cases: [string, Record<string, string>, RegExp][] = [
      ["Node", { environmentId: "mian" }, /The API key shows no environment "mian"/],
      ["Node", { consortiumId: "x" }, /The API key shows no consortium "x"/],
      ["Node", { enviromentId: "main" }, /takes no "enviromentId"; did you mean "environmentId"\?/],
      ["Consortium", { consortiumId: "x" }, /takes no "consortiumId"/],
      ["Nothing", {}, /no resource consortium:index:Nothing/],
    ];
    for (const [type, query, message] of cases)
      await expect(protocol.list(type, query)).rejects.toMatchObject({
        details: expect.stringMatching(message) as string,
      });
  });

  test("a list ends with its caller, and with Cancel", async () => {
    const { protocol, service } = await world({ limits: { consortia: 5 } });
    for (const name of ["b", "c", "d"]) await send(service, "POST", "/consortia", { name });
    await expect(protocol.list("Membership", {}, {}, () => true)).rejects.toMatchObject({ code: 1 });
    const { calls } = new ProviderService();
    const request = new ListRequest().setToken("consortium:index:Consortium");
    const written = (cancelled: boolean) =>
      new Promise<number>((resolve) => {
        const write = jest.fn(() => void (call.cancelled = cancelled));
        const call = {
          request,
          metadata: new Metadata(),
          cancelled: false,
          write,
          end: () => resolve(write.mock.calls.length),
        };
        calls.list(call as never);
      });
    expect([await written(false), await written(true)]).toEqual([4, 1]);
    await protocol.cancel();
    await expect(protocol.list("Membership")).rejects.toMatchObject({
      details: expect.stringContaining("interrupted") as string,
    });
  });
});

describe("pulumi do --stateless", () => {
  /* The calls of `pulumi do … --stateless`: each names its object by an id as an import takes it, and knows nothing else of it. */

  const urn = (type: string): string => `urn:pulumi:dev::default::consortium:index:${type}::${type}`;
  const ways = ["fixture/main/node-0", "id"];

  test.each(ways)("patch: an object that was read as %s is changed under its own id", async (path) => {
    const { net, protocol, service } = await world();
    const id = path === "id" ? net.nodeId : path;
    const read = await protocol.read(urn("Node"), id, {});
    const { inputs } = await protocol.check(urn("Node"), { ...read.inputs, name: "renamed" }, read.inputs);
    expect((await protocol.diff(urn("Node"), id, read.outs, inputs)).getDiffsList()).toEqual(["name"]);
    expect((await protocol.update(urn("Node"), id, read.outs, inputs)).outs).toMatchObject({ name: "renamed" });
    expect(service.store.nodes.get(net.nodeId).fields.name).toBe("renamed");
  });

  test.each(ways)("delete: an object that was read as %s is deleted, by the id that the read found", async (path) => {
    const { net, protocol, service } = await world();
    const id = path === "id" ? net.nodeId : path;
    const read = await protocol.read(urn("Node"), id, {});
    expect(read.id).toBe(net.nodeId);
    await protocol.delete(urn("Node"), id, read.outs);
    const deleted = service.calls.filter(({ method }) => method === "DELETE").map((call) => call.path);
    expect(deleted).toEqual([expect.stringMatching(new RegExp(`/nodes/${net.nodeId}$`))]);
  });

  test("an id that is also the name of another kind is its own", async () => {
    const { net, protocol, service, time } = await world();
    await others(service, time, net);
    await send(service, "POST", "/consortia", { name: "inbox" });
    const destination = await protocol.read(urn("Destination"), "fixture/main/documents/inbox", {});
    await protocol.read(urn("Consortium"), "inbox", {});
    await protocol.delete(urn("Destination"), destination.id, destination.outs);
    expect(service.store.destinations.list()).toEqual([]);
    expect(service.store.consortia.list()).toHaveLength(2);
  });

  test("before a delete can be confirmed, the read warns about the losses; an import does not", async () => {
    const { net, protocol } = await world();
    const lines = () => protocol.shown.splice(0).map(({ text }) => text);
    await protocol.read(urn("Environment"), "fixture/main", {});
    expect(lines()).toEqual([
      `environment "main" (${net.environmentId}): DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials`,
    ]);
    await protocol.read(urn("Consortium"), "fixture", {});
    expect(lines()).toEqual([expect.stringMatching(/DELETING A CONSORTIUM DESTROYS EVERYTHING IN IT/)]);
    await protocol.read(urn("Membership"), "fixture/first", {});
    for (const other of [urn("Environment").replace("default", "p"), `${urn("Environment")}2`])
      await protocol.read(other, "fixture/main", {});
    expect(lines()).toEqual([]);
  });
});
