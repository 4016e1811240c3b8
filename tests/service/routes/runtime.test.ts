import { basic, build, containing, start } from "../helpers";

async function world() {
  const { service, send } = await start({ timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 0 } });
  const made = await build(send);
  const url = (await send("GET", `${made.paths.node}/status`)).body.urls.rpc;
  const knock = async (username: string, password: string) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber" });
    const response = await fetch(url, {
      method: "POST",
      headers: { ...basic(username, password), "content-type": "application/json" },
      body,
    });
    const { errorMessage } = (await response.json()) as { errorMessage: string };
    return { status: response.status, errorMessage };
  };
  return { ...made, service, send, url, knock };
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
