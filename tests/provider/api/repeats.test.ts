import { type Method } from "../../../provider/api/http";
import { failure, http, json, peer, type Reply, text } from "../../support/peer";
import { until } from "../../support/until";
import { virtualTime } from "../../support/virtual-time";

/* How often a call is sent, and how long it waits before: by method and by what went wrong. */

const reset: Reply = (_response, _seen, socket) => socket.resetAndDestroy();

/** Fails so many times, then answers. */
const failing = (times: number, fail: Reply): Reply => {
  return (response, seen, socket) => (seen <= times ? fail : json(200, { seen }))(response, seen, socket);
};

const always = { GET: 3, POST: 3, PATCH: 3, DELETE: 3 };
const unlessAccepted = { ...always, POST: 1 };
const never = { GET: 1, POST: 1, PATCH: 1, DELETE: 1 };
const faults: [string, Reply, sent: Record<keyof typeof always, number>][] = [
  ...[425, 429].map((status) => [`${status}`, json(status, {}), always] as never),
  ...[500, 503, 504].map((status) => [`${status}`, json(status, {}), unlessAccepted] as never),
  ...[400, 401, 404, 409].map((status) => [`${status}`, json(status, {}), never] as never),
  ["a page with 502", text(502, "<html>"), unlessAccepted],
  ["a page with 200", text(200, "<html>"), unlessAccepted],
  ["a reset", reset, unlessAccepted],
];
const table = faults.flatMap(([what, fail, sent]) => [
  ...Object.entries(sent).map(([method, times]) => [method as Method, what, times, fail, {}] as const),
  // A POST that does no harm twice.
  ["POST", what, sent.GET, fail, { repeatable: "freely" }] as const,
]);

test.each(table)("%s after %s, twice: sent %i times", async (method, _what, times, fail, options) => {
  virtualTime();
  const server = await peer(failing(2, fail));
  const answer = await http(server.baseUrl)
    .request(method, "/x", { body: {}, ...options })
    .then(({ status, body }) => ({ status, body }))
    .catch(() => "failed");
  expect(server.requests).toHaveLength(times);
  expect(answer).toEqual(times === 3 ? { status: 200, body: { seen: 3 } } : "failed");
});

test.each([
  ["a reset", reset],
  ["503", json(503, {})],
])(
  "each kind of failure has its own limit: a long requested wait leaves time for retries after %s",
  async (_, other) => {
    virtualTime();
    const wait = json(429, {}, { "retry-after": "20" });
    const fail: Reply = (response, seen, socket) => (seen <= 6 ? wait : other)(response, seen, socket);
    const server = await peer(failing(11, fail));
    const { body } = await http(server.baseUrl).request("PATCH", "/x", { body: {} });
    expect(body).toEqual({ seen: 12 });
  },
);

test("Retry-After is waited for, and told", async () => {
  const time = virtualTime();
  const server = await peer(failing(1, json(429, {}, { "retry-after": "7" })));
  const told: number[] = [];
  const onRetry = (_error: unknown, delayMs: number): void => void told.push(delayMs);
  await http(server.baseUrl, {}, { onRetry }).request("POST", "/x", { body: {} });
  expect(time.now()).toBeGreaterThanOrEqual(7_000);
  expect(told).toEqual([7_000]);
});

test("a call with a limit of ten seconds ends by then with the last failure, and delays no other call", async () => {
  const time = virtualTime();
  const down = await peer(json(503, { errorMessage: "down" }));
  const patient = http(down.baseUrl, {}, { patienceMs: 10_000 });
  const startedAt = time.now();
  await expect(patient.request("GET", "/x")).rejects.toThrow("GET /x: HTTP 503: down.");
  expect(time.now() - startedAt).toBeLessThan(10_000);
  expect(down.requests.length).toBeGreaterThan(2);
});

const busy = json(429, {}, { "x-request-id": "r-2" });
test.each<[string, Reply[], object]>([
  ["429", [busy], { unclear: false, late: false, requestId: "r-2" }],
  ["a lost answer, then 429", [reset, busy], { unclear: true, late: false, requestId: "r-2" }],
  ["429, then 504", [busy, json(504, {})], { unclear: true, late: true, requestId: undefined }],
])("out of time after %s: the error is that of the last attempt, unclear if any was", async (_, replies, facts) => {
  virtualTime();
  const server = await peer((...at) => (replies[at[1] - 1] ?? replies.at(-1)!)(...at));
  const limited = http(server.baseUrl).until({ at: 4_000, limit: "4 s" });
  for (let time = 0; time < 2; time++) {
    const error = await failure(limited.request("PATCH", "/x", { body: {} }));
    expect(error.message).toContain("no time is left to try again");
    if (time === 0) expect(error).toMatchObject(facts);
  }
  expect(server.requests.length).toBeGreaterThan(replies.length);
});

test.each(["gently", "at once"] as const)(
  "a call that waits to be repeated fails when the connections are closed %s",
  async (how) => {
    const server = await peer(json(503, { errorMessage: "maintenance" }, { "retry-after": "60" }));
    let waits = 0;
    const client = http(server.baseUrl, {}, { onRetry: () => void waits++ });
    const call = client.request("GET", "/x").catch((error: Error) => error.message);
    await until(() => waits === 1);
    await client.close(how);
    expect(await call).toContain("maintenance");
    expect(server.requests).toHaveLength(1);
  },
);
