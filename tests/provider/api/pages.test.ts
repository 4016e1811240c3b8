import { inspect } from "node:util";
import { ConsortiumClient, type PartialList } from "../../../provider/api";
import { readPages } from "../../../provider/api/pages";
import { failure, peer, type Peer, type Reply, settingsFor } from "../../support/peer";

/* Lists in pages: read to the end, and never taken for whole where the service says otherwise. */

type Page = { items: unknown[]; headers?: Record<string, string | string[]>; status?: number };

/** By the query of the address; elements alone are a page without more to say. */
type Pages = Record<string, Page | unknown[]>;

async function paged(pages: Pages): Promise<{ client: ConsortiumClient; server: Peer }> {
  const reply: Reply = (response, seen) => {
    const { search } = new URL(server.requests[seen - 1]!.url, server.baseUrl);
    const page = pages[search] ?? { items: [], status: 404 };
    const { items, headers = {}, status = 200 } = Array.isArray(page) ? { items: page } : page;
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(items));
  };
  const server = await peer(reply);
  return { client: new ConsortiumClient(settingsFor(server.baseUrl)), server };
}

const some = (from: number, count: number): { _id: string }[] =>
  Array.from({ length: count }, (_, at) => ({ _id: `c${from + at}` }));

/** The first page: two consortia. */
const two = (headers: Page["headers"] = {}, status = 200): Page => ({ items: some(0, 2), headers, status });
const next = { link: '<?page=2>; rel="next"' };

test.each<[string, string | string[]]>([
  ["a query alone", '<?page=2>; rel="next"'],
  ["an absolute path", '</api/v1/consortia?page=2>; rel="next"'],
  ["rel without quotes, in capitals, among others", '<?page=1>; rel=prev, <?page=2>; title="a, b; c"; REL=Next'],
  ["several relations in one", '<?page=2>; rel="last next"'],
  ["several headers", ['<?page=9>; rel="last"', '<?page=2>; rel="next"']],
  ["an anchor that is the list itself", '<?page=2>; rel="next"; anchor="/api/v1/consortia"'],
  ["a fragment, which is not sent", '<?page=2#end>; rel="next"'],
])("a next link: %s", async (_what, link) => {
  const { client, server } = await paged({ "": two({ link }), "?page=2": some(2, 1) });
  expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["c0", "c1", "c2"]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/consortia", "/api/v1/consortia?page=2"]);
  expect(server.requests[1]!.headers.authorization).toBe(server.requests[0]!.headers.authorization);
});

describe("a list whose length is round, and that says nothing of pages", () => {
  test.each<[string, Pages, number, number]>([
    ["has more", { "": some(0, 25), "?skip=25": some(25, 3) }, 28, 2],
    ["has more after a power of two", { "": some(0, 64), "?skip=64": some(64, 1) }, 65, 2],
    ["has more after a dozen", { "": some(0, 12), "?skip=12": some(12, 1) }, 13, 2],
    ["has two pages more", { "": some(0, 10), "?skip=10": some(10, 10), "?skip=20": [] }, 20, 3],
    ["is whole", { "": some(0, 50), "?skip=50": [] }, 50, 2],
    ["is whole, and the service does not know skip", { "": some(0, 50), "?skip=50": some(0, 50) }, 50, 2],
    ["is whole, and the service refuses skip", { "": some(0, 50), "?skip=50": { items: [], status: 400 } }, 50, 2],
    ["is whole, by its total", { "": { items: some(0, 50), headers: { "x-total-count": "50" } } }, 50, 1],
    ["is not round", { "": some(0, 26) }, 26, 1],
    ["is empty", { "": [] }, 0, 1],
  ])("%s", async (_, pages, count, requests) => {
    const { client, server } = await paged(pages);
    expect((await client.listConsortia()).map(({ id }) => id)).toEqual(some(0, count).map(({ _id }) => _id));
    expect(server.requests).toHaveLength(requests);
  });

  test("keeps its filter", async () => {
    const { client, server } = await paged({ "?name=a": some(0, 10), "?name=a&skip=10": [] });
    expect(await client.listConsortia({ name: "a" })).toHaveLength(10);
    expect(server.requests).toHaveLength(2);
  });
});

test.each(["!a", "<a", ">a", "^a", "$a", "~a"])("a name that may mean an operation is not sent: %s", async (name) => {
  const [meant, other] = [
    { _id: "c1", name },
    { _id: "c2", name: "a" },
  ];
  const { client, server } = await paged({ "": [meant, other] });
  expect((await client.listConsortia({ name })).map(({ id }) => id)).toEqual(["c1"]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/consortia"]);
});

test("an absolute address keeps its filter", async () => {
  const pages: Pages = {};
  const { client, server } = await paged(pages);
  const link = `<${server.baseUrl}/consortia?name=a&cursor=x%2Fy>; rel="next"`;
  pages["?name=a"] = two({ link });
  pages["?name=a&cursor=x%2Fy"] = some(2, 1);
  expect((await client.listConsortia({ name: "a" })).map(({ id }) => id)).toEqual(["c0", "c1", "c2"]);
});

test.each<[string, Page, RegExp, Page?]>([
  ["a total", two({ "x-total-count": "5" }), /has 2 elements, .* there are 5 \(X-Total-Count\)/],
  ["a range", two({ "content-range": "items 0-1/250" }), /there are 250 \(Content-Range\)/],
  ["a range of 206", two({ "content-range": "0-1/3" }, 206), /there are 3/],
  ["206 alone", two({}, 206), /it is partial \(HTTP 206\)/],
  ["206 and an unknown size", two({ "content-range": "items 0-1/*" }, 206), /206/],
  ["another host", two({ link: '<http://elsewhere.test/x>; rel="next"' }), /elsewhere.test/],
  ["another scheme", two({ link: '<ftp://127.0.0.1/x>; rel="next"' }), /ftp:|null/],
  ["no address", two({ link: '<http://[>; rel="next"' }), /the address of its next page is invalid/],
  ["an unreadable header", two({ link: "?page=2; rel=next" }), /its Link header cannot be read/],
  ["itself", two({ link: '</api/v1/consortia>; rel="next"' }), /was read already/],
  ["a page that is not there", two(next), /HTTP 404/],
  ["a page that is refused", two(next), /HTTP 403/, { items: [], status: 403 }],
  [
    "pages in a circle",
    two(next),
    /was read already/,
    { items: some(2, 1), headers: { link: '</api/v1/consortia>; rel="next"' } },
  ],
  [
    "too few on all pages",
    two({ ...next, "x-total-count": "4" }),
    /has 3 elements, .* there are 4/,
    { items: some(2, 1), headers: { "x-total-count": "4" } },
  ],
])("only a part: %s", async (_what, first, why, ...[second]) => {
  const { client, server } = await paged({ "": first, ...(second && { "?page=2": second }) });
  const error = await failure(client.listConsortia());
  expect(error).toMatchObject({ kind: "partial", call: "GET /consortia" });
  expect(error.message).toMatch(why);
  expect((error as PartialList).items.length).toBeGreaterThan(1);
  expect(inspect(error)).not.toContain("c0");
  for (const { url } of server.requests) expect(url).toMatch(/^\/api\/v1\/consortia/);
});

test.each<[string, Page, Page?]>([
  ["as many as the total", two({ "x-total-count": "2" })],
  ["the whole range", two({ "content-range": "items 0-1/2" })],
  ["a header without a next link", two({ link: '<?page=1>; rel="first"' })],
  ["a next link of something else", two({ link: '<?page=2>; rel="next"; anchor="/help"' })],
  ["garbage without a next link", two({ link: "garbage" })],
  [
    "a total that is reached by a next link to another host",
    two({ "x-total-count": "2", link: '<http://elsewhere.test/x>; rel="next"' }),
  ],
  ["an empty page at the end", two(next), { items: [] }],
])("whole: %s", async (_what, first, ...[second]) => {
  const { client } = await paged({ "": first, ...(second && { "?page=2": second }) });
  expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["c0", "c1"]);
});

describe("a total beside a filter, which it may not count", () => {
  test("is not held against it", async () => {
    const { client } = await paged({ "?name=a": { items: some(0, 1), headers: { "x-total-count": "9" } } });
    expect(await client.listConsortia({ name: "a" })).toHaveLength(1);
  });

  test("does not make a part whole", async () => {
    const headers = { "x-total-count": "2", link: '<http://elsewhere.test/x>; rel="next"' };
    const { client } = await paged({ "?name=a": two(headers) });
    expect(await failure(client.listConsortia({ name: "a" }))).toMatchObject({ kind: "partial" });
  });
});

test.each(["me", "me:password"])("the key goes to no next page with a user name: %s", async (user) => {
  const pages: Pages = {};
  const { client, server } = await paged(pages);
  const other = `${server.baseUrl.replace("://", `://${user}@`)}/consortia?page=2`;
  pages[""] = two({ link: `<${other}>; rel="next"` });
  expect(await failure(client.listConsortia())).toMatchObject({ kind: "partial" });
  expect(server.requests).toHaveLength(1);
});

describe("pages that do not fit together", () => {
  /** Answers the requests one by one, with a next link unless a page is the last of its reading. */
  async function read(...readings: unknown[][][]) {
    const replies = readings.flatMap((pages) =>
      pages.map((items, at) => ({ items, link: at + 1 < pages.length ? `<?page=${at + 2}>; rel="next"` : "" })),
    );
    const server = await peer((response, seen) => {
      const { items, link } = replies[seen - 1]!;
      response.writeHead(200, link === "" ? {} : { link }).end(JSON.stringify(items));
    });
    const client = new ConsortiumClient(settingsFor(server.baseUrl));
    return { listed: client.listConsortia(), isAllRead: () => server.requests.length === replies.length };
  }
  const [a, b, c] = some(0, 3);
  const idsOf = (items: readonly unknown[]): unknown[] => items.map((item) => (item as { id: string }).id).toSorted();

  test.each<[string, unknown[][][]]>([
    [
      "show one object twice, and then do not",
      [
        [[a], [b], [a]],
        [[a], [b], [c]],
      ],
    ],
    [
      "grow shorter before the last one, and then do not",
      [
        [[a, b], [], [c]],
        [[a, b], [c]],
      ],
    ],
    [
      "have a length of their own, which is the same again",
      [
        [[a, b], [], [c]],
        [[a, b], [], [c]],
      ],
    ],
  ])("and %s: whole", async (_, readings) => {
    const { listed, isAllRead } = await read(...readings);
    expect(idsOf(await listed)).toEqual(["c0", "c1", "c2"]);
    expect(isAllRead()).toBe(true);
  });

  test.each<[string, unknown[][][], string[]]>([
    [
      "overlap",
      [
        [[a], [a]],
        [[b], [b]],
        [[a], [a]],
      ],
      ["c0", "c1"],
    ],
    [
      "overlap",
      [
        [[a, b], [b]],
        [[a, b], [b]],
        [[a, b], [b]],
      ],
      ["c0", "c1"],
    ],
    [
      "shrink",
      [
        [[a, b], [], [c]],
        [[b, c], [], [a]],
        [[a, b], [], [c]],
      ],
      ["c0", "c1", "c2"],
    ],
  ])("and %s each time: a part, with all that was seen", async (why, readings, ids) => {
    const { listed, isAllRead } = await read(...readings);
    const error = await failure(listed);
    expect(error).toMatchObject({ kind: "partial" });
    expect(error.message).toContain(`its pages ${why}, each time that it is read`);
    expect(idsOf((error as PartialList).items)).toEqual(ids);
    expect(isAllRead()).toBe(true);
  });

  test("a total that is reached is all there is, whatever the pages show", async () => {
    const headers = { "x-total-count": "2" };
    const { client } = await paged({ "": { ...two(), headers: { ...headers, ...next } }, "?page=2": two(headers) });
    expect(await client.listConsortia()).toHaveLength(2);
  });
});

test("pages without an end are given up", async () => {
  const reply: Reply = (response, seen) =>
    void response
      .writeHead(200, { link: `<?page=${seen + 1}>; rel="next"` })
      .end(JSON.stringify(seen === 1 ? some(0, 2) : some(0, 1)));
  const server = await peer(reply);
  const error = await failure(new ConsortiumClient(settingsFor(server.baseUrl)).listConsortia());
  expect(error.message).toMatch(/its pages repeat without end/);
  expect(server.requests).toHaveLength(4); // the list, and three pages with nothing new
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

test.each([
  ["that name the next one", true],
  ["that are asked for by what they skip", false],
])("a list without end is partial after a thousand pages %s", async (_, named) => {
  let asked = 0;
  const listing = await readPages(
    () => {
      const items = some(10 * asked++, 10);
      const headers = named ? { link: `<?page=${asked}>; rel="next"` } : {};
      return Promise.resolve({ status: 200, body: items, headers, url: `http://x/list?page=${asked - 1}` });
    },
    ({ body }) => body as unknown[],
    true,
  );
  expect([asked, listing.items.length, listing.part]).toEqual([1_000, 10_000, "it has more than 1000 pages"]);
});

test("what is no object counts once, as it is", async () => {
  const items = [null, "a", 7, "a", { name: "x" }, { name: "x" }];
  const answer = { status: 200, body: items, headers: {}, url: "http://x/list" };
  const listing = await readPages(
    () => Promise.resolve(answer),
    ({ body }) => body as unknown[],
    true,
  );
  expect(listing.items).toHaveLength(4);
});
