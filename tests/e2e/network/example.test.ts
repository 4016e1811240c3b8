import { done } from "../support/stack";
import { type World, world } from "../support/world";

let w: World;
beforeAll(async () => {
  w = await world({ example: "examples/network-file" }, { ledger: false });
});
afterAll(() => w.close());

test("the example with a network file runs as it is", async () => {
  await done(w.stack.up());
  const outputs = await w.stack.outputs();
  expect(outputs).toMatchObject({
    chainId: expect.any(Number) as number,
    growerUrl: expect.stringMatching(/^http/) as string,
  });
  const { memberships, environments, nodes, appcreds } = await w.network();
  expect([memberships, environments, nodes, appcreds].map(({ length }) => length)).toEqual([3, 2, 5, 4]);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
});
