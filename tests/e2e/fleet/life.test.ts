import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { openRun } from "../../../fleet/recovery";
import { misreadable } from "../../fleet/made";
import { until } from "../../support/until";
import { exactly, FleetWorld, network, randomCreate, secretsIn } from "../support/fleet";
import { finished } from "../support/stack";

/*
 * A fleet of two organizations: created, with swapped keys, drifted, replaced, destroyed, killed, interrupted, beside another one. No key, no
 * password and no secret of a network file is on the disk meanwhile, or afterwards. (Each rule: tests/fleet.)
 */

let w: FleetWorld;
const token = "canary-vault-5b0c";
const two = { acme: { prod: "networks/acme.yaml" }, globex: { prod: "networks/trade.yaml" } };
const programs = ".consortium/fleet/fleet/programs";
const vault = { keys: { member: "m", type: "kms", details: { vault: { token: { env: "VAULT_TOKEN" } } } } };

/** Both have the same names: only their keys differ. That of acme has a secret, for which it runs as a program; the other one is YAML. */
function networks(consensusType?: string): void {
  const { members, environments } = network(consensusType);
  const withSecret = { e: { ...environments.e, configurations: vault } };
  w.write("networks/acme.yaml", stringify({ name: "trade", members, environments: withSecret }));
  w.write("networks/trade.yaml", stringify({ members, environments }));
}

beforeAll(async () => {
  w = await FleetWorld.create();
  w.env.VAULT_TOKEN = token;
  w.env.TMPDIR = join(w.folder, "tmp");
  mkdirSync(w.env.TMPDIR);
  networks();
  w.fleet(two);
});

/** The passwords in the state of a stack. */
function passwordsOf(stack: string): string[] {
  const folder = join(w.folder, ".consortium/fleet/fleet");
  const env = { ...w.env, PULUMI_BACKEND_URL: `file://${w.folder}/state` };
  const args = ["stack", "export", "--show-secrets", "--stack", stack];
  const text = execFileSync("pulumi", args, { cwd: folder, env, encoding: "utf8" });
  return [...text.matchAll(/"plaintext": "\\"([^"{\\]+)\\""/g)].map(([, secret]) => secret!);
}

/** Looks for secrets in all files as long as something runs, and in what it says. */
async function watched<T>(run: Promise<T>): Promise<T> {
  const found = new Set<string>();
  const look = () => w.leaks([token]).forEach((file) => found.add(file));
  const timer = setInterval(look, 250);
  const result = await run.finally(() => clearInterval(timer));
  look();
  expect([...found]).toEqual([]);
  const said = JSON.stringify(result ?? "");
  expect([...secretsIn(said), ...(said.includes(token) ? [token] : [])]).toEqual([]);
  return result;
}

/** One story: each test goes on where the one before it ended. */
test("a preview of new stacks leaves none behind, even with names that Pulumi YAML might misread", async () => {
  for (const stack of ["acme", "trade"]) w.write(`networks/${stack}.yaml`, stringify(misreadable));
  expect(await w.json("preview")).toMatchObject({ code: 0, summary: { total: { created: 18 } } });
  expect(w.stacks()).toEqual([]);
  networks();
});

test("up creates every stack in its own organization, and no process has the other organization's key", async () => {
  const { result, seen } = await watched(w.keysDuring(w.start("up", "--yes", "--json")));
  expect(result).toMatchObject({ code: 0 });
  expect(JSON.parse(result.stdout)).toMatchObject({ ok: true, total: { created: 11, unchanged: 0 } });
  if (process.platform === "linux") expect(seen).toEqual(["acme", "globex"]);
  expect(await w.counts("acme")).toEqual(exactly);
  expect(await w.counts("globex")).toEqual(exactly);
  const passwords = ["acme-prod", "globex-prod"].flatMap(passwordsOf);
  expect(passwords.length).toBeGreaterThanOrEqual(4); // the password of each credential, and the header with it
  expect(w.leaks([token, ...passwords])).toEqual([]);
});

test("with swapped keys, nothing is lost, created or deleted: each stack names its organization", async () => {
  const { sources, service } = w;
  const ids = Object.fromEntries(service.organizations.map(({ name, id }) => [name, id]));
  const before = [await w.counts("acme"), await w.counts("globex")];
  w.fleet(two, { acme: { apiKey: sources.globex }, globex: { apiKey: sources.acme } });
  const { code, summary } = await watched(w.json("destroy", "--yes", "--refresh"));
  expect(code).toBe(1);
  for (const { stack, outcome, error } of summary.stacks) {
    const [own, other] = stack.startsWith("acme") ? [ids.acme, ids.globex] : [ids.globex, ids.acme];
    expect({ stack, outcome }).toEqual({ stack, outcome: "failed" });
    for (const part of [
      `was made with organization ${own}`,
      `belongs to organization ${other}`,
      "Correct the fleet file",
    ])
      expect(error).toContain(part);
  }
  expect([await w.counts("acme"), await w.counts("globex")]).toEqual(before);
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
  expect(w.stateOf("globex-prod")).toContain("pulumi-nodejs:dynamic/consortium:Node");
  delete w.env.CONSORTIUM_PLUGIN;
  const back = await w.json("up", "--yes", "--refresh"); // which finds no drift
  expect(back).toMatchObject({ code: 0, summary: { ...kept, total: { ...kept.total, created: 0, updated: 0 } } });
  expect(w.stateOf("globex-prod")).not.toContain("pulumi-nodejs");
  expect([await w.counts("acme"), (await w.counts("globex")).nodes]).toEqual([exactly, 1]);
});

test("up replaces a ledger only in the stacks for which that is allowed; destroy deletes everything", async () => {
  networks("ibft");
  const before = [await w.network("acme"), await w.network("globex")];
  const { code, summary } = await watched(w.json("up", "--yes", "--allow-ledger-loss", "globex-*"));
  expect(code).toBe(1);
  expect(summary.stacks).toMatchObject([
    {
      stack: "acme-prod",
      outcome: "failed",
      error: expect.stringContaining("--allow-ledger-loss acme-prod") as string,
    },
    { stack: "globex-prod", outcome: "ok", ledgers: ["replaces Environment trade/e"] },
  ]);
  expect(await w.network("acme")).toEqual(before[0]);
  expect((await w.network("globex")).environments).not.toEqual(before[1]!.environments);
  const destroyed = await w.json("destroy", "--yes");
  expect(destroyed).toMatchObject({ code: 0, summary: { total: { deleted: 11 } } });
  expect(destroyed.text).toContain("WARNING: acme-prod: deletes Environment trade/e: THE LEDGER");
  expect((await w.counts("acme")).consortia).toBe(0);
});

interface Finding {
  about: string;
  state: string;
  text: string;
  next?: string;
}
/** What doctor finds wrong, besides the packages of this folder, which is no project of a user. */
async function wrong(): Promise<Finding[]> {
  const { stdout } = await watched(w.run("doctor", "--json"));
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const own = findings.filter(({ about }) => !["package", "Pulumi SDK", "plugin"].includes(about));
  return own.filter(({ state }) => state === "wrong");
}

test.each([randomCreate()])(
  "the fleet alone killed after $creates creates, then everything ($replay): completed, then nothing to do",
  async ({ creates }) => {
    await w.killed("fleet", creates);
    expect(w.leaks([token])).toEqual([]);
    await w.killed("everything", 0);
    for (const record of w.records()) await until(async () => (await openRun(record))?.isAtWork === false);
    const told = (await wrong()).map(({ about, text, next }) => `${about}: ${text} → ${next}`).join("\n");
    expect(told).toMatch(/^\w+-prod: run: a run was killed while it was changing the stack: \S+@\S+ \(process \d+\)/m);
    expect(told).toMatch(
      /^\w+-prod: lock: the stack is locked by \S+@\S+ .*, which has ended → Run `consortium fleet up /m,
    );
    await watched(w.continues());
    expect(await wrong()).toEqual([]);
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

test("a state that is cut off is named by doctor, though Pulumi lists no stack because of it", async () => {
  const file = "state/.pulumi/stacks/fleet/acme-prod.json";
  w.write(file, w.read(file).slice(0, 300));
  expect(await wrong()).toEqual([
    expect.objectContaining({
      about: "backend",
      text: expect.stringMatching(
        /^Pulumi cannot list the stacks of the backend: .*unexpected end of JSON input/,
      ) as string,
      next: expect.stringContaining("docs/recovery.md#a-state-file-that-was-cut-off") as string,
    }),
  ]);
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
