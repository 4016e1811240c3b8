import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { json as jsonOf } from "node:stream/consumers";
import { canaryKey, type World, world, writesOf } from "../support/world";

/*
 * What counts as a change, through the real CLI and on both providers, on a service that stores values in its own way. Every kind,
 * both services on both providers, and what a change leads to, without the CLI: provider/stacks/asked, stays and restart.
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
  close: () => void;
}

/** A service that passes everything on to the other one. It stores in its own form, or only lists in it. */
async function inFrontOf(baseUrl: string, stores: boolean): Promise<Front> {
  const { origin } = new URL(baseUrl);
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "GET", url = "/", headers } = request;
      const given = method === "GET" || method === "DELETE" ? undefined : ((await jsonOf(request)) as Body);
      const sent = given && stores ? inOwnForm(given) : given;
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
  return { baseUrl: address + new URL(baseUrl).pathname, close: () => server.close().closeAllConnections() };
}

const ledger = "blockPeriod: 1, prefundedAccounts: { '0x52908400098527886E0F7030069857D2E4169EE7': { balance: '16' } }";

const program = (environment = ledger): string => `
  const { Consortium, Environment, EnvironmentZone, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft", ${environment} });
  const zone = new EnvironmentZone("z", { environment, region: "us-east-2", cloud: "AWS" });
  new Node("n", { environment, membership, zone, size: "Small" });
`;

describe.each([
  ["dynamic provider, where the service stores values in its own form", false, true],
  ["plugin provider, where it answers with the request, and lists values in its own form", true, false],
])("on the %s", (_, plugin, stores) => {
  let own: World;
  let front: Front;
  let ids: Record<string, string>;

  const idsNow = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await own.stack.resources()).map(({ urn, id }) => [urn.split("::").at(-1)!, id]));

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
    const spelled = program(`${ledger.replace("'16'", "'0x10'")}, multiRegion: false`);
    expect(await up(program(), "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await up(spelled, "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    expect([writesOf(own.service), await idsNow()]).toEqual([[], ids]);
  });

  test("a refresh announces nothing: what the service shows now is put back by the next up", async () => {
    const { id, fields } = own.service.store.nodes.list()[0]!;
    const { size } = fields;
    own.service.store.nodes.patch(id, { size: "other" });
    const refreshed = await own.stack.refresh({ CONSORTIUM_BASE_URL: front.baseUrl });
    expect([refreshed.code, refreshed.text]).toEqual([0, expect.not.stringContaining("restarts")]);
    const { text } = await own.stack.preview({ CONSORTIUM_BASE_URL: front.baseUrl });
    expect(text).toContain("restarts, to change size");
    own.service.store.nodes.patch(id, { size });
    expect(await up(program(), "--refresh")).toMatchObject({ code: 0 });
  });
});
