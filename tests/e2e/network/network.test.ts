import { parse, stringify } from "yaml";
import { done, failed, Stack } from "../support/stack";
import { canaryKey, tetherId, type World, world } from "../support/world";

/* A network as one file, through the real CLI: one story. */

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

/** Every key is another one. */
const renamed = file
  .replace("name: trade", "name: commerce\nformerly: trade")
  .replaceAll("acme", "acmecorp")
  .replace("acmecorp:", "acmecorp: { formerly: acme }")
  .replace("prod:", "live:\n    formerly: prod")
  .replace("[globex-main]", "{ main: { formerly: globex-main } }");

interface Outputs {
  network: { trade: { environments: Record<string, { credentials: Record<string, { password: string }> }> } };
  parts: object;
}

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

test("up creates all of it, its parts can be reached, no secret is in clear, and the order of entries means nothing", async () => {
  const { text } = await done(w.stack.up());
  const network = await w.network();
  expect(network.consortia).toMatchObject([{ name: "Coffee trade", description: "Who delivered which beans to whom" }]);
  expect(network.memberships.map(({ org_name }) => org_name).sort()).toEqual(["Globex Corp", "acme"]);
  expect(network.environments.map(({ name }) => name).sort()).toEqual(["prod", "test"]);
  expect(network.nodes.map(({ name }) => name).sort()).toEqual(["acme-1", "acme-2", "globex-1", "globex-main"]);
  expect(network.appcreds.map(({ name }) => name).sort()).toEqual(["acme", "globex", "globex"]);
  const { parts, network: shown } = (await w.stack.outputs()) as unknown as Outputs;
  expect(parts).toEqual({
    consortium: network.consortia[0]!._id,
    member: "acme",
    environment: expect.any(String) as string,
    node: expect.stringContaining(w.service.url) as string,
    login: expect.any(String) as string,
    tether: expect.stringMatching(/^0x/) as string,
  });
  const credentials = Object.values(shown.trade.environments).flatMap((one) => Object.values(one.credentials));
  const secrets = [...credentials.map(({ password }) => password), canaryKey];
  expect(secrets.map((one) => one.length > 8)).toEqual([true, true, true, true]);
  const seen = text + (await w.stack.exported());
  expect(secrets.filter((one) => seen.includes(one))).toEqual([]);
  const reordered = Object.fromEntries(Object.entries(parse(file) as object).reverse());
  w.stack.write("network.yaml", stringify(reordered, { sortMapEntries: true }));
  await done(w.stack.preview({}, "--expect-no-changes"));
});

test("an environment under another key is a loss, and the preview names formerly; another consortium affects nothing", async () => {
  w.stack.write("network.yaml", file.replace("prod:", "live:"));
  const { text } = await done(w.stack.preview());
  expect(text).toContain(
    'warning: environment "trade/prod": DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials (its key is no longer in the definition of the network)',
  );
  expect(text).toContain(
    'environment "trade/prod": if you only renamed its key ("live"), write "formerly: prod" there, and nothing is deleted.',
  );
  const { name, consortium, ...trade } = parse(file) as { name: string; consortium: object };
  const consortia = { trade: { ...consortium, ...trade }, spice: { members: ["zest"] } };
  w.stack.write("network.yaml", stringify({ name, consortia }));
  w.stack.program(program.replace(/exports.parts[^]*/, ""));
  expect((await done(w.stack.preview())).text).toMatch(/\+ 2 to create\n +15 unchanged/);
  w.stack.program(program);
});

test("keys with formerly, on the other provider, replace nothing, not even a credential; formerly can be removed, and the way back is one without changes", async () => {
  const before = await w.stack.ids();
  w.stack.write("network.yaml", renamed);
  w.service.clearCalls();
  await done(w.stack.up({ CONSORTIUM_PLUGIN: "false" }));
  expect(w.service.calls.filter(({ method }) => ["POST", "DELETE"].includes(method))).toEqual([]);
  expect(await w.stack.ids()).toEqual(before);
  const { nodes, appcreds } = await w.network();
  expect(nodes.map(({ name }) => name).sort()).toEqual(["acmecorp-1", "acmecorp-2", "globex-1", "main"]);
  expect(appcreds.map(({ name }) => name).sort()).toEqual(["acme", "globex", "globex"]);
  w.stack.write("network.yaml", renamed.replace(/^ *formerly: .*\n/gm, "").replaceAll(/{ formerly: [\w-]+ }/g, "{}"));
  await done(w.stack.preview({}, "--expect-no-changes"));
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
  const counts = Object.values(await network()).map(({ length }) => length);
  expect(counts).toEqual([1, 3, 2, 5, 4]);
});
