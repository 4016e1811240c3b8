import { type ConsortiumClient, ConsortiumObject } from "../../../provider/api";
import { apiError, type ErrorKind } from "../../../provider/api/api-error";
import { isGone } from "../../../provider/api/states";
import { SharedLists } from "../../../provider/core/lists";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One list call serves all who ask at about the same time. */

function lists(): { time: VirtualTime; lists: SharedLists; asked: string[]; fail: { kind?: ErrorKind } } {
  const time = new VirtualTime();
  const asked: string[] = [];
  const fail: { kind?: ErrorKind } = {};
  const list = async (where: string): Promise<unknown[]> => {
    const count = asked.push(where);
    const { kind } = fail;
    await time.sleep(50);
    if (kind) throw apiError(settingsFor("https://x/api/v1"), { kind, call: `GET ${where}`, errorMessage: "x" });
    return [{ id: `${where}-${count}` }];
  };
  const client = { list, until: (): unknown => client };
  return { time, lists: new SharedLists(client as unknown as ConsortiumClient, time), asked, fail };
}

test("those who ask at once share a call; another collection has its own", async () => {
  const { lists: shared, asked } = lists();
  const all = await Promise.all([shared.get("/a", 0), shared.get("/a", 400), shared.get("/b", 0), shared.get("/a", 0)]);
  expect(asked).toEqual(["/a", "/b"]);
  expect(all.map(([item]) => item!.id)).toEqual(["/a-1", "/a-1", "/b-2", "/a-1"]);
});

test.each([
  [100, 400, 1],
  [400, 400, 1],
  [401, 400, 2],
  [5, 0, 2],
  [9_999, 10_000, 1],
])("%i ms later, an answer of %i ms is asked for: %i calls", async (later, maxAge, calls) => {
  const { lists: shared, time, asked } = lists();
  void shared.get("/a", 0);
  time.pass(later);
  await shared.get("/a", maxAge);
  expect(asked).toHaveLength(calls);
});

test("the age counts from when it was asked, not from when it was answered", async () => {
  const { lists: shared, asked } = lists();
  await shared.get("/a", 0); // takes 50 ms
  await shared.get("/a", 49);
  expect(asked).toHaveLength(2);
});

describe("failures", () => {
  test.each(["missing", "unsupported", "denied"] as const)(
    "%s lasts: siblings get the same error without a call",
    async (kind) => {
      const { lists: shared, asked, fail } = lists();
      fail.kind = kind;
      await expect(shared.get("/a", 1_000)).rejects.toMatchObject({ kind });
      await expect(shared.get("/a", 1_000)).rejects.toMatchObject({ kind });
      expect(asked).toHaveLength(1);
    },
  );

  test.each(["lost", "server", "unavailable", "unsent", "limited"] as const)(
    "%s passes: the next asks again",
    async (kind) => {
      const { lists: shared, asked, fail } = lists();
      fail.kind = kind;
      await expect(Promise.all([shared.get("/a", 1_000), shared.get("/a", 1_000)])).rejects.toMatchObject({ kind });
      fail.kind = undefined;
      expect(await shared.get("/a", 1_000)).toHaveLength(1);
      expect(asked).toHaveLength(2);
    },
  );
});

test("what was just made empty is known without a call, for a while", async () => {
  const { lists: shared, time, asked } = lists();
  shared.startEmpty("/a");
  expect(await shared.get("/a", 5_000)).toEqual([]);
  time.pass(5_001);
  expect(await shared.get("/a", 5_000)).toHaveLength(1);
  expect(asked).toHaveLength(1);
});

test("remembers what was made and removed here", () => {
  const { lists: shared } = lists();
  shared.recordMade("/a", { id: "1" });
  shared.recordMade("/a", { id: "2", name: "two" });
  shared.recordMade("/b", { id: "1" });
  shared.recordRemoved("/a", "1");
  expect(shared.made("/a")).toEqual([{ id: "2", name: "two" }]);
  expect(shared.made("/c")).toEqual([]);
  expect([shared.wasRemoved("/a", "1"), shared.wasRemoved("/b", "1")]).toEqual([true, false]);
});

test("a name is claimed by one create at a time, and free again however that ends", async () => {
  const { lists: shared, time } = lists();
  const claim = (act: () => Promise<unknown>): Promise<unknown> =>
    shared.claim("/a name", () => new Error("taken"), act);
  const first = claim(() => time.sleep(100));
  await expect(claim(() => Promise.resolve())).rejects.toThrow("taken");
  await first;
  await expect(claim(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await claim(() => Promise.resolve("free"))).toBe("free");
});

test("quiet waits for the creates that are under way, however they end", async () => {
  const { lists: shared, time } = lists();
  const ends: string[] = [];
  const create = (ms: number, end: () => void): Promise<void> => time.sleep(ms).then(end);
  void shared.creating(
    "/a",
    create(100, () => ends.push("made")),
  );
  const refused = shared.creating(
    "/a",
    create(200, () => Promise.reject(new Error("refused")) as never),
  );
  void shared.creating(
    "/b",
    create(900, () => ends.push("elsewhere")),
  );
  await Promise.all([shared.quiet("/a").then(() => ends.push("quiet")), expect(refused).rejects.toThrow("refused")]);
  expect(ends).toEqual(["made", "quiet"]);
});

test.each([
  ["deleted", true],
  ["deleting", false],
  ["live", false],
  [undefined, false],
])("state %s is gone: %s", (state, gone) => expect(isGone(ConsortiumObject.parse({ id: "x", state }))).toBe(gone));

test("an answer that lasts, which a sibling with less time has got, is not asked for for ever", async () => {
  const { lists: shared, asked, fail } = lists();
  fail.kind = "missing";
  const [brief, patient] = [1_000, 60_000].map((at) => shared.until({ at, limit: "all" }));
  await expect(brief!.get("/a", 0)).rejects.toThrow("GET /a");
  await expect(patient!.get("/a", 10_000)).rejects.toThrow("GET /a");
  expect(asked).toEqual(["/a"]);
});

test("a sibling with less time does not end the call of those who have more", async () => {
  const { lists: shared, asked, fail, time } = lists();
  const [brief, patient] = [20, 60_000].map((at) => shared.until({ at, limit: "20 ms" }));
  fail.kind = "lost"; // as a call ends that has no time left
  const all = [brief!.get("/a", 0), patient!.get("/a", 0)];
  await time.sleep(1);
  fail.kind = undefined;
  await expect(all[0]).rejects.toThrow();
  expect(await all[1]).toEqual([{ id: "/a-2" }]);
  expect(asked).toEqual(["/a", "/a"]);
});
