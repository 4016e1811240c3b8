import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { exchange } from "../bytes";
import { start } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, result } from "../ledgers";

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
