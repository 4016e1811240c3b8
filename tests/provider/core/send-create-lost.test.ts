import { type Identified } from "../../../provider/api";
import { type Collection } from "../../../provider/core/collection";
import { type Session } from "../../../provider/core/session";
import { type Listed } from "../../support/by-kind";
import { type VirtualTime } from "../../support/virtual-time";
import { began, type Case, expectOutcome, lost, type Reply, sending, twin } from "./sending";

/* A create whose answer is lost: when it is sent again, what counts as its object, and what becomes of objects that it made twice. */

describe("after an answer is lost", () => {
  test.each<[string, number, string | RegExp, number]>([
    ["five times, and then arrives", 5, "x1", 6],
    ["six times, that is the end", 6, /reset/, 6],
  ])("%s", async (_, times, outcome, posts) => {
    const { outcome: is, sent } = await sending({ replies: Array<Reply>(times).fill(lost) });
    expectOutcome(is, outcome);
    expect(sent).toHaveLength(posts);
  });

  test.each<[string, Reply, number, number | undefined]>([
    ["as long as the service asks for", { kind: "unavailable", retryAfterMs: 9_000 }, 9_000, undefined],
    ["up to ten minutes", { kind: "unavailable", retryAfterMs: 600_000 }, 600_000, undefined],
    ["as long as there is time", { kind: "unavailable", retryAfterMs: 9_000 }, 9_000, 10_501],
  ])("it is sent again after a pause, %s", async (_, reply, pause, limitMs) => {
    const { outcome, at } = await sending({ replies: [reply], limitMs });
    expect([outcome, at[1]! - at[0]!]).toEqual(["x1", 1_500 + pause]);
  });

  test.each<[string, Reply, number | undefined, RegExp]>([
    ["more than ten minutes", { kind: "unavailable", retryAfterMs: 600_001 }, undefined, /HTTP|no/],
    [
      "until the limit",
      { kind: "unavailable", retryAfterMs: 9_000 },
      10_500,
      /No time is left to send it again: the limit is 10\.5 s \(customTimeouts\)\. `CONSORTIUM_ADOPT=true pulumi up` adopts it/,
    ],
  ])("it is not if the pause is to take %s", async (_, reply, limitMs, why) => {
    const { outcome, sent } = await sending({ replies: [reply], limitMs });
    expect(outcome).toMatch(why);
    expect(sent).toHaveLength(1);
  });

  test.each<[string, Listed, boolean, boolean]>([
    ["a node is adopted by its name", "node", false, true],
    ["a fleet adopts nothing by name", "node", true, false],
    ["a credential has none to be adopted by", "appCred", false, false],
  ])("at the limit: %s", async (_, kind, isFleets, advised) => {
    const { outcome, took } = await sending({ kind, replies: [lost], limitMs: 1_000, isFleets });
    expect(took).toBeLessThanOrEqual(1_000);
    expect(outcome).toContain("No time is left to send it again");
    expect(outcome.includes("CONSORTIUM_ADOPT=true")).toBe(advised);
  });

  test.each<[string, Listed, Reply, number, string]>([
    ["briefly if the service was not there", "node", { kind: "unavailable" }, 1_500, "Looking for an object"],
    ["longer if it may have acted", "node", lost, 2_500, "Looking for an object"],
    ["for two time-outs more if it may still act", "node", { ...lost, late: true }, 22_500, "Looking for 23 s for"],
    ["as long as lists may lag for a ledger", "environment", lost, 60_000, "Looking for an object"],
    ["as long for a consortium's late ledger", "environment", { ...lost, late: true }, 60_000, "Looking for 60 s for"],
  ])("the object is looked for, %s", async (_, kind, reply, forMs, line) => {
    const there = await sending({ kind, replies: [reply], later: [[forMs, twin("y", kind)]] });
    expect([there.outcome, there.sent.length]).toEqual(["y", 1]);
    expect(there.said).toContain(line);
    const { outcome, at } = await sending({ kind, replies: [reply] });
    expect(outcome).toBe("x1");
    expect(at[1]).toBeGreaterThanOrEqual(forMs);
    expect(at[1]).toBeLessThan(forMs + 2_500);
  });

  test("it is looked for every half second at first, then every two", async () => {
    const seen = async (ms: number): Promise<number> =>
      (await sending({ replies: [{ ...lost, late: true }], later: [[ms, twin("y")]] })).took;
    expect([await seen(1), await seen(501), await seen(2_999), await seen(3_001), await seen(5_001)]).toEqual([
      500, 1_000, 3_000, 5_000, 7_000,
    ]);
  });

  test.each<[string, Reply[], Identified[], string | RegExp, number]>([
    ["one that appears is it", [lost], [twin("y")], "y", 1],
    [
      "of two, nobody knows which is",
      [lost],
      [twin("y"), twin("z")],
      /y, z appeared under this name, more than this run/,
      1,
    ],
    [
      "what another one has the name for is not",
      [lost],
      [twin("y", "node", { membership_id: "m2" })],
      /y has the name now/,
      1,
    ],
    [
      "a name that is taken after that is its own",
      [lost, { kind: "conflict", status: 409, errorMessage: "name already in use" }],
      [],
      "x1",
      3,
    ],
  ])("%s", async (_, replies, items, outcome, posts) => {
    const { outcome: is, sent } = await sending({ replies, later: items.map((item) => [100, item]) });
    expectOutcome(is, outcome);
    expect(sent).toHaveLength(posts);
  });

  test("an attempt that found the name taken made nothing: two are more than this run can have made", async () => {
    const taken: Reply = { kind: "conflict", status: 409, errorMessage: "name already in use" };
    const items = ["y", "z"].map((id): [number, Identified] => [2_600, twin(id)]);
    const { outcome } = await sending({ replies: [lost, taken], later: items });
    expect(outcome).toMatch(/y, z appeared under this name, more than this run can have made/);
    const both = await sending({ replies: [lost, lost], later: items });
    expect(both.outcome).toBe("y");
  });

  test("a conflict after that is about its own object, whatever it says: that is looked for, and nothing is sent", async () => {
    const early: Reply = { kind: "conflict", status: 409, errorMessage: "the environment is still initializing" };
    const { outcome, sent, at } = await sending({ replies: [lost, early], later: [[5_000, twin("y")]] });
    expect([outcome, sent.length, at[1]! < 5_000]).toEqual(["y", 2, true]);
  });

  test("a name that is taken at once is somebody else's", async () => {
    const { outcome, sent } = await sending({
      replies: [{ kind: "conflict", status: 409, errorMessage: "name already in use" }],
    });
    expect([outcome, sent.length]).toEqual([expect.stringContaining("name already in use"), 1]);
  });

  test.each<[string, Reply]>([
    ["is certain", { kind: "invalid", status: 400 }],
    ["is certain, although the kind says nothing", { kind: "lost", unclear: false }],
    ["is about the key", { kind: "denied", status: 401 }],
  ])("a refusal that %s is an error at once", async (_, reply) => {
    const { outcome, sent, took } = await sending({ replies: [reply] });
    expect([outcome, sent.length, took]).toEqual([expect.stringContaining("POST /x"), 1, 0]);
  });
});

describe("an object that was made twice", () => {
  const second = (...items: Identified[]): Partial<Case> => ({
    replies: [lost],
    later: items.map((item): [number, Identified] => [2_600, item]),
  });

  test.each<[string, Partial<Case>, string[], RegExp]>([
    ["goes", second(twin("y"), twin("x1")), ["y"], /deletes y, a duplicate, created because a response was lost/],
    ["is none", second(twin("x1")), [], /^(?!.*(deletes|Warning))/s],
    [
      "stays if there are more of them",
      second(twin("y"), twin("z"), twin("x1")),
      [],
      /Warning: .*y, z appeared .*more than this run can have made\. Nothing was deleted/,
    ],
    [
      "stays if one of two differs",
      {
        replies: [lost, lost],
        later: [
          [6_000, twin("y", "node", { region: "r1" })],
          [6_000, twin("z", "node", { region: "r2" })],
          [6_000, twin("x1", "node", { region: "r1" })],
        ],
      },
      [],
      /Warning: .*y, z appeared .*differs from x1.* Nothing was deleted/,
    ],
    [
      "is none, where it would hold a ledger",
      { kind: "environment", replies: [lost], later: [[61_100, twin("x1", "environment")]] },
      [],
      /^(?!.*Warning)/s,
    ],
    [
      "stays if it differs",
      second(twin("y", "node", { region: "r2" }), twin("x1", "node", { region: "r1" })),
      [],
      /Warning: .*y appeared .*differs from x1.* Nothing was deleted/,
    ],
    [
      "stays if it holds a ledger",
      {
        ...second(twin("y", "environment"), twin("x1", "environment")),
        kind: "environment",
        later: [
          [61_100, twin("y", "environment")],
          [61_100, twin("x1", "environment")],
        ],
      },
      [],
      /An object with data is not deleted unasked/,
    ],
    [
      "is named if it cannot be deleted",
      { ...second(twin("y"), twin("x1")), stuck: ["y"] },
      [],
      /y, a duplicate, .* could not be deleted: .*stays.* Remove it with: .*sweep --id y/,
    ],
  ])("%s", async (_, given, deleted, line) => {
    const at = await sending({ replies: [], ...given });
    expect([at.outcome, at.deleted]).toEqual(["x1", deleted]);
    expect(at.said).toMatch(line);
  });

  test("is a credential without a password: it goes, and is called so", async () => {
    const { deleted, said } = await sending({
      kind: "appCred",
      replies: [lost],
      later: [
        [2_600, twin("y", "appCred")],
        [2_600, twin("x1", "appCred")],
      ],
    });
    expect(deleted).toEqual(["y"]);
    expect(said).toContain("deletes y, whose password was lost with the response");
  });

  test("is looked for until a list shows the newest one, or for a minute", async () => {
    const soon = await sending({ replies: [lost], later: [[4_000, twin("x1")]] });
    expect(soon.took).toBeLessThan(5_000);
    const never = await sending({ replies: [lost] });
    expect(never.took).toBeGreaterThan(60_000);
    expect(never.took).toBeLessThan(65_000);
    const other = await sending({ replies: [lost], later: [[5_000, twin("y")]] });
    expect([other.took < 6_000, other.deleted]).toEqual([true, ["y"]]);
    const short = await sending({ replies: [lost], limitMs: 20_000 });
    expect([short.outcome, short.took <= 20_500]).toEqual(["x1", true]);
  });

  test("is none if no answer was lost: nothing is looked for", async () => {
    const { took, deleted, said } = await sending({ replies: [{}], later: [[0, twin("y")]] });
    expect([took, deleted, said]).toEqual([0, [], ""]);
  });

  test("may be that of a sibling that has no answer yet: that is awaited, if there is one", async () => {
    const sibling = (_: Session, collection: Collection, clock: VirtualTime): void => {
      const answered = clock.sleep(20_000).then(() => collection.recordMade(twin("y")));
      void collection.creating(answered);
    };
    const awaited = await sending({ ...second(twin("y"), twin("x1")), replies: [lost], prepare: sibling });
    expect([awaited.deleted, awaited.took]).toEqual([[], 20_000]);
    const alone = await sending({ ...second(twin("x1")), replies: [lost], prepare: sibling });
    expect(alone.took).toBeLessThan(5_000);
  });
});

describe("where the service lists none", () => {
  const unlisted: Partial<Case> = { kind: "appCred", before: undefined };

  test("a lost answer is a warning, and it is sent again", async () => {
    const { outcome, said, sent } = await sending({ ...unlisted, replies: [lost] });
    expect([outcome, sent.length]).toEqual(["x1", 2]);
    expect(said).toContain("this service does not list credentials, so there may be one left");
  });

  test("but not where it does", async () => {
    const { said } = await sending({ kind: "appCred", replies: [lost] });
    expect(said).not.toContain("does not list");
  });
});

test("an object from before it was sent, by the service's time, is somebody else's", async () => {
  const at = (ms: number): [number, Identified][] => [
    [100, twin("y", "node", { created_at: new Date(began + ms).toISOString() })],
  ];
  const { outcome } = await sending({ replies: [lost], logged: [], later: at(-1) });
  expect(outcome).toMatch(/y has the name now \(it was created at .*, before this run asked for one\)/);
  expect((await sending({ replies: [lost], logged: [], later: at(0) })).outcome).toBe("y");
});
