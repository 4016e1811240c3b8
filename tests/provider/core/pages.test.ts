import { Engine, failed, type Kind, type Props } from "../../support/engine";
import { peer, type Peer, type Reply } from "../../support/peer";
import { newProcess, setEnvironment } from "../../support/service";
import { virtualTime } from "../../support/virtual-time";

/* A service with pages that reads nothing by id: objects beyond the first page exist, too. */

type Mode = "link" | "total" | "range" | "foreign link";
const perPage = 2;

interface Pages extends Peer {
  objects: Map<string, Props[]>;
  mode: Mode;
}

/** Keeps what is created, two objects a page, the oldest first. */
async function pages(mode: Mode, byId = false): Promise<Pages> {
  const time = virtualTime();
  const now = (): Date => new Date(time.wall());
  const objects = new Map<string, Props[]>();
  let made = 0;
  const server: Pages = Object.assign(await peer((...request) => answer(...request)), { objects, mode });
  const answer: Reply = (response, seen) => {
    const { method, url, body } = server.requests[seen - 1]!;
    const { pathname, searchParams } = new URL(url, server.baseUrl);
    const where = pathname.replace("/api/v1", "");
    const say = (status: number, answer: unknown, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { date: now().toUTCString(), ...headers }).end(JSON.stringify(answer));
    const parent = where.slice(0, where.lastIndexOf("/"));
    const own = objects.get(parent)?.find(({ _id }) => where === `${parent}/${String(_id)}`);
    if (method === "POST") {
      const fields = JSON.parse(body) as Props;
      const one = {
        _id: `x${++made}`,
        state: "live",
        owner: "o1",
        _revision: "0",
        created_at: now().toISOString(),
        ...fields,
      };
      objects.set(where, [...(objects.get(where) ?? []), one]);
      return say(201, one);
    }
    if (method === "DELETE" && own) {
      objects.set(
        parent,
        objects.get(parent)!.filter((one) => one !== own),
      );
      return say(204, "");
    }
    if (method === "GET" && own && byId) return say(200, own);
    const owner = parent.slice(parent.lastIndexOf("/") + 1);
    const isOwned = parent === "" || objects.get("/consortia")?.some(({ _id }) => _id === owner) === true;
    if (method !== "GET" || !isOwned || !/\/(consortia|memberships|environments)$/.test(where))
      return say(404, { errorMessage: "no" });
    const page = Number(searchParams.get("page") ?? 1);
    const all = objects.get(where) ?? [];
    const shown = all.slice((page - 1) * perPage, page * perPage);
    const more = all.length > page * perPage;
    const headers: Record<Mode, Record<string, string>> = {
      link: more ? { link: `<?page=${page + 1}>; rel="next"` } : {},
      total: { "x-total-count": String(all.length) },
      range: { "content-range": `items 0-${shown.length - 1}/${all.length}` },
      "foreign link": more ? { link: '<http://elsewhere.test/2>; rel="next"' } : {},
    };
    return say(200, shown, headers[server.mode]);
  };
  setEnvironment({ CONSORTIUM_API_KEY: "k", CONSORTIUM_BASE_URL: server.baseUrl });
  return server;
}

const posts = ({ requests }: Peer): number => requests.filter(({ method }) => method === "POST").length;

const cases: [Kind, string, (at: number) => Props][] = [
  ["consortium", "/consortia", (at) => ({ name: `trade-${at}` })],
  ["membership", "/consortia/x1/memberships", (at) => ({ consortiumId: "x1", orgName: `member-${at}` })],
];

/** A stack of five on a service with pages that it can read. */
async function stack(
  kind: Kind,
  args: (at: number) => Props,
  byId = false,
): Promise<{ server: Pages; engines: Engine[] }> {
  const server = await pages("link", byId);
  if (kind !== "consortium") expect(await new Engine("consortium").up({ name: "around" })).toEqual({ then: "created" });
  const engines = Array.from({ length: 5 }, () => new Engine(kind));
  for (const [at, engine] of engines.entries()) expect(await engine.up(args(at))).toEqual({ then: "created" });
  newProcess();
  return { server, engines };
}

describe.each(cases)("%s", (kind, where, args) => {
  test("pages with a next link: all objects are found, none is created again, and the last can be deleted", async () => {
    const { server, engines } = await stack(kind, args);
    for (const engine of engines) expect(await engine.refresh()).toBe("there");
    const before = posts(server);
    for (const [at, engine] of engines.entries()) expect(await engine.up(args(at))).toEqual({ then: "same" });
    expect(await new Engine(kind).up(args(4))).toEqual(failed(/already taken by/));
    expect(posts(server)).toBe(before);
    server.objects.set(where, server.objects.get(where)!.slice(0, 4));
    newProcess();
    expect(await engines[4]!.refresh()).toBe("gone");
    expect(await engines[3]!.refresh()).toBe("there");
    await engines[3]!.destroy();
    expect(server.objects.get(where)).toHaveLength(3);
  });

  const modes: Mode[] = ["total", "range", "foreign link"];
  test.each(modes)("a list that is partial by its %s: nothing counts as gone, and no name as free", async (mode) => {
    const { server, engines } = await stack(kind, args);
    server.mode = mode;
    expect(await engines[0]!.refresh()).toBe("there");
    await expect(engines[4]!.refresh()).rejects.toThrow(
      /RFC 8288.* the list is incomplete: it has 2 elements, and .*\[partial-list:/,
    );
    expect(engines[4]!.kept).toBeDefined();
    const before = posts(server);
    const again = await new Engine(kind).up(args(4));
    expect(again).toEqual(failed(/is incomplete: .*nothing is created\. To adopt .* adopt: "<id>"/));
    expect(posts(server)).toBe(before);
    expect(await new Engine(kind).up({ ...args(0), adopt: engines[0]!.kept!.id })).toEqual({ then: "created" });
  });

  test("a partial list proves nothing where objects can be read by id either", async () => {
    const { server, engines } = await stack(kind, args, true);
    server.mode = "total";
    expect(await engines[4]!.refresh()).toBe("there");
    server.objects.set(where, server.objects.get(where)!.slice(0, 4));
    newProcess();
    await expect(engines[4]!.refresh()).rejects.toThrow(/the list is incomplete/);
    server.mode = "link"; // it says where the rest is
    newProcess();
    expect(await engines[4]!.refresh()).toBe("gone");
  });
});

test("a partial list proves nothing for an unknown key: nothing is deleted", async () => {
  const [kind, where, args] = cases[0]!;
  const { server, engines } = await stack(kind, args);
  server.mode = "total";
  newProcess({ CONSORTIUM_API_KEY: "rotated" });
  await expect(engines[4]!.destroy()).rejects.toThrow(/the list is incomplete: it has/);
  expect(server.objects.get(where)).toHaveLength(5);
  expect(await engines[0]!.refresh()).toBe("there"); // the part shows it
});
