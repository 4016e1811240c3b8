import { ConsortiumClient } from "../../../provider/api/client";
import { http, json, peer, settingsFor, text } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* Answers that have another form than the API's. */

describe("answers of another form", () => {
  const of = async (body: unknown): Promise<ConsortiumClient> => {
    virtualTime();
    return new ConsortiumClient(settingsFor((await peer(json(200, body))).baseUrl));
  };

  test("a list passes over what is no object with an id", async () => {
    const client = await of([{ _id: "a" }, { name: "no id" }, null, 7, { id: "b" }]);
    expect((await client.listConsortia()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test.each([[{ items: [] }], [null], ["text"]])("a list that is %j is an error", async (body) => {
    await expect((await of(body)).listConsortia()).rejects.toMatchObject({ kind: "lost", call: "GET /consortia" });
  });

  test("an object without an id is an error", async () => {
    await expect((await of({})).getNode("c", "e", "n")).rejects.toThrow(/another form than the API's/);
  });

  test.each([
    [5, 5],
    ["5", 5],
    [{ count: 5 }, 5],
    [{ reportCount: "5" }, 5],
  ])("reportCount %j is %i", async (body, count) => {
    expect(await (await of(body)).getTetherReportCount("t")).toBe(count);
  });

  test("accounts is asked where account is not there; its own error is shown where neither is", async () => {
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
    [404, '{"errorMessage":"no"}'],
    [200, page],
    [302, ""],
    [401, "Unauthorized"],
    [403, page],
    [405, ""],
  ])("is not told by a service that answers %i %j, which is asked once for each", async (status, body) => {
    const { baseUrl, requests } = await peer(text(status, body));
    const client = new ConsortiumClient(http(baseUrl));
    expect(await client.organizationOfKey()).toBeUndefined();
    expect(await client.organizationOfKey()).toBeUndefined();
    expect(requests.map(({ url }) => url.replace("/api/v1", ""))).toEqual(["/apikeys", "/orgs", "/memberships"]);
  });

  test("that the settings require is asked for again after a failure", async () => {
    const { baseUrl } = await peer((response, seen, socket) =>
      (seen === 1 ? json(401, {}) : json(200, [{ _id: "o1" }]))(response, seen, socket),
    );
    const client = new ConsortiumClient(http(baseUrl, { organization: "o1" }));
    await expect(client.requireOrganization()).rejects.toThrow(/HTTP 401/);
    await client.requireOrganization();
  });

  test("is asked for again where the service is away", async () => {
    virtualTime();
    const { baseUrl, requests } = await peer((response, seen, socket) =>
      (seen <= 2 ? text(503, "") : json(200, [{ _id: "o1" }]))(response, seen, socket),
    );
    expect(await new ConsortiumClient(http(baseUrl)).organizationOfKey()).toBe("o1");
    expect(requests.length).toBeGreaterThan(2);
  });
});
