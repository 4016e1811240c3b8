import { client, start } from "../helpers";

const two = { organizations: [{ name: "north" }, { name: "south" }] };

/** A service of two organizations, each with its client. */
async function both() {
  const { service, send } = await start(two);
  return { service, north: send, south: client(service.baseUrl, service.organizations[1]!.apiKey) };
}

test("an additional key gives access to its organization until it is revoked, and is shown once", async () => {
  const { service, north, south } = await both();
  const made = await north("POST", "/embedded/api-keys", { name: "ci" });
  const { id, key } = made.body as unknown as { id: string; key: string };
  expect(made.status).toBe(201);
  const further = client(service.baseUrl, key);
  expect((await further("POST", "/consortia", { name: "trade" })).status).toBe(201);
  expect((await north("GET", "/consortia")).body).toHaveLength(1);
  expect((await south("GET", "/consortia")).body).toEqual([]);

  const listed = await north("GET", "/embedded/api-keys");
  expect(listed.body).toMatchObject([{ id, name: "ci" }]);
  expect(listed.text).not.toContain(key);
  expect((await south("GET", "/embedded/api-keys")).body).toEqual([]);
  expect((await south("DELETE", `/embedded/api-keys/${id}`)).status).toBe(404);
  expect((await further("GET", "/consortia")).status).toBe(200);
  expect((await north("DELETE", `/embedded/api-keys/${id}`)).status).toBe(204);
  expect((await further("GET", "/consortia")).status).toBe(401);
  expect((await north("GET", "/embedded/api-keys")).body).toEqual([]);
});

test("a fault over HTTP hits only its own organization's calls, and nobody else sees or removes it", async () => {
  const { service, north, south } = await both();
  const rule = { kind: "status", status: 500, route: "/consortia", times: null };
  const { status, body } = await north("POST", "/embedded/faults", rule);
  expect([status, body]).toMatchObject([201, { seen: 0, hits: 0 }]);
  expect([(await north("GET", "/consortia")).status, (await south("GET", "/consortia")).status]).toEqual([500, 200]);
  const calls = async (send: typeof north) =>
    ((await send("GET", "/embedded/calls")).body as unknown as { calls: { fault?: string }[] }).calls;
  expect(await calls(north)).toMatchObject([{ path: "/consortia", fault: "status" }]);
  expect((await calls(south)).map(({ fault }) => fault)).toEqual([undefined]);
  const stranger = client(service.baseUrl, "key-of-nobody");
  expect((await stranger("GET", "/consortia/c-of-north?name=secret")).status).toBe(401);
  expect((await north("GET", "/nowhere/north")).status).toBe(404);
  expect([await calls(north), await calls(south)]).toMatchObject([[{}, { path: "/nowhere/north" }], [{}]]);
  service.clearCalls(); // whoever follows the calls goes on from where it was
  await north("GET", "/releases");
  expect((await north("GET", "/embedded/calls?after=4")).body).toMatchObject({
    count: 5,
    calls: [{ path: "/releases" }],
  });
  expect((await south("GET", "/embedded/faults")).body).toMatchObject({ faults: [] });
  expect((await south("DELETE", `/embedded/faults/${body.id}`)).status).toBe(404);
  expect((await south("DELETE", "/embedded/faults")).status).toBe(204);
  expect((await north("GET", "/consortia")).status).toBe(500);
  expect((await north("DELETE", `/embedded/faults/${body.id}`)).status).toBe(204);
  expect((await north("GET", "/consortia")).status).toBe(200);
});

test.each([
  [{ kind: "refuse", ms: 1_000 }, 403],
  [{ kind: "status", status: 500, route: "(a+)+$" }, 400],
  [{ kind: "status", status: 9 }, 400],
  [{ kind: "explode" }, 400],
  [[], 400],
])("an invalid rule, or one that would hit others, is refused: %j", async (rule, status) => {
  const { north } = await both();
  expect((await north("POST", "/embedded/faults", rule)).status).toBe(status);
  expect((await north("GET", "/embedded/faults")).body).toMatchObject({ faults: [] });
});

test("observers are not logged, delayed or hit", async () => {
  const { service, send } = await start({ timing: { latency: 5_000 } });
  service.faults.add({ kind: "status", status: 500, times: Infinity });
  const watching = { "consortium-observer": "1" };
  expect((await send("GET", "/consortia", undefined, watching)).status).toBe(200);
  expect((await send("GET", "/consortia", undefined, { ...watching, authorization: "Bearer x" })).status).toBe(401);
  expect(service.calls).toEqual([]);
});

test("the health check needs no key, and reveals nothing", async () => {
  const { service } = await start({ ...two, timing: { latency: 5_000 } });
  service.faults.add({ kind: "status", status: 500, times: Infinity });
  const answer = await fetch(`${service.url}/health`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ok" }]);
  expect(service.calls).toEqual([]);
});
