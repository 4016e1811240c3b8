import { type StateObject } from "../../../provider/core/ownership";
import { Run } from "../../../provider/core/run";
import { VirtualTime } from "../../support/virtual-time";

/* What one process knows of what it has made, deleted and been shown. */

test("what it created is new for ten seconds", () => {
  const [run, clock] = [new Run(), new VirtualTime()];
  run.createdAt.set("a", clock.now());
  clock.pass(9_999);
  expect([run.isNew(clock, ["b", "a"]), run.isNew(clock, ["b"]), run.isNew(clock, [])]).toEqual([true, false, false]);
  clock.pass(1);
  expect(run.isNew(clock, ["a"])).toBe(false);
});

test("its last deletion ended when the last of them did", () => {
  const [run, clock] = [new Run(), new VirtualTime()];
  const since = (): number => run.sinceDeletionMs(clock);
  expect(since()).toBe(Infinity);
  const over = [run.deleting(clock), run.deleting(clock)];
  clock.pass(500);
  over[0]!();
  clock.pass(500);
  expect(since()).toBe(0);
  over[1]!();
  clock.pass(700);
  expect(since()).toBe(700);
});

test("what it waits for is counted by what it is in, also when that fails", async () => {
  const run = new Run();
  const counted: unknown[] = [];
  const look = (): Promise<void> => Promise.resolve(void counted.push(run.unsettled.get("/p")));
  await run.settling("/p", () => run.settling("/p", look));
  await run.settling("/p", () => Promise.reject(new Error("no"))).catch(() => undefined);
  await run.settling("/q", look);
  expect([counted, run.unsettled.get("/p")]).toEqual([[2, 0], 0]);
});

const object = (id: string, ownership: StateObject["ownership"], consortiumId?: string): StateObject => ({
  what: id,
  id,
  path: `/${id}`,
  ownership,
  ...(consortiumId !== undefined && { consortiumId }),
});

test("of the states that it was shown, one for each owner and consortium is kept", () => {
  const run = new Run();
  const key = { keys: ["k"] };
  for (const one of [
    object("nothing", { keys: [] }),
    object("first", key, "c"),
    object("again", key, "c"),
    object("elsewhere", key, "d"),
    object("key", key),
    object("told", { keys: [], organizations: ["o"] }),
    object("inside", { keys: [] }, "c"),
  ])
    run.remember(one);
  expect(run.stateObjects.map(({ id }) => id)).toEqual(["again", "elsewhere", "key", "told", "inside"]);
  expect([...run.shown]).toHaveLength(7);
});

test.each<[string[], StateObject, boolean]>([
  [["x"], object("x", { keys: [] }), true],
  [["c"], object("x", { keys: [] }, "c"), true],
  [["o"], object("x", { keys: [], organizations: ["p", "o"] }, "c"), true],
  [["y", "undefined"], object("x", { keys: [], organizations: ["o"] }), false],
  [[], object("x", { keys: [] }), false],
])("who confirms %j confirms %j: %j", (confirmed, one, is) => {
  expect(new Run(new Set(confirmed)).isConfirmed(one)).toBe(is);
});

test("each place is remembered by itself", () => {
  const run = new Run();
  run.at("/a").removed.add("x");
  expect([run.at("/a").removed.has("x"), run.at("/b").removed.has("x")]).toEqual([true, false]);
});
