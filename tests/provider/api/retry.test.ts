import { ApiError, type ErrorKind } from "../../../provider/api/api-error";
import { backoffMs, type Repeatable, retryAfterMs, retryDelay, type Tried } from "../../../provider/api/retry";

const again = (kind: ErrorKind, repeatable: Repeatable, tried: Partial<Tried> = {}, retryAfterMs?: number) =>
  retryDelay(new ApiError({ kind, call: "GET /x", errorMessage: "x", retryAfterMs }), repeatable, {
    attempt: 1,
    elapsedMs: 0,
    reached: true,
    ...tried,
  });

const minute = 60_000;

describe.each(["freely", "unless accepted"] as const)("%s", (repeatable) => {
  test.each<[string, ErrorKind, repeated: Partial<Tried>, givenUp: Partial<Tried>]>([
    ["429 for ten minutes", "limited", { elapsedMs: 9 * minute, attempt: 50 }, { elapsedMs: 10 * minute }],
    ["no connection for half a minute", "unsent", { elapsedMs: 20_000 }, { elapsedMs: 30_000 }],
    [
      "no connection for eight seconds, where nobody ever answered",
      "unsent",
      { elapsedMs: 7_000, reached: false },
      { elapsedMs: 8_000, reached: false },
    ],
  ])("%s", (_, kind, repeated, givenUp) => {
    expect(again(kind, repeatable, repeated)).toBeGreaterThan(0);
    expect(again(kind, repeatable, givenUp)).toBeUndefined();
  });

  test.each(["denied", "missing", "unsupported", "conflict", "invalid"] as const)("%s is final", (kind) => {
    expect([again(kind, repeatable), again(kind, repeatable, {}, 1_000)]).toEqual([undefined, undefined]);
  });
});

describe("a call that the service may have accepted", () => {
  test.each(["lost", "server", "unavailable"] as const)("%s is not sent again by itself", (kind) => {
    expect([again(kind, "unless accepted"), again(kind, "unless accepted", {}, 1_000)]).toEqual([undefined, undefined]);
  });

  test.each([
    ["lost", { elapsedMs: 20_000 }, { elapsedMs: 30_000 }], // connections that are closed at once: half a minute
    ["server", {}, {}],
  ] as const)("%s, if it does no harm: six attempts, within ten minutes", (kind, away, over) => {
    expect(again(kind, "freely", { attempt: 5, ...over })).toBeGreaterThan(0);
    expect(again(kind, "freely", { attempt: 6, ...away }) !== undefined).toBe(kind === "lost");
    expect(again(kind, "freely", { attempt: 6, ...over })).toBeUndefined();
    expect(again(kind, "freely", {}, 9 * minute)).toBe(9 * minute);
    expect(again(kind, "freely", {}, 60 * minute)).toBeUndefined();
  });

  test.each([
    ["half a minute", undefined, 20_000, 30_000],
    ["ten minutes, where it says when", 1_000, 5 * minute, 10 * minute],
  ])("503 is retried for %s", (_, retryAfterMs, repeatedAt, givenUpAt) => {
    expect(again("unavailable", "freely", { elapsedMs: repeatedAt }, retryAfterMs)).toBeGreaterThan(0);
    expect(again("unavailable", "freely", { elapsedMs: givenUpAt }, retryAfterMs)).toBeUndefined();
  });
});

test("waits at least Retry-After, and never less than the usual delay", () => {
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
  expect(retryAfterMs(header, "Thu, 01 Jan 2026 00:00:00 GMT")).toBe(ms);
});
