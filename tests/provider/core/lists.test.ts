import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type ErrorKind } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { Listed } from "../../../provider/core/collection";
import { newSession } from "../../../provider/core/session";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One list call serves all callers at about the same time. */

function lists() {
  const time = new VirtualTime();
  const asked: string[] = [];
  const fail: { kind?: ErrorKind } = {};
  const list = async (where: string): Promise<unknown[]> => {
    const count = asked.push(where);
    const { kind } = fail;
    await time.sleep(50);
    if (kind) throw new Http(settingsFor("https://x/api/v1")).error({ kind, call: `GET ${where}`, errorMessage: "x" });
    return [{ id: `${where}-${count}` }];
  };
  const client = { list, until: (): unknown => client };
  const session = newSession(client as unknown as ConsortiumClient, { clock: time });
  /** A collection, for a verb. */
  const at = (path: string, deadline = session.deadline) => new Listed({ ...session, deadline }, { collection: path });
  return { time, at, asked, fail };
}

const itemsOf = async (looked: ReturnType<Listed["look"]>): Promise<Identified[]> => (await looked).items;

test("simultaneous callers share a call; another collection has its own", async () => {
  const { at, asked } = lists();
  const all = await Promise.all([
    itemsOf(at("/a").look(0)),
    itemsOf(at("/a").look(400)),
    itemsOf(at("/b").look(0)),
    itemsOf(at("/a").look(0)),
  ]);
  expect(asked).toEqual(["/a", "/b"]);
  expect(all.map(([item]) => item!.id)).toEqual(["/a-1", "/a-1", "/b-2", "/a-1"]);
});

test.each([
  [100, 400, 1],
  [400, 400, 1],
  [401, 400, 2],
  [5, 0, 2],
  [9_999, 10_000, 1],
])("%i ms later, with a maximum age of %i ms: %i calls", async (later, maxAge, calls) => {
  const { at, time, asked } = lists();
  void itemsOf(at("/a").look(0));
  time.pass(later);
  await itemsOf(at("/a").look(maxAge));
  expect(asked).toHaveLength(calls);
});

test("the age counts from the request, not from the answer", async () => {
  const { at, asked } = lists();
  await itemsOf(at("/a").look(0)); // takes 50 ms
  await itemsOf(at("/a").look(49));
  expect(asked).toHaveLength(2);
});

describe("failures", () => {
  const lasting = ["missing", "unsupported", "denied"] as const;
  test.each(lasting)("%s lasts: siblings get the same error without a call", async (kind) => {
    const { at, asked, fail } = lists();
    fail.kind = kind;
    await expect(itemsOf(at("/a").look(1_000))).rejects.toMatchObject({ kind });
    await expect(itemsOf(at("/a").look(1_000))).rejects.toMatchObject({ kind });
    expect(asked).toHaveLength(1);
  });

  const passing = ["lost", "server", "unavailable", "unsent", "limited"] as const;
  test.each(passing)("%s passes: the next asks again", async (kind) => {
    const { at, asked, fail } = lists();
    fail.kind = kind;
    await expect(Promise.all([itemsOf(at("/a").look(1_000)), itemsOf(at("/a").look(1_000))])).rejects.toMatchObject({
      kind,
    });
    fail.kind = undefined;
    expect(await itemsOf(at("/a").look(1_000))).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });
});

test("a new, empty collection is known without a call, for a while", async () => {
  const { at, time, asked } = lists();
  at("/a").startEmpty("x", "b", "c");
  for (const path of ["/a/x/b", "/a/x/c"]) expect(await itemsOf(at(path).look(5_000))).toEqual([]);
  time.pass(5_001);
  expect(await itemsOf(at("/a/x/b").look(5_000))).toHaveLength(1);
  expect(asked).toHaveLength(1);
});

test("remembers objects that were created and deleted here", () => {
  const { at } = lists();
  at("/a").recordMade({ id: "1" });
  at("/a").recordMade({ id: "2", name: "two" });
  at("/b").recordMade({ id: "1" });
  at("/a").recordRemoved("1");
  expect(at("/a").made()).toEqual([{ id: "2", name: "two" }]);
  expect(at("/c").made()).toEqual([]);
  const there = (path: string): string[] =>
    at(path)
      .there([{ id: "1" }])
      .map(({ id }) => id);
  expect([there("/a"), there("/b")]).toEqual([["2"], ["1"]]);
});

test("a caller waits for creates in flight, however they end", async () => {
  const { at, time } = lists();
  const ends: string[] = [];
  const create = (ms: number, end: () => void): Promise<void> => time.sleep(ms).then(end);
  void at("/a").creating(create(100, () => ends.push("made")));
  const refused = at("/a").creating(create(200, () => Promise.reject(new Error("refused")) as never));
  void at("/b").creating(create(900, () => ends.push("elsewhere")));
  await Promise.all([
    at("/a")
      .createsAnswered()
      .then(() => ends.push("quiet")),
    expect(refused).rejects.toThrow("refused"),
  ]);
  expect(ends).toEqual(["made", "quiet"]);
});

test("a sibling with less time does not end the call of siblings with more", async () => {
  const { at, asked, fail, time } = lists();
  const [brief, patient] = [20, 60_000].map((end) => at("/a", { at: end, limit: "20 ms" }));
  fail.kind = "lost"; // as a call ends that has no time left
  const all = [brief!.look(0).then(({ items }) => items), patient!.look(0).then(({ items }) => items)];
  await time.sleep(1);
  fail.kind = undefined;
  await expect(all[0]).rejects.toThrow();
  expect(await all[1]).toEqual([{ id: "/a-2" }]);
  expect(asked).toEqual(["/a", "/a"]);
});

test("an object is what has the id that was asked for, and nothing else", async () => {
  const { at } = lists();
  const answers: Record<string, unknown> = { "/a/x": { _id: "y" }, "/a/y": { _id: "y" }, "/a/z": [{ _id: "z" }] };
  const { client } = at("/a").session;
  client.find = ((path: string) => Promise.resolve(answers[path])) as typeof client.find;
  expect(await Promise.all(["x", "y", "z"].map((id) => at("/a").get(id)))).toMatchObject([
    undefined,
    { id: "y" },
    undefined,
  ]);
});

test.each([-3_600_000, 3_600_000])("by a clock that is %i ms off, an object was not made a moment ago", async (ms) => {
  const { at, time, asked } = lists();
  const session = at("/a").session;
  Object.assign(session.client, { find: () => Promise.resolve(undefined), http: { serviceTime: time.wall } });
  expect(await at("/a").find("x", 0, time.wall() + ms)).toBe("gone");
  expect([asked, time.now()]).toEqual([["/a", "/a"], 3_100]);
});
