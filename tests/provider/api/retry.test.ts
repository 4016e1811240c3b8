import { ApiError, type ErrorKind } from "../../../provider/api/api-error";
import { backoffMs, retryAfterMs, retryDelay, type Tried } from "../../../provider/api/retry";

const again = (
  kind: ErrorKind,
  repeatable: "freely" | "unless accepted",
  tried: Partial<Tried> = {},
  retryAfterMs?: number,
) =>
  retryDelay(new ApiError({ kind, call: "GET /x", errorMessage: "x", retryAfterMs }), repeatable, {
    attempt: 1,
    elapsedMs: 0,
    reached: true,
    ...tried,
  });

const minute = 60_000;

describe.each(["freely", "unless accepted"] as const)("%s", (repeatable) => {
  test("429 is repeated for ten minutes", () => {
    expect(again("limited", repeatable)).toBeGreaterThan(0);
    expect(again("limited", repeatable, { elapsedMs: 9 * minute, attempt: 50 })).toBeGreaterThan(0);
    expect(again("limited", repeatable, { elapsedMs: 10 * minute })).toBeUndefined();
  });

  test("no connection is tried again for half a minute, or eight seconds where nobody ever answered", () => {
    expect(again("unsent", repeatable, { elapsedMs: 20_000 })).toBeGreaterThan(0);
    expect(again("unsent", repeatable, { elapsedMs: 30_000 })).toBeUndefined();
    expect(again("unsent", repeatable, { elapsedMs: 7_000, reached: false })).toBeGreaterThan(0);
    expect(again("unsent", repeatable, { elapsedMs: 8_000, reached: false })).toBeUndefined();
  });

  test.each(["denied", "missing", "unsupported", "conflict", "invalid"] as const)("%s is final", (kind) => {
    expect(again(kind, repeatable)).toBeUndefined();
    expect(again(kind, repeatable, {}, 1_000)).toBeUndefined();
  });
});

describe("what may have been taken", () => {
  test.each(["lost", "server", "unavailable"] as const)("%s is not sent again by itself", (kind) => {
    expect(again(kind, "unless accepted")).toBeUndefined();
    expect(again(kind, "unless accepted", {}, 1_000)).toBeUndefined();
  });

  test.each(["lost", "server"] as const)("%s, if it does no harm: six attempts in all", (kind) => {
    expect(again(kind, "freely", { attempt: 5 })).toBeGreaterThan(0);
    expect(again(kind, "freely", { attempt: 6 })).toBeUndefined();
  });

  test.each(["lost", "server"] as const)("%s with a Retry-After of an hour is not waited for", (kind) => {
    expect(again(kind, "freely", {}, 9 * minute)).toBe(9 * minute);
    expect(again(kind, "freely", {}, 60 * minute)).toBeUndefined();
  });

  test("503 is asked again for half a minute, or ten where it says when", () => {
    expect(again("unavailable", "freely", { elapsedMs: 20_000 })).toBeGreaterThan(0);
    expect(again("unavailable", "freely", { elapsedMs: 30_000 })).toBeUndefined();
    expect(again("unavailable", "freely", { elapsedMs: 5 * minute }, 1_000)).toBeGreaterThan(0);
    expect(again("unavailable", "freely", { elapsedMs: 10 * minute }, 1_000)).toBeUndefined();
  });
});

test("Retry-After is the least that is waited, never less than the usual", () => {
  expect(again("limited", "freely", {}, 5_000)).toBe(5_000);
  expect(again("limited", "freely", { attempt: 6 }, 1)).toBeGreaterThanOrEqual(6_000);
  expect(again("limited", "freely", {}, 11 * minute)).toBeUndefined();
});

test("delays double from 250 ms to 8 s, a quarter up or down", () => {
  const at = (random: number) => [1, 2, 3, 4, 5, 6, 20].map((attempt) => backoffMs(attempt, () => random));
  expect(at(0.5)).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
  expect(at(0)).toEqual([188, 375, 750, 1500, 3000, 6000, 6000]);
  expect(at(1)).toEqual([313, 625, 1250, 2500, 5000, 10000, 10000]);
  expect(new Set(Array.from({ length: 20 }, () => backoffMs(6))).size).toBeGreaterThan(1);
});

test.each([
  [undefined, undefined],
  ["3", 3_000],
  ["0", 0],
  ["1.5", 1_500],
  ["-5", 0],
  ["soon", undefined],
  ["Thu, 01 Jan 2026 00:00:05 GMT", 5_000],
  ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
])("Retry-After %s is %s ms", (header, ms) => {
  expect(retryAfterMs(header, Date.UTC(2026, 0, 1))).toBe(ms);
});
