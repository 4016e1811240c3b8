import { proxyServer } from "../../support/proxy";
import { type World, world } from "../support/world";

const program = `
  const { Consortium, Membership } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  new Membership("m", { consortium });
`;

let w: World;
beforeAll(async () => {
  w = await world(program);
});
afterAll(() => w.close());

const connections: [string, () => Record<string, string | undefined>, RegExp][] = [
  [
    "no key",
    () => ({ CONSORTIUM_API_KEY: undefined }),
    /No API key is set\. Set the environment variable CONSORTIUM_API_KEY, or run `pulumi config set --secret consortium:apiKey`/,
  ],
  [
    "a refused key",
    () => ({ CONSORTIUM_API_KEY: "revoked" }),
    /HTTP 401: .*The API key from environment variable CONSORTIUM_API_KEY was refused/,
  ],
  [
    "an unreachable service",
    () => ({ CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" }),
    /the connection was refused\. The service at http:\/\/127\.0\.0\.1:9\/api\/v1 \(from environment variable CONSORTIUM_BASE_URL\) cannot be reached/,
  ],
  [
    "another service's address",
    () => ({ CONSORTIUM_BASE_URL: `${w.service.url}/elsewhere/api/v1` }),
    /HTTP 404: .*Check that http:.*elsewhere\/api\/v1 \(from environment variable CONSORTIUM_BASE_URL\) is the address of the API/,
  ],
  [
    "an address elsewhere, in clear",
    () => ({ CONSORTIUM_BASE_URL: "http://service.example/api/v1" }),
    /The base address http:\/\/service\.example\/api\/v1 from environment variable CONSORTIUM_BASE_URL begins with http:\/\/ .*in clear/,
  ],
  [
    "a proxy that nobody runs",
    () => ({ HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "" }),
    /the proxy http:\/\/127\.0\.0\.1:9 \(environment variable HTTP_PROXY\): the connection was refused\. Check HTTP_PROXY/,
  ],
  [
    "an address without the version",
    () => ({ CONSORTIUM_BASE_URL: w.service.url }),
    /The base address from environment variable CONSORTIUM_BASE_URL has the path "\/".*ends in \/api\/v1/,
  ],
];

test.each(connections)("%s: one clear error, nothing half done", async (_, env, message) => {
  const { code, text } = await w.stack.up(env());
  expect(text).toMatch(message);
  expect(code).not.toBe(0);
  expect(text).not.toMatch(/\n\s+at .*\.js:\d+/);
  expect((await w.stack.resources()).filter(({ type }) => type.includes("consortium:"))).toEqual([]);
  expect((await w.network()).consortia).toEqual([]);
});

describe("when the network is there", () => {
  beforeAll(async () => {
    await w.stack.ok(["up", "--yes", "--skip-preview"]);
  });

  test.each(connections)(
    "%s: refresh drops nothing, destroy deletes nothing from the state",
    async (_, env, message) => {
      const managed = async (): Promise<unknown[]> =>
        (await w.stack.resources()).map(({ urn, id, outputs }) => ({ urn, id, outputs }));
      const before = await managed();
      expect(before.length).toBeGreaterThanOrEqual(2);
      for (const result of [await w.stack.refresh(env()), await w.stack.destroy(env())]) {
        expect(result.text).toMatch(message);
        expect(result.code).not.toBe(0);
      }
      expect(await managed()).toEqual(before);
    },
  );

  test("everything goes through a proxy, unless NO_PROXY names the service", async () => {
    const [proxy, unused] = [await proxyServer(), await proxyServer()];
    const target = new URL(w.service.url).host;
    expect(await w.stack.refresh({ HTTP_PROXY: proxy.address, NO_PROXY: "" })).toMatchObject({ code: 0 });
    expect(new Set(proxy.asked.map((asked) => asked.target))).toEqual(new Set([target]));
    expect(await w.stack.refresh({ HTTP_PROXY: unused.address, NO_PROXY: "127.0.0.1" })).toMatchObject({ code: 0 });
    expect(unused.asked).toEqual([]);
  });

  test("a rotated key works for up, refresh and destroy", async () => {
    const env = { CONSORTIUM_API_KEY: w.service.rotateKey("local") };
    expect(await w.stack.up(env)).toMatchObject({ code: 0 });
    expect(await w.stack.refresh(env)).toMatchObject({ code: 0 });
    expect(await w.stack.destroy(env)).toMatchObject({ code: 0 });
  });
});
