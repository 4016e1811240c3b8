import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { exchange, head } from "../bytes";
import { build, client, refused, start } from "../helpers";
import { until } from "../../support/until";
import { blocks, eth, ledgered, result, webSocket } from "../ledgers";

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** A connection that sends data and collects the responses. */
async function opened(port: number, text: string, allowHalfOpen = false) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen }).on("error", () => undefined);
  sockets.push(socket);
  const said = { text: "", closed: false };
  socket.on("data", (part: Buffer) => (said.text += part.toString()));
  socket.once("close", () => (said.closed = true));
  await once(socket, "connect");
  socket.write(text);
  return { socket, said };
}

const begun = "POST /api/v1/consortia HTTP/1.1\r\nhost: localhost\r\n";

test("a client that never finishes its headers or body is disconnected; others are served meanwhile", async () => {
  const { service, send } = await start({ callLimits: { time: 1_000 } });
  const slow = await opened(service.port, begun);
  const half = await opened(
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
  expect(slow.said.text).toMatch(/^HTTP\/1.1 408 .*"errorMessage":"The request was not received in time\."/s);
});

test.each(["goes on", "is silent"])("a client that %s after what is no HTTP is cut off at once", async (does) => {
  const accepted: Socket[] = [];
  const note = (event: unknown) => void accepted.push((event as { socket: Socket }).socket);
  subscribe("net.server.socket", note);
  const { service } = await start({ callLimits: { time: 3_600_000 } }); // after which it would be disconnected in any case
  const { socket, said } = await opened(service.port, "nonsense\r\n\r\n", true);
  const drip = does === "goes on" ? setInterval(() => socket.write("more\r\n"), 20) : undefined;
  await until(() => said.text !== "" && (does === "is silent" || said.closed));
  clearInterval(drip);
  expect(said.text).toMatch(/^HTTP\/1.1 400 .*"errorMessage":"The request is not valid HTTP: /s);
  await until(() => accepted.length === 1 && accepted[0]!.destroyed);
  unsubscribe("net.server.socket", note);
});

test("with too many connections, the one that has been idle longest is closed", async () => {
  const { service } = await start({ callLimits: { connections: 8 } });
  const slow = await Promise.all(Array.from({ length: 40 }, () => opened(service.port, begun)));
  await until(() => slow.filter(({ said }) => !said.closed).length <= 8);
  for (let round = 0; round < 20; round++) {
    expect((await fetch(`${service.url}/health`, { headers: { connection: "close" } })).status).toBe(200);
    await opened(service.port, begun);
  }
});

test("bodies of 1 MB without a key are refused, and /health answers meanwhile", async () => {
  const { service } = await start();
  const statuses: number[] = [];
  let over = false;
  const body = JSON.stringify({ name: "x".repeat(1_000_000) });
  const stranger = async (path: string) => {
    const send = () =>
      fetch(`${service.url}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });
    while (!over) statuses.push((await send().catch(() => ({ status: 413 }))).status); // a reset closes it, too
  };
  const strangers = ["/api/v1/consortia", "/api/v1/authtoken", "/target/mainnet", "/nowhere"].map(stranger);
  for (let asked = 0; asked < 25; asked++) expect((await fetch(`${service.url}/health`)).status).toBe(200);
  over = true;
  await Promise.all(strangers);
  expect(statuses.filter((status) => status < 400)).toEqual([]);
  expect(statuses.length).toBeGreaterThan(strangers.length);
});

/** A request without its body. */
const bodiless = (path: string, length: number, ...more: string[]) =>
  head(`POST ${path} HTTP/1.1`, "host: localhost", `content-length: ${length}`, ...more);

test("a connection with a missing body is closed for a new one", async () => {
  const { service } = await start({ callLimits: { connections: 8 } });
  const key = `authorization: Bearer ${service.apiKey}`;
  const text = bodiless("/api/v1/consortia", 100, key, "content-type: application/json");
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 8 }, () => opened(service.port, text)));
    await until(() => service.inFlight.now === 8);
    const asked = head("GET /health HTTP/1.1", "host: localhost", "connection: close");
    expect((await exchange(service.url, [asked])).status).toBe(200);
  }
});

test("the service waits for at most 64 MiB of missing bodies, then drops the first one", async () => {
  const { service } = await start();
  const key = `authorization: Bearer ${service.apiKey}`;
  const text = bodiless("/api/v1/consortia", 300_000, key, "content-type: application/json");
  const slow: Awaited<ReturnType<typeof opened>>[] = [];
  for (let number = 0; number < 230; number++) slow.push(await opened(service.port, text));
  const [last] = slow.slice(229 - Math.floor((64 * 1_048_576) / 300_000));
  if (!last!.said.closed) await once(last!.socket, "close");
  expect(slow.filter(({ said }) => said.closed)).toEqual(slow.slice(0, slow.indexOf(last!) + 1));
});

test("64 callers without a key or a body do not block the public chain", async () => {
  const { service } = await start({ ledger: true, callLimits: { targetRate: 1_000 } });
  const call = JSON.stringify(eth("eth_chainId"));
  const ask = () => fetch(`${service.url}/target/rinkeby`, { method: "POST", body: call });
  expect((await ask()).status).toBe(200);
  const slow: Awaited<ReturnType<typeof opened>>[] = [];
  for (let number = 0; number < 64; number++)
    slow.push(await opened(service.port, bodiless("/target/rinkeby", call.length)));
  expect((await ask()).status).toBe(200);
  // their bodies come in the end
  for (const { socket } of slow) socket.write(call);
  await until(() => slow.every(({ said }) => said.text.includes('"result":"0x')));
});

test("an organization that does not read its answers gets no more until it does", async () => {
  const { service, send } = await start({ callLimits: { answer: 4 * 1_048_576 } });
  const other = client(service.baseUrl, service.addOrganization("other").apiKey);
  const { paths, membership } = await build(send);
  const list = `${paths.environment}/configurations`;
  const body = { type: "t", membership_id: membership, details: { a: "x".repeat(65_000) } };
  for (let made = 0; made < 190; made++) expect((await send("POST", list, body)).status).toBe(201);
  const key = `authorization: Bearer ${service.apiKey}`;
  const { socket } = await opened(service.port, head(`GET /api/v1${list} HTTP/1.1`, "host: localhost", key));
  await once(socket, "data");
  socket.pause();
  const refusal = refused(429, "Read the earlier responses first");
  expect(await send("GET", list)).toMatchObject(refusal);
  expect((await send("POST", list, body)).status).toBe(201);
  expect((await other("GET", "/consortia")).status).toBe(200);
  socket.destroy();
  await until(async () => (await send("GET", list)).status === 200);
});

test("calls in progress keep their connection", async () => {
  const { service } = await start({ callLimits: { connections: 3 }, timing: { latency: 500 } });
  const send = client(service.baseUrl, service.apiKey);
  const answers = Array.from({ length: 3 }, () => send("GET", "/consortia"));
  await until(() => service.inFlight.now === 3);
  await Promise.all(Array.from({ length: 10 }, () => opened(service.port, begun)));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("WebSockets that never read do not use up memory, and end; the ledger and others continue", async () => {
  const environment = { provider: "quorum", consensus_type: "raft" };
  const { credential, urls } = await ledgered({ callLimits: { sockets: 100, time: 8_000 } }, environment);
  const idle = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const { socket } = await webSocket(urls.wss, credential);
      let closed = false;
      socket.once("close", () => (closed = true));
      socket.send(JSON.stringify(eth("eth_subscribe", "logs", {})));
      await once(socket, "message");
      socket.pause();
      return { socket, closed: () => closed };
    }),
  );
  const before = process.memoryUsage().rss;
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  const data = "0x620400006000a000"; // logs 256 KiB of zeros
  for (let block = 1; block <= 8; block++) {
    await result(urls.rpc, credential, "eth_sendTransaction", { from, data, gas: "0x1c00000" });
    await blocks(urls.rpc, credential, block);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1_048_576);
  // they do not answer pings either, so they are closed, and the same number fits again
  let opened = 0;
  await until(async () => {
    const { status } = await webSocket(urls.wss, credential);
    return status === 101 && ++opened === idle.length;
  });
  idle.forEach(({ socket }) => socket.resume());
  await until(() => idle.every(({ closed }) => closed()));
});

test("a client that half-closes anywhere in a call causes no warning", async () => {
  const warned = jest.spyOn(process, "emitWarning");
  const { urls, credential, service } = await ledgered();
  const body = JSON.stringify(eth("eth_chainId"));
  const call = (length: number) => `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
  const upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
  const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), Buffer.from(body)]); // masked by zeros
  const rows: [kind: "rpc" | "wss", statuses: unknown[], ...pieces: (string | Buffer)[]][] = [
    ["rpc", [400], "content-type: appl"],
    ["rpc", [400], call(body.length + 10)],
    ["rpc", [200, undefined], call(body.length)], // Node.js drops an answer that comes later than the end
    ["wss", [400], `${upgrade}\r\n`],
    ["wss", [101], `${upgrade}${key}\r\n`],
    ["wss", [101], `${upgrade}${key}\r\n`, frame],
  ];
  const pair = Buffer.from(`${credential.username}:${credential.password}`).toString("base64");
  // It is random whether the answer is in transit by then.
  for (const [kind, statuses, rest = "", ...frames] of Array.from({ length: 60 }, () => rows).flat()) {
    const { pathname, host } = new URL(urls[kind]);
    const lines = [
      `${kind === "wss" ? "GET" : "POST"} ${pathname} HTTP/1.1`,
      `host: ${host}`,
      `authorization: Basic ${pair}`,
    ];
    const { status } = await exchange(urls[kind], [`${lines.join("\r\n")}\r\n${String(rest)}`, ...frames]);
    expect(statuses).toContain(status);
  }
  await until(() => service.inFlight.now === 0);
  expect(await result(urls.rpc, credential, "eth_chainId")).toMatch(/^0x/);
  expect(warned.mock.calls).toEqual([]);
  warned.mockRestore();
});
