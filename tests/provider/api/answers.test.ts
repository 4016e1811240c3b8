import { failure, http, json, peer, text } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* What is made of each answer: success, an error with the service's own words, or none at all. */

describe("any 2xx is success, with JSON or without a body", () => {
  test.each([
    [200, "", undefined],
    [201, '{"a":1}', { a: 1 }],
    [202, " \n", undefined],
    [204, "", undefined],
    [200, "true", true],
    [200, "7", 7],
    [200, "null", null],
    [299, "[]", []],
  ])("%i %j", async (status, body, parsed) => {
    const { baseUrl } = await peer(text(status, body));
    expect(await http(baseUrl).request("POST", "/x", { body: {} })).toMatchObject({ status, body: parsed });
  });
});

describe("an answer that is none", () => {
  const page = "<html><body>Welcome</body></html>";
  test.each([
    [200, page, "lost", /the answer is an HTML page, not JSON\. Check that http:\S+ \(from the given settings/],
    [201, '{"_id": "c', "lost", /the answer is cut or not JSON\. Check that/],
    [404, page, "server", /HTTP 404: the answer is an HTML page, not JSON\. Check that/],
    [410, "gone", "server", /HTTP 410: gone\. Check that/],
    [404, "Not Found", "server", /HTTP 404: Not Found\. Check that/],
    [404, '{"errorMess', "server", /HTTP 404: the answer is cut or not JSON\. Check that/],
    [401, "Unauthorized", "denied", /HTTP 401: Unauthorized\./],
    [400, "x".repeat(201), "invalid", /HTTP 400: the answer is cut or not JSON/],
    [502, page, "server", /HTTP 502: the answer is an HTML page, not JSON\./],
    [401, page, "denied", /HTTP 401: the answer is an HTML page/],
    [400, '{"code":7}', "invalid", /HTTP 400: no explanation was given\./],
    [409, "", "conflict", /HTTP 409: no explanation was given\./],
  ])("%i %j", async (status, body, kind, sentence) => {
    virtualTime();
    const { baseUrl } = await peer(text(status, body));
    const error = await failure(http(baseUrl).request("GET", "/x"));
    expect(error).toMatchObject({ kind, status, call: "GET /x" });
    expect(error.message).toMatch(sentence);
  });

  test.each([
    [404, "Not Found", "missing"],
    [410, "gone", "missing"],
    [404, page, "server"],
    [404, '{"errorMess', "server"],
  ])("%i %j after an answer in JSON, so that the address is the API's: %s", async (status, body, kind) => {
    virtualTime();
    const { baseUrl } = await peer((response, seen, socket) =>
      (seen === 1 ? json(200, []) : text(status, body))(response, seen, socket),
    );
    const client = http(baseUrl);
    await client.request("GET", "/consortia");
    expect(await failure(client.request("GET", "/x"))).toMatchObject({ kind, status });
  });

  test("the first 404 in words asks for what every service has, once for all callers; JSON shows the address is right", async () => {
    const { baseUrl, requests } = await peer((response, seen, socket) => {
      const isAsked = requests.at(-1)!.url.endsWith("/consortia");
      (isAsked ? json(200, []) : text(404, "Not Found"))(response, seen, socket);
    });
    const client = http(baseUrl);
    const both = ["/x", "/y"].map((path) => failure(client.request("GET", path)));
    expect(await Promise.all(both)).toMatchObject([{ kind: "missing" }, { kind: "missing" }]);
    expect(await failure(client.request("DELETE", "/x"))).toMatchObject({ kind: "missing" });
    expect(requests.map(({ url }) => url.slice("/api/v1".length)).sort()).toEqual(["/consortia", "/x", "/x", "/y"]);
  });

  test.each([
    ['{"errorMessage":"no a"}', "no a"],
    ['{"message":"no b"}', "no b"],
    ['{"error":"no c"}', "no c"],
    ['"no d"', "no d"],
    ['{"errorMessage":{"code":1},"message":"no e"}', "no e"],
  ])("the service's own words are found in %s", async (body, errorMessage) => {
    const { baseUrl } = await peer(text(400, body));
    expect(await failure(http(baseUrl).request("GET", "/x"))).toMatchObject({ kind: "invalid", errorMessage });
  });

  test.each([301, 302, 307, 308])("%i is not followed: the key stays here", async (status) => {
    const other = await peer(json(200, {}));
    const { baseUrl, requests } = await peer(text(status, "", { location: `${other.baseUrl}/x` }));
    const error = await failure(http(baseUrl).request("POST", "/x", { body: {} }));
    expect(error).toMatchObject({ kind: "invalid", status });
    expect(error.message).toMatch(/Check that http:\S+ .* is the address of the API/);
    expect([requests.length, other.requests.length]).toEqual([1, 0]);
  });
});
