import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type FaultRule } from "../../../service/index";
import { atTheEnd } from "../support/ending";
import { send } from "../../support/network";
import { failed } from "../support/stack";
import { type World, wholeTree, world } from "../support/world";

/* Answers that only a service of another kind gives, with the real CLI. Refusals, states and proof that an object is gone: provider/stacks. */

const says = (route: RegExp, body: unknown): FaultRule => ({
  kind: "status",
  status: 200,
  method: "GET",
  route,
  body,
  times: Infinity,
});

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
      const asked = { method: request.method!, path: url.pathname.replace("/api/v1", "") };
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

describe("answers in other words and forms", () => {
  let w: World;
  let url: string;
  /** What a service like this does to answers, and instead of calls. */
  let change: (got: Between) => void = () => undefined;
  let before: Parameters<typeof behind>[2] = () => undefined;
  const told = (text: string): string => text.replace(/\s+/g, " ");
  const up = (more: Record<string, string> = {}, ...args: string[]) =>
    w.stack.up({ CONSORTIUM_BASE_URL: url, ...more }, ...args);
  const all = `
    const { AppCred, Consortium, Environment, Membership, Node } = require("pulumi-consortium");
    const consortium = new Consortium("c", { description: "first" });
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
    const node = new Node("n", { environment, membership });
    new AppCred("a", { environment, membership });
    exports.consortiumId = consortium.id;
    exports.environmentId = environment.id;
    exports.rpc = node.urls.rpc;
  `;

  beforeAll(async () => {
    w = await world(all, { inline: true, plugin: true, ledger: false });
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

  test("a node's new address is read, and so is a description that somebody cleared; a PUT puts it back", async () => {
    expect(await up()).toMatchObject({ code: 0 });
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

  test("a preview looks before it says what is adopted", async () => {
    await w.stack.ok(["stack", "init", "second"]);
    const adopting = { CONSORTIUM_BASE_URL: url, CONSORTIUM_ADOPT: "true" };
    const text = told((await w.stack.preview(adopting, "--stack", "second")).text);
    const { consortiumId, environmentId } = await w.stack.outputs();
    expect(text).toContain(`consortium "c": adopts ${String(consortiumId)} (exists already; nothing is created)`);
    for (const { id } of [{ id: String(environmentId) }, ...w.service.store.nodes.list()])
      expect(text).toContain(`adopts ${id} (exists already; nothing is created)`);
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

test("an import of a tether that has made reports pays for nothing, and neither does the update after it", async () => {
  const tether = (options: string): string => `
    const { TetherService } = require("pulumi-consortium");
    new TetherService("i", { tetherId: "t0import00", network: "rinkeby", intervalHours: 2, active: false }, ${options});`;
  const { service, stack } = await world("", {
    inline: true,
    plugin: true,
    ledger: false,
    tethers: [{ id: "t0import00" }],
  });
  const trade = await send(service, "POST", "/consortia", { name: "trade" });
  await send(service, "POST", `/consortia/${trade._id}/environments`, { provider: "geth", consensus_type: "poa" });
  service.faults.add(says(/t0import00$/, { network: "rinkeby", interval: 2, state: "inactive" }));
  service.faults.add(says(/t0import00\/reportCount$/, 7));
  await send(service, "POST", "/tether/t0import00/targetNetwork", { network: "rinkeby" });
  for (const options of ['{ import: "t0import00" }', "{}"]) {
    stack.program(tether(options));
    expect((await stack.preview()).text).toContain("pays for a contract on rinkeby from its account, unless");
    expect(await failed(stack.up())).toMatch(/CONSORTIUM_NOT_DEPLOYED=t0import00@/);
  }
  expect(service.store.tethers.get("t0import00").fields).toMatchObject({ deployments: { rinkeby: 0 } });
});
