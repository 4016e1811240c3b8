import { done, failed, Stack } from "../support/stack";
import { canaryKey, tetherId, type World, world } from "../support/world";

/** A network as one file, through the real CLI. */

const program = `
  const { Network } = require("pulumi-consortium");
  const network = Network.fromFile("network.yaml");
  exports.network = network.outputs;
  exports.parts = {
    consortium: network.consortium.id,
    member: network.members.acme?.orgName,
    environment: network.environments.prod?.environment.state,
    node: network.environments.prod?.nodes["acme-1"]?.urls.rpc,
    login: network.environments.prod?.credentials.acme?.username,
    tether: network.environments.prod?.tether?.account,
  };
`;

const file = `# yaml-language-server: $schema=./node_modules/pulumi-consortium/schemas/network.schema.json
name: trade
consortium: { name: Coffee trade, description: Who delivered which beans to whom }
members:
  acme:
  globex: { orgName: Globex Corp }
environments:
  test:
    provider: geth
    consensusType: poa
    nodes: { globex: 1 }
  prod:
    provider: quorum
    consensusType: raft
    nodes: { acme: 2, globex: [globex-main] }
    tether: { tetherId: ${tetherId}, network: rinkeby, intervalHours: 24 }
`;

/** The same entries in another order. */
const reordered = `name: trade
environments:
  prod:
    tether: { intervalHours: 24, network: rinkeby, tetherId: ${tetherId} }
    nodes: { globex: [globex-main], acme: 2 }
    provider: quorum
    consensusType: raft
  test: { nodes: { globex: 1 }, consensusType: poa, provider: geth }
members: { globex: { orgName: Globex Corp }, acme: {} }
consortium: { description: Who delivered which beans to whom, name: Coffee trade }
`;

/** Every key is another one. */
const renamed = file
  .replace("name: trade", "name: commerce\nformerly: trade")
  .replaceAll("acme", "acmecorp")
  .replace("acmecorp:", "acmecorp: { formerly: acme }")
  .replace("prod:", "live:\n    formerly: prod")
  .replace("[globex-main]", "{ main: { formerly: globex-main } }");

let w: World;
beforeAll(async () => {
  w = await world(program, { inline: true, plugin: true });
  w.stack.write("network.yaml", file);
});

test("a bad file creates nothing, and all problems are reported at once with their places", async () => {
  const { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL } = w.stack.env;
  const stack = await Stack.create({ program, env: { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL } });
  stack.write(
    "network.yaml",
    file.replace("geth", "7").replace("orgName", "orgname").replace("{ acme: 2", "{ acem: 2"),
  );
  const text = await failed(stack.up());
  expect(/^.*\berror: .*$/m.exec(text)?.[0]).toContain("network.yaml has 3 problems; nothing was created:");
  expect(text.match(/network\.yaml:\d+:\d+: [\w.]+/g)).toEqual([
    ...["network.yaml:6:13: members.globex.orgname", "network.yaml:9:15: environments.test.provider"],
    "network.yaml:15:14: environments.prod.nodes.acem",
  ]);
  expect(text).toContain('environments.prod.nodes.acem: there is no member "acem"; did you mean "acme"?');
  expect(text).not.toMatch(/\n\s+at /); // no stack of JavaScript
  expect(w.service.calls).toEqual([]);
});

test("up creates all of it, with sensible defaults, and its parts can be reached", async () => {
  await done(w.stack.up());
  const network = await w.network();
  expect(network.consortia).toMatchObject([{ name: "Coffee trade", description: "Who delivered which beans to whom" }]);
  expect(network.memberships.map(({ org_name }) => org_name).sort()).toEqual(["Globex Corp", "acme"]);
  expect(network.environments.map(({ name }) => name).sort()).toEqual(["prod", "test"]);
  expect(network.nodes.map(({ name }) => name).sort()).toEqual(["acme-1", "acme-2", "globex-1", "globex-main"]);
  expect(network.appcreds.map(({ name }) => name).sort()).toEqual(["acme", "globex", "globex"]);
  const { parts, network: shown } = (await w.stack.outputs()) as Record<string, Record<string, unknown>>;
  expect(parts).toMatchObject({ consortium: network.consortia[0]!._id, member: "acme" });
  expect(parts).toMatchObject({
    environment: expect.any(String) as string,
    node: expect.stringContaining(w.service.url) as string,
  });
  expect(parts).toMatchObject({ login: expect.any(String) as string, tether: expect.stringMatching(/^0x/) as string });
  expect(shown!.trade).toMatchObject({
    environments: { prod: { credentials: { acme: { password: expect.any(String) as string } } } },
  });
});

test("no password and no key is in the state or in the output, and the order of entries means nothing", async () => {
  const { network } = (await w.stack.outputs()) as {
    network: { trade: { environments: Record<string, { credentials: Record<string, { password: string }> }> } };
  };
  const passwords = Object.values(network.trade.environments).flatMap(({ credentials }) =>
    Object.values(credentials).map(({ password }) => password),
  );
  expect(passwords).toHaveLength(3);
  const state = await w.stack.exported();
  w.stack.write("network.yaml", reordered);
  const { code, text } = await w.stack.preview({}, "--expect-no-changes");
  w.stack.write("network.yaml", file);
  expect({ code, text }).toMatchObject({ code: 0 }); // the order of entries means nothing
  for (const secret of [...passwords, canaryKey]) {
    expect(state).not.toContain(secret);
    expect(text).not.toContain(secret);
  }
});

test("keys that are renamed with formerly replace nothing, not even a credential", async () => {
  const before = await w.stack.ids();
  w.stack.write("network.yaml", renamed);
  w.service.clearCalls();
  await done(w.stack.up());
  expect(w.service.calls.filter(({ method }) => ["POST", "DELETE"].includes(method))).toEqual([]);
  expect(await w.stack.ids()).toEqual(before);
  const { nodes, appcreds } = await w.network();
  expect(nodes.map(({ name }) => name).sort()).toEqual(["acmecorp-1", "acmecorp-2", "globex-1", "main"]);
  expect(appcreds.map(({ name }) => name).sort()).toEqual(["acme", "globex", "globex"]);
});

test("afterwards, formerly can be removed", async () => {
  w.stack.write("network.yaml", renamed.replace(/^ *formerly: .*\n/gm, "").replaceAll(/{ formerly: [\w-]+ }/g, "{}"));
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});

test("destroy deletes everything", async () => {
  await done(w.stack.destroy());
  expect(await w.network()).toEqual({ consortia: [], memberships: [], environments: [], nodes: [], appcreds: [] });
});

test("the example with a network file runs as it is", async () => {
  const { stack, network } = await world({ example: "examples/network-file" }, { ledger: false });
  await done(stack.up());
  expect(await stack.outputs()).toMatchObject({
    chainId: expect.any(Number) as number,
    growerUrl: expect.stringMatching(/^http/) as string,
  });
  const { memberships, environments, nodes, appcreds } = await network();
  expect([memberships, environments, nodes, appcreds].map(({ length }) => length)).toEqual([3, 2, 5, 4]);
  expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect((await network()).consortia).toEqual([]);
});
