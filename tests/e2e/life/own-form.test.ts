import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { json as jsonOf } from "node:stream/consumers";
import { canaryKey, type World, world, writesOf } from "../support/world";

/*
 * What counts as a change, through the real CLI and on both providers, on a service that stores values in its own way. Every kind,
 * without the CLI: provider/stacks/asked.
 */

type Body = Record<string, unknown>;

/** Another form of a value that a program would not write. */
const inOwnForm = (body: Body): Body => ({
  ...body,
  ...(typeof body.block_period === "number" && { block_period: body.block_period + 1 }),
  ...Object.fromEntries(
    ["size", "cloud"].flatMap((key) => (typeof body[key] === "string" ? [[key, body[key].toLowerCase()]] : [])),
  ),
});

/** What a service shows: lists in its own form, all else as it is. */
const listed = (text: string): string => {
  const shown = (text.startsWith("[") ? JSON.parse(text) : undefined) as Body[] | undefined;
  return shown ? JSON.stringify(shown.map(inOwnForm)) : text;
};

interface Front {
  baseUrl: string;
  /** Whether it accepts another description and makes that later. */
  isLate: boolean;
  close: () => void;
}

/** A service that passes everything on to the other one. It stores in its own form, or only lists in it. */
async function inFrontOf(baseUrl: string, stores: boolean): Promise<Front> {
  const { origin } = new URL(baseUrl);
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "GET", url = "/", headers } = request;
      const given = method === "GET" || method === "DELETE" ? undefined : ((await jsonOf(request)) as Body);
      const later = front.isLate && method === "PATCH" ? { ...given, description: undefined } : given;
      const sent = later && stores ? inOwnForm(later) : later;
      const answer = await fetch(origin + url, {
        method,
        headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
        body: sent && JSON.stringify(sent),
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      const text = await answer.text();
      response.end(method === "GET" && !stores ? listed(text) : text);
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => server.close().closeAllConnections();
  const front: Front = { baseUrl: address + new URL(baseUrl).pathname, isLate: false, close };
  return front;
}

const ledger = "blockPeriod: 1, prefundedAccounts: { '0x52908400098527886E0F7030069857D2E4169EE7': { balance: '16' } }";

const program = ({ environment = ledger, node = "zone, size: 'Small'", zone = "" } = {}): string => `
  const { Consortium, Environment, EnvironmentZone, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft", ${environment} });
  const zone = new EnvironmentZone("z", { environment, region: "us-east-2", cloud: "AWS", ${zone} });
  new Node("n", { environment, membership, ${node} });
`;

/* Both services on both providers: tests/provider/stacks/asked.test.ts. */
describe.each([
  ["dynamic provider, where the service stores values in its own form", false, true],
  ["plugin provider, where it answers with the request, and lists values in its own form", true, false],
])("on the %s", (_, plugin, stores) => {
  let own: World;
  let front: Awaited<ReturnType<typeof inFrontOf>>;
  let ids: Record<string, string>;

  const idsNow = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await own.stack.resources()).map(({ urn, id }) => [urn.split("::").at(-1)!, id]));
  const writes = (): string[] => writesOf(own.service);

  beforeAll(async () => {
    own = await world(program(), { plugin });
    front = await inFrontOf(own.service.baseUrl, stores);
    expect(await own.stack.up({ CONSORTIUM_BASE_URL: front.baseUrl })).toMatchObject({ code: 0 });
    ids = await idsNow();
    own.service.clearCalls();
  });
  afterAll(() => front.close());
  const up = async (text: string, ...more: string[]) => {
    own.stack.program(text);
    return own.stack.up({ CONSORTIUM_BASE_URL: front.baseUrl, CONSORTIUM_API_KEY: canaryKey }, ...more);
  };

  test("the same program again, and one that writes a default down, change nothing, refreshed or not", async () => {
    const spelled = program({ environment: `${ledger.replace("'16'", "'0x10'")}, multiRegion: false` });
    expect(await up(program(), "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await up(spelled, "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    expect([writes(), await idsNow()]).toEqual([[], ids]);
  });

  test("a restart that the service refuses is made up for by the next up with a refresh", async () => {
    const large = program({ node: "zone, size: 'Large'" });
    const fault = { kind: "status", status: 500, errorMessage: "not now", method: "PUT", times: Infinity } as const;
    const refusal = own.service.faults.add({ ...fault, route: /\/reset$/ });
    const failed = await up(large);
    expect(failed.text).toMatch(/was changed, but not restarted/);
    refusal.remove();
    own.service.clearCalls();
    expect(await up(large, "--refresh")).toMatchObject({ code: 0 });
    expect(writes()).toEqual(["PUT /consortia/:consortiumId/environments/:environmentId/nodes/:nodeId/reset"]);
    expect(await up(large, "--expect-no-changes")).toMatchObject({ code: 0 });
    own.service.clearCalls();
  });

  test("a refresh announces nothing: what the service shows now is put back by the next up", async () => {
    const large = program({ node: "zone, size: 'Large'" });
    const { id, fields } = own.service.store.nodes.list()[0]!;
    const { size } = fields;
    own.service.store.nodes.patch(id, { size: "other" });
    const refreshed = await own.stack.refresh({ CONSORTIUM_BASE_URL: front.baseUrl });
    expect([refreshed.code, refreshed.text]).toEqual([0, expect.not.stringContaining("restarts")]);
    own.stack.program(large);
    const { text } = await own.stack.preview({ CONSORTIUM_BASE_URL: front.baseUrl });
    expect(text).toContain("restarts, to change size");
    own.service.store.nodes.patch(id, { size });
    expect(await up(large, "--refresh")).toMatchObject({ code: 0 });
    own.service.clearCalls();
  });

  test("what is taken out of a ledger stays, and the preview says so", async () => {
    const without = await up(
      program({ environment: "blockPeriod: 1", node: "zone, size: 'Large'" }),
      "--expect-no-changes",
    );
    expect(without).toMatchObject({ code: 0 });
    expect(without.text).toMatch(/prefundedAccounts stays as it is, because the program no longer sets it/);
    expect([writes(), await idsNow()]).toEqual([[], ids]);
  });

  test("a zone that a node names is replaced before the old one goes", async () => {
    const moved = program({ node: "zone, size: 'Large'", zone: "bridgeId: 'b'" });
    expect(await up(moved)).toMatchObject({ code: 0 });
    const now = await idsNow();
    expect([now.z === ids.z, now.e]).toEqual([false, ids.e]);
    expect(own.service.store.zones.list()).toHaveLength(1);
    expect(await up(moved, "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("going back after a change that the service accepted and made later is sent", async () => {
    const described = (description: string): string =>
      program({
        environment: `blockPeriod: 1, description: '${description}'`,
        node: "zone, size: 'Large'",
        zone: "bridgeId: 'b'",
      });
    expect(await up(described("one"))).toMatchObject({ code: 0 });
    front.isLate = true;
    expect((await up(described("two"))).text).toContain("accepted another description, but still shows the old one");
    front.isLate = false;
    own.service.store.environments.patch(ids.e!, { description: "two" });
    expect(await up(described("one"), ...(plugin ? ["--refresh"] : []))).toMatchObject({ code: 0 });
    expect(own.service.store.environments.get(ids.e!).fields).toMatchObject({ description: "one" });
    expect(await up(described("one"), "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
