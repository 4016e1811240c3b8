import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type FaultRule } from "../../../service/index";
import { atTheEnd } from "../support/ending";
import { send } from "../../support/network";
import { failed } from "../support/stack";
import { tetherId, type World, wholeTree, world } from "../support/world";

/*
 * Refusals in answers, and proof that an object is gone, with the real CLI. The rules are in provider/stacks/refused and gone: they are
 * core's, so each meets the engine once.
 */

const program =
  wholeTree.replace("{ dependsOn: node }", '{ dependsOn: node, customTimeouts: { create: "3s", update: "3s" } }') +
  'new Environment("e2", { consortium, provider: "quorum", consensusType: "ibft" });';
const says = (method: string, route: string | RegExp, body: unknown, times = Infinity): FaultRule => ({
  kind: "status",
  status: 200,
  method,
  route,
  body,
  times,
});

/** The service behind an address that shows lists with one object a page, in an order that changes with each call. */
async function shuffled(baseUrl: string): Promise<string> {
  let calls = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url!, baseUrl);
    const page = Number(url.searchParams.get("page") ?? 0);
    url.searchParams.delete("page");
    const { authorization = "" } = request.headers;
    void fetch(url, { method: request.method!, headers: { authorization } }).then(async (got) => {
      const text = await got.text();
      const all = (got.ok ? JSON.parse(text) : undefined) as unknown;
      const order = Array.isArray(all) && ++calls % 2 === 0 ? all : Array.isArray(all) ? all.toReversed() : undefined;
      const link = order && page + 1 < order.length ? { link: `<?page=${page + 1}>; rel="next"` } : {};
      const body = order && order.length > 1 ? JSON.stringify([order[page]]) : text;
      response.writeHead(got.status, { "content-type": "application/json", ...link }).end(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  atTheEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
}

const adapter = { inline: true, plugin: true };

describe("answers", () => {
  let w: World;
  beforeAll(async () => {
    expect(program).toContain("customTimeouts");
    w = await world(program, adapter);
  });

  const tether = () => w.service.store.tethers.get(tetherId).fields;

  test("a create that is refused with a 200 is an error with the reason", async () => {
    const { faults } = w.service;
    const fault = faults.add(says("POST", /\/nodes$/, { errorMessage: "quota exceeded" }));
    expect(await failed(w.stack.up())).toContain("HTTP 200: quota exceeded. The organization has reached its limit");
    fault.remove();
  });

  test("a deployment that is refused with a 200 is sent again once there are funds", async () => {
    w.service.faults.add(says("POST", /\/deploy$/, { errorMessage: "insufficient funds" }, 1));
    expect(await failed(w.stack.up())).toMatch(/the deployment on rinkeby failed: .*HTTP 200: insufficient funds/);
  });

  test("a tether that is answered false is not active, and the next up starts it", async () => {
    const fault = w.service.faults.add(says("POST", /\/activate$/, false));
    expect(await failed(w.stack.up())).toContain("the service answers false, without a reason");
    expect(tether()).toMatchObject({ deployments: { rinkeby: 1 } });
    fault.remove();
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(tether()).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
  });

  test("lists in pages that do not fit together, and one that is empty for a moment, lose nothing", async () => {
    const { service, stack } = w;
    const { consortiumId } = await stack.outputs();
    const before = await stack.ids();
    expect(await stack.refresh({ CONSORTIUM_BASE_URL: await shuffled(service.baseUrl) })).toMatchObject({ code: 0 });
    service.faults.add(says("GET", `/consortia/${String(consortiumId)}/environments$`, [], 1));
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect(await stack.ids()).toEqual(before);
  });

  test("a ledger and a consortium with objects of others are not destroyed until that is confirmed", async () => {
    const { service, stack } = w;
    const { consortiumId, environmentId } = await stack.outputs();
    const within = `/consortia/${String(consortiumId)}`;
    const other = await send(service, "POST", `${within}/memberships`, { org_name: "theirs" });
    const place = `${within}/environments/${String(environmentId)}/nodes`;
    await send(service, "POST", place, { name: "their-node", membership_id: other._id });
    const refused = await failed(stack.destroy());
    expect(refused).toMatch(
      /is not deleted, because it contains objects that this stack does not manage.*node "their-node"/,
    );
    expect((await w.network()).nodes).toMatchObject([{ name: "their-node" }]);
    // The ledger may be deleted with its contents; a member of others is theirs to remove.
    const kept = await failed(stack.destroy({ CONSORTIUM_CONFIRM_DELETED: String(consortiumId) }));
    expect(kept).toMatch(/consortium "c" .* could not be deleted: .*HTTP 409/);
    expect(await w.network()).toMatchObject({ environments: [], memberships: [{ org_name: "theirs" }] });
    await send(service, "DELETE", `${within}/memberships/${other._id}`);
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("a lost answer to a deletion stops no later run, even if the service answers 403 for missing objects", async () => {
    const { service, stack } = w;
    service.setAnswers({ gone: 403 });
    const fault = service.faults.add({
      kind: "resetAfter",
      method: "DELETE",
      route: /environments\/\w+$/,
      times: Infinity,
    });
    await stack.destroy();
    fault.remove();
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  });
});

test("a zone that the service does not delete is this stack's own when it comes back", async () => {
  const zone = (region: string): string => `
    const { Consortium, ConsortiumZone } = require("pulumi-consortium");
    const consortium = new Consortium("c");
    new ConsortiumZone("z", { consortium, region: "${region}", cloud: "aws" });
  `;
  const answers = { deleteZones: 404, plainErrors: true } as const;
  const { service, stack } = await world(zone("us-east-2"), { ...adapter, answers });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const [first] = service.store.zones.list();
  stack.program(zone("us-west-2"));
  expect((await stack.up()).text).toContain("stays for now, and is deleted with its consortium");
  stack.program(zone("us-east-2"));
  service.clearCalls();
  expect(await stack.up()).toMatchObject({ code: 0, text: expect.not.stringContaining("killed") as string });
  expect((await stack.ids()).join(" ")).toContain(first!.id);
  expect(service.calls.filter(({ method }) => method === "POST")).toEqual([]);
  expect(service.store.zones.list()).toHaveLength(2);
  expect(await stack.destroy()).toMatchObject({ code: 0 });
});

test.each([false, true])("a destroy of a target names the losses, and no replacement (plugin: %s)", async (plugin) => {
  const { stack } = await world(wholeTree, { inline: true, plugin, ledger: false });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const target = (await stack.resources()).find(({ urn }) => urn.endsWith(":Consortium::c"))!.urn;
  const { code, text } = await stack.run(["destroy", "--target", target, "--target-dependents", "--yes"]);
  expect({ code, text }).toMatchObject({
    code: 0,
    text: expect.stringMatching(/environment "\w+" \(\w+\): DELETING AN ENVIRONMENT DESTROYS ITS LEDGER/) as string,
  });
  expect(text).not.toContain("REPLACING");
});
