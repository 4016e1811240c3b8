import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import {
  endProcesses,
  type RunRecord,
  holdersOf,
  isLocked,
  RunLocks,
  markName,
  mayClear,
  processesOf,
} from "../../fleet/run-locks";
import { built } from "../service/child";

const root = resolve(__dirname, "../..");
const dead = randomUUID();
/** No process has an id as high as this. */
const ended = 2 ** 22 + 1;

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-journal-"))));
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const past = (change: Partial<RunRecord> = {}): RunRecord => ({
  id: dead,
  user: "jo",
  pid: ended,
  host: "there",
  since: "2026-01-01T00:00:00Z",
  ...change,
});

/** What a run wrote down before; `silentMs`: it holds the lock of the stack, and renewed it that long ago. */
function write(entry: RunRecord, { stack = "acme-prod", silentMs }: { stack?: string; silentMs?: number } = {}): void {
  const file = join(folder, "journal", `${stack}.json`);
  mkdirSync(join(folder, "journal"), { recursive: true });
  writeFileSync(file, JSON.stringify(entry));
  if (silentMs === undefined) return;
  const at = (Date.now() - silentMs) / 1000;
  mkdirSync(`${file}.lock`);
  utimesSync(`${file}.lock`, at, at);
}

/** Locks are stale after three seconds instead of ten. */
const open = (): RunLocks => new RunLocks(folder, 3_000);
const files = (): string[] => readdirSync(join(folder, "journal"));
const changing = { changes: true };

test("a run writes down what it begins, and leaves nothing when all has ended", async () => {
  const locks = open();
  await locks.begin("acme-prod", changing);
  await locks.begin("acme-test", changing);
  expect(locks.recordOf("acme-prod")).toMatchObject({ host: hostname(), pid: process.pid });
  expect(locks.recordOf("acme-test")).toMatchObject({ id: locks.markOf("acme-test") });
  for (const stack of ["acme-prod", "acme-test"]) await locks.end(stack, { settled: true });
  await locks.close();
  expect(files()).toEqual([]);
  expect(locks.unfinished).toEqual(new Set());
});

test("what a run does not finish is left to the next one", async () => {
  const first = open();
  await first.begin("acme-prod", changing);
  await first.end("acme-prod", { settled: false });
  const second = open();
  await second.begin("acme-prod", changing);
  expect(second.unfinished).toEqual(new Set(["acme-prod"]));
  expect(second.recordOf("acme-prod")).toMatchObject({ id: second.markOf("acme-prod") });
  await second.close();
  expect(files()).toEqual(["acme-prod.json"]);
});

test("a run that changes nothing writes nothing down, and leaves what a killed one had left", async () => {
  write(past());
  const locks = open();
  await locks.begin("acme-prod", { changes: false });
  await locks.begin("acme-test", { changes: false });
  expect(locks.unfinished).toEqual(new Set(["acme-prod"]));
  await locks.end("acme-prod", { settled: false });
  expect(files()).toEqual(["acme-prod.json"]);
  expect(locks.recordOf("acme-prod")).toEqual(past());
});

test.each([
  ["whose lock nobody holds", undefined],
  ["whose lock was not renewed for long", 20_000],
  ["whose lock will be stale in a moment", 2_500],
])("a record %s is one of a dead run", async (_, silentMs) => {
  write(past(), { silentMs });
  const locks = open();
  expect(await locks.recover(["acme-prod"])).toBe(true);
  expect(locks.unfinished).toEqual(new Set(["acme-prod"]));
  await locks.close();
});

describe("a run at work, on whatever machine", () => {
  let renewing: NodeJS.Timeout;
  let locks: RunLocks;
  beforeEach(() => {
    write(past(), { silentMs: 0 });
    const lock = join(folder, "journal/acme-prod.json.lock");
    renewing = setInterval(() => utimesSync(lock, new Date(), new Date()), 500);
    locks = open();
  });
  afterEach(async () => {
    clearInterval(renewing);
    await locks.close();
  });

  test("keeps its stack from those who would change it, too, but not from those who look", async () => {
    const looking = open();
    const refused = expect(locks.begin("acme-prod", changing)).rejects.toThrow(
      /^the stack is locked by jo@there, process \d+, since 2026.*Wait until/,
    );
    await Promise.all([refused, looking.begin("acme-prod", { changes: false }), looking.begin("acme-test", changing)]);
    expect(looking.unfinished).toEqual(new Set());
    expect(looking.recordOf("acme-prod")).toEqual(past());
    await looking.close();
  }, 30_000);

  test("is no reason to look for what kills left", async () => {
    expect(await locks.recover(["acme-test"])).toBe(false);
    write(past(), { stack: "acme-other" });
    expect(await locks.recover(["acme-test"])).toBe(true);
  });
});

/** A process of a dead run that does not end on Ctrl-C, but says that it was interrupted. */
async function stubborn(run: string, title: string): Promise<{ child: ChildProcess; said: () => string }> {
  const code = `process.title = "${title}"; process.on("SIGINT", () => console.log("interrupted"));
    setInterval(() => {}, 1000); console.log("ready");`;
  const child = spawn(process.execPath, ["-e", code], { env: { ...process.env, [markName]: run }, detached: true });
  children.push(child);
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  await once(child.stdout, "data");
  return { child, said: () => said.replaceAll("\n", " ").trim() };
}

test("what is left of a dead run is interrupted first, if it is Pulumi, and killed when it does not end", async () => {
  const [pulumi, plugin] = [await stubborn(dead, "pulumi"), await stubborn(dead, "pulumi-language")];
  expect(processesOf(past()).sort()).toEqual([pulumi.child.pid, plugin.child.pid].sort());
  expect(await endProcesses(past(), { interrupted: 1_000, killed: 10_000 })).toBe(true);
  expect([pulumi.said(), plugin.said()]).toEqual(["ready interrupted", "ready"]);
  expect(processesOf(past())).toEqual([]);
});

test("what is left of a dead run has ended before its stack is begun again", async () => {
  write(past());
  await stubborn(dead, "plugin");
  const locks = open();
  await locks.begin("acme-prod", changing);
  expect(processesOf(past())).toEqual([]);
  await locks.close();
});

describe("two runs at a time", () => {
  beforeAll(built);

  test("each settles stacks of its own, and nothing of the dead run comes back", async () => {
    const names = ["a", "b", "c", "d"].map((letter) => Array.from({ length: 25 }, (_, index) => `${letter}${index}`));
    for (const stack of names.flat()) write(past(), { stack });
    const program = `const { RunLocks } = require(${JSON.stringify(join(root, "fleet/dist/run-locks.js"))});
      const [folder, ...stacks] = process.argv.slice(1);
      (async () => {
        const locks = new RunLocks(folder, 3_000);
        await locks.recover(stacks);
        for (const one of stacks) {
          await locks.begin(one, { changes: true });
          await locks.end(one, { settled: true });
        }
        await locks.close();
        if (locks.unfinished.size !== stacks.length) throw new Error("somebody else took what was left");
      })();`;
    const all = names.map((stacks) => promisify(execFile)(process.execPath, ["-e", program, folder, ...stacks]));
    await Promise.all(all);
    expect(files()).toEqual([]);
    expect(readdirSync(folder)).toEqual(["journal"]);
  }, 60_000);

  test("none begins with a stack while the other one is at work on it, and may clear its lock", async () => {
    const [one, other] = [open(), open()];
    await one.begin("acme-prod", changing);
    let hasBegun = false;
    const begun = other.begin("acme-prod", changing).then(() => (hasBegun = true));
    await new Promise((done) => setTimeout(done, 500)); // without a lock it would have begun by now
    expect(hasBegun).toBe(false);
    await one.end("acme-prod", { settled: true });
    await begun;
    expect(other.recordOf("acme-prod")).toMatchObject({ id: other.markOf("acme-prod") });
    await other.close();
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
const locks: [string, string, string, boolean][] = [
  ["of a dead run of ours, whose Pulumi has ended", "acme-prod", locked(here, ended), true],
  ["whose Pulumi is still there", "acme-prod", locked(here, process.pid), false],
  ["of another machine", "acme-prod", locked("there", ended), false],
  ["of nobody that we know of", "acme-test", locked(here, ended), false],
  ["of nobody that is named", "acme-prod", "[409] Conflict: Another update is currently in progress.", false],
];

test.each(locks)("a lock %s", async (_, stack, text, expected) => {
  write(past(), { stack });
  const locks = open();
  await locks.begin("acme-prod", changing);
  expect(mayClear("acme-prod", holdersOf(text), locks)).toBe(expected);
  await locks.close();
});

test("a lock of a run that is at work is never cleared", async () => {
  write(past({ pid: 100 }), { silentMs: 0 });
  const locks = open();
  expect(mayClear("acme-prod", holdersOf(locked(here, ended)), locks)).toBe(false);
  await locks.close();
});
