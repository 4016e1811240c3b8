import { Store } from "../../../service/store/store";
import { anyNumber, client, containing, populated, start } from "../helpers";

const missing = containing("missing");
const invalid = containing("not valid");

test.each([
  ["no header", {}, missing],
  ["another scheme", { authorization: "Basic abc" }, missing],
  ["an empty key", { authorization: "Bearer " }, missing],
  ["an unknown key", { authorization: "Bearer nobody" }, invalid],
])("%s is refused with 401, without effect", async (_what, headers, errorMessage) => {
  const { service, send } = await start({ tethers: [{ id: "t" }] });
  const anonymous = client(service.baseUrl, "");
  for (const [method, path] of [
    ["GET", "/consortia"],
    ["POST", "/consortia"],
    ["GET", "/tether/t/account"],
    ["GET", "/embedded/calls"],
  ] as const) {
    const answer = await anonymous(method, path, method === "POST" ? { name: "a" } : undefined, headers);
    expect(answer).toMatchObject({ status: 401, body: { errorMessage } });
  }
  expect((await send("GET", "/consortia")).body).toEqual([]);
});

test("without a key, the body is never read", async () => {
  const { service } = await start();
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body: "{ broken" });
  expect(answer.status).toBe(401);
  const large = await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body: " ".repeat(400_000) });
  expect(large.status).toBe(401); // 413 if it were read
});

test("a rotated key is refused; the new one gives access to the same objects", async () => {
  const { service, send } = await start({ organizations: [{ name: "a", apiKey: "old" }] });
  await send("POST", "/consortia", { name: "mine" });
  const key = service.rotateKey("a");
  expect(key).not.toBe("old");
  expect(service.apiKey).toBe(key);
  expect(service.organizations[0]!.apiKey).toBe(key);
  expect((await send("GET", "/consortia")).status).toBe(401);
  expect((await client(service.baseUrl, key)("GET", "/consortia")).body).toMatchObject([{ name: "mine" }]);
  expect(() => service.rotateKey("nobody")).toThrow("no organization nobody");
});

test("finding a key's organization reads no other objects, whether the key is right or wrong", async () => {
  const { service, send } = await start({ organizations: [{ name: "a" }, { name: "b" }] });
  const further = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as Record<string, string>;
  const all = jest.spyOn(Store.prototype, "all");
  const status = async (key: string) => (await client(service.baseUrl, key)("GET", "/releases")).status;
  expect(await Promise.all([status(service.apiKey), status(further.key!), status("nobody")])).toEqual([200, 200, 401]);
  expect(all).not.toHaveBeenCalled();
  all.mockRestore();
  expect((await send("DELETE", `/embedded/api-keys/${further.id}`)).status).toBe(204);
  expect(await status(further.key!)).toBe(401);
});

test("two organizations cannot share a name or a key", async () => {
  const { service, send } = await start({ organizations: [{ name: "a", apiKey: "k" }] });
  const further = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as { key: string };
  expect(() => service.addOrganization("a")).toThrow("The organization a already exists.");
  for (const key of ["k", further.key]) expect(() => service.addOrganization("b", key)).toThrow("API key of a");
  expect(service.organizations).toHaveLength(1);
});

test("the call log has the organization, but no keys or passwords", async () => {
  const { service, send, paths, credential } = await populated();
  service.clearCalls();
  await send("GET", `${paths.environment}/nodes?name=n1&api_key=hush-1`);
  await send("POST", "/consortia", { name: "a", password: "hush-2", inner: [{ clientSecret: "hush-3" }] });
  await client(service.baseUrl, "")("GET", "/consortia");
  await send("GET", "/nowhere");
  expect(service.calls).toEqual([
    {
      method: "GET",
      path: `${paths.environment}/nodes`,
      route: "/consortia/:consortiumId/environments/:environmentId/nodes",
      query: { name: "n1", api_key: "[hidden]" },
      body: undefined,
      status: 200,
      organization: "local",
      at: anyNumber,
    },
    expect.objectContaining({
      route: "/consortia",
      body: { name: "a", password: "[hidden]", inner: [{ clientSecret: "[hidden]" }] },
      status: 400,
    }),
    expect.objectContaining({ status: 401, organization: undefined }),
    expect.objectContaining({ route: "/nowhere", status: 404 }),
  ]);
  const log = JSON.stringify(service.calls);
  for (const secret of [service.apiKey, credential.password, "hush"]) expect(log).not.toContain(secret);
});

test("the call log keeps no bodies without a valid key", async () => {
  const { service, send } = await start();
  const big = { name: "x", description: "y".repeat(200_000) };
  for (const key of ["", "nobody"])
    expect((await client(service.baseUrl, key)("POST", "/consortia", big)).status).toBe(401);
  expect((await client(service.baseUrl, "")("POST", "/nowhere", big)).status).toBe(404);
  expect(service.calls.map(({ status, body }) => [status, body])).toEqual(
    [401, 401, 404].map((status) => [status, undefined]),
  );
  service.clearCalls();
  for (const levels of [60, 100_000]) {
    const deep = "[".repeat(levels) + "]".repeat(levels);
    await send("POST", "/consortia", JSON.stringify({ name: "a", deep: 0 }).replace("0", deep));
  }
  expect(service.calls).toMatchObject([
    { status: 400, body: undefined },
    { status: 400, body: undefined },
  ]);
});

test("the call log can be set to keep no bodies", async () => {
  const { service, send } = await start({ recordBodies: false });
  await send("POST", "/consortia", { name: "a" });
  expect(service.calls).toMatchObject([{ route: "/consortia", status: 201, body: undefined }]);
});
