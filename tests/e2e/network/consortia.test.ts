import { type World, world } from "../support/world";

/** A network of one consortium gets a second one, and then another name. */

const program = `
  const { Network } = require("pulumi-consortium");
  const network = Network.fromFile("network.yaml");
  exports.ids = Object.fromEntries(Object.entries(network.consortia).map(([key, { consortium }]) => [key, consortium.id]));
`;
const one = `
members: { acme: {}, globex: {} }
environments: { prod: { provider: geth, consensusType: poa, nodes: { acme: 1 } } }
`;
const indented = one.trim().replaceAll(/^/gm, "    ");
const two = `
consortia:
  trade:
${indented}
  spice:
${indented.replaceAll("acme", "zest")}
`;

let w: World;
beforeAll(async () => {
  w = await world(program, { ledger: false });
});
afterAll(() => w.close());

test("the second touches nothing of the first", async () => {
  w.stack.write("network.yaml", `name: trade\n${one}`);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  const before = await w.stack.ids();
  w.stack.write("network.yaml", `name: trade\n${two}`);
  const { text } = await w.stack.preview();
  expect(text).toMatch(/\+ 6 to create\n +8 unchanged/);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  expect(await w.stack.ids()).toEqual(expect.arrayContaining(before));
  expect(await w.stack.outputs()).toMatchObject({
    ids: { trade: expect.any(String) as string, spice: expect.any(String) as string },
  });
});

test("another name of the network replaces nothing, and formerly can go afterwards", async () => {
  const before = await w.stack.ids();
  w.stack.write("network.yaml", `name: commerce\nformerly: trade\n${two}`);
  const { text } = await w.stack.preview({}, "--diff");
  expect(text).not.toMatch(/\((replace|create|delete)\)/);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  w.stack.write("network.yaml", `name: commerce\n${two}`);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await w.stack.ids()).toEqual(before);
});
