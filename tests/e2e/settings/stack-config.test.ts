import { proxyServer } from "../../support/proxy";
import { done, failed } from "../support/stack";
import { canaryKey, wholeTree, type World, world } from "../support/world";

let w: World;
beforeAll(async () => {
  w = await world(
    `${wholeTree}
    exports.found = require("pulumi-consortium").getConsortiaOutput({ name: consortium.name }).apply((all) => all.length);`,
    {
      inline: true,
      env: { CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined },
      secrets: { "consortium:apiKey": canaryKey },
    },
  );
  await w.stack.ok(["config", "set", "consortium:baseUrl", w.service.baseUrl]);
});

describe("settings in the stack configuration", () => {
  test("up works, lookups too, and the key is nowhere in clear", async () => {
    const { text } = await done(w.stack.up());
    expect(text).not.toContain(canaryKey);
    expect(await w.stack.exported()).not.toContain(canaryKey);
    expect(await w.stack.outputs()).toMatchObject({ found: 1 });
  });

  test("everything goes through a proxy, unless NO_PROXY names the service", async () => {
    const [proxy, unused] = [await proxyServer(), await proxyServer()];
    expect(await w.stack.refresh({ HTTP_PROXY: proxy.address, NO_PROXY: "" })).toMatchObject({ code: 0 });
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set([new URL(w.service.url).host]));
    expect(await w.stack.refresh({ HTTP_PROXY: unused.address, NO_PROXY: "127.0.0.1" })).toMatchObject({ code: 0 });
    expect(unused.asked).toEqual([]);
  });

  test("a refused key is an error that names its source, and how to replace it", async () => {
    w.service.rotateKey("local");
    const text = await failed(w.stack.refresh());
    expect(text).toMatch(
      /The API key from stack configuration consortium:apiKey was refused .*CONSORTIUM_API_KEY.*--run-program/,
    );
    expect(text).not.toContain(canaryKey);
  });

  test("the environment wins, also for refresh and destroy", async () => {
    const env = { CONSORTIUM_API_KEY: w.service.organizations[0]!.apiKey };
    expect(await w.stack.run(["refresh", "--preview-only", "--expect-no-changes"], env)).toMatchObject({ code: 0 });
    expect(await w.stack.destroy(env)).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  });
});

test("a key in clear is a warning, which does not show it", async () => {
  const { stack, service } = await world(wholeTree, { env: { CONSORTIUM_API_KEY: undefined } });
  const key = service.organizations[0]!.apiKey;
  const previewed = async (...how: string[]): Promise<string> => {
    await stack.ok(["config", "set", ...how, "consortium:apiKey", key]);
    const { text } = await done(stack.preview());
    expect(text).not.toContain(key);
    return text;
  };
  expect(await previewed("--plaintext")).toMatch(
    /The API key is not encrypted.*`pulumi config set --secret consortium:apiKey`/,
  );
  expect(await previewed("--secret")).not.toContain("not encrypted");
});
