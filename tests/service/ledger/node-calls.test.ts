import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import WebSocket from "ws";
import { Refusal } from "../../../service/errors";
import { EngineKeeper } from "../../../service/ledger/engine-keeper";
import { basic, containing } from "../helpers";
import { until } from "../../support/until";
import { contract, eth, ledgered, result, returning, rpc, webSocket } from "../ledgers";

/** A network with two members, each with a node and a credential. */
async function members() {
  const made = await ledgered();
  const { send, paths } = made;
  const create = async (path: string, body: object) => (await send("POST", path, body)).body;
  const other = (await create(`${paths.consortium}/memberships`, { org_name: "other" }))._id;
  const node = await create(`${paths.environment}/nodes`, { membership_id: other });
  const credential = await create(`${paths.environment}/appcreds`, { membership_id: other });
  const status = async (path: string) => (await send("GET", path + "/status")).body;
  const mine = await status(paths.node);
  const theirs = await status(`${paths.environment}/nodes/${node._id}`);
  return {
    ...made,
    own: mine.user_accounts[0]!,
    foreign: theirs.user_accounts[0]!,
    other: { credential, rpc: theirs.urls.rpc },
  };
}

/** The answers to some calls over a WebSocket, in the order they came. */
async function overSocket(url: string, pair: { username: string; password: string }, message: string | object) {
  const { socket, messages } = await webSocket(url, pair);
  socket.send(typeof message === "string" ? message : JSON.stringify(message));
  await until(() => messages.length > 0);
  socket.terminate();
  return messages[0] as unknown as { id: unknown; result?: unknown; error?: { code: number; message: string } };
}

const refused = (code: number, text: string) => ({ id: 1, error: { code, message: containing(text) } });

test("calls that connect elsewhere, access files, or change the chain from outside are refused everywhere", async () => {
  const { credential, urls } = await ledgered();
  let called = 0;
  const elsewhere = createServer((_request, response) => void (called++, response.end("{}"))).listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  const fork = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const calls = [
    ...["anvil_reset", "hardhat_reset"].map((method) => eth(method, { forking: { jsonRpcUrl: fork } })),
    eth("anvil_setRpcUrl", fork),
    eth("anvil_dumpState"),
    eth("hardhat_dumpState"),
    eth("anvil_loadState", "0x00"),
    eth("anvil_setBalance", `0x${"1".repeat(40)}`, "0x1"),
    eth("anvil_impersonateAccount", `0x${"1".repeat(40)}`),
    eth("anvil_autoImpersonateAccount", true),
    eth("eth_sendUnsignedTransaction", {}),
    eth("evm_mine"),
    eth("evm_revert", "0x0"),
    eth("debug_dbGet", "x"),
    eth("trace_block", "latest"),
    eth("anvil_nodeInfo"),
    eth("wallet_sendTransaction", {}),
    eth("ANVIL_RESET"),
    eth("constructor"),
  ];
  for (const call of calls) {
    expect(await rpc(urls.rpc, credential, call)).toMatchObject({ status: 200, body: refused(-32_601, call.method) });
    expect(await overSocket(urls.wss, credential, call)).toMatchObject(refused(-32_601, call.method));
    const { body } = await rpc(urls.rpc, credential, [{ ...eth("eth_chainId"), id: "a" }, call]);
    expect(body).toMatchObject([{ id: "a", result: containing("0x") }, refused(-32_601, call.method)]);
    const escaped = JSON.stringify(call).replace("_", "\\u005f");
    expect(await overSocket(urls.wss, credential, `[${escaped}]`)).toMatchObject([refused(-32_601, call.method)]);
    // if a call names two methods, the chain must get the one that was checked
    const doubled = JSON.stringify(call).replace(/^{/, '{"method":"eth_chainId",');
    expect(await rpc(urls.rpc, credential, doubled)).toMatchObject({ body: refused(-32_601, call.method) });
  }
  expect(called).toBe(0);
  expect(await result(urls.rpc, credential, "eth_chainId")).toMatch(/^0x/);
  elsewhere.close();
});

test("nobody sends or signs for another member's account", async () => {
  const { credential, urls, own, foreign, other } = await members();
  expect(own).not.toBe(foreign);
  expect(await result(urls.rpc, credential, "eth_accounts")).toEqual([own]);
  expect(await result(other.rpc, other.credential, "eth_accounts")).toEqual([foreign]);
  const value = { to: own, value: "0x1", gasPrice: "0x0" };
  const attempts = [foreign, foreign.toUpperCase().replace("0X", "0x"), undefined, null, [own, foreign]].flatMap(
    (from) => [
      eth("eth_sendTransaction", { ...value, from }),
      eth("eth_signTransaction", { ...value, from }),
      eth("eth_sign", from, "0x00"),
      eth("personal_sign", "0x00", from),
      eth("personal_sign", own, from), // the account is the second one
      eth("eth_signTypedData_v4", from, {}),
    ],
  );
  for (const call of [
    ...attempts,
    eth("eth_sendTransaction"),
    { ...eth("eth_sendTransaction"), params: { from: foreign } },
  ]) {
    expect(await rpc(urls.rpc, credential, call)).toMatchObject({ body: refused(-32_000, own) });
    expect(await rpc(urls.rpc, credential, [call])).toMatchObject({ body: [refused(-32_000, own)] });
    expect(await overSocket(urls.wss, credential, call)).toMatchObject(refused(-32_000, own));
  }
  expect(await result(urls.rpc, credential, "eth_getTransactionCount", foreign, "pending")).toBe("0x0");
  const from = own.toUpperCase().replace("0X", "0x");
  expect(await result(urls.rpc, credential, "eth_sendTransaction", { ...value, from })).toMatch(/^0x/);
  expect(await result(urls.rpc, credential, "eth_sign", own, "0x00")).toMatch(/^0x/);
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

test("a WebSocket works from its first message", async () => {
  const { credential, urls } = await ledgered();
  const { socket, messages } = await webSocket(urls.wss, credential);
  for (let id = 0; id < 200; id++) socket.send(JSON.stringify({ ...eth("eth_chainId"), id }));
  await until(() => messages.length === 200);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(200);
});

test("a client that does not read its answers is dropped before it fills the memory", async () => {
  const { credential, urls } = await ledgered({ callLimits: { time: 2_000 } });
  const dropped = jest.spyOn(WebSocket.prototype, "terminate");
  const { socket, messages } = await webSocket(urls.wss, credential);
  const closed = once(socket, "close");
  socket.pause();
  const large = JSON.stringify(
    eth("eth_call", { to: contract }, "latest", { [contract]: { code: returning(3_800_000) } }),
  );
  for (let sent = 0; sent < 40; sent++) socket.send(large);
  await until(() => dropped.mock.calls.length > 0); // it has taken nothing
  socket.resume();
  dropped.mockRestore();
  expect((await closed)[0]).toBe(1006);
  expect(messages.length).toBeLessThan(10);
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

test("a batch may have 1,000 calls, as in geth, over HTTP and WebSocket", async () => {
  const { credential, urls } = await ledgered();
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  const call = { from, to: contract, data: `0x${"12".repeat(100)}` };
  const batch = (count: number) => Array.from({ length: count }, (_, id) => ({ ...eth("eth_call", call), id }));
  const answered = batch(1_000).map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x" }));
  expect((await rpc(urls.rpc, credential, batch(1_000))).body).toEqual(answered);
  expect(await overSocket(urls.wss, credential, batch(1_000))).toEqual(answered);
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
