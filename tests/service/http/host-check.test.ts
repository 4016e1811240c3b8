import { connect } from "node:net";
import { hostname } from "node:os";
import { Listener } from "../../../service/http/server";
import { basic, containing, populated } from "../helpers";
import { eth, ledgered, raw, webSocket } from "../ledgers";

const call = JSON.stringify(eth("eth_chainId"));

/** Sends bytes, and closes after the first answer. */
async function exchange(url: string, bytes: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), noDelay: true });
  socket.write(bytes);
  socket.once("data", () => socket.end());
  return (await socket.toArray()).join("");
}

/** A call of the API, or of a node, which needs a ledger. */
async function target(node = false) {
  const { service, credential, paths, urls } = node ? await ledgered() : { ...(await populated()), urls: undefined };
  const own = basic(credential.username, credential.password).authorization;
  return {
    url: urls?.rpc ?? `${service.baseUrl}${paths.environment}`,
    port: service.port,
    authorization: node ? own : `Bearer ${service.apiKey}`,
  };
}

test("answers programs under the addresses of this machine, and its own pages, and no others, even under a name that points here", async () => {
  const { url, port, authorization } = await target();
  const ask = async (headers: Record<string, string>) =>
    [headers, (await raw(url, { authorization, ...headers }, "", "GET")).status] as const;
  const hosts = [`localhost:${port}`, "LOCALHOST", "127.0.0.1", "127.1.2.3:1", "[::1]:80", "app.localhost"];
  const origins = ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"];
  const own = [{}, ...hosts.map((host) => ({ host })), ...origins.map((origin) => ({ origin }))];
  for (const headers of own) expect(await ask(headers)).toEqual([headers, 200]);
  const names = ["evil.example", `evil.example:${port}`, "localhost.evil.example", "127.0.0.1.evil.example"];
  const others = [...names, "203.0.113.9", "evil@localhost", "localhost:1:1", "[::2]"];
  const pages = [
    "http://evil.example",
    "https://localhost.evil.example",
    "file://",
    "chrome-extension://x",
    "null",
    "",
  ];
  const both = { host: "evil.example", origin: "http://evil.example" };
  const strange = [...others.map((host) => ({ host })), ...pages.map((origin) => ({ origin })), both];
  for (const headers of strange) expect(await ask(headers)).toEqual([headers, 403]);
});

// what Java's HttpClient and `curl --http2` send; a WebSocket is for a GET to a node alone
test.each([
  ["Upgrade", "websocket"],
  ["HTTP2-Settings", "h2c"],
  ["upgrade", "h2c,HTTP/3.0"],
  ["Upgrade", "TLS/1.0"],
])("answers in HTTP/1.1 if a client prefers another protocol (%s, %s)", async (more, upgrade) => {
  for (const node of [false, true]) {
    const { url, authorization } = await target(node);
    const lines = [
      `${node ? "POST" : "GET"} ${new URL(url).pathname} HTTP/1.1`,
      ...[`authorization: ${authorization}`, "host: localhost", `connection: Upgrade, ${more}`],
      ...["http2-settings: AAMAAABkAAQCAAAAAAIAAAAA", `upgrade: ${upgrade}`],
      ...(node ? [`content-length: ${call.length}`] : []),
    ];
    const text = await exchange(url, `${lines.join("\r\n")}\r\n\r\n${node ? call : ""}`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(node ? /"result":"0x/ : /"chain_id":/);
  }
});

test("a web page of an allowed origin may send a preflight request, and read the answer", async () => {
  const { service, credential, urls } = await ledgered({ allowOrigins: ["https://app.example"] });
  const asked = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  };
  for (const url of [urls.rpc, `${service.baseUrl}/consortia`, `${service.url}/target/rinkeby`])
    for (const origin of ["http://localhost:3000", "https://app.example"]) {
      const { status, headers } = await fetch(url, { method: "OPTIONS", headers: { ...asked, origin } });
      expect([url, status, headers.get("access-control-allow-origin")]).toEqual([url, 204, origin]);
      expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type");
      expect(headers.get("access-control-allow-methods")).toContain("POST");
    }
  const { authorization } = basic(credential.username, credential.password);
  const post = (origin: string, headers = {}) =>
    fetch(urls.rpc, {
      method: "POST",
      body: call,
      headers: { origin, "content-type": "application/json", ...headers },
    });
  const answered = await post("https://app.example", { authorization });
  expect([answered.status, answered.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
  const refused = await post("https://app.example"); // the page can read why
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, "https://app.example"]);
  const stranger = await fetch(urls.rpc, { method: "OPTIONS", headers: { ...asked, origin: "https://evil.example" } });
  expect([stranger.status, stranger.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  expect(await stranger.text()).toContain("--allow-origin https://evil.example");
});

test("a WebSocket is opened for programs, and refused to web pages", async () => {
  const { credential, urls } = await ledgered();
  const open = async (headers: Record<string, string>) => {
    const { username, password } = credential;
    const { status, socket } = await webSocket(urls.wss, undefined, {
      headers: { ...basic(username, password), ...headers },
    });
    socket.terminate();
    return status;
  };
  expect(await open({})).toBe(101);
  expect(await open({ origin: "http://localhost:3000" })).toBe(101);
  expect(await open({ origin: "http://evil.example" })).toBe(403);
  expect(await open({ host: "evil.example" })).toBe(403);
});

test("on all interfaces, it answers under any of its addresses, and shows nodes there", async () => {
  const { service, send, paths } = await populated({ host: "0.0.0.0", allowHosts: ["consortium", "Ci.Example"] });
  expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
  const status = (host: string, more = {}) =>
    raw(`${service.baseUrl}/consortia`, { authorization: `Bearer ${service.apiKey}`, host, ...more }, "", "GET");
  for (const host of ["192.168.1.5:4280", "[fd00::7]", hostname(), "consortium:4280", "ci.example", "localhost"]) {
    expect([host, (await status(host)).status]).toEqual([host, 200]);
    expect([host, (await status(host, { origin: `http://${host}` })).status]).toEqual([host, 200]);
  }
  expect(await status("evil.example")).toMatchObject({ status: 403, text: containing("--allow-host") });
  expect((await status("192.168.1.5", { origin: "http://192.168.1.6" })).status).toBe(403);
  service.store.nodes.setState(paths.node.split("/").at(-1)!, "started");
  const { body } = await send("GET", `${paths.node}/status`, undefined, {});
  expect(body.urls.rpc).toMatch(new RegExp(`^${service.url}/runtime/`));
  const elsewhere = await raw(
    `${service.baseUrl}${paths.node}/status`,
    { authorization: `Bearer ${service.apiKey}`, host: "192.168.1.5:4280" },
    "",
    "GET",
  );
  expect(elsewhere.text).toContain('"http://192.168.1.5:4280/runtime/');
});

test.each([
  ["127.0.0.1", undefined, "http://127.0.0.1:5"],
  ["service.example", "elsewhere.example", "http://service.example:5"],
  ["::1", undefined, "http://[::1]:5"],
  ["[::1]", undefined, "http://[::1]:5"],
  ["0.0.0.0", undefined, "http://127.0.0.1:5"],
  ["0.0.0.0", "asked.example:7", "http://asked.example:7"],
  ["::", undefined, "http://[::1]:5"],
  ["::", "asked.example:7", "http://asked.example:7"],
])("a service on %s that is asked as %s shows its addresses below %s", (host, asked, origin) => {
  expect(new Listener(undefined as never, { host, port: 5 }).origin(asked)).toBe(origin);
});
