import { tetherId, type World, world } from "./support/world";

const program = `
  const { Network } = require("pulumi-consortium");
  exports.network = Network.fromFile("network.yaml").outputs;
`;

const file = `
name: trade
consortium: { name: Coffee trade, description: Who delivered which beans to whom }
members:
  acme:
  globex: { orgName: Globex Corp }
environments:
  prod:
    provider: quorum
    consensusType: raft
    nodes: { acme: 2, globex: [globex-main] }
    tether: { tetherId: ${tetherId}, network: rinkeby, intervalHours: 24 }
`;

let w: World;
beforeAll(async () => {
  w = await world(program);
});
afterAll(() => w.close());

test("a file becomes a network", async () => {
  w.stack.write("network.yaml", file);
  const { code, text } = await w.stack.up();
  expect({ code, text }).toMatchObject({ code: 0 });
  const network = await w.network();
  expect(network.memberships.map(({ org_name }) => org_name).sort()).toEqual(["Globex Corp", "acme"]);
  expect(network.nodes.map(({ name }) => name).sort()).toEqual(["acme-1", "acme-2", "globex-main"]);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
