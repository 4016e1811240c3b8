import { connect } from "node:net";
import { Agent, request } from "undici";
import { findAnvil } from "../../../service/ledger/engine";
import { atEnd, basic, build, containing, populated, quick, refused, type Send, start } from "../helpers";
import { eth, ledgered, raw, rpc, webSocket } from "../ledgers";
import { cert, key } from "../../support/certificate";
import { until } from "../../support/until";

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
