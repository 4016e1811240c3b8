import { once } from "node:events";
import { Refusal } from "../../../service/errors";
import { EngineKeeper } from "../../../service/ledger/engine-keeper";
import { basic, containing } from "../helpers";
import { until } from "../../support/until";
import { contract, eth, ledgered, result, rpc, webSocket } from "../ledgers";

/** The answers to some calls over a WebSocket, in the order they came. */
async function overSocket(url: string, pair: { username: string; password: string }, message: object) {
  const { socket, messages } = await webSocket(url, pair);
  socket.send(JSON.stringify(message));
  await until(() => messages.length > 0);
  socket.terminate();
  return messages[0] as unknown as { id: unknown; result?: unknown; error?: { code: number; message: string } };
}

test("nobody sends or signs for another member's account", async () => {
  const { send, paths, credential, urls } = await ledgered();
  const other = (await send("POST", `${paths.consortium}/memberships`, { org_name: "other" })).body._id;
  const node = (await send("POST", `${paths.environment}/nodes`, { membership_id: other })).body._id;
  const pair = (await send("POST", `${paths.environment}/appcreds`, { membership_id: other })).body;
  const theirs = (await send("GET", `${paths.environment}/nodes/${node}/status`)).body;
  const [own] = (await send("GET", `${paths.node}/status`)).body.user_accounts;
  const [foreign] = theirs.user_accounts;
  expect(await result(urls.rpc, credential, "eth_accounts")).toEqual([own]);
  expect(await result(theirs.urls.rpc, pair, "eth_accounts")).toEqual([foreign]);
  for (const call of [eth("eth_sendTransaction", { from: foreign, to: own }), eth("eth_sign", foreign, "0x00")]) {
    const refused = { id: 1, error: { code: -32_000, message: containing(`${own} only, not ${foreign}`) } };
    expect(await rpc(urls.rpc, credential, call)).toMatchObject({ body: refused });
    expect(await overSocket(urls.wss, credential, call)).toMatchObject(refused);
  }
  expect(await result(urls.rpc, credential, "eth_getTransactionCount", foreign, "pending")).toBe("0x0");
  const sent = await result(urls.rpc, credential, "eth_sendTransaction", { from: own, to: foreign, value: "0x5" });
  const told = <T>(method: string, ...params: unknown[]) => result<T>(theirs.urls.rpc, pair, method, ...params);
  await until(async () => (await told("eth_getTransactionReceipt", sent)) !== null); // one ledger, through every node
  expect(BigInt(await told<string>("eth_getBalance", foreign, "latest"))).toBe(10_000n * 10n ** 18n + 5n);
});

test("a WebSocket is closed, or never opens, if its credential is deleted meanwhile", async () => {
  const { send, paths, membership, urls } = await ledgered();
  const tries = Array.from({ length: 360 }, (_, index) => index);
  const open: unknown[] = [];
  let opened = 0;
  const attempt = async (index: number) => {
    const made = (await send("POST", `${paths.environment}/appcreds`, { membership_id: membership })).body;
    const opening = webSocket(urls.wss, made).catch(() => undefined);
    if (index % 2 === 0) await opening;
    await new Promise((done) => setTimeout(done, index % 18)); // 0 to 17 ms after it was asked for, or has opened
    const deleted = send("DELETE", `${paths.environment}/appcreds/${made.username}`);
    const { socket, status } = (await opening) ?? {};
    expect((await deleted).status).toBe(204);
    if (!socket || status !== 101) return;
    opened++;
    if (socket.readyState === socket.CLOSED) return;
    open.push(socket);
    await once(socket, "close");
    open.pop();
  };
  for (let from = 0; from < tries.length; from += 20) await Promise.all(tries.slice(from, from + 20).map(attempt));
  expect(open).toEqual([]);
  expect(opened).toBeGreaterThan(0);
});

test.each(["node", "environment"] as const)(
  "a WebSocket is closed, and opens no more, once its %s was deleted",
  async (kind) => {
    const { send, paths, credential, urls } = await ledgered();
    const { socket } = await webSocket(urls.wss, credential);
    const closed = once(socket, "close");
    expect((await send("DELETE", paths[kind])).status).toBeLessThan(300);
    await closed;
    expect(await webSocket(urls.wss, credential)).toMatchObject({ status: 401, error: containing("credential") });
    expect((await rpc(urls.rpc, credential, eth("eth_chainId"))).status).toBe(401);
  },
);

test("a WebSocket works from its first message", async () => {
  const { credential, urls } = await ledgered();
  const { socket, messages } = await webSocket(urls.wss, credential);
  for (let id = 0; id < 200; id++) socket.send(JSON.stringify({ ...eth("eth_chainId"), id }));
  await until(() => messages.length === 200);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(200);
});

test("a ledger that is starting refuses a call with a time to repeat it; in a batch, it is an answer", async () => {
  const { credential, urls } = await ledgered();
  const starting = new Refusal(503, "The ledger is starting.", 7);
  const ready = jest.spyOn(EngineKeeper.prototype, "ready").mockRejectedValue(starting);
  const call = eth("eth_getBalance", contract, "latest");
  for (let time = 0; time < 2; time++) {
    const headers = basic(credential.username, credential.password);
    const answer = await fetch(urls.rpc, { method: "POST", headers, body: JSON.stringify(call) });
    await answer.text();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "7"]);
    const batch = [eth("eth_blockNumber"), call];
    const said = [{ result: "0x0" }, { error: { code: -32_603, message: starting.message } }];
    expect(await rpc(urls.rpc, credential, batch)).toMatchObject({ status: 200, body: said });
  }
  ready.mockRestore();
  expect(await result(urls.rpc, credential, "eth_getBalance", contract, "latest")).toBe("0x0");
});

test("a reset of a node closes its WebSockets, and no others; each opens again", async () => {
  const { send, paths, membership, credential, urls } = await ledgered();
  const second = (await send("POST", `${paths.environment}/nodes`, { membership_id: membership })).body;
  const other = (await send("GET", `${paths.environment}/nodes/${second._id}/status`)).body.urls;
  for (let time = 0; time < 2; time++) {
    const [mine, theirs] = [await webSocket(urls.wss, credential), await webSocket(other.wss, credential)];
    const closed = once(mine.socket, "close");
    expect((await send("PUT", `${paths.node}/reset`, {})).status).toBe(200);
    await closed;
    theirs.socket.send(JSON.stringify(eth("eth_chainId")));
    await until(() => theirs.messages.length === 1);
    theirs.socket.terminate();
  }
});

test("WebSockets open again after the service refused connections for a while", async () => {
  const { service, credential, urls } = await ledgered();
  const { socket } = await webSocket(urls.wss, credential);
  const closed = once(socket, "close");
  service.faults.add({ kind: "refuse", ms: 20 });
  await closed;
  await until(async () => (await webSocket(urls.wss, credential).catch(() => undefined))?.status === 101);
  expect(await result(urls.rpc, credential, "eth_chainId")).toMatch(/^0x/);
});
