import { ConsortiumClient } from "../../../provider/api/client";
import { failure, http, json, peer, settingsFor, text } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* How each answer is read: as a success, as an error in the service's own words, or as no answer at all. */

test.each([
  [200, "", undefined],
  [201, '{"a":1}', { a: 1 }],
  [204, "", undefined],
  [200, "null", null],
  [299, "[]", []],
])("any 2xx is success, with JSON or without a body: %i %j", async (status, body, parsed) => {
  const { baseUrl } = await peer(text(status, body));
  expect(await http(baseUrl).request("POST", "/x", { body: {} })).toMatchObject({ status, body: parsed });
});

describe("a 2xx that contains a refusal", () => {
  test.each<[object | boolean, string, string, string]>([
    // Whatever it says: words decide nothing.
    [{ errorMessage: "the name is already taken" }, "invalid", "request-refused", "the name is already taken."],
    [{ errorMessage: ["too long", "too wide"], request_id: "r1" }, "invalid", "request-refused", "too long; too wide"],
    [
      false,
      "conflict",
      "conflict",
      "Look for the reason in the console, then try again. POST /x: HTTP 200: the service answers false",
    ],
  ])("%j", async (body, kind, code, sentence) => {
    virtualTime();
    const { baseUrl, requests } = await peer(json(200, body));
    const error = await failure(http(baseUrl).request("POST", "/x", { body: {} }));
    expect(error).toMatchObject({ kind, code, status: 200, unclear: false });
    expect(error.message).toContain(sentence);
    expect(requests).toHaveLength(1);
  });

  test.each([
    [{ _id: "n1", errorMessage: "slow today" }],
    [{ id: 7, errorMessage: "slow today" }],
    [{ name: "x y", errorMessage: "not set up yet" }],
    [{ errorMessage: "" }],
    [{ message: "accepted" }],
  ])("%j is not a refusal", async (body) => {
    const { baseUrl } = await peer(json(200, body));
    expect(await http(baseUrl).request("PUT", "/destinations/x%20y", { body: {} })).toMatchObject({ body });
  });

  test("false is an answer to a question", async () => {
    const { baseUrl } = await peer(json(200, false));
    expect(await http(baseUrl).request("GET", "/x")).toMatchObject({ body: false });
  });
});

describe("an answer that is not the API's", () => {
  const page = "<html><body>Welcome</body></html>";
  test.each([
    [200, page, "lost", /^Check that http:\S+ \(from the given settings\) .*the answer is an HTML page, not JSON\./],
    [404, page, "server", /^Check that .*HTTP 404: the answer is an HTML page, not JSON\./],
    [401, "Unauthorized", "denied", /HTTP 401: Unauthorized\./],
    [404, "Not Found", "missing", /HTTP 404: Not Found\./],
    [410, "", "missing", /HTTP 410: no explanation was given\./],
    [400, "x".repeat(201), "invalid", /HTTP 400: the answer is cut or not JSON/],
    [502, page, "server", /HTTP 502: the answer is an HTML page, not JSON\./],
    [400, '{"error":{"code":7,"message":"too long"}}', "invalid", /HTTP 400: too long\./],
    [400, '{"errors":[{"detail":"too long"},{"detail":"not lower case"}]}', "invalid", /: too long; not lower case\./],
    [403, '{"type":"about:blank","title":"Quota","detail":"no more nodes"}', "denied", /HTTP 403: no more nodes\./],
    [400, "[".repeat(99) + "]".repeat(99), "invalid", /HTTP 400: no explanation was given\./],
  ])("%i %j", async (status, body, kind, sentence) => {
    virtualTime();
    const { baseUrl } = await peer(text(status, body));
    const error = await failure(http(baseUrl).request("GET", "/x"));
    expect(error).toMatchObject({ kind, status, call: "GET /x" });
    expect(error.message).toMatch(sentence);
  });

  test("an error names a Retry-After that is too long to wait for", async () => {
    virtualTime();
    const { baseUrl } = await peer(json(429, { errorMessage: "slow down" }, { "retry-after": "7200" }));
    const error = await failure(http(baseUrl).request("GET", "/x"));
    expect(error.message).toContain("The service asks to wait for 120 minutes: then try again.");
  });

  test.each([301, 302, 307, 308])(
    "%i is not followed: the key stays here, and the error has no secret",
    async (status) => {
      const other = await peer(json(200, {}));
      const location = `${other.baseUrl.replace("//", "//u:p@")}/x?token=t`;
      const { baseUrl, requests } = await peer(text(status, "moved", { location }));
      const error = await failure(http(baseUrl).request("POST", "/x", { body: {} }));
      expect(error).toMatchObject({ kind: "invalid", code: "wrong-address", status });
      const where = `the service redirects to ${other.baseUrl}/x, which is not followed.`;
      expect(error.message).toContain(`HTTP ${status}: ${where}`);
      expect([requests.length, other.requests.length]).toEqual([1, 0]);
    },
  );
});

describe("answers of another form", () => {
  const of = async (body: unknown): Promise<ConsortiumClient> => {
    virtualTime();
    return new ConsortiumClient(settingsFor((await peer(json(200, body))).baseUrl));
  };

  test("a list skips elements that are not objects with an id", async () => {
    const client = await of([{ _id: "a" }, { name: "no id" }, null, 7, { id: "b" }]);
    expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test.each([[{ items: [] }], [null], ["text"]])("a list that is %j is an error", async (body) => {
    await expect((await of(body)).listConsortia()).rejects.toMatchObject({ kind: "lost", call: "GET /consortia" });
  });

  test("an object without an id is an error", async () => {
    await expect((await of({})).getNode("c", "e", "n")).rejects.toThrow(
      /^Check that http.*the answer does not have the form of the API\./,
    );
    const { baseUrl } = await peer(text(200, ""));
    const empty = new ConsortiumClient(settingsFor(baseUrl)).getNode("c", "e", "n");
    await expect(empty).rejects.toThrow(/^The service at \S+ may be having problems.*the answer is empty\./);
  });

  test.each([
    [{ tether_id: 3, reportCount: "5" }, 5],
    [{ tether_id: 3 }, undefined],
  ])("reportCount %j is %s", async (body, count) => {
    const asked = (await of(body)).getTetherReportCount("t");
    await (count === undefined
      ? expect(asked).rejects.toMatchObject({ kind: "lost" })
      : expect(asked).resolves.toBe(count));
  });

  test("without `account`, `accounts` is requested; if both are missing, the error is the one of `accounts`", async () => {
    virtualTime();
    const one = await peer((response, seen, socket) =>
      json(seen === 1 ? 404 : 200, { balance: "5" })(response, seen, socket),
    );
    expect(await new ConsortiumClient(settingsFor(one.baseUrl)).getTetherAccount("t")).toMatchObject({
      balanceWei: "5",
    });
    expect(one.requests.map(({ url }) => url)).toEqual(["/api/v1/tether/t/account", "/api/v1/tether/t/accounts"]);
    const none = await peer(json(404, { errorMessage: "no tether" }));
    await expect(new ConsortiumClient(settingsFor(none.baseUrl)).getTetherAccount("t")).rejects.toMatchObject({
      call: "GET /tether/t/account",
    });
  });
});

describe("the organization of a key", () => {
  const page = "<html><body>Cannot GET /api/v1/apikeys</body></html>";
  test.each([
    [404, page],
    [404, ""],
    [302, ""],
    [401, "Unauthorized"],
    [403, page],
  ])("is unknown if the service answers %i %j, and is requested once per list", async (status, body) => {
    const { baseUrl, requests } = await peer(text(status, body));
    const client = new ConsortiumClient(http(baseUrl));
    expect(await client.organizationOfKey()).toBeUndefined();
    expect(await client.organizationOfKey()).toBeUndefined();
    expect(requests.map(({ url }) => url.replace("/api/v1", ""))).toEqual(["/apikeys", "/orgs", "/memberships"]);
  });

  test("required by the settings is requested again after a failure", async () => {
    const { baseUrl } = await peer((response, seen, socket) =>
      (seen === 1 ? json(401, {}) : json(200, [{ _id: "o1" }]))(response, seen, socket),
    );
    const client = new ConsortiumClient(http(baseUrl, { organization: "o1" }));
    await expect(client.requireOrganization()).rejects.toThrow(/HTTP 401/);
    await client.requireOrganization();
  });

  test.each([
    ["another one's consortia", [{ _id: "c1", owner: "o1" }], /The organization must be o2 .*, but the API key/],
    ["no consortium, so that there is nothing to mistake", [], undefined],
  ])("that the settings require, where the key shows %s", async (_, list, why) => {
    const { baseUrl } = await peer((response, seen, socket) =>
      (seen === 1 ? json(200, list) : json(404, {}))(response, seen, socket),
    );
    const required = new ConsortiumClient(http(baseUrl, { organization: "o2" })).requireOrganization();
    await (why === undefined ? required : expect(required).rejects.toThrow(why));
  });
});
