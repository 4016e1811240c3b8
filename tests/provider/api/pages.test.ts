import { inspect } from "node:util";
import { ConsortiumClient, type PartialList } from "../../../provider/api";
import { readPages } from "../../../provider/api/pages";
import { failure, peer, type Peer, type Reply, settingsFor } from "../../support/peer";
import { setEnvironment } from "../../support/service";

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
])("a next link: %s", async (_what, link) => {
  const { client, server } = await paged({ "": two({ link }), "?page=2": some(2, 1) });
  expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["c0", "c1", "c2"]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/consortia", "/api/v1/consortia?page=2"]);
  expect(server.requests[1]!.headers.authorization).toBe(server.requests[0]!.headers.authorization);
});

test("a list that names no next page is whole, however long it is", async () => {
  const { client, server } = await paged({ "": some(0, 50) });
  expect(await client.listConsortia()).toHaveLength(50);
  expect(server.requests).toHaveLength(1);
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

test.each<[string, Page, boolean]>([
  ["a total that is not reached", two({ "x-total-count": "5" }), true],
  ["what says itself that it is a part", two({}, 206), false],
])("CONSORTIUM_CONFIRM_LISTS confirms %s, and only for its run: %j", async (_what, first, confirms) => {
  const { client } = await paged({ "": first });
  for (const value of [undefined, "true", undefined]) {
    setEnvironment({ CONSORTIUM_CONFIRM_LISTS: value });
    if (confirms && value) expect(await client.listConsortia()).toHaveLength(2);
    else
      expect((await failure(client.listConsortia())).message.includes("with CONSORTIUM_CONFIRM_LISTS=true")).toBe(
        confirms,
      );
  }
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

test.each<[string, Pages, number]>([
  ["the last two pages", { "": two(next), "?page=2": some(1, 2) }, 3],
  [
    "pages before the last",
    {
      "": two(next),
      "?page=2": { items: some(1, 2), headers: { link: '<?page=3>; rel="next"' } },
      "?page=3": some(3, 2),
    },
    5,
  ],
])("an object on %s shows that the list changes meanwhile: a part, with the object once", async (_, pages, count) => {
  const { client } = await paged(pages);
  const error = await failure(client.listConsortia());
  expect(error.message).toContain(`has ${count} elements, and its pages overlap`);
  expect((error as PartialList).items).toHaveLength(count);
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
  ["something new", 10],
  ["nothing new", 0],
])("a list without end is partial after a thousand pages with %s", async (_, perPage) => {
  let asked = 0;
  const listing = await readPages(
    () => {
      const items = some(perPage * asked++, 10);
      const headers = { link: `<?page=${asked}>; rel="next"` };
      return Promise.resolve({ status: 200, body: items, headers, url: `http://x/list?page=${asked - 1}` });
    },
    ({ body }) => body as unknown[],
    true,
  );
  const count = perPage === 0 ? 10 : 10_000;
  expect([asked, listing.items.length, listing.part]).toEqual([1_000, count, "it has more than 1000 pages"]);
});
