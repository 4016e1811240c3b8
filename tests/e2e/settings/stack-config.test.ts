import { proxyServer } from "../../support/proxy";
import { done, failed } from "../support/stack";
import { canaryKey, wholeTree, type World, world, writesOf } from "../support/world";

const program = `${wholeTree}
  exports.found = require("pulumi-consortium").getConsortiaOutput({ name: consortium.name }).apply((all) => all.length);`;

let w: World;
beforeAll(async () => {
  w = await world(program, {
    inline: true,
    env: { CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined },
    secrets: { "consortium:apiKey": canaryKey },
  });
  await w.stack.ok(["config", "set", "consortium:baseUrl", w.service.baseUrl]);
});

describe("settings in the stack configuration", () => {
  test("up works, lookups too, and the key is nowhere in clear", async () => {
    const { text } = await done(w.stack.up());
    expect(text).not.toContain(canaryKey);
    expect(await w.stack.exported()).not.toContain(canaryKey);
    expect(await w.stack.outputs()).toMatchObject({ found: 1 });
  });

  /* Every verb with each of the keys: tests/provider/core/organization.test.ts. */
  test("with another organization's key in the shell, an update, a replacement, a create and a destroy fail, and change nothing", async () => {
    const other = { CONSORTIUM_API_KEY: w.service.addOrganization("other").apiKey };
    const own = `made with organization ${w.service.organizations.find(({ name }) => name === "local")!.id}`;
    const state = await w.stack.ids();
    w.service.clearCalls();
    const changed = program
      .replace('description: "first"', 'description: "second"')
      .replace('"raft"', '"ibft"')
      .concat('new Consortium("another");');
    w.stack.program(changed);
    const text = await failed(w.stack.up(other, "--continue-on-error"));
    w.stack.program(program);
    expect(text).toContain(`was ${own}, but the API key from environment variable CONSORTIUM_API_KEY`);
    expect(text).toContain("belongs to organization"); // the service tells, also of one that owns nothing
    expect(text).toContain("Unset CONSORTIUM_API_KEY");
    expect(text).not.toMatch(/[12]\d* (created|deleted)/);
    expect(await failed(w.stack.destroy(other))).toContain(own);
    expect(await w.stack.ids()).toEqual(state);
    expect(writesOf(w.service)).toEqual([]);
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

  test("the environment wins, also for refresh and destroy, and all is unchanged", async () => {
    const env = { CONSORTIUM_API_KEY: w.service.organizations[0]!.apiKey };
    expect(await w.stack.up(env, "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
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
