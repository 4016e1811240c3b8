import { Schedule } from "../../../service/tether/schedule";
import { until } from "../../support/until";

/* When something is due for a tether. */

afterEach(() => jest.restoreAllMocks());

const day = 86_400_000;
test.each([
  ["in a moment", 20, 20],
  ["in half an hour", day / 48, day / 48],
  ["in a month, which is longer than a timer of Node.js can be", 30 * day, 3_600_000],
  ["long ago", -day, 0],
])("%s: the timer is set once, and no longer than an hour", async (_, due, timer) => {
  const set = jest.spyOn(globalThis, "setTimeout");
  const work = jest.fn(() => Promise.resolve(undefined));
  const schedule = new Schedule(() => 0, work);
  schedule.set("t", due);
  expect(set.mock.calls.map(([, ms]) => ms)).toEqual([timer]);
  await schedule.close();
});

test("work that is not due after an hour is checked again, and done when due", async () => {
  let now = 0;
  const set = jest.spyOn(globalThis, "setTimeout");
  const work = jest.fn(() => Promise.resolve(undefined));
  const schedule = new Schedule(() => now, work);
  await schedule.look("t", 5_400_000);
  now = 3_600_000;
  await schedule.look("t", 5_400_000);
  expect([set.mock.calls.map(([, ms]) => ms), work.mock.calls]).toEqual([[3_600_000, 1_800_000], []]);
  now = 5_400_000;
  await schedule.look("t", 5_400_000);
  await until(() => work.mock.calls.length === 1);
  await schedule.close();
});

test("another time takes the place of the one before, and none means that nothing is due", async () => {
  const work = jest.fn((_id: string) => Promise.resolve(undefined));
  const schedule = new Schedule(() => 0, work);
  for (const id of ["t", "u"]) {
    schedule.set(id, 0);
    schedule.set(id, undefined);
  }
  schedule.set("v", 0);
  await until(() => work.mock.calls.length > 0);
  expect(work.mock.calls).toEqual([["v"]]);
  await schedule.close();
});

test("work that fails is tried after a second, also if it has failed before", async () => {
  const set = jest.spyOn(globalThis, "setTimeout");
  const schedule = new Schedule(() => 0, () => Promise.reject(new Error("full"))); // prettier-ignore
  for (let time = 0; time < 3; time++) await schedule.look("t", 0, 60_000);
  expect(set.mock.calls.map(([, ms]) => ms)).toEqual([1_000, 1_000, 1_000]);
  await schedule.close();
});
