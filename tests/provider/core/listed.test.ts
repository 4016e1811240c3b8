import { ConsortiumClient } from "../../../provider/api";
import { paths } from "../../../provider/api/paths";
import { type Place } from "../../../provider/core/definition";
import { Listed } from "../../../provider/core/listed";
import { Run } from "../../../provider/core/run";
import { type Session } from "../../../provider/core/session";
import { newSession } from "../../../provider/core/session";
import { type VirtualTime, virtualTime } from "../../support/virtual-time";
import { type Peer, peer, type Reply, settingsFor, text } from "../../support/peer";

/* "Gone" removes an object from the state, so it needs proof. */

const consortia: Place = { collection: "/consortia" };
const environments: Place = { collection: "/consortia/c1/environments", parent: { place: consortia, id: "c1" } };
const nodes: Place = { collection: "/consortia/c1/environments/e1/nodes", parent: { place: environments, id: "e1" } };

type Answers = Record<string, [status: number, body?: unknown]>;

const everythingEmpty: Answers = { "/consortia": [200, []], "/consortia/c1/environments": [200, []] };

/** A service that gives these answers and 404 to everything else, as JSON or (text) as it is. */
async function answering(answers: Answers): Promise<{ session: Session; server: Peer; time: VirtualTime }> {
  const time = virtualTime();
  const reply: Reply = (response, seen, socket) => {
    const where = server.requests[seen - 1]!.url.replace("/api/v1", "");
    const [status, body] = answers[where] ?? [404, { errorMessage: "no such thing" }];
    response.setHeader("date", new Date(time.wall()).toUTCString());
    text(status, typeof body === "string" ? body : JSON.stringify(body))(response, seen, socket);
  };
  const server = await peer(reply);
  const client = new ConsortiumClient(settingsFor(server.baseUrl));
  return { session: newSession(client, { clock: time }), server, time };
}

const found = { item: expect.objectContaining({ id: "n1" }) as unknown };
const others = [{ _id: "n2", state: "started" }];
const here = [...others, { _id: "n1", state: "started" }];
const page = "<html>Welcome</html>";
const by = paths.item(nodes.collection, "n1");

test.each<[string, unknown, [number, unknown?] | undefined, unknown]>([
  ["listed", here, undefined, found],
  ["listed as deleted", [{ _id: "n1", state: "deleted" }], undefined, "gone"],
  ["listed as terminated", [{ _id: "n1", state: "TERMINATED" }], undefined, "gone"],
  ["listed as deleting", [{ _id: "n1", state: "deleting" }], undefined, found],
  ["not listed, by id there", others, [200, { _id: "n1" }], found],
  ["not listed, by id there under id", others, [200, { id: "n1" }], found],
  ["not listed, by id deleted", others, [200, { _id: "n1", state: "deleted" }], "gone"],
  ["not listed, by id 404", others, [404, { errorMessage: "x" }], "gone"],
  ["not listed, by id 410", others, [410, { errorMessage: "x" }], "gone"],
  ["not listed, by id no such call", others, [405, { errorMessage: "x" }], "gone"],
  ["an empty list, by id 404", [], [404, { errorMessage: "x" }], "gone"],
  ["not listed, by id 401", others, [401, { errorMessage: "x" }], "denied"],
  ["not listed, by id 403", others, [403, { errorMessage: "x" }], "gone"],
  ["not listed, by id something else", others, [200, { _id: "n3" }], "gone"],
  ["not listed, by id nothing", others, [200, null], "gone"],
  ["not listed, by id 500", others, [500, { errorMessage: "x" }], "server"],
  ["not listed, by id 503", others, [503, { errorMessage: "x" }], "unavailable"],
  ["not listed, by id 429", others, [429, { errorMessage: "x" }], "limited"],
  ["not listed, by id 409", others, [409, { errorMessage: "x" }], "conflict"],
  ["not listed, by id a page with 404", others, [404, page], "server"],
  ["not listed, by id a page with 200", others, [200, page], "lost"],
])("%s", async (_what, list, byId, verdict) => {
  const { session } = await answering({ [nodes.collection]: [200, list], ...(byId && { [by]: byId }) });
  const presence = new Listed(session, nodes).find("n1", 0);
  if (typeof verdict === "string" && verdict !== "gone")
    await expect(presence).rejects.toMatchObject({ kind: verdict });
  else expect(await presence).toEqual(verdict);
});

test.each([
  ["a moment ago", -1_000, 10_000],
  ["a moment ahead, by a clock that is not quite right", 1_000, 12_000],
  ["a minute ago, so that two looks are enough", -60_000, 3_000],
  ["a minute ahead, by a clock that is wrong", 60_000, 3_000],
])("not listed, and made %s: looked for until it must be shown", async (_, age, atMost) => {
  const { session, time } = await answering({ [nodes.collection]: [200, others] });
  const began = time.now();
  expect(await new Listed(session, nodes).find("n1", 0, time.wall() + age)).toBe("gone");
  const took = time.now() - began;
  expect(took).toBeGreaterThanOrEqual(atMost - 2_000);
  expect(took).toBeLessThan(atMost + 1_000);
});

describe("the list itself fails", () => {
  const parents = (c: [number, unknown?], e: [number, unknown?]): Answers => ({
    "/consortia": c,
    "/consortia/c1/environments": e,
  });
  const c = { _id: "c1" };
  const e = { _id: "e1", state: "live" };
  test.each<[string, [number, unknown?], Answers, unknown]>([
    ["404, the owner is there", [404], parents([200, [c]], [200, [e]]), "unlistable"],
    ["405, the owner is there", [405], parents([200, [c]], [200, [e]]), "unlistable"],
    ["403, the owner is there", [403], parents([200, [c]], [200, [e]]), "denied"],
    ["400, the owner is there", [400], parents([200, [c]], [200, [e]]), "invalid"],
    ["404, the owner is gone", [404], parents([200, [c]], [200, []]), "gone"],
    ["403, the owner is listed as deleted", [403], parents([200, [c]], [200, [{ ...e, state: "deleted" }]]), "gone"],
    ["404, the owner's owner is gone", [404], parents([200, []], [404]), "gone"],
    ["404 everywhere: a wrong address", [404], {}, "missing"],
    ["pages with 404 everywhere: a wrong address", [404, page], parents([404, page], [404, page]), "server"],
    ["401 everywhere: a refused key", [401], parents([401], [401]), "denied"],
    ["403 everywhere", [403], parents([403], [403]), "denied"],
    ["500, the owner is gone", [500], parents([200, []], [404]), "server"],
    ["a page with 200", [200, page], parents([200, []], [404]), "lost"],
    ["an object in place of the list", [200, {}], parents([200, []], [404]), "lost"],
  ])("%s", async (_what, list, above, verdict) => {
    const filled = ([status, body]: [number, unknown?]): [number, unknown] => [status, body ?? { errorMessage: "x" }];
    const answers = Object.entries({ ...above, [nodes.collection]: list }).map(
      ([where, one]) => [where, filled(one)] as const,
    );
    const { session } = await answering(Object.fromEntries(answers));
    const presence = new Listed(session, nodes).find("n1", 0);
    if (verdict === "gone" || verdict === "unlistable") expect(await presence).toBe(verdict);
    else await expect(presence).rejects.toMatchObject({ kind: verdict });
  });

  test("no answer in time", async () => {
    const time = virtualTime();
    const server = await peer(() => undefined);
    const client = new ConsortiumClient(settingsFor(server.baseUrl, { requestTimeout: 0.4 }));
    const session = newSession(client, { clock: time });
    await expect(new Listed(session, nodes).find("n1", 0)).rejects.toMatchObject({ kind: "lost" });
  });

  test("nobody there", async () => {
    const { session, server } = await answering({});
    await server.close();
    await expect(new Listed(session, nodes).find("n1", 0)).rejects.toMatchObject({ kind: "unsent" });
  });
});

describe("missing from two lists", () => {
  const rest: Answers = { "/consortia": [200, [{ _id: "c1" }]], "/consortia/c1/environments": [200, [{ _id: "e1" }]] };
  const nothing = [200, []] as [number, unknown];
  const inE1 = nodes.collection;
  const inC1 = environments.collection;
  const stillAnswered = /nothing proves that it is gone: GET \S+ is still answered/;
  const nothingElse = /nothing proves that it is gone: no other object of the organization is listed/;

  test.each<[string, Place, string, Answers, "gone" | RegExp]>([
    ["an environment whose nodes answer 404", environments, "e1", { [inC1]: nothing }, "gone"],
    ["an environment whose nodes answer 403", environments, "e1", { [inC1]: nothing, [inE1]: [403, {}] }, "gone"],
    [
      "an environment whose nodes are listed",
      environments,
      "e1",
      { [inC1]: nothing, [inE1]: [200, here] },
      stillAnswered,
    ],
    [
      "an environment that is listed as archived, and answers 404",
      environments,
      "e1",
      { [inC1]: [200, [{ _id: "e1", state: "archived" }]] },
      "gone",
    ],
    [
      "an environment that is listed as archived, and whose nodes are listed",
      environments,
      "e1",
      { [inC1]: [200, [{ _id: "e1", state: "archived" }]], [inE1]: [200, here] },
      stillAnswered,
    ],
    ["an environment without nodes", environments, "e1", { [inC1]: nothing, [inE1]: nothing }, stillAnswered],
    ["a consortium whose environments answer 404", consortia, "c1", { "/consortia": nothing }, "gone"],
    ["a consortium with environments", consortia, "c1", { "/consortia": nothing, [inC1]: nothing }, stillAnswered],
    [
      "a node, and all that is answered is []",
      nodes,
      "n1",
      { [inE1]: nothing, [by]: nothing, ...everythingEmpty },
      nothingElse,
    ],
    ["a node of an environment that is listed", nodes, "n1", { ...rest, [inE1]: nothing, [by]: nothing }, "gone"],
  ])("%s", async (_what, place, id, answers, verdict) => {
    const { session } = await answering(answers);
    const presence = new Listed(session, place).find(id, 0);
    if (verdict === "gone") expect(await presence).toBe("gone");
    else await expect(presence).rejects.toThrow(verdict);
  });

  test("with time between the lists", async () => {
    const { session, server } = await answering({ [inE1]: [200, others] });
    const start = session.clock.now();
    expect(await new Listed(session, nodes).find("n1", 0)).toBe("gone");
    expect(session.clock.now() - start).toBeGreaterThanOrEqual(3_000);
    expect(server.requests.map(({ url }) => url.split("/").at(-1))).toEqual(["nodes", "n1", "nodes"]);
  });

  test("and the user confirms it for this run", async () => {
    const { session } = await answering({ [inC1]: nothing, [inE1]: [200, here] });
    const confirmed = { ...session, run: new Run(new Set(["e1"])) };
    expect(await new Listed(confirmed, environments).find("e1", 0)).toBe("gone");
  });
});

test("a list that the service lacks is requested once per run, and its objects are gone with their owner", async () => {
  const credentials = (id: string): Place => ({
    collection: `/consortia/c1/environments/${id}/appcreds`,
    parent: { place: environments, id },
    isUnlisted: true,
  });
  const { session, server } = await answering({ [environments.collection]: [200, [{ _id: "e1" }, { _id: "e2" }]] });
  for (const [id, verdict] of [
    ["e1", "unlistable"],
    ["e2", "unlistable"],
    ["e3", "gone"],
  ] as const)
    expect(await new Listed(session, credentials(id)).find("a", 10_000)).toBe(verdict);
  expect(server.requests.filter(({ url }) => url.endsWith("/appcreds"))).toHaveLength(1);
  expect(await new Listed(session, credentials("e2")).siblings(0)).toBeUndefined();
});

test("missing from a list that is some seconds old: a new list is requested first", async () => {
  const lists = [others, here];
  const time = virtualTime();
  const reply: Reply = (response, seen, socket) => {
    const isList = server.requests[seen - 1]!.url.endsWith("/nodes");
    text(isList ? 200 : 404, JSON.stringify(isList ? lists.shift() : {}))(response, seen, socket);
  };
  const server = await peer(reply);
  const client = new ConsortiumClient(settingsFor(server.baseUrl));
  const session = newSession(client, { clock: time });
  expect(await new Listed(session, nodes).find("n1", 10_000)).toEqual(found);
  expect(server.requests.map(({ url }) => url.split("/").at(-1))).toEqual(["nodes", "n1", "nodes"]);
});
