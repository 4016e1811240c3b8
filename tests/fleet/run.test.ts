import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, consortium } from "../cli/command";
import { type Summary, writeIn } from "./made";
import { StubFleet, type StubPulumi } from "./stub-pulumi";
import { until } from "../support/until";

/* How a fleet continues and ends if one of its stacks fails, is killed or is interrupted. (With Pulumi itself: tests/e2e/fleet.) */

const keys = { ACME_KEY: "canary-acme-5f02", GLOBEX_KEY: "canary-globex-1c9d" };

let folder: string;
let pulumi: StubPulumi;
let own: StubFleet;
let file: string;
beforeEach(() => {
  own = new StubFleet("trade", "spice");
  ({ folder, pulumi } = own);
  fleet();
});

/** Writes the fleet file, with additional settings for the production stacks. */
function fleet(acme: object = {}, globex: object = {}): void {
  const definition = "trade.yaml";
  file = own.write({
    acme: { apiKey: { env: "ACME_KEY" }, stacks: { prod: { definition, ...acme }, test: "spice.yaml" } },
    globex: { apiKey: { env: "GLOBEX_KEY" }, stacks: { prod: { definition, ...globex } } },
  });
}

const up = (orders: Record<string, string> = {}, ...args: string[]) => run("up", orders, "--yes", ...args);

async function run(
  command: string,
  orders: Record<string, string>,
  ...args: string[]
): Promise<Ended & { summary: Summary }> {
  const env: Record<string, string> = { ...pulumi.env, ...keys };
  for (const [stack, order] of Object.entries(orders)) env[`STUB_${stack}`] = order;
  const ended = await consortium(["fleet", command, file, "--json", ...args], env);
  return { ...ended, summary: JSON.parse(ended.stdout) as Summary };
}

const outcomes = ({ summary }: { summary: Summary }) =>
  Object.fromEntries(summary.stacks.map(({ stack, outcome }) => [stack, outcome]));

async function atWorkOn(stack: string): Promise<number> {
  await until(() => pulumi.pidOf(stack) !== undefined);
  return pulumi.pidOf(stack)!;
}

/** The next run continues the first stack's killed run. */
async function goesOn(): Promise<void> {
  const recovered = [true, false, false].map((one) => ({ recovered: one }));
  expect(await up()).toMatchObject({ code: 0, summary: { ok: true, stacks: recovered } });
}

test("a failed stack does not stop the others; JSON and JUnit show which failed and why, without keys", async () => {
  const report = join(folder, "junit.xml");
  const ended = await up({ "acme-test": "fail:the name is already taken [name-taken]" }, "--junit", report);
  expect(ended.code).toBe(1);
  expect(ended.summary.ok).toBe(false);
  expect(ended.summary.stacks).toMatchObject([
    { stack: "acme-prod", outcome: "ok", created: 1 },
    {
      stack: "acme-test",
      outcome: "failed",
      created: 0,
      error: "the name is already taken [name-taken] (key [secret])",
      code: "name-taken",
    },
    { stack: "globex-prod", outcome: "ok", created: 1 },
  ]);
  const xml = readFileSync(report, "utf8");
  expect(xml).toContain('tests="3" failures="1"');
  expect(xml).toMatch(/<testcase classname="fleet.acme" name="acme-test"[^>]*>\s*<failure type="failed"/);
  for (const key of Object.values(keys)) expect(ended.stdout + ended.stderr + xml).not.toContain(key);
  expect(outcomes(await up())).toEqual({ "acme-prod": "ok", "acme-test": "ok", "globex-prod": "ok" });
});

test("a killed Pulumi fails only its stack, and the next run continues there", async () => {
  const running = up({ "acme-prod": "hang" });
  process.kill(await atWorkOn("acme-prod"), "SIGKILL");
  const ended = await running;
  expect(ended.code).toBe(1);
  expect(outcomes(ended)).toEqual({ "acme-prod": "failed", "acme-test": "ok", "globex-prod": "ok" });
  expect(ended.summary.stacks[0]!.error).toBe("Pulumi was killed with SIGKILL");
  for (const why of ["once", "twice"])
    // runs that go on, and fail
    expect((await up({ "acme-prod": `fail:${why}` })).summary.stacks[0]).toMatchObject({
      recovered: true,
      outcome: "failed",
    });
  // The killed run's lock is released, and what fails then is the error.
  const { error } = (await up({ "acme-prod": "locked:thrice" })).summary.stacks[0]!;
  expect(error).toBe("thrice (key [secret])");
  await goesOn();
  expect((await up()).summary.stacks[0]).toMatchObject({ recovered: false, outcome: "ok" });
});

test("after Ctrl-C, no other stack begins; the next run does everything", async () => {
  const running = up({ "acme-prod": "hang" }, "--parallel", "1");
  await atWorkOn("acme-prod");
  process.emit("SIGINT");
  const ended = await running;
  expect(ended.code).toBe(1);
  const others = { "acme-test": "not begun", "globex-prod": "not begun" };
  expect(outcomes(ended)).toEqual({ "acme-prod": "interrupted", ...others });
  expect(ended.stderr).toContain("Cancelling the stacks in progress; no more will start. Press Ctrl-C again");
  expect(pulumi.calls.filter((call) => call.startsWith("up "))).toHaveLength(1);
  expect(await up()).toMatchObject({ code: 0, summary: { ok: true } });
});

test("Ctrl-C before any stack begins: all are not begun, whatever Pulumi reports", async () => {
  const running = up({ VERSION: "interrupted" });
  await until(() => existsSync(join(pulumi.folder, "calls.txt")) && pulumi.calls.includes("version"));
  process.emit("SIGINT");
  writeFileSync(join(pulumi.folder, "interrupted"), "");
  const ended = await running;
  expect(ended.code).toBe(1);
  expect(ended.stderr).not.toContain("cannot be started");
  expect(new Set(Object.values(outcomes(ended)))).toEqual(new Set(["not begun"]));
});

test("Ctrl-C in a terminal reaches Pulumi itself and is not sent again, because a second one would end it at once", async () => {
  const running = up({ "acme-prod": "slow" }, "--parallel", "1");
  const pid = await atWorkOn("acme-prod");
  process.kill(pid, "SIGINT");
  process.emit("SIGINT");
  expect(outcomes(await running)).toMatchObject({ "acme-prod": "interrupted", "acme-test": "not begun" });
  expect(pulumi.signalsOf("acme-prod")).toBe("SIGINT");
});

test("a second Ctrl-C ends the command at once, and the next run continues", async () => {
  const running = up({ "acme-prod": "deaf" }, "--parallel", "1");
  const pid = await atWorkOn("acme-prod");
  const record = join(folder, ".consortium/fleet/fleet/journal/acme-prod.json");
  const left = readFileSync(record);
  process.emit("SIGINT");
  expect(() => process.emit("SIGINT")).toThrow(); // what stands for the end of the process
  process.kill(pid, "SIGKILL");
  await running;
  writeFileSync(record, left); // as a process that has ended leaves it
  await goesOn();
});

/** The file with stacks that depend on each other: the test network, then the one in production, then that of globex. */
const ordered = () => fleet({ dependsOn: ["acme-test"] }, { dependsOn: ["acme-prod"] });
const verbs = (verb: string) =>
  pulumi.calls
    .filter((call) => call.startsWith(`${verb} `) && !call.includes("--preview-only"))
    .map((call) => /--stack (\S+)/.exec(call)![1]);

test("stacks begin after their dependencies, and are destroyed before them, once all ledgers have been named", async () => {
  ordered();
  expect(await up()).toMatchObject({ code: 0 });
  expect(verbs("up")).toEqual(["acme-test", "acme-prod", "globex-prod"]);
  const { code, stderr } = await run("destroy", {}, "--yes");
  expect(code).toBe(0);
  expect(verbs("destroy")).toEqual(["globex-prod", "acme-prod", "acme-test"]);
  const calls = pulumi.calls.filter((call) => call.startsWith("destroy"));
  expect(calls.map((call) => call.includes("--preview-only"))).toEqual([true, true, true, false, false, false]);
  const losses = ["acme-prod", "acme-test", "globex-prod"].map(
    (stack) => `WARNING: ${stack}: deletes Environment e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WILL BE DESTROYED`,
  );
  expect(stderr.split("\n").slice(0, 3)).toEqual(losses);
  expect(stderr.match(/ledger|LEDGER/g)).toHaveLength(3);
});

test.each([
  ["one that failed", "acme-prod", { "acme-test": "ok", "acme-prod": "failed" }, ["acme-test", "acme-prod"]],
  ["one that was not begun", "acme-test", { "acme-test": "failed", "acme-prod": "not begun" }, ["acme-test"]],
])("a stack that depends on %s is not begun, with the reason", async (_, failing, others, begun) => {
  ordered();
  const ended = await up({ [failing]: "fail:no" });
  expect(ended.code).toBe(1);
  expect(outcomes(ended)).toEqual({ ...others, "globex-prod": "not begun" });
  expect(ended.summary.stacks.at(-1)!.error).toBe("skipped: acme-prod, which this stack depends on, did not finish");
  expect(verbs("up")).toEqual(begun);
});

/** Does what the jobs of a pipeline do, and returns the files with their results. */
async function jobs(orders: Record<string, string>, ...all: string[]): Promise<string[]> {
  const results: string[] = [];
  for (const args of all) {
    const { stdout } = await up(orders, ...args.split(" "));
    results.push(writeIn(folder, `${args.replaceAll("/", " of ")}.json`, stdout));
  }
  return results;
}
const on = (verb: string, ...args: string[]) => consortium(["fleet", verb, ...args]);

test("of more shards than stacks, one does nothing; together they do each stack once, and their reports are one", async () => {
  const of = [1, 2, 3, 4].map((index) => `--shard ${index}/4`);
  const results = await jobs({ "acme-test": "fail:the name is taken" }, ...of);
  expect(verbs("up")).toEqual(["acme-prod", "acme-test", "globex-prod"]);
  const report = join(folder, "all.xml");
  const merged = await on("merge", ...results, "--junit", report);
  expect(merged).toMatchObject({ code: 1, stderr: "" });
  expect(merged.stdout).toContain("2 of 3 stacks ok, 1 failed; 2 created;");
  expect(readFileSync(report, "utf8")).toContain('tests="3" failures="1"');
  expect(await on("merge", ...results.slice(0, 3), "--junit", report)).toEqual(merged);
});

test("after a stage, status and merge name the next one; resume names what failed, until all of it is done", async () => {
  fleet({ dependsOn: ["acme-test"] }, { dependsOn: ["acme-test"] });
  const last = ["--stage 2 --shard 1/2", "--stage 2 --shard 2/2"];
  const first = await jobs({}, "--stage 1");
  expect(verbs("up")).toEqual(["acme-test"]);
  const stderr = "Stage 2 did not run: 2 stacks. Run these shards again, and merge all of them.\n";
  for (const [verb, line] of Object.entries({
    merge: "1 of 3 stacks ok, 2 not begun; 1 created;",
    status: "1 of 3 stacks ready (33 %), 2 not begun",
  }))
    expect(await on(verb, ...first)).toEqual({ code: 1, stderr, stdout: expect.stringContaining(line) as string });
  expect((await on("resume", ...first)).stdout).toBe("--stage 2 --shard 1/1\n");

  const results = [...first, ...(await jobs({ "acme-prod": "fail:no" }, ...last))];
  expect((await on("status", ...results)).stdout).toMatch(/^acme-prod +failed .*no \(key/m);
  expect((await on("resume", ...results)).stdout).toBe(`${last[0]}\n`);
  expect(JSON.parse((await on("resume", ...results, "--matrix", "github")).stdout)).toEqual([null, { shard: ["1/2"] }]);
  await jobs({}, last[0]!);
  const { code, stdout } = await on("merge", ...results, "--json");
  const { stacks, ...summary } = JSON.parse(stdout) as Summary;
  expect({ code, summary }).toMatchObject({ code: 0, summary: { ok: true, total: { created: 3 } } });
  expect(stacks.map(({ stack }) => stack)).toEqual(["acme-test", "acme-prod", "globex-prod"]);
  expect(verbs("up")).toHaveLength(4);
});

test("destroy skips a stack and its dependencies if it cannot say what would be lost", async () => {
  ordered();
  await up();
  const { summary } = await run("destroy", { "acme-prod": "fail:protected" }, "--yes");
  expect(outcomes({ summary })).toEqual({ "acme-prod": "failed", "acme-test": "not begun", "globex-prod": "ok" });
  expect(verbs("destroy")).toEqual(["globex-prod"]);
});
