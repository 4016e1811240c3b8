import { FleetWorld } from "../support/fleet";

/*
 * Ownership of a network, with the real CLI: objects of another stack or fleet file are never taken. (More: tests/fleet/ownership.test.ts.)
 */

let w: FleetWorld;
const prod = { acme: { prod: "networks/trade.yaml" }, globex: {} };
/** The same consortium as `prod`, which a file with both would refuse. */
const twin = { acme: { twin: { definition: "networks/trade.yaml", name: "trade" } }, globex: {} };

beforeAll(async () => {
  w = await FleetWorld.create();
  w.fleet(prod);
  expect(await w.run("up", "--yes")).toMatchObject({ code: 0 });
});

const live = async (): Promise<unknown> => (await w.network("acme")).consortia.map(({ _id }) => _id);

test("a killed and restarted run does not touch another stack's network, and neither does destroy", async () => {
  const before = await live();
  w.fleet(twin);
  await w.killed("everything", 0, "--only", "acme-twin");
  const again = await w.json("up", "--yes", "--only", "acme-twin");
  expect(again.code).toBe(1);
  expect(again.summary.stacks).toMatchObject([{ stack: "acme-twin", outcome: "failed", recovered: true }]);
  expect(again.summary.stacks[0]!.error).toContain(String((before as string[])[0]));
  await w.run("destroy", "--yes", "--only", "acme-twin");
  expect(await live()).toEqual(before);
  w.fleet(prod);
  expect(await w.run("drift")).toMatchObject({ code: 0 });
});

test("another fleet file of the same project is refused", async () => {
  const before = await live();
  w.write("copy.yaml", w.read("fleet.yaml"));
  const { code, text } = await w.of("copy.yaml", "destroy", "--yes", "--json");
  expect(code).toBe(1);
  expect(text).toContain("the stack acme-prod belongs to the fleet ");
  expect(await live()).toEqual(before);
});
