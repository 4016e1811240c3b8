import { stringify } from "yaml";
import { misreadable } from "../../fleet/made";
import { until } from "../../support/until";
import { exactly, FleetWorld, network, randomCreate, secretsIn } from "../support/fleet";
import { finished } from "../support/stack";

/*
 * A fleet of two organizations: created, with swapped keys, drifted, replaced, destroyed, killed, interrupted, beside another one. (Each
 * rule: tests/fleet. The fleet alone killed: secrets.test.ts.)
 */

let w: FleetWorld;
const two = { acme: { prod: "networks/trade.yaml" }, globex: { prod: "networks/trade.yaml" } };
const programs = ".consortium/fleet/fleet/programs";

/** Both have the same names: only their keys differ. */
beforeAll(async () => {
  w = await FleetWorld.create();
  w.fleet(two);
});

/** One story: each test goes on where the one before it ended. */
test("without --yes and a terminal, nothing is done", async () => {
  const { code, text } = await w.run("up");
  expect(code).toBe(1);
  expect(text).toContain("Use --yes to run it for 2 stacks");
  expect(w.service.calls).toEqual([]);
});

test("a preview of new stacks leaves none behind, even with names that Pulumi YAML might misread", async () => {
  w.write("networks/trade.yaml", stringify(misreadable));
  expect(await w.json("preview")).toMatchObject({ code: 0, summary: { total: { created: 18 } } });
  expect(w.stacks()).toEqual([]);
  w.write("networks/trade.yaml", stringify(network()));
});

test("up creates every stack in its own organization, and no process has the other organization's key", async () => {
  const { result, seen } = await w.keysDuring(w.start("up", "--yes", "--json"));
  expect(result).toMatchObject({ code: 0 });
  expect(JSON.parse(result.stdout)).toMatchObject({ ok: true, total: { created: 10, unchanged: 0 } });
  if (process.platform === "linux") expect(seen).toEqual(["acme", "globex"]);
  expect(await w.counts("acme")).toEqual(exactly);
  expect(await w.counts("globex")).toEqual(exactly);
  expect(secretsIn(result.text)).toEqual([]);
  expect(w.leaks()).toEqual([]);
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

test("drift: exit code 2 with changed and missing objects", async () => {
  const [consortium] = (await w.network("acme")).consortia;
  w.service.store.consortia.patch(String(consortium!._id), { description: "by hand" });
  const [node] = (await w.network("globex")).nodes;
  w.service.store.nodes.remove(String(node!._id ?? node!.id));
  const { code, summary } = await w.json("drift");
  expect(code).toBe(2);
  expect(Object.fromEntries(summary.stacks.map(({ stack, drift }) => [stack, drift]))).toEqual({
    "acme-prod": [`Consortium trade differs: description is "by hand", and not set in the stack`],
    "globex-prod": ["Node trade/e/m-1 is gone"],
  });
});

test("from YAML on the plugin to the JavaScript program on dynamic resources, and back: nothing is replaced", async () => {
  expect(w.read(`${programs}/globex-prod/Pulumi.yaml`)).toMatch(/^runtime: yaml$/m);
  const kept = { ok: true, total: { replaced: 0, deleted: 0 } };
  w.env.CONSORTIUM_PLUGIN = "false";
  const there = await w.json("up", "--yes", "--refresh"); // which makes what is gone
  expect(there).toMatchObject({ code: 0, summary: { ...kept, total: { ...kept.total, created: 1 } } });
  expect(await w.run("drift")).toMatchObject({ code: 0 });
  expect(w.stateOf("globex-prod")).toContain("pulumi-nodejs:dynamic/consortium:Node");
  delete w.env.CONSORTIUM_PLUGIN;
  const back = await w.json("up", "--yes");
  expect(back).toMatchObject({ code: 0, summary: { ...kept, total: { ...kept.total, created: 0, updated: 0 } } });
  expect(w.stateOf("globex-prod")).not.toContain("pulumi-nodejs");
  expect([await w.counts("acme"), (await w.counts("globex")).nodes]).toEqual([exactly, 1]);
});

test("up replaces a ledger only in the stacks for which that is allowed", async () => {
  w.write("networks/trade.yaml", stringify(network("ibft")));
  const ledgers = ["replaces Environment trade/e"];
  const { code: looked, stdout } = await w.run("preview");
  expect(looked).toBe(2);
  for (const stack of ["acme-prod", "globex-prod"])
    expect(stdout).toContain(
      `WARNING: ${stack}: replaces Environment trade/e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WOULD BE DESTROYED`,
    );
  const before = [await w.network("acme"), await w.network("globex")];
  const { code, summary } = await w.json("up", "--yes", "--allow-ledger-loss", "globex-*");
  expect(code).toBe(1);
  expect(summary.stacks).toMatchObject([
    {
      stack: "acme-prod",
      outcome: "failed",
      error: expect.stringContaining("--allow-ledger-loss acme-prod") as string,
    },
    { stack: "globex-prod", outcome: "ok", ledgers },
  ]);
  expect(await w.network("acme")).toEqual(before[0]);
  expect((await w.network("globex")).environments).not.toEqual(before[1]!.environments);
  expect(await w.json("up", "--yes", "--allow-ledger-loss", "acme-prod")).toMatchObject({ code: 0 });
});

test("destroy lists the ledgers first and once, and deletes everything", async () => {
  const { code, text, summary } = await w.json("destroy", "--yes");
  expect({ code, summary }).toMatchObject({ code: 0, summary: { total: { deleted: 10 } } });
  const losses = ["acme-prod", "globex-prod"].map(
    (stack) =>
      `WARNING: ${stack}: deletes Environment trade/e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WILL BE DESTROYED\n`,
  );
  expect(text.startsWith(losses.join(""))).toBe(true);
  expect(text.match(/WARNING/g)).toHaveLength(2);
  expect((await w.counts("acme")).consortia).toBe(0);
});

test.each([randomCreate()])(
  "killed after $creates creates ($replay): completed, then nothing to do",
  async ({ creates }) => {
    await w.killed("everything", creates);
    await w.continues();
    const second = await w.run("up", "--yes", "--parallel", "2");
    expect(second).toMatchObject({ code: 0 });
    expect(second.stdout).toContain("2 of 2 stacks ok; nothing changed;");
    expect(second.text).not.toContain("pending operations");
  },
);

const live = async (): Promise<unknown> => (await w.network("acme")).consortia.map(({ _id }) => _id);

/** The same consortium as `acme-prod`, which a file with both would refuse. */
test("a killed and restarted run does not touch another stack's network, and neither does destroy", async () => {
  const before = await live();
  w.fleet({ acme: { twin: { definition: "networks/trade.yaml", name: "trade" } }, globex: {} });
  await w.killed("everything", 0, "--only", "acme-twin");
  const again = await w.json("up", "--yes", "--only", "acme-twin");
  expect(again.code).toBe(1);
  expect(again.summary.stacks).toMatchObject([{ stack: "acme-twin", outcome: "failed", recovered: true }]);
  expect(again.summary.stacks[0]!.error).toContain(String((before as string[])[0]));
  await w.run("destroy", "--yes", "--only", "acme-twin");
  expect(await live()).toEqual(before);
  w.fleet(two);
  expect(await w.run("drift")).toMatchObject({ code: 0 });
});

/** A terminal sends Ctrl-C to all processes. Pulumi ends at once, and in no order, if it gets a second one. */
test("Ctrl-C: Pulumi ends cleanly, with a valid state and no lock, and the next run continues", async () => {
  const slow = await FleetWorld.create({ nodeStart: 3_600_000 });
  slow.detached = true;
  const late = { definition: "networks/trade.yaml", name: "late" };
  slow.fleet({ acme: { prod: "networks/trade.yaml", late }, globex: {} });
  const nodes = () => slow.service.store.nodes.list();
  const run = slow.start("up", "--yes", "--parallel", "1", "--json", "--only", "acme-*");
  const end = finished(run);
  await until(() => nodes().length === 1);
  process.kill(-run.pid!, "SIGINT");
  const { code, stdout } = await end;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ stacks: [{ outcome: "interrupted" }, { outcome: "not begun" }] });
  expect(slow.stateOf("acme-prod")).toContain(":Node");
  expect(slow.records()).toEqual([]);
  slow.fleet({ acme: { prod: "networks/trade.yaml" }, globex: {} });
  nodes().forEach(({ id }) => slow.service.store.nodes.setState(id, "started"));
  const again = await slow.json("up", "--yes");
  expect(again).toMatchObject({ code: 0, summary: { stacks: [{ recovered: false, created: 0 }] } });
});
