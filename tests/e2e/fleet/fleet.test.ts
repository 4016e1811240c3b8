import { stringify } from "yaml";
import { misreadable } from "../../fleet/made";
import { FleetWorld, network, randomCreate } from "../support/fleet";
import { finished } from "../support/stack";
import { until } from "../../support/until";

let w: FleetWorld;
const two = { acme: { prod: "networks/trade.yaml" }, globex: { prod: "networks/trade.yaml" } };

/*
 * Both have the same names: only their keys differ. For creating and deleting, see life.test.ts; for failures and interrupts, see
 * tests/fleet/run.test.ts.
 */
beforeAll(async () => {
  w = await FleetWorld.create();
  w.fleet(two);
});

/** One story: each test goes on where the one before it ended. */
test("a preview of new stacks leaves none behind, even with names that Pulumi YAML might misread", async () => {
  w.write("networks/trade.yaml", stringify(misreadable));
  expect(await w.json("preview")).toMatchObject({ code: 0, summary: { total: { created: 18 } } });
  expect(w.stacks()).toEqual([]);
  w.write("networks/trade.yaml", stringify(network()));
  expect(await w.run("up", "--yes")).toMatchObject({ code: 0 });
});

test("with swapped keys, nothing is lost, created or deleted: each stack names its organization", async () => {
  const { sources, service } = w;
  const ids = Object.fromEntries(service.organizations.map(({ name, id }) => [name, id]));
  const before = [await w.counts("acme"), await w.counts("globex")];
  w.fleet(two, { acme: { apiKey: sources.globex }, globex: { apiKey: sources.acme } });
  for (const command of ["drift", "destroy"]) {
    const { code, summary } = await w.json(command, ...(command === "drift" ? [] : ["--yes", "--refresh"]));
    expect(code).toBe(1);
    for (const { stack, outcome, error, drift } of summary.stacks) {
      const [own, other] = stack.startsWith("acme") ? [ids.acme, ids.globex] : [ids.globex, ids.acme];
      expect({ stack, outcome, drift }).toEqual({ stack, outcome: "failed", drift: [] });
      expect(error).toContain(`was made with organization ${own}`);
      expect(error).toContain(`belongs to organization ${other}`);
      expect(error).toContain(`Correct the fleet file: the key must belong to ${own}.`);
    }
  }
  expect([await w.counts("acme"), await w.counts("globex")]).toEqual(before);
  // The file can name a key's required organization from the start.
  w.fleet(two, { acme: { organization: ids.globex } });
  const { summary } = await w.json("up", "--yes", "--refresh");
  const failed = summary.stacks.filter(({ outcome }) => outcome === "failed");
  expect(failed.map(({ stack }) => stack.split("-")[0])).toEqual(Object.keys(two.acme).map(() => "acme"));
  for (const { error } of failed) expect(error).toContain(`must be ${ids.globex}`);
  w.fleet(two);
});

test("preview warns prominently of a ledger that would be destroyed, and changes nothing", async () => {
  w.write("networks/trade.yaml", stringify(network("ibft")));
  w.service.clearCalls();
  const { code, stdout } = await w.run("preview", "--only", "acme-*");
  w.write("networks/trade.yaml", stringify(network()));
  expect(code).toBe(2);
  expect(stdout).toContain(
    "WARNING: acme-prod: replaces Environment trade/e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WOULD BE DESTROYED",
  );
  expect(stdout).not.toContain("globex-prod");
  expect(w.service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});

/** The fleet alone, so that Pulumi is left behind. (All that runs: life.test.ts.) */
test.each([randomCreate()])("the fleet killed after $creates creates ($replay) is completed", async ({ creates }) => {
  expect(await w.run("destroy", "--yes")).toMatchObject({ code: 0 });
  await w.killed("fleet", creates);
  await w.continues();
});

/** A terminal sends Ctrl-C to all processes. Pulumi ends at once, and in no order, if it gets a second one. */
test.each([
  ["the command", 1],
  ["all its processes", -1],
])(
  "Ctrl-C of %s: Pulumi ends cleanly, with a valid state and no lock, and the next run continues",
  async (_, group) => {
    const slow = await FleetWorld.create({ nodeStart: 3_600_000 });
    slow.detached = true;
    const late = { definition: "networks/trade.yaml", name: "late" };
    slow.fleet({ acme: { prod: "networks/trade.yaml", late }, globex: {} });
    const nodes = () => slow.service.store.nodes.list();
    const run = slow.start("up", "--yes", "--parallel", "1", "--json", "--only", "acme-*");
    const end = finished(run);
    await until(() => nodes().length === 1);
    process.kill(group * run.pid!, "SIGINT");
    const { code, stdout } = await end;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ stacks: [{ outcome: "interrupted" }, { outcome: "not begun" }] });
    expect(slow.stateOf("acme-prod")).toContain(":Node");
    expect(slow.records()).toEqual([]);
    slow.fleet({ acme: { prod: "networks/trade.yaml" }, globex: {} });
    nodes().forEach(({ id }) => slow.service.store.nodes.setState(id, "started"));
    const again = await slow.json("up", "--yes");
    expect(again).toMatchObject({ code: 0, summary: { stacks: [{ recovered: false, created: 0 }] } });
  },
);
