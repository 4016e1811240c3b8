import { basic, build, containing, start, type World } from "../helpers";

async function world() {
  const { service, send } = await start({ timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 0 } });
  const made = await build(send);
  const url = (await send("GET", `${made.paths.node}/status`)).body.urls.rpc;
  const knock = async (username: string, password: string, at = url) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber" });
    const response = await fetch(at, {
      method: "POST",
      headers: { ...basic(username, password), "content-type": "application/json" },
      body,
    });
    const { errorMessage } = (await response.json()) as { errorMessage: string };
    return { status: response.status, errorMessage };
  };
  const create = async (path: string, body: object) =>
    (await send("POST", path, body)).body as World["credential"] & { _id: string };
  return { ...made, service, send, url, knock, create };
}

test("the right pair gets through to where a ledger would be", async () => {
  const { knock, credential } = await world();
  expect(await knock(credential.username, credential.password)).toEqual({
    status: 501,
    errorMessage: containing("No ledger"),
  });
});

test("a wrong or missing pair is refused, and the answer asks for one", async () => {
  const { url, knock, credential } = await world();
  expect((await knock(credential.username, "wrong")).status).toBe(401);
  expect((await knock("nobody", credential.password)).status).toBe(401);
  expect((await knock(credential.username, "")).status).toBe(401);
  const without = await fetch(url);
  expect(without.status).toBe(401);
  expect(without.headers.get("www-authenticate")).toMatch(/^Basic/);
});

test("an API key does not open a node, and a pair does not open the API", async () => {
  const { service, url, send, credential } = await world();
  expect((await fetch(url, { headers: { authorization: `Bearer ${service.apiKey}` } })).status).toBe(401);
  expect((await send("GET", "/consortia", undefined, basic(credential.username, credential.password))).status).toBe(
    401,
  );
});

test("a pair opens every node of its own membership in its own environment, and no other", async () => {
  const { paths, service, environment, membership, knock, create, credential } = await world();
  const other = await create(`${paths.consortium}/memberships`, { org_name: "other" });
  const theirs = await create(`${paths.environment}/nodes`, { membership_id: other._id });
  const second = await create(`${paths.environment}/nodes`, { membership_id: membership });
  const elsewhere = await create(`${paths.consortium}/environments`, { provider: "geth", consensus_type: "poa" });
  const away = await create(`${paths.consortium}/environments/${elsewhere._id}/nodes`, { membership_id: membership });
  const at = (env: string, node: string) => `${service.url}/runtime/${env}/${node}`;
  const { username, password } = credential;
  expect((await knock(username, password, at(environment, second._id))).status).toBe(501);
  expect((await knock(username, password, at(environment, theirs._id))).status).toBe(401);
  expect((await knock(username, password, at(elsewhere._id, away._id))).status).toBe(401);
  expect((await knock(username, password, at(environment, away._id))).status).toBe(401);
  expect((await knock(username, password, at(environment, "nobody"))).status).toBe(401);
  expect((await knock(username, password, at(elsewhere._id, second._id))).status).toBe(401);
  const own = await create(`${paths.environment}/appcreds`, { membership_id: other._id });
  expect((await knock(own.username, own.password, at(environment, theirs._id))).status).toBe(501);
});

test.each(["credential", "environment"] as const)("a pair is worthless once its %s is deleted", async (kind) => {
  const { send, paths, knock, credential } = await world();
  expect((await knock(credential.username, credential.password)).status).toBe(501);
  expect((await send("DELETE", paths[kind])).status).toBeLessThan(300);
  expect((await knock(credential.username, credential.password)).status).toBe(401);
});
