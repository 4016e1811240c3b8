import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Journal, type Run } from "../../../cli/fleet/journal";
import { endRemains, markName, remainsOf } from "../../../cli/fleet/processes";
import { dropTornAttributes, holdersOf, isLocked, lockedMessage, mayClear } from "../../../cli/fleet/recovery";
import { built } from "../../service/child";

const root = resolve(__dirname, "../../..");
/** No process has an id as high as these. */
const [ended, alsoEnded] = [2 ** 22 + 1, 2 ** 22 + 2];

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-journal-"))));
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const past = (change: Partial<Run> = {}): Run => ({
  ...{ id: "r1", command: "up", pid: ended, host: "here", startedAt: "2026-01-01T00:00:00Z" },
  unfinished: { "acme-prod": [ended] },
  ...change,
});

/** A run before; `silentMs`: it holds its lock, and refreshed it that long ago. */
function write(run: Run, silentMs?: number): void {
  const file = join(folder, "runs", `${run.id}.json`);
  mkdirSync(join(folder, "runs"), { recursive: true });
  writeFileSync(file, JSON.stringify(run));
  if (silentMs === undefined) return;
  const at = (Date.now() - silentMs) / 1000;
  mkdirSync(`${file}.lock`);
  utimesSync(`${file}.lock`, at, at);
}

const records = (): Run[] =>
  readdirSync(join(folder, "runs"))
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, "runs", file), "utf8")) as Run);

const open = (): Promise<Journal> => Journal.open(folder, "up");

test("a run writes down what it begins, and leaves nothing when all has ended", async () => {
  const journal = await open();
  await journal.begin("acme-prod", { changes: true });
  await journal.begin("acme-test", { changes: true });
  journal.started("acme-test", 4711);
  journal.end("acme-prod");
  expect(records()).toMatchObject([{ command: "up", pid: process.pid, unfinished: { "acme-test": [4711] } }]);
  expect(records()[0]!.unfinished).not.toHaveProperty("acme-prod");
  journal.end("acme-test");
  await journal.close();
  expect(readdirSync(join(folder, "runs"))).toEqual([]);
});

test("what a run does not finish is left to the next one, with the processes that it started", async () => {
  const first = await open();
  await first.begin("acme-prod", { changes: true });
  first.started("acme-prod", ended);
  await first.close();
  const second = await open();
  await second.begin("acme-prod", { changes: true });
  expect(second.left).toEqual(new Set(["acme-prod"]));
  expect(records()).toMatchObject([{ id: second.own.id, unfinished: { "acme-prod": [ended] } }]);
  await second.close();
});

test("a run that changes nothing leaves nothing unfinished, but what a killed one had left", async () => {
  write(past());
  const journal = await open();
  await journal.begin("acme-prod", { changes: false });
  await journal.begin("acme-test", { changes: false });
  expect(journal.own.unfinished).toEqual({ "acme-prod": [ended] });
  await journal.close();
  expect(records()).toMatchObject([{ unfinished: { "acme-prod": [ended] } }]);
});

const silences: [string, number | undefined, boolean][] = [
  ["that holds no lock is dead", undefined, true],
  ["that refreshed its lock a moment ago is at work, on whatever machine", 0, false],
  ["that was silent for long is dead", 10_000, true],
];

test.each(silences)("a run %s", async (_, silentMs, isDead) => {
  const journal = await open();
  write(past({ host: "there" }), silentMs);
  expect((await journal.deadRuns()).map(({ id }) => id)).toEqual(isDead ? ["r1"] : []);
  await journal.close();
});

test("a run that was killed a moment ago shows that it is dead before its stacks are touched", async () => {
  const journal = await open();
  write(past(), 5_000);
  expect(await journal.deadRuns(["acme-test"])).toEqual([]);
  expect(await journal.deadRuns(["acme-prod"])).toMatchObject([{ id: "r1" }]);
  await journal.close();
});

/** A process of a dead run that does not end on Ctrl-C, but says that it was interrupted. */
async function stubborn(run: string): Promise<{ child: ChildProcess; said: () => string }> {
  const code = `process.on("SIGINT", () => console.log("interrupted")); setInterval(() => {}, 1000); console.log("ready");`;
  const child = spawn(process.execPath, ["-e", code], { env: { ...process.env, [markName]: run }, detached: true });
  children.push(child);
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  await once(child.stdout, "data");
  return { child, said: () => said.replaceAll("\n", " ").trim() };
}

test("what is left of a dead run is interrupted first, by its Pulumi, and killed when it does not end", async () => {
  const [pulumi, plugin] = [await stubborn("r1"), await stubborn("r1")];
  const run = past({ unfinished: { "acme-prod": [ended, pulumi.child.pid!] } });
  expect(remainsOf(run).sort()).toEqual([pulumi.child.pid, plugin.child.pid].sort());
  expect(await endRemains(run, { interrupted: 1_000, killed: 10_000 })).toBe(true);
  expect([pulumi.said(), plugin.said()]).toEqual(["ready interrupted", "ready"]);
  expect(remainsOf(run)).toEqual([]);
});

test("a stack that is as it should be is forgotten, others are not", async () => {
  write(past({ unfinished: { "acme-prod": [], "acme-test": [] } }));
  const journal = await open();
  await journal.begin("acme-prod", { changes: true });
  journal.end("acme-prod");
  expect(await journal.deadRuns()).toMatchObject([{ id: "r1", unfinished: { "acme-test": [] } }]);
  await journal.begin("acme-test", { changes: true });
  journal.end("acme-test");
  await journal.close();
  expect(records()).toEqual([]);
});

describe("two runs at a time", () => {
  beforeAll(built, 120_000);

  test("each settles stacks of its own, and nothing of the dead run comes back", async () => {
    const names = ["a", "b", "c", "d"].map((letter) => Array.from({ length: 25 }, (_, index) => `${letter}${index}`));
    write(past({ unfinished: Object.fromEntries(names.flat().map((name) => [name, []])) }));
    const program = `const { Journal } = require(${JSON.stringify(join(root, "dist/cli/fleet/journal.js"))});
      const [folder, ...stacks] = process.argv.slice(1);
      (async () => {
        const journal = await Journal.open(folder, "up");
        for (const one of stacks) {
          await journal.begin(one, { changes: true });
          journal.end(one);
        }
        await journal.close();
        if (journal.left.size !== stacks.length) throw new Error("somebody else took what was left");
      })();`;
    const all = names.map((stacks) => promisify(execFile)(process.execPath, ["-e", program, folder, ...stacks]));
    await Promise.all(all);
    expect(readdirSync(join(folder, "runs"))).toEqual([]);
    expect(readdirSync(folder)).toEqual(["runs"]);
  }, 60_000);

  test("none begins with a stack while the other one looks at its lock, and clears it", async () => {
    const [one, other] = [await open(), await open()];
    let begun: Promise<void> | undefined;
    await one.exclusively(async () => {
      begun = other.begin("acme-prod", { changes: true });
      await new Promise((done) => setTimeout(done, 200)); // without a lock it would have begun by now
      expect(other.own.unfinished).toEqual({});
    });
    await begun;
    expect(await one.othersAt("acme-prod")).toMatchObject([{ id: other.own.id }]);
    for (const journal of [one, other]) await journal.close();
  });

  test("a lock of a dead run is not cleared where another one has begun meanwhile", async () => {
    write(past());
    const journal = await open();
    await journal.begin("acme-prod", { changes: true });
    expect(await mayClear("acme-prod", holdersOf(locked(hostname(), ended)), journal)).toBe(true);
    write(past({ id: "r2" }), 0);
    expect(await mayClear("acme-prod", holdersOf(locked(hostname(), ended)), journal)).toBe(false);
    await journal.close();
  });
});

const locked = (host: string, pid: number): string =>
  `error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with \`pulumi cancel\`.\n` +
  `  file:///state/.pulumi/locks/organization/fleet/acme-prod/x.json: created by jo@${host} (pid ${pid}) at 2026-01-02T03:04:05Z`;

test("who holds a lock is read from what Pulumi says", () => {
  expect(isLocked(locked("here", 5))).toBe(true);
  expect(isLocked("error: no stack named 'x' found")).toBe(false);
  expect(holdersOf(locked("here", 5))).toEqual([{ user: "jo", host: "here", pid: 5, since: "2026-01-02T03:04:05Z" }]);
});

const here = hostname();
const locks: [string, Partial<Run>, number | undefined, string, boolean][] = [
  ["of a dead run of ours, whose Pulumi has ended", {}, undefined, locked(here, ended), true],
  ["of a dead run of ours, whose Pulumi was started by another program", {}, undefined, locked(here, alsoEnded), true],
  ["whose Pulumi is still there", {}, undefined, locked(here, process.pid), false],
  ["of a run that is at work", {}, 0, locked(here, ended), false],
  ["of another machine", {}, undefined, locked("there", ended), false],
  ["of nobody that we know of", { unfinished: { "acme-test": [ended] } }, undefined, locked(here, ended), false],
  ["of nobody that is named", {}, undefined, "[409] Conflict: Another update is currently in progress.", false],
];

test.each(locks)("a lock %s", async (_, change, silentMs, text, expected) => {
  write(past(change), silentMs);
  const journal = await open();
  await journal.begin("acme-prod", { changes: true });
  expect(await mayClear("acme-prod", holdersOf(text), journal)).toBe(expected);
  await journal.close();
});

test("a lock of a dead run of which something is left", async () => {
  write(past());
  await stubborn("r1");
  const journal = await open();
  await journal.begin("acme-prod", { changes: true });
  expect(await mayClear("acme-prod", holdersOf(locked(here, ended)), journal)).toBe(false);
  await journal.close();
});

test("what is said of a lock: who has it, since when, and what to do", async () => {
  write(past({ pid: 100 }), 0);
  const journal = await open();
  const message = await lockedMessage("acme-prod", holdersOf(locked("there", 5)), journal, "/work");
  expect(message).toContain("a fleet run (up) of process 100 on here");
  expect(message).toContain("jo@there, process 5, since 2026-01-02T03:04:05Z");
  expect(message).toContain("pulumi cancel --yes --stack acme-prod (in /work)");
  await journal.close();
});

test("attributes that a kill left half-written are dropped, all others stay", () => {
  const state = join(folder, "state/.pulumi/stacks/fleet");
  mkdirSync(state, { recursive: true });
  for (const [name, text] of Object.entries({ "a.json.attrs": "", "b.json.attrs": "{}", "c.json": "" }))
    writeFileSync(join(state, name), text);
  dropTornAttributes(join(folder, "state/.pulumi"));
  expect(readdirSync(state)).toEqual(["b.json.attrs", "c.json"]);
});
