import { canaryKey, wholeTree, type World, world } from "../support/world";

let w: World;
beforeAll(async () => {
  const lookups = `
    const { getConsortiaOutput, getEnvironmentsOutput, getMembershipsOutput, getNodesOutput, getNodeLogsOutput, getNodeStatusOutput,
      getTetherAccountOutput, getTetherBalanceOutput, getTetherReportsOutput } = require("pulumi-consortium");
    const place = { consortiumId: consortium.id, environmentId: environment.id };
    const one = { ...place, nodeId: node.id };
    exports.found = {
      consortia: getConsortiaOutput({ name: consortium.name }).apply((all) => all.length),
      memberships: getMembershipsOutput({ consortiumId: consortium.id, orgName: membership.orgName }).apply(([first]) => first.id),
      environments: getEnvironmentsOutput({ consortiumId: consortium.id, name: environment.name }).apply(([first]) => first.consensusType),
      nodes: getNodesOutput({ ...place, name: node.name }).apply(([first]) => first.state),
      status: getNodeStatusOutput(one).apply(({ urls }) => urls.rpc),
      logs: getNodeLogsOutput({ ...one, client: "constellation", maxLines: 2 }).apply((lines) => lines.length),
      account: getTetherAccountOutput({ tetherId: tether.tetherId }).apply(({ account }) => account),
      balance: getTetherBalanceOutput({ tetherId: tether.tetherId, network: "mainnet" }).apply(({ balanceWei }) => balanceWei),
      reports: getTetherReportsOutput({ tetherId: tether.id }).apply(([first]) => first.index),
    };`;
  w = await world(wholeTree + lookups, {
    inline: true,
    env: { CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined },
    secrets: { "consortium:apiKey": canaryKey },
  });
  await w.stack.ok(["config", "set", "consortium:baseUrl", w.service.baseUrl]);
});
afterAll(() => w.close());

describe("settings in the stack configuration", () => {
  test("up works, lookups too, and the key is nowhere in clear", async () => {
    const { code, text } = await w.stack.up();
    expect({ code, text }).toMatchObject({ code: 0 });
    expect(text).not.toContain(canaryKey);
    expect(await w.stack.exported()).not.toContain(canaryKey);
  });

  test("every lookup finds what the program made", async () => {
    const { found, rpc, account } = await w.stack.outputs();
    expect(found).toEqual({
      consortia: 1,
      memberships: w.service.store.memberships.list()[0]?.id,
      environments: "raft",
      nodes: "started",
      status: rpc,
      logs: 2,
      account,
      balance: "0",
      reports: 0,
    });
  });

  test("a refused key is an error that says where it came from, and how to give another", async () => {
    w.service.rotateKey("local");
    const { code, text } = await w.stack.refresh();
    expect(code).not.toBe(0);
    expect(text).toMatch(
      /The API key from stack configuration consortium:apiKey was refused .*CONSORTIUM_API_KEY.*--run-program/,
    );
    expect(text).not.toContain(canaryKey);
  });

  test("the environment wins, for refresh and destroy too", async () => {
    const env = { CONSORTIUM_API_KEY: w.service.organizations[0]!.apiKey };
    expect(await w.stack.run(["refresh", "--preview-only", "--expect-no-changes"], env)).toMatchObject({ code: 0 });
    expect(await w.stack.destroy(env)).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  });
});
