import { stringify } from "yaml";
import { FleetWorld, network, randomCreate, secretsIn } from "../support/fleet";
import { finished } from "../support/stack";

let w: FleetWorld;
const two = { acme: { prod: "networks/trade.yaml" }, globex: { prod: "networks/trade.yaml" } };
const exactly = { consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 };

/** The same names in both: only their keys tell the organizations apart. What it makes and unmakes: tests/e2e/stories/fleet.test.ts. */
beforeAll(async () => {
  w = await FleetWorld.create();
  w.fleet(two);
  expect(await w.run("up", "--yes")).toMatchObject({ code: 0 });
});
afterAll(() => w.close());

test("a stack that fails does not stop the others; JSON and JUnit say which, and why", async () => {
  // What is taken in one organization is free in the other.
  w.fleet({
    acme: { prod: "networks/trade.yaml", twin: { definition: "networks/trade.yaml", name: "trade" } },
    globex: { prod: "networks/trade.yaml", other: { definition: "networks/trade.yaml", name: "second" } },
  });
  const { code, summary, text } = await w.json("up", "--yes", "--junit", "junit.xml");
  expect(code).toBe(1);
  expect(summary.stacks.map(({ stack, outcome, created }) => [stack, outcome, created])).toEqual([
    ["acme-prod", "ok", 0],
    ["acme-twin", "failed", 0],
    ["globex-prod", "ok", 0],
    ["globex-other", "ok", 5],
  ]);
  expect(summary.stacks[1]?.error).toContain('consortium "trade": the name is already taken by');
  const xml = w.read("junit.xml");
  expect(xml).toContain('tests="4" failures="1"');
  expect(xml).toMatch(/<testcase classname="fleet.acme" name="acme-twin"[^>]*>\s*<failure type="failed"/);
  expect(secretsIn(text + xml)).toEqual([]);
  expect(await w.run("destroy", "--yes", "--only", "globex-other")).toMatchObject({ code: 0 });
  w.fleet(two);
});

test("with swapped keys nothing is gone, made or deleted: each stack says whose it is", async () => {
  const { sources, service } = w;
  const ids = Object.fromEntries(service.organizations.map(({ name, id }) => [name, id]));
  const before = [await w.counts("acme"), await w.counts("globex")];
  w.fleet(two, { acme: { apiKey: sources.globex }, globex: { apiKey: sources.acme } });
  for (const command of ["drift", "up", "destroy"]) {
    const { code, summary } = await w.json(command, ...(command === "drift" ? [] : ["--yes", "--refresh"]));
    expect(code).toBe(1);
    for (const { stack, outcome, error, drift } of summary.stacks) {
      const [own, other] = stack.startsWith("acme") ? [ids.acme, ids.globex] : [ids.globex, ids.acme];
      expect({ stack, outcome, drift }).toEqual({ stack, outcome: "failed", drift: [] });
      expect(error).toContain(`was made with organization ${own}`);
      expect(error).toContain(`belongs to organization ${other}`);
      expect(error).toContain(`Correct the fleet file: it has to be a key of ${own}.`);
    }
  }
  expect([await w.counts("acme"), await w.counts("globex")]).toEqual(before);
  // The file can say from the start whose a key has to be.
  w.fleet(two, { acme: { organization: ids.globex } });
  const { summary } = await w.json("up", "--yes", "--refresh");
  const failed = summary.stacks.filter(({ outcome }) => outcome === "failed");
  expect(failed.map(({ stack }) => stack.split("-")[0])).toEqual(Object.keys(two.acme).map(() => "acme"));
  for (const { error } of failed) expect(error).toContain(`has to be ${ids.globex}`);
  w.fleet(two);
});

test("preview warns loudly of a ledger that would be destroyed, and changes nothing", async () => {
  w.write("networks/trade.yaml", stringify(network("ibft")));
  w.service.clearCalls();
  const { code, stdout } = await w.run("preview", "--only", "acme-*");
  w.write("networks/trade.yaml", stringify(network()));
  expect(code).toBe(0);
  expect(stdout).toContain(
    "WARNING: acme-prod: replaces Environment trade/e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WOULD BE DESTROYED",
  );
  expect(stdout).not.toContain("globex-prod");
  expect(w.service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});

/** What is killed: the fleet alone, so that Pulumi is left behind; or only what the fleet started. */
test.each([
  ["fleet", randomCreate()],
  ["children", randomCreate()],
] as const)("%s killed after %i creates: the same command again makes it as defined", async (what, creates) => {
  expect(await w.run("destroy", "--yes")).toMatchObject({ code: 0 });
  await w.killed(what, creates);
  const again = await w.json("up", "--yes");
  expect(again).toMatchObject({ code: 0, summary: { ok: true } });
  expect(again.summary.stacks.some(({ recovered }) => recovered)).toBe(true);
  for (const name of ["acme", "globex"] as const) {
    // Of a pair whose password is lost a new one is made.
    expect(await w.counts(name)).toMatchObject({ ...exactly, appcreds: expect.any(Number) as number });
  }
  expect(w.journal()).toEqual([]);
});

test("a lock that somebody else holds is not touched: who holds it, and what to do, is said", async () => {
  const lock = "state/.pulumi/locks/organization/fleet/acme-prod/other.json";
  const holder = { pid: 4711, username: "jo", hostname: "elsewhere", timestamp: "2026-01-02T03:04:05Z" };
  w.write(lock, JSON.stringify(holder));
  const { code, summary } = await w.json("up", "--yes");
  expect(code).toBe(1);
  expect(summary.stacks.map(({ outcome }) => outcome)).toEqual(["failed", "ok"]);
  expect(summary.stacks[0]?.error).toMatch(
    /locked by jo@elsewhere, process 4711.*pulumi cancel --yes --stack acme-prod/,
  );
  expect(w.has(lock)).toBe(true);
  w.remove(lock);
});

test("Ctrl-C begins no other stack, and keeps what was made", async () => {
  expect(await w.run("destroy", "--yes")).toMatchObject({ code: 0 });
  w.service.setTiming({ nodeStart: 600_000 });
  const running = w.start("up", "--yes", "--json", "--parallel", "1");
  const end = finished(running);
  const before = w.service.store.nodes.list().length;
  while (w.service.store.nodes.list().length === before) await pause(50);
  running.kill("SIGINT");
  const { code, stdout } = await end;
  expect(code).toBe(1);
  const { stacks } = JSON.parse(stdout) as { stacks: { outcome: string }[] };
  expect(stacks.map(({ outcome }) => outcome)).toEqual(["interrupted", "not begun"]);
  w.service.setTiming({ nodeStart: 100 });
  for (const { id } of w.service.store.nodes.list()) w.service.store.nodes.setState(id, "started");
  expect(await w.json("up", "--yes")).toMatchObject({ code: 0, summary: { ok: true } });
  expect(await w.counts("acme")).toEqual(exactly);
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
