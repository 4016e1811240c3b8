import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ended, consortium } from "../command";
import { StubPulumi } from "./stub-pulumi";

/* How a fleet goes on, and ends, where one of its stacks fails, is killed or is interrupted. (With Pulumi itself: tests/e2e/fleet.) */

jest.setTimeout(60_000); // many small processes, one after the other

const keys = { ACME_KEY: "canary-acme-5f02", GLOBEX_KEY: "canary-globex-1c9d" };

let folder: string;
let pulumi: StubPulumi;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-fleet-run-"));
  pulumi = new StubPulumi(join(folder, "stub"));
  file = join(folder, "fleet.yaml");
  for (const name of ["trade", "spice"]) writeFileSync(join(folder, `${name}.yaml`), "members: [m]\n");
  const organizations = {
    acme: { apiKey: { env: "ACME_KEY" }, stacks: { prod: "trade.yaml", test: "spice.yaml" } },
    globex: { apiKey: { env: "GLOBEX_KEY" }, stacks: { prod: "trade.yaml" } },
  };
  writeFileSync(file, JSON.stringify({ project: "fleet", backend: `file://${folder}/state`, organizations }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Summary {
  ok: boolean;
  stacks: { stack: string; outcome: string; created: number; error?: string; recovered: boolean }[];
}

async function up(orders: Record<string, string> = {}, ...args: string[]): Promise<Ended & { summary: Summary }> {
  const env: Record<string, string> = { ...(pulumi.env as Record<string, string>), ...keys };
  for (const [stack, order] of Object.entries(orders)) env[`STUB_${stack}`] = order;
  const ended = await consortium(["fleet", "up", file, "--yes", "--json", ...args], env);
  return { ...ended, summary: JSON.parse(ended.stdout) as Summary };
}

const outcomes = ({ summary }: { summary: Summary }) =>
  Object.fromEntries(summary.stacks.map(({ stack, outcome }) => [stack, outcome]));

async function atWorkOn(stack: string): Promise<number> {
  while (pulumi.pidOf(stack) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  return pulumi.pidOf(stack)!;
}

test("a stack that fails does not stop the others; JSON and JUnit say which, and why, and show no key", async () => {
  const report = join(folder, "junit.xml");
  const ended = await up({ "acme-test": "fail:the name is already taken" }, "--junit", report);
  expect(ended.code).toBe(1);
  expect(ended.summary.ok).toBe(false);
  expect(ended.summary.stacks).toMatchObject([
    { stack: "acme-prod", outcome: "ok", created: 1 },
    { stack: "acme-test", outcome: "failed", created: 0, error: "the name is already taken (key [secret])" },
    { stack: "globex-prod", outcome: "ok", created: 1 },
  ]);
  const xml = readFileSync(report, "utf8");
  expect(xml).toContain('tests="3" failures="1"');
  expect(xml).toMatch(/<testcase classname="fleet.acme" name="acme-test"[^>]*>\s*<failure type="failed"/);
  for (const key of Object.values(keys)) expect(ended.stdout + ended.stderr + xml).not.toContain(key);
  expect(outcomes(await up())).toEqual({ "acme-prod": "ok", "acme-test": "ok", "globex-prod": "ok" });
});

test("a Pulumi that is killed fails its stack alone, and the next run goes on where it stopped", async () => {
  const running = up({ "acme-prod": "hang" });
  process.kill(await atWorkOn("acme-prod"), "SIGKILL");
  const ended = await running;
  expect(ended.code).toBe(1);
  expect(outcomes(ended)).toEqual({ "acme-prod": "failed", "acme-test": "ok", "globex-prod": "ok" });
  expect(ended.summary.stacks[0]!.error).toContain("ended with a signal");
  const again = await up();
  expect(again).toMatchObject({ code: 0, summary: { ok: true } });
  expect(again.summary.stacks.map(({ recovered }) => recovered)).toEqual([true, false, false]);
});

test("Ctrl-C begins no other stack, and the next run does all", async () => {
  const running = up({ "acme-prod": "hang" }, "--parallel", "1");
  await atWorkOn("acme-prod");
  process.emit("SIGINT");
  const ended = await running;
  expect(ended.code).toBe(1);
  expect(outcomes(ended)).toEqual({
    "acme-prod": "interrupted",
    "acme-test": "not begun",
    "globex-prod": "not begun",
  });
  expect(pulumi.calls.filter((call) => call.startsWith("up "))).toHaveLength(1);
  expect(await up()).toMatchObject({ code: 0, summary: { ok: true } });
});
