import { network } from "../support/network";
import { Protocol } from "../support/protocol";
import { start } from "../support/service";

/* The calls of `pulumi do … --stateless`: each names its object by an id as an import takes it, and knows nothing else of it. */

const urn = (type: string): string => `urn:pulumi:dev::default::consortium:index:${type}::${type}`;
let protocol: Protocol;
afterEach(() => protocol.close());

async function world() {
  const started = await start();
  const net = await network(started.service, started.time);
  protocol = await Protocol.start();
  await protocol.configure({});
  started.service.clearCalls();
  return { ...started, net };
}

const ways = ["fixture/main/node-0", "id"];

test.each(ways)("patch: an object that was read as %s is changed under its own id", async (path) => {
  const { net, service } = await world();
  const id = path === "id" ? net.nodeId : path;
  const read = await protocol.read(urn("Node"), id, {});
  const { inputs } = await protocol.check(urn("Node"), { ...read.inputs, name: "renamed" }, read.inputs);
  expect((await protocol.diff(urn("Node"), id, read.outs, inputs)).getDiffsList()).toEqual(["name"]);
  expect((await protocol.update(urn("Node"), id, read.outs, inputs)).outs).toMatchObject({ name: "renamed" });
  expect(service.store.nodes.get(net.nodeId).fields.name).toBe("renamed");
});

test.each(ways)("delete: an object that was read as %s is deleted, by the id that the read found", async (path) => {
  const { net, service } = await world();
  const id = path === "id" ? net.nodeId : path;
  const read = await protocol.read(urn("Node"), id, {});
  expect(read.id).toBe(net.nodeId);
  await protocol.delete(urn("Node"), id, read.outs);
  const deleted = service.calls.filter(({ method }) => method === "DELETE").map((call) => call.path);
  expect(deleted).toEqual([expect.stringMatching(new RegExp(`/nodes/${net.nodeId}$`))]);
});

test("before a delete can be confirmed, the read warns about the losses; an import does not", async () => {
  const { net } = await world();
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
