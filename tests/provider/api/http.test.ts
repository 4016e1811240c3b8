import { gzipSync } from "node:zlib";
import { ServiceClock } from "../../../provider/api/clock";
import { version } from "../../../provider/version";
import { apiKey, failure, http, json, peer, type Reply } from "../../support/peer";
import { VirtualTime, virtualTime } from "../../support/virtual-time";

/* The one request path, against a plain server that answers as each test says. */

const calls = ["GET", "POST", "PATCH", "DELETE"] as const;

test.each(calls)("%s carries key, content type and version, with a body or without", async (method) => {
  const { baseUrl, requests } = await peer(json(200, {}));
  await http(baseUrl).request(method, "/consortia");
  await http(baseUrl).request(method, "/consortia", { body: { name: "ä" } });
  for (const { headers, url } of requests) {
    expect(url).toBe("/api/v1/consortia");
    expect(headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": `pulumi-consortium/${version}`,
    });
  }
  expect(requests.map(({ body }) => body)).toEqual(["", '{"name":"ä"}']);
});

test.each([
  [{ name: "a b&c=d" }, "?name=a+b%26c%3Dd"],
  [{ name: undefined, maxlines: 5 }, "?maxlines=5"],
  [{}, ""],
])("query %j", async (query, written) => {
  const { baseUrl, requests } = await peer(json(200, []));
  await http(baseUrl).request("GET", "/x", { query });
  expect(requests[0]!.url).toBe(`/api/v1/x${written}`);
});

test("the service's clock is that of its newest answers: somebody may have set it", () => {
  const clock = new ServiceClock();
  expect(clock.earliest(0)).toBeUndefined();
  const seen = (ahead: number): void => {
    for (let at = 0; at < 20_000; at += 1_000) clock.saw(new Date(ahead + at).toUTCString(), at + 5);
  };
  for (const ahead of [90_000, 30_000]) {
    seen(ahead);
    expect(clock.earliest(20_000)).toBe(ahead + 19_995);
  }
});

test("near the deadline, a read gets what is left, and a second at least; a change its full time", async () => {
  const given: number[] = [];
  const send = ({ timeoutMs }: { timeoutMs: number }) => {
    given.push(timeoutMs);
    return Promise.resolve({ status: 200, headers: {}, text: "{}" });
  };
  const clock = new VirtualTime();
  const transport = { send, close: () => Promise.resolve() };
  const whole = http("https://x/api/v1", { requestTimeout: 20 }, { transport, clock });
  const timed = whole.until({ at: clock.now() + 5_000, limit: "5 s" });
  for (let time = 0; time < 2; time++) {
    for (const method of calls) await timed.request(method, "/x");
    await clock.sleep(4_500);
  }
  await whole.request("GET", "/x");
  expect(given).toEqual([5_000, 20_000, 20_000, 20_000, 1_000, 20_000, 20_000, 20_000, 20_000]);
});

describe("connections", () => {
  test("no more requests in flight, and no more connections, than allowed; all are used again", async () => {
    let now = 0;
    let most = 0;
    const server = await peer((response, seen) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        json(200, seen)(response, seen, response.socket!);
      }, 5);
    });
    const client = http(server.baseUrl, { maxConcurrency: 3 });
    await Promise.all(Array.from({ length: 40 }, () => client.request("GET", "/x")));
    await client.request("GET", "/x");
    expect(server.requests).toHaveLength(41);
    expect(most).toBe(3);
    expect(server.connections).toBe(3);
  });

  test("a call that waits to be repeated leaves its place to others", async () => {
    const time = virtualTime();
    const done: string[] = [];
    const server = await peer((response, seen, socket) =>
      json(seen === 1 ? 429 : 200, {}, { "retry-after": "60" })(response, seen, socket),
    );
    const client = http(server.baseUrl, { maxConcurrency: 1 });
    const [patient, quick] = ["patient", "quick"].map((name) =>
      client.request("GET", `/${name}`).then(() => done.push(name)),
    );
    await Promise.all([patient, quick]);
    expect(done).toEqual(["quick", "patient"]);
    expect(time.now()).toBeGreaterThanOrEqual(60_000);
  });
});

describe("no whole answer", () => {
  test.each<[string, Reply, RegExp]>([
    ["a time-out", () => undefined, /^no answer arrived within 0\.5 s$/],
    ["a body that comes too slowly", (response) => void response.writeHead(200).write("{"), /within 0\.5 s/],
    ["a reset", (_response, _seen, socket) => void socket.resetAndDestroy(), /connection was (reset|closed)/],
    [
      "a body that is shorter than said",
      (response, _seen, socket) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"a":', () => socket.end());
      },
      /./,
    ],
  ])("%s: lost, and not sent again", async (_, reply, why) => {
    virtualTime();
    const server = await peer(reply);
    const error = await failure(http(server.baseUrl, { requestTimeout: 0.5 }).request("POST", "/x", { body: {} }));
    expect(error).toMatchObject({ kind: "lost", errorMessage: expect.stringMatching(why) as string });
    expect(error.message).not.toContain("HTTP");
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [408, true],
    [504, true],
    [503, false],
  ])("%i to a create that the service may still be working on: %s", async (status, late) => {
    virtualTime();
    const server = await peer(json(status, {}));
    expect(await failure(http(server.baseUrl).request("POST", "/x", { body: {} }))).toMatchObject({ status, late });
    expect(server.requests).toHaveLength(1);
  });

  test("nobody listens: unsent, with the address and its source, after eight seconds", async () => {
    const time = virtualTime();
    const server = await peer(json(200, {}));
    await server.close();
    const error = await failure(http(server.baseUrl).request("POST", "/x", { body: {} }));
    expect(error).toMatchObject({ kind: "unsent", errorMessage: "the connection was refused" });
    expect(error.message).toContain(`${server.baseUrl} (from the given settings) cannot be reached`);
    expect(time.now()).toBeLessThanOrEqual(8_000);
  });
});

test("no answer is to be compressed; one that is, counts as lost", async () => {
  virtualTime();
  const { baseUrl, requests } = await peer((response) =>
    response.writeHead(201, { "content-encoding": "gzip" }).end(gzipSync('{"_id":"x"}')),
  );
  const error = await failure(http(baseUrl).request("POST", "/x", { body: {} }));
  expect(error).toMatchObject({ kind: "lost", errorMessage: "the answer is cut or not JSON" });
  expect(requests.map(({ headers }) => headers["accept-encoding"])).toEqual(["identity"]);
});
