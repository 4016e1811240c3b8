import { Http } from "../../../provider/api/http";
import { resolveSettings } from "../../../provider/api/settings";
import { apiKey, failure, json, peer, type Peer } from "../../support/peer";
import { proxyServer } from "../../support/proxy";
import { virtualTime } from "../../support/virtual-time";

/* Requests through a proxy, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */

const clients: Http[] = [];
const client = (baseUrl: string, env: Record<string, string>): Http => {
  const made = new Http(resolveSettings({ env, given: { apiKey, baseUrl, allowHttp: true, maxConcurrency: 3 } }));
  clients.push(made);
  return made;
};
const creating = (env: Record<string, string>, baseUrl = "http://service.example/api/v1") =>
  failure(client(baseUrl, env).request("POST", "/x", { body: {} }));
const portOf = ({ baseUrl }: Peer): number => Number(new URL(baseUrl).port);

afterEach(async () => {
  for (const made of clients.splice(0)) await made.close();
});

test("requests go through it, over as many kept-alive tunnels as may be in flight, with its user name and password", async () => {
  const server = await peer(json(200, { fine: true }));
  const proxy = await proxyServer({ to: portOf(server) });
  const HTTP_PROXY = proxy.address.replace("//", "//me:p%40ss@");
  const http = client("http://service.example/api/v1", { HTTP_PROXY });
  const answers = await Promise.all(Array.from({ length: 20 }, () => http.request("GET", "/x")));
  expect(answers.every(({ body }) => (body as { fine: boolean }).fine)).toBe(true);
  expect(proxy.asked[0]).toEqual({
    target: "service.example:80",
    credentials: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
  });
  expect(proxy.asked).toHaveLength(3);
  expect(server.connections).toBe(3);
  const { headers, url } = server.requests[0]!;
  expect(url).toBe("/api/v1/x");
  expect(headers).toMatchObject({ host: "service.example", authorization: `Bearer ${apiKey}` });
  expect(headers["proxy-authorization"]).toBeUndefined();
});

test.each([
  ...["127.0.0.1", "*", "10.0.0.1, 127.0.0.1", "127.0.0.1:PORT"].map((except) => [except, 0] as const),
  ["example.org", 1] as const,
])("NO_PROXY=%s: %i requests go through it", async (except, asked) => {
  const server = await peer(json(200, {}));
  const proxy = await proxyServer();
  const NO_PROXY = except.replace("PORT", String(portOf(server)));
  await client(server.baseUrl, { HTTP_PROXY: proxy.address, NO_PROXY }).request("GET", "/x");
  expect([server.requests.length, proxy.asked.length]).toEqual([1, asked]);
});

describe("if it makes no connection, nothing was sent, and the error names the proxy", () => {
  test.each([403, 407, 502])("it answers %i", async (status) => {
    virtualTime();
    const proxy = await proxyServer({ status });
    const HTTP_PROXY = proxy.address.replace("//", "//me:hidden@");
    const error = await creating({ HTTP_PROXY });
    const why = expect.stringContaining(`Proxy response (${status})`) as string;
    expect(error).toMatchObject({ kind: "unsent", errorMessage: why });
    expect(error.message).toContain("check the address, the network, HTTP_PROXY, NO_PROXY and that");
    expect(error.message).not.toContain("hidden");
    expect(proxy.asked.length).toBeGreaterThan(1);
  });

  test.each([
    ["nobody listens", "http://127.0.0.1:9", /the connection was refused/],
    ["its name is not known", "http://proxy.invalid:3128", /the host name/],
  ])("%s", async (_, HTTP_PROXY, why) => {
    virtualTime();
    const error = await creating({ HTTP_PROXY });
    expect(error).toMatchObject({ kind: "unsent", errorMessage: expect.stringMatching(why) as string });
    expect(error.message).toContain(`the proxy ${HTTP_PROXY} (environment variable HTTP_PROXY)`);
  });

  test("but a failure in the tunnel after the request is a lost answer", async () => {
    virtualTime();
    const server = await peer((_response, _seen, socket) => socket.resetAndDestroy());
    const proxy = await proxyServer();
    expect((await creating({ HTTP_PROXY: proxy.address }, server.baseUrl)).kind).toBe("lost");
    expect([server.requests.length, proxy.asked.length]).toEqual([1, 1]);
  });
});
