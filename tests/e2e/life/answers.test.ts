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

/** The same of a service without the call. */
const without = (rule: FaultRule): FaultRule => ({ ...rule, kind: "status", status: 404 });

/** An answer on its way back; a request on its way there, which may be answered here. */
interface Between {
  method: string;
  path: string;
  body: unknown;
  status: number;
  headers: Record<string, string>;
}

/** The service behind an address where answers change on their way. @param change may also end a call itself */
async function behind(
  baseUrl: string,
  change: (got: Between) => void,
  before: (
    sent: Pick<Between, "method" | "path">,
  ) => Pick<Between, "status" | "headers"> | { method: string } | undefined = () => undefined,
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const url = new URL(request.url!, baseUrl);
      const path = url.pathname.replace("/api/v1", "");
      const page = url.searchParams.get("page");
      url.searchParams.delete("page");
      const asked = { method: request.method!, path: page === null ? path : `${path}?page=${page}` };
      const instead = before(asked);
      if (instead && "status" in instead) {
        const body = JSON.stringify({ errorMessage: "no" });
        response.writeHead(instead.status, { "content-type": "application/json", ...instead.headers }).end(body);
        return;
      }
      const { authorization = "" } = request.headers;
      const sent = {
        headers: { authorization, "content-type": "application/json" },
        method: instead?.method ?? asked.method,
      };
      const got = await fetch(url, { ...sent, ...(parts.length > 0 && { body: Buffer.concat(parts) }) });
      const text = await got.text();
      const headers = { "content-type": "application/json" };
      const answer = {
        ...asked,
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
        status: got.status,
        headers,
      };
      if (got.ok) change(answer);
      response.writeHead(answer.status, answer.headers).end(text === "" ? "" : JSON.stringify(answer.body));
    })();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  atTheEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
}

/** Shows lists with one object a page, in an order that changes with each call. */
function shuffled(): (got: Between) => void {
  let calls = 0;
  return (got) => {
    if (!Array.isArray(got.body) || got.body.length < 2) return;
    const order: unknown[] = ++calls % 2 === 0 ? got.body : got.body.toReversed();
    const page = Number(/page=(\d+)/.exec(got.path)?.[1] ?? 0);
    if (page + 1 < order.length) got.headers.link = `<?page=${page + 1}>; rel="next"`;
    got.body = [order[page]];
  };
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
    expect(await failed(w.stack.up())).toMatch(/The organization has reached its limit.*HTTP 200: quota exceeded\. \[limit-reached:/);
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
    expect(await stack.refresh({ CONSORTIUM_BASE_URL: await behind(service.baseUrl, shuffled()) })).toMatchObject({
      code: 0,
    });
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
      /It is not deleted, because it contains objects that this stack does not manage.*node "their-node".*\[not-empty:/,
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

describe.each([false, true])("answers in other words and forms (plugin: %s)", (plugin) => {
  let w: World;
  let url: string;
  /** What a service like this does to answers, and instead of calls. */
  let change: (got: Between) => void = () => undefined;
  let before: Parameters<typeof behind>[2] = () => undefined;
  const told = (text: string): string => text.replace(/\s+/g, " ");
  const up = (more: Record<string, string> = {}, ...args: string[]) =>
    w.stack.up({ CONSORTIUM_BASE_URL: url, ...more }, ...args);
  const small = (more: string): string => `
    const { AppCred, Consortium, Environment, Membership, Node } = require("pulumi-consortium");
    const consortium = new Consortium("c", { description: "first" });
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
    ${more}
    exports.consortiumId = consortium.id;
    exports.environmentId = environment.id;
  `;
  const withNode = small(`const node = new Node("n", { environment, membership }); exports.rpc = node.urls.rpc;`);
  const all = withNode + 'new AppCred("a", { environment, membership });';
  const states = (word: string) => (got: Between) => {
    if (/\/nodes$/.test(got.path) && Array.isArray(got.body))
      for (const one of got.body as { state: string }[]) one.state = word;
  };

  beforeAll(async () => {
    w = await world(withNode, { inline: true, plugin, ledger: false });
    url = await behind(
      w.service.baseUrl,
      (got) => change(got),
      (sent) => before!(sent),
    );
  });
  afterEach(() => {
    change = () => undefined;
    before = () => undefined;
  });

  test("403, 400 and a quota right after this run's own creates are too early", async () => {
    const statuses = [403, 400, 422, 403];
    before = ({ method, path }) =>
      method === "POST" && path.endsWith("/nodes") && statuses.length > 0
        ? { status: statuses.pop()!, headers: {} }
        : undefined;
    change = states("FAILED_TO_START");
    const text = told(await failed(up()));
    expect(statuses).toEqual([]);
    expect(text).toContain('went to the state "FAILED_TO_START". Look at it in the console');
    expect(w.service.store.nodes.list()).toHaveLength(1);
  });

  test("a node that fails in other words fails each run, one that works in words nobody knows is named", async () => {
    change = states("crashed");
    expect(told(await failed(up({}, "--refresh")))).toContain('went to the state "crashed"');
    change = states("purring");
    const { code, text } = await up({}, "--refresh");
    expect([code, told(text)]).toEqual([
      0,
      expect.stringContaining('is in the state "purring", which this version does not know'),
    ]);
    change = states("validating");
    expect(told((await up({}, "--refresh")).text)).not.toMatch(/does not know|Warning/);
  });

  test("a password in an envelope is read, and there is one credential", async () => {
    w.stack.program(all);
    change = (got) => {
      if (got.method === "POST") got.body = { data: got.body };
    };
    expect(await up()).toMatchObject({ code: 0 });
    expect(w.service.store.credentials.list()).toHaveLength(1);
  });

  test("a node's new address is read, and so is a description that somebody cleared; a PUT puts it back", async () => {
    const { id } = w.service.store.consortia.list()[0]!;
    w.service.store.consortia.patch(id, { description: undefined });
    change = ({ path, body }) => {
      if (path.endsWith("/status")) (body as { urls: object }).urls = { rpc: "https://elsewhere.test" };
    };
    before = ({ method }) =>
      method === "PATCH"
        ? { status: 405, headers: { allow: "GET, PUT" } }
        : method === "PUT"
          ? { method: "PATCH" }
          : undefined;
    expect(await up({}, "--refresh")).toMatchObject({ code: 0, text: expect.stringMatching(/~ 1 updated/) as string });
    expect(w.service.store.consortia.get(id).fields).toMatchObject({ name: "c", description: "first" });
    expect(await w.stack.outputs()).toMatchObject({ rpc: "https://elsewhere.test" });
  });

  test("a total above the length of a list stops creates until somebody confirms it, and nothing is gone", async () => {
    w.stack.program(`${all} new Node("n2", { environment, membership });`);
    change = (got) => {
      if (Array.isArray(got.body)) got.headers["x-total-count"] = "9";
    };
    const ids = await w.stack.ids();
    expect(told(await failed(up({}, "--refresh")))).toContain("confirm that with CONSORTIUM_CONFIRM_LISTS=true");
    expect(await w.stack.ids()).toEqual(ids);
    expect(await up({ CONSORTIUM_CONFIRM_LISTS: "true" })).toMatchObject({ code: 0 });
    expect(w.service.store.nodes.list()).toHaveLength(2);
  });

  test("a preview looks before it says what is adopted, and names the stack that has it", async () => {
    await w.stack.ok(["stack", "init", "second"]);
    const adopting = { CONSORTIUM_BASE_URL: url, CONSORTIUM_ADOPT: "true" };
    const text = told((await w.stack.preview(adopting, "--stack", "second")).text);
    const { consortiumId, environmentId } = await w.stack.outputs();
    expect(text).toContain(`consortium "c": adopts ${String(consortiumId)} (exists already; nothing is created)`);
    if (!plugin) return expect(text).toContain('environment "e": adopts the existing object with this name');
    for (const { id } of [{ id: String(environmentId) }, ...w.service.store.nodes.list()])
      expect(text).toContain(`adopts ${id} (exists already; nothing is created)`);
    expect(text).toMatch(/is in the log of the stack [\w-]+\.test\. If that stack still manages it/);
  });

  test("what is listed as archived after its deletion is gone", async () => {
    w.service.setTiming({ deletedVisible: 1_000_000 });
    change = ({ body }) => {
      for (const one of Array.isArray(body) ? (body as { state?: string }[]) : [body as { state?: string } | undefined])
        if (one?.state === "deleted") one.state = "archived";
    };
    expect(await w.stack.destroy({ CONSORTIUM_BASE_URL: url })).toMatchObject({ code: 0 });
    expect(await up()).toMatchObject({ code: 0 });
  });
});

describe.each([false, true])("what a service shows of a tether (plugin: %s)", (plugin) => {
  const contract = `0x${"c0".repeat(20)}`;
  /** An answer to `GET /tether/{id}` and one to its `reportCount`; undefined: as of a fresh tether. */
  type Row = [name: string, shown: object | undefined, reports?: unknown];
  const paid: Row[] = [
    ["a name, with reports", { name: "x" }, 7],
    ["a state without a network", { state: "active" }, 7],
    ["Networks", { deployed_networks: ["Rinkeby"] }],
    ["entries", { contracts: [{ network: "rinkeby", address: contract }] }],
    ["a map", { contracts: { Rinkeby: contract } }],
    ["an address", { network: "Rinkeby", contract_address: contract, deployed_networks: [] }],
    ["none, while active", { network: "rinkeby", state: "active", deployed_networks: [] }],
    ["chain ids", { contracts: { 4: contract } }],
    ["reports by name", undefined, { tether_id: "3", reportCount: 7 }],
    ["reports as text", undefined, { network: "rinkeby", count: "7" }],
    ["reports in data", undefined, { data: { count: 7 } }],
    ["reports in another form", undefined, { reports: { rinkeby: 7 } }],
  ];
  const fresh: Row[] = [
    ["nothing", undefined],
    ["a fresh name", { name: "x" }, { count: 0 }],
    ["the embedded service's", { state: "initial", deployed_networks: [], contracts: {} }],
    ["a configuration", { environment_id: "e", config: { started: false, nodelist: [] }, account: {} }],
  ];
  const rows = [...paid, ...fresh];
  const idOf = (index: number): string => `t0row${String(index).padStart(5, "0")}`;
  const ids = rows.map((_, index) => idOf(index));
  const program = `
    const { TetherService } = require("pulumi-consortium");
    for (const tetherId of ${JSON.stringify(ids)})
      new TetherService(tetherId, { tetherId, network: "rinkeby", intervalHours: 2 });`;
  let w: World;
  beforeAll(async () => {
    w = await world(program, { inline: true, plugin, ledger: false, tethers: ids.map((id) => ({ id })) });
    const place = await send(w.service, "POST", "/consortia", { name: "trade" });
    const environment = { provider: "geth", consensus_type: "poa" };
    await send(w.service, "POST", `/consortia/${place._id}/environments`, environment);
    for (const [index, [, shown, reports]] of rows.entries()) {
      const look = says("GET", new RegExp(`/tether/${idOf(index)}$`), shown);
      w.service.faults.add(shown === undefined ? without(look) : look);
      // Where it shows a network, it has one, so that a deployment would succeed.
      if (shown && "network" in shown)
        await send(w.service, "POST", `/tether/${idOf(index)}/targetNetwork`, { network: "rinkeby" });
      if (reports !== undefined) w.service.faults.add(says("GET", new RegExp(`/${idOf(index)}/reportCount$`), reports));
    }
  });

  const deployed = (): string[] =>
    ids.filter((id) => (w.service.store.tethers.get(id).fields.deployments as { rinkeby: number }).rinkeby > 0);
  const up = (env = {}) => w.stack.run(["up", "--yes", "--skip-preview", "--continue-on-error"], env);

  test("the preview says what is paid for; only what is surely fresh is", async () => {
    const { text } = await w.stack.run(["preview"]);
    for (const id of ids) expect(text).toMatch(new RegExp(`${id}.*: pays for a contract on rinkeby from its account`));
    const { code, text: said } = await up();
    expect(code).not.toBe(0);
    expect(deployed()).toEqual(ids.slice(paid.length));
    for (const id of ids.slice(paid.length)) expect(said).not.toContain(`CONSORTIUM_NOT_DEPLOYED=${id}`);
    expect(said).toMatch(/check the account .*it has made 7 reports.*Nothing was paid\./);
  });

  test("the others are asked about again, and one that a person confirms is paid for", async () => {
    const { text } = await up();
    expect(deployed()).toHaveLength(fresh.length);
    const [, first] = new RegExp(`CONSORTIUM_NOT_DEPLOYED=(${ids[0]}@\\S+) sends it;`).exec(text)!;
    const preview = await w.stack.run(["preview"]);
    expect(preview.text).toMatch(new RegExp(`${ids[0]}.*: pays for a contract on rinkeby`));
    expect(preview.text).not.toMatch(new RegExp(`${ids.at(-1)}.*: pays`));
    await up({ CONSORTIUM_NOT_DEPLOYED: first });
    expect(deployed()).toEqual([ids[0], ...ids.slice(paid.length)]);
  });

  test("settings in its own way are no drift; one that somebody has started is stopped; an import pays for nothing", async () => {
    const settings = 'network: "rinkeby", intervalHours: 2';
    const two = `
      const { TetherService } = require("pulumi-consortium");
      new TetherService("minutes", { tetherId: "t0minutes0", ${settings} });
      new TetherService("stopped", { tetherId: "t0stopped0", ${settings}, active: false });`;
    const imported = (option: string) =>
      `new TetherService("i", { tetherId: "t0import00", ${settings}, active: false }, ${option});`;
    const tethers = ["t0minutes0", "t0stopped0", "t0import00"].map((id) => ({ id }));
    const { service, stack } = await world(two, { inline: true, plugin, ledger: false, tethers });
    const trade = await send(service, "POST", "/consortia", { name: "trade" });
    await send(service, "POST", `/consortia/${trade._id}/environments`, { provider: "geth", consensus_type: "poa" });
    const shown = { network: "Rinkeby", interval: 120, state: "active", deployed_networks: ["Rinkeby"] };
    service.faults.add(says("GET", /t0minutes0$/, shown));
    service.faults.add(without(says("GET", /t0stopped0$/, {})));
    service.faults.add(says("GET", /t0import00$/, { network: "rinkeby", interval: 2, state: "inactive" }));
    service.faults.add(says("GET", /t0import00\/reportCount$/, 7));
    await send(service, "POST", "/tether/t0import00/targetNetwork", { network: "rinkeby" });
    const fields = (id: string) => service.store.tethers.get(id).fields;

    expect(await stack.up()).toMatchObject({ code: 0 });
    service.clearCalls();
    expect(await stack.run(["up", "--yes", "--skip-preview", "--refresh"])).toMatchObject({ code: 0 });
    expect(service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(fields("t0minutes0")).toMatchObject({ active: false, deployments: { rinkeby: 0 } });
    expect(fields("t0stopped0")).toMatchObject({ active: false, deployments: { rinkeby: 1 } });

    if (plugin) {
      // An update follows an import at once, and in each later run.
      for (const option of ['{ import: "t0import00" }', "{}"]) {
        stack.program(two + imported(option));
        expect((await stack.preview()).text).toContain("pays for a contract on rinkeby from its account, unless");
        expect(await failed(stack.up())).toMatch(/CONSORTIUM_NOT_DEPLOYED=t0import00@/);
      }
      expect(fields("t0import00")).toMatchObject({ deployments: { rinkeby: 0 } });
    }

    await send(service, "POST", "/tether/t0stopped0/activate", {}); // in the console
    expect(fields("t0stopped0")).toMatchObject({ active: true });
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(fields("t0stopped0")).toMatchObject({ active: false });
  });
});
