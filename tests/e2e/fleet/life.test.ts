import { stringify } from "yaml";
import { exactly, FleetWorld, keys, network, randomCreate, secretsIn } from "../support/fleet";

/* A fleet of two organizations: created, killed, drifted, destroyed. For refusals and interrupts, see fleet.test.ts. */

let w: FleetWorld;
const programs = ".consortium/fleet/fleet/programs";

/** Both have the same names: only their keys differ. */
beforeAll(async () => {
  w = await FleetWorld.create();
  w.fleet({ acme: { prod: "networks/trade.yaml" }, globex: { prod: "networks/trade.yaml" } });
});

/** One story: each test goes on where the one before it ended. */
test("without --yes and a terminal, nothing is done", async () => {
  const { code, text } = await w.run("up");
  expect(code).toBe(1);
  expect(text).toContain("Use --yes to run it for 2 stacks");
  expect(w.service.calls).toEqual([]);
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

test("drift: exit code 2 with changed and missing objects, then 0", async () => {
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
  w.env.ACME_API_KEY = "refused";
  const lost = await w.json("drift");
  w.env.ACME_API_KEY = keys.acme;
  expect(lost.code).toBe(1);
  expect(lost.summary.stacks.map(({ outcome }) => outcome)).toEqual(["failed", "drift"]);
  expect(lost.text).not.toContain("shown with the resource");
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
  const lost = { ledgers, outcome: "loses a ledger" };
  expect(await w.json("preview")).toMatchObject({ code: 2, summary: { stacks: [lost, lost] } });
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
  expect(await w.json("up", "--yes")).toMatchObject({ code: 0, summary: { total: { unchanged: 10 } } });
});

test("destroy lists the ledgers first and once, deletes everything, and then has nothing to do", async () => {
  const { code, text, summary } = await w.json("destroy", "--yes");
  expect({ code, summary }).toMatchObject({ code: 0, summary: { total: { deleted: 10 } } });
  const losses = ["acme-prod", "globex-prod"].map(
    (stack) =>
      `WARNING: ${stack}: deletes Environment trade/e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WILL BE DESTROYED\n`,
  );
  expect(text.startsWith(losses.join(""))).toBe(true);
  expect(text.match(/WARNING/g)).toHaveLength(2);
  expect((await w.counts("acme")).consortia).toBe(0);
  expect(await w.json("destroy", "--yes")).toMatchObject({ code: 0, summary: { total: { deleted: 0 } } });
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
