import { once } from "node:events";
import { Refusal } from "../../../service/errors";
import { EngineKeeper } from "../../../service/ledger/engine-keeper";
import { atEnd, basic, build, containing, populated, quick, refused, start, type Send } from "../helpers";
import { until } from "../../support/until";
import { contract, endless, eth, ledgered, raw, result, returning, rpc, webSocket } from "../ledgers";
import { connect } from "node:net";
import { Agent, request } from "undici";
import { findAnvil } from "../../../service/ledger/engine";
import { cert, key } from "../../support/certificate";

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

test("a GET, a WebSocket elsewhere: each gets an error with the reason", async () => {
  const { service, credential, urls } = await ledgered();
  const headers = basic(credential.username, credential.password);
  expect(await raw(urls.rpc, headers, "", "GET")).toMatchObject({ status: 405, text: containing("POST") });
  expect(await webSocket(urls.wss)).toMatchObject({ status: 401, error: containing("credential") });
  expect(await webSocket(`${service.url.replace("http", "ws")}/api/v1/consortia`)).toMatchObject({ status: 401 });
  expect(await webSocket(`${service.url.replace("http", "ws")}/runtime/nowhere`)).toMatchObject({ status: 404 });
  expect((await rpc(urls.rpc, credential, eth("eth_chainId"))).status).toBe(200);
});

test("with a certificate, it serves https and wss, and shows such addresses", async () => {
  const { service } = await start({ ledger: true, timing: quick, tls: { cert, key } });
  expect(service.baseUrl).toMatch(/^https:/);
  const dispatcher = new Agent({ connect: { ca: cert } });
  atEnd(() => dispatcher.close());
  const call = async (method: "GET" | "POST", url: string, own: Record<string, string>, given?: unknown) => {
    const headers = { "content-type": "application/json", ...own };
    const { statusCode, body } = await request(url, {
      method,
      dispatcher,
      headers,
      body: JSON.stringify(given) ?? null,
    });
    return { status: statusCode, body: (await body.json()) as never };
  };
  const send = ((method: "GET" | "POST", path: string, body: unknown) =>
    call(method, service.baseUrl + path, { authorization: `Bearer ${service.apiKey}` }, body)) as unknown as Send;
  const { paths, credential } = await build(send);
  const { rpc: https, wss } = (await send("GET", `${paths.node}/status`)).body.urls as { rpc: string; wss: string };
  expect([https, wss]).toEqual([containing("https://"), containing("wss://")]);
  const pair = basic(credential.username, credential.password);
  expect(await call("POST", https, pair, eth("eth_chainId"))).toMatchObject({ status: 200 });
  const { status, socket } = await webSocket(wss, credential, { ca: cert });
  expect(status).toBe(101);
  socket.terminate();
  expect(await webSocket(wss, undefined, { ca: cert })).toMatchObject({ status: 401 });
});

/** A connection that sends data and collects the responses. */
function opened(port: number, text: string) {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
  const said = { text: "", closed: false };
  socket.on("data", (part: Buffer) => (said.text += part.toString()));
  socket.once("close", () => (said.closed = true));
  socket.write(text);
  return { socket, said };
}

test("a client that never finishes its headers or body is disconnected; others are served meanwhile", async () => {
  const { service, send } = await start({ callLimits: { time: 1_000 } });
  const begun = "POST /api/v1/consortia HTTP/1.1\r\nhost: localhost\r\n";
  const slow = opened(service.port, begun);
  const half = opened(
    service.port,
    `${begun}authorization: Bearer ${service.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  );
  const drip = setInterval(() => {
    slow.socket.write("x-slow: 1\r\n");
    half.socket.write(" ");
  }, 100);
  expect((await send("GET", "/consortia")).status).toBe(200);
  await until(() => slow.said.closed && half.said.closed);
  clearInterval(drip);
  expect(slow.said.text).toMatch(/^HTTP\/1.1 408 /);
});

describe("without its program", () => {
  test("does not exist for every platform", () => expect(findAnvil(undefined, "aix")).toBeUndefined());

  test("a broken program fails each call, and everything else works", async () => {
    const ledger = { anvil: "/bin/false" };
    const { service, send, paths, environment, node, credential } = await populated({ ledger, timing: quick });
    const url = `${service.url}/runtime/${environment}/${node}`;
    const failed = refused(503, "The ledger does not start");
    expect(await rpc(url, credential, eth("eth_chainId"))).toMatchObject(failed);
    expect((await send("GET", `${paths.environment}/nodes`)).status).toBe(200);
  });
});

const MiB = 1_048_576;
const code = (text: string) => ({ [contract]: { code: text } });

interface Said {
  id?: unknown;
  result?: string;
  error?: { code: number; message: string };
}

/** A member's two ways to a chain: HTTP and WebSocket. */
async function ways(made: Awaited<ReturnType<typeof ledgered>>) {
  const { socket, messages } = await webSocket(made.urls.wss, made.credential);
  const http = async (body: unknown) => (await rpc(made.urls.rpc, made.credential, body)).body as Said | Said[];
  const ws = async (body: unknown) => {
    const before = messages.length;
    socket.send(JSON.stringify(body));
    await until(() => messages.length > before);
    return messages.at(-1) as unknown as Said | Said[];
  };
  return [http, ws];
}

test("more gas or memory than the limit is refused, and a call that never ends does, over HTTP and WebSocket", async () => {
  const made = await ledgered({ callLimits: { memory: MiB } });
  // all forms, and what a call beyond the limit is given: screening.test.ts
  const calls = [
    eth("eth_call", { to: contract, gas: "0x1c9c381" }, "latest", code(endless), { gasLimit: "0xffffffffffff" }),
    eth("eth_call", { to: contract }, "latest", code(returning(2 * MiB))),
  ];
  const raised = { blockOverrides: { gasLimit: "0xffffffffffff" }, stateOverrides: code(endless) };
  const within = { ...raised, calls: [{ to: contract }, { to: contract }] };
  for (const way of await ways(made)) {
    for (const call of calls) expect(await way(call)).toMatchObject({ id: 1, error: { message: "out of gas" } });
    expect(await way(eth("eth_simulateV1", { blockStateCalls: [within] }))).toMatchObject({ id: 1 });
  }
  const asked = eth("eth_call", { to: contract, gas: "-1", data: "0x00" }, "latest");
  const answer = await fetch(`${made.service.url}/target/rinkeby`, { method: "POST", body: JSON.stringify(asked) });
  expect(await answer.json()).toMatchObject({ error: { message: containing("gas") } });
});

test("batches, requests and answers have limits", async () => {
  const most = { batch: 3, request: 20_000, answer: 9_000 };
  const made = await ledgered({ callLimits: most });
  const { service, credential, urls } = made;
  const one = eth("eth_chainId");
  for (const way of await ways(made)) {
    expect(await way([one, one, one, one])).toMatchObject([{ error: { message: containing("at most 3") } }]);
    const big = eth("eth_call", { to: contract }, "latest", code(returning(5_000)));
    expect(await way(big)).toMatchObject({ id: 1, error: { code: -32_005, message: containing("9000 bytes") } });
    expect(await way(one)).toMatchObject({ result: containing("0x") });
  }
  const headers = basic(credential.username, credential.password);
  const tooLarge = { status: 413, text: containing("too large") };
  const body = "x".repeat(20_001);
  for (const [name, value] of [
    ["content-length", `${body.length}`],
    ["transfer-encoding", "chunked"],
  ] as const)
    expect(await raw(urls.rpc, { ...headers, [name]: value }, body).catch(() => tooLarge)).toEqual(tooLarge);
  expect(await raw(`${service.url}/target/rinkeby`, {}, body).catch(() => tooLarge)).toEqual(tooLarge);
  const { socket } = await webSocket(urls.wss, credential);
  const closed = once(socket, "close");
  socket.send(body);
  expect((await closed)[0]).toBe(1009);
});
