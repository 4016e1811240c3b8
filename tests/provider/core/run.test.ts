import { isElsewhere, isKnown, withKey } from "../../../provider/core/organization";
import { type Ownership, Run, type StateObject } from "../../../provider/core/session";
import { VirtualTime } from "../../support/virtual-time";
import { resolveProviderSettings } from "../../../provider/pulumi/settings";

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

/** The organization in a state. */

const settings = (apiKey: string, baseUrl = "https://a.example/api/v1") =>
  resolveProviderSettings({}, { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: baseUrl });
const none: Ownership = { keys: [] };
const [here, other] = [settings("k1"), settings("k2")];
const elsewhere = settings("k1", "https://b.example/api/v1");

test("a key is known once it is recorded, at its address", () => {
  const origin = withKey(none, here);
  const known = [here, settings("k1"), other, elsewhere].map((one) => isKnown(origin, one));
  expect(known).toEqual([true, true, false, false]);
  expect(isKnown(none, here)).toBe(false);
  expect(JSON.stringify(origin)).not.toContain("k1");
  expect(origin.keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}:[0-9a-f]{32}:[0-9a-f]{8}$/)]);
});

test("several keys are known, a known one is not recorded again, and the newest eight stay", () => {
  const both = withKey(withKey(none, here), other);
  expect([here, other, settings("k3")].map((one) => isKnown(both, one))).toEqual([true, true, false]);
  expect(withKey(both, here)).toBe(both);
  const nine = Array.from({ length: 9 }, (_, index) => settings(`key-${index}`));
  const origin = nine.reduce((before, one) => withKey(before, one), none);
  expect(nine.map((one) => isKnown(origin, one))).toEqual([false, ...Array<boolean>(8).fill(true)]);
});

test("all keys were proved at other addresses, or one was here, or a state does not tell", () => {
  const there = withKey(none, elsewhere);
  expect(isElsewhere(there, here)).toBe(true);
  expect(isElsewhere(withKey(there, other), here)).toBe(false);
  expect(isElsewhere(withKey(none, other), here)).toBe(false);
  expect(isElsewhere(none, here)).toBe(false);
  const untold = there.keys.map((key) => key.split(":").slice(0, 2).join(":"));
  expect(isElsewhere({ keys: untold }, here)).toBe(false);
  expect(isElsewhere({ keys: [...there.keys, ...untold] }, here)).toBe(false);
});
