import { proxyServer } from "../../support/proxy";
import { type World, world } from "../support/world";

/* How the CLI tells that the service cannot be used (every reason, and every verb: tests/provider/dynamic/unreachable.test.ts). */

const program = `
  const { Consortium, Membership } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  new Membership("m", { consortium });
`;

let w: World;
beforeAll(async () => {
  w = await world(program, { inline: true });
});
afterAll(() => w.close());

test("without a key: one clear error, nothing half done", async () => {
  const { code, text } = await w.stack.up({ CONSORTIUM_API_KEY: undefined });
  expect(text).toMatch(
    /No API key is set\. Set the environment variable CONSORTIUM_API_KEY, or run `pulumi config set --secret consortium:apiKey`/,
  );
  expect(code).not.toBe(0);
  expect(text).not.toMatch(/\n\s+at .*\.js:\d+/);
  expect((await w.stack.resources()).filter(({ type }) => type.includes("consortium:"))).toEqual([]);
  expect((await w.network()).consortia).toEqual([]);
});

describe("when the network is there", () => {
  beforeAll(async () => {
    await w.stack.ok(["up", "--yes", "--skip-preview"]);
  });

  test("a refused key: refresh drops nothing, destroy deletes nothing from the state", async () => {
    const managed = async (): Promise<unknown[]> =>
      (await w.stack.resources()).map(({ urn, id, outputs }) => ({ urn, id, outputs }));
    const before = await managed();
    expect(before.length).toBeGreaterThanOrEqual(2);
    const env = { CONSORTIUM_API_KEY: "revoked" };
    for (const result of [await w.stack.refresh(env), await w.stack.destroy(env)]) {
      expect(result.text).toMatch(/HTTP 401: .*The API key from environment variable CONSORTIUM_API_KEY was refused/);
      expect(result.code).not.toBe(0);
    }
    expect(await managed()).toEqual(before);
  });

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
    expect(await w.stack.up(env, "--refresh")).toMatchObject({ code: 0 });
    expect(await w.stack.destroy(env)).toMatchObject({ code: 0 });
  });
});
