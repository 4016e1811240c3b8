import { inspect } from "node:util";
import { ConsortiumClient, type PartialList } from "../../../provider/api";
import { failure, peer, type Peer, type Reply, settingsFor } from "../../support/peer";

/* Lists in pages: read to the end, and never taken for whole where the service says otherwise. */

type Page = { items: unknown[]; headers?: Record<string, string | string[]>; status?: number };

/** Answers by the query of the address. */
async function paged(pages: Record<string, Page>): Promise<{ client: ConsortiumClient; server: Peer }> {
  const reply: Reply = (response, seen) => {
    const { search } = new URL(server.requests[seen - 1]!.url, server.baseUrl);
    const { items, headers = {}, status = 200 } = pages[search] ?? { items: [], status: 404 };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(items));
  };
  const server = await peer(reply);
  return { client: new ConsortiumClient(settingsFor(server.baseUrl)), server };
}

const some = (from: number, count: number): { _id: string }[] =>
  Array.from({ length: count }, (_, at) => ({ _id: `c${from + at}` }));

test.each<[string, string | string[]]>([
  ["a query alone", '<?page=2>; rel="next"'],
  ["an absolute path", '</api/v1/consortia?page=2>; rel="next"'],
  ["rel without quotes, in capitals, among others", '<?page=1>; rel=prev, <?page=2>; title="a, b; c"; REL=Next'],
  ["several relations in one", '<?page=2>; rel="last next"'],
  ["several headers", ['<?page=9>; rel="last"', '<?page=2>; rel="next"']],
  ["an anchor that is the list itself", '<?page=2>; rel="next"; anchor="/api/v1/consortia"'],
  ["a fragment, which is not sent", '<?page=2#end>; rel="next"'],
])("a next link: %s", async (_what, link) => {
  const { client, server } = await paged({
    "": { items: some(0, 2), headers: { link } },
    "?page=2": { items: some(2, 1) },
  });
  expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["c0", "c1", "c2"]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/consortia", "/api/v1/consortia?page=2"]);
  expect(server.requests[1]!.headers.authorization).toBe(server.requests[0]!.headers.authorization);
});

describe("a list whose length is round, and that says nothing of pages", () => {
  test.each<[string, Record<string, Page>, number, number]>([
    ["has more", { "": { items: some(0, 25) }, "?skip=25": { items: some(25, 3) } }, 28, 2],
    [
      "has two pages more",
      { "": { items: some(0, 10) }, "?skip=10": { items: some(10, 10) }, "?skip=20": { items: [] } },
      20,
      3,
    ],
    ["is whole", { "": { items: some(0, 50) }, "?skip=50": { items: [] } }, 50, 2],
    [
      "is whole, and the service does not know skip",
      { "": { items: some(0, 50) }, "?skip=50": { items: some(0, 50) } },
      50,
      2,
    ],
    [
      "is whole, and the service refuses skip",
      { "": { items: some(0, 50) }, "?skip=50": { items: [], status: 400 } },
      50,
      2,
    ],
    ["is whole, by its total", { "": { items: some(0, 50), headers: { "x-total-count": "50" } } }, 50, 1],
    ["is not round", { "": { items: some(0, 26) } }, 26, 1],
    ["is empty", { "": { items: [] } }, 0, 1],
  ])("%s", async (_, pages, count, requests) => {
    const { client, server } = await paged(pages);
    expect((await client.listConsortia()).map(({ id }) => id)).toEqual(some(0, count).map(({ _id }) => _id));
    expect(server.requests).toHaveLength(requests);
  });

  test("keeps its filter", async () => {
    const { client, server } = await paged({ "?name=a": { items: some(0, 10) }, "?name=a&skip=10": { items: [] } });
    expect(await client.listConsortia({ name: "a" })).toHaveLength(10);
    expect(server.requests).toHaveLength(2);
  });
});

test.each(["!a", "<a", ">a", "^a", "$a", "~a"])(
  "a name that a service may take for an operation is not sent: %s",
  async (name) => {
    const { client, server } = await paged({
      "": {
        items: [
          { _id: "c1", name },
          { _id: "c2", name: "a" },
        ],
      },
    });
    expect((await client.listConsortia({ name })).map(({ id }) => id)).toEqual(["c1"]);
    expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/consortia"]);
  },
);

test("an absolute address keeps its filter, and what two pages show is there once", async () => {
  const pages: Record<string, Page> = {};
  const { client, server } = await paged(pages);
  const link = `<${server.baseUrl}/consortia?name=a&cursor=x%2Fy>; rel="next"`;
  pages["?name=a"] = { items: some(0, 2), headers: { link } };
  pages["?name=a&cursor=x%2Fy"] = { items: some(1, 2) };
  expect((await client.listConsortia({ name: "a" })).map(({ id }) => id)).toEqual(["c0", "c1", "c2"]);
});

test.each<[string, Page, Record<string, Page>, RegExp]>([
  [
    "a total",
    { items: some(0, 2), headers: { "x-total-count": "5" } },
    {},
    /holds 2, .* there are 5 \(X-Total-Count\)/,
  ],
  [
    "a range",
    { items: some(0, 2), headers: { "content-range": "items 0-1/250" } },
    {},
    /there are 250 \(Content-Range\)/,
  ],
  ["a range of 206", { items: some(0, 2), headers: { "content-range": "0-1/3" }, status: 206 }, {}, /there are 3/],
  ["206 alone", { items: some(0, 2), status: 206 }, {}, /it is partial \(HTTP 206\)/],
  [
    "206 and an unknown size",
    { items: some(0, 2), headers: { "content-range": "items 0-1/*" }, status: 206 },
    {},
    /206/,
  ],
  [
    "another host",
    { items: some(0, 2), headers: { link: '<http://elsewhere.test/x>; rel="next"' } },
    {},
    /elsewhere.test/,
  ],
  ["another scheme", { items: some(0, 2), headers: { link: '<ftp://127.0.0.1/x>; rel="next"' } }, {}, /ftp:|null/],
  [
    "no address",
    { items: some(0, 2), headers: { link: '<http://[>; rel="next"' } },
    {},
    /the address of its next page is invalid/,
  ],
  [
    "an unreadable header",
    { items: some(0, 2), headers: { link: "?page=2; rel=next" } },
    {},
    /its Link header cannot be read/,
  ],
  ["itself", { items: some(0, 2), headers: { link: '</api/v1/consortia>; rel="next"' } }, {}, /was read already/],
  ["a page that is not there", { items: some(0, 2), headers: { link: '<?page=2>; rel="next"' } }, {}, /HTTP 404/],
  [
    "a page that is refused",
    { items: some(0, 2), headers: { link: '<?page=2>; rel="next"' } },
    { "?page=2": { items: [], status: 403 } },
    /HTTP 403/,
  ],
  [
    "pages in a circle",
    { items: some(0, 2), headers: { link: '<?page=2>; rel="next"' } },
    { "?page=2": { items: some(2, 1), headers: { link: '</api/v1/consortia>; rel="next"' } } },
    /was read already/,
  ],
  [
    "too few on all pages",
    { items: some(0, 2), headers: { link: '<?page=2>; rel="next"', "x-total-count": "4" } },
    { "?page=2": { items: some(2, 1), headers: { "x-total-count": "4" } } },
    /holds 3, .* there are 4/,
  ],
])("only a part: %s", async (_what, first, others, why) => {
  const { client, server } = await paged({ "": first, ...others });
  const error = await failure(client.listConsortia());
  expect(error).toMatchObject({ kind: "partial", call: "GET /consortia" });
  expect(error.message).toMatch(why);
  expect((error as PartialList).items.length).toBeGreaterThan(1);
  expect(inspect(error)).not.toContain("c0");
  for (const { url } of server.requests) expect(url).toMatch(/^\/api\/v1\/consortia/);
});

test.each<[string, Page, Record<string, Page>]>([
  ["as many as the total", { items: some(0, 2), headers: { "x-total-count": "2" } }, {}],
  ["the whole range", { items: some(0, 2), headers: { "content-range": "items 0-1/2" } }, {}],
  ["a header without a next link", { items: some(0, 2), headers: { link: '<?page=1>; rel="first"' } }, {}],
  [
    "a next link of something else",
    { items: some(0, 2), headers: { link: '<?page=2>; rel="next"; anchor="/help"' } },
    {},
  ],
  ["garbage without a next link", { items: some(0, 2), headers: { link: "garbage" } }, {}],
  [
    "a total that is reached by a next link to another host",
    { items: some(0, 2), headers: { "x-total-count": "2", link: '<http://elsewhere.test/x>; rel="next"' } },
    {},
  ],
  [
    "an empty page at the end",
    { items: some(0, 2), headers: { link: '<?page=2>; rel="next"' } },
    { "?page=2": { items: [] } },
  ],
])("whole: %s", async (_what, first, others) => {
  const { client } = await paged({ "": first, ...others });
  expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["c0", "c1"]);
});

describe("a total beside a filter, which it may not count", () => {
  test("is not held against it", async () => {
    const { client } = await paged({ "?name=a": { items: some(0, 1), headers: { "x-total-count": "9" } } });
    expect(await client.listConsortia({ name: "a" })).toHaveLength(1);
  });

  test("does not make a part whole", async () => {
    const headers = { "x-total-count": "2", link: '<http://elsewhere.test/x>; rel="next"' };
    const { client } = await paged({ "?name=a": { items: some(0, 2), headers } });
    expect(await failure(client.listConsortia({ name: "a" }))).toMatchObject({ kind: "partial" });
  });
});

test.each(["me", "me:password"])("the key goes to no next page with a user name: %s", async (user) => {
  const pages: Record<string, Page> = {};
  const { client, server } = await paged(pages);
  const next = `${server.baseUrl.replace("://", `://${user}@`)}/consortia?page=2`;
  pages[""] = { items: some(0, 2), headers: { link: `<${next}>; rel="next"` } };
  expect(await failure(client.listConsortia())).toMatchObject({ kind: "partial" });
  expect(server.requests).toHaveLength(1);
});

test("pages without an end are given up", async () => {
  const reply: Reply = (response, seen) =>
    void response
      .writeHead(200, { link: `<?page=${seen + 1}>; rel="next"` })
      .end(JSON.stringify(seen === 1 ? some(0, 2) : some(0, 1)));
  const server = await peer(reply);
  const error = await failure(new ConsortiumClient(settingsFor(server.baseUrl)).listConsortia());
  expect(error.message).toMatch(/its pages repeat without end/);
  expect(server.requests.length).toBeLessThan(10);
});

test("a fault at a later page is tried again, as at the first", async () => {
  const reply: Reply = (response, seen) => {
    if (seen === 1) response.writeHead(200, { link: '<?page=2>; rel="next"' }).end(JSON.stringify(some(0, 1)));
    else if (seen === 2) response.writeHead(502).end();
    else response.writeHead(200).end(JSON.stringify(some(1, 1)));
  };
  const server = await peer(reply);
  expect(await new ConsortiumClient(settingsFor(server.baseUrl)).listConsortia()).toHaveLength(2);
});
