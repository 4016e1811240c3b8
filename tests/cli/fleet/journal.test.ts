import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Journal, type Machine, type Run } from "../../../cli/fleet/journal";
import { holdersOf, isLocked, lockedMessage, mayClear } from "../../../cli/fleet/locks";
import { thisMachine } from "../../../cli/fleet/processes";
import { dropTornAttributes } from "../../../cli/fleet/recovery";
import { built } from "../../service/child";

const root = resolve(__dirname, "../../..");

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-journal-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Processes by id: when they began; `left`: what remains of which run. */
function machine(processes: Record<number, string> = {}, left: Record<string, number[]> = {}) {
  const signals: [number, string][] = [];
  let now = Date.now();
  const made: Machine = {
    ...{ host: "here", boot: "b1" },
    beginningOf: (pid) => (pid === process.pid ? "now" : processes[pid]),
    remainsOf: (run) => left[run] ?? [],
    leadersOf: (pids) => pids.slice(0, 1),
    signal: (pid, name) => {
      signals.push([pid, name]);
      if (name === "SIGKILL") for (const run of Object.keys(left)) left[run] = left[run]!.filter((one) => one !== pid);
    },
    now: () => now,
    sleep: (ms) => Promise.resolve(void (now += ms)),
  };
  return { made, signals };
}

const past = (change: Partial<Run> = {}): Run => ({
  ...{ id: "r1", command: "up", pid: 100, began: "then", host: "here", boot: "b1", startedAt: "2026-01-01T00:00:00Z" },
  unfinished: ["acme-prod"],
  ...change,
});

function journalWith(run: Run, { made } = machine()): Journal {
  const journal = new Journal(folder, made);
  writeFileSync(join(folder, "runs", `${run.id}.json`), JSON.stringify(run));
  return journal;
}

test("a run writes down what it begins, and leaves nothing when all has ended", async () => {
  const journal = new Journal(folder, machine().made);
  const own = journal.open("up");
  await own.begin("acme-prod");
  await own.begin("acme-test");
  own.end("acme-prod");
  expect(journal.runs()).toMatchObject([{ command: "up", pid: process.pid, unfinished: ["acme-test"] }]);
  expect(journal.verdict(journal.runs()[0]!)).toBe("alive");
  own.end("acme-test");
  own.close();
  expect(journal.runs()).toEqual([]);
});

const verdicts: [string, Partial<Run>, Record<number, string>, string][] = [
  ["its process is there", {}, { 100: "then" }, "alive"],
  ["its process has ended", {}, {}, "dead"],
  ["its id belongs to another process now", {}, { 100: "later" }, "dead"],
  ["it is on another machine", { host: "there" }, {}, "elsewhere"],
  ["it was on this one before its last start, or in another container, a moment ago", { boot: "b0" }, {}, "elsewhere"],
];

test.each(verdicts)("%s", (_, change, processes, expected) => {
  const run = past(change);
  expect(journalWith(run, machine(processes)).verdict(run)).toBe(expected);
});

test("a run of a machine that was started anew is dead once it has been silent", async () => {
  const { made } = machine();
  const run = past({ boot: "b0" });
  const journal = journalWith(run, { made, signals: [] });
  await made.sleep(61_000);
  expect(journal.verdict(run)).toBe("dead");
});

test("what is left of a dead run is interrupted first, by its leader, and killed when it does not end", async () => {
  const { made, signals } = machine({}, { r1: [7, 8] });
  expect(await journalWith(past(), { made, signals }).endRemains(past())).toBe(true);
  expect(signals).toEqual([
    [7, "SIGINT"],
    [7, "SIGKILL"],
    [8, "SIGKILL"],
  ]);
});

test("a stack that is as it should be is forgotten, others are not", async () => {
  const journal = journalWith(past({ unfinished: ["acme-prod", "acme-test"] }));
  await journal.settle("acme-prod");
  expect(journal.runs()).toMatchObject([{ unfinished: ["acme-test"] }]);
  await journal.settle("acme-test");
  expect(journal.runs()).toEqual([]);
});

describe("two runs at a time", () => {
  beforeAll(built, 120_000);

  test("each settles stacks of its own, and nothing of the dead run comes back", async () => {
    const names = ["a", "b", "c", "d"].map((letter) => Array.from({ length: 25 }, (_, index) => `${letter}${index}`));
    const journal = journalWith(past({ unfinished: names.flat(), pid: 2 ** 22 + 1, ...thisMachine() }));
    const program = `const { Journal } = require(${JSON.stringify(join(root, "dist/cli/fleet/journal.js"))});
      const [folder, ...stacks] = process.argv.slice(1);
      (async () => { for (const one of stacks) await new Journal(folder).settle(one); })();`;
    const all = names.map((stacks) => promisify(execFile)(process.execPath, ["-e", program, folder, ...stacks]));
    await Promise.all(all);
    expect(journal.runs()).toEqual([]);
    expect(readdirSync(folder)).toEqual(["runs"]);
  });

  test("none begins with a stack while the other one looks at its lock, and clears it", async () => {
    const [one, other] = [new Journal(folder, machine().made), new Journal(folder, machine().made)];
    const own = other.open("up");
    let begun: Promise<void> | undefined;
    await one.exclusively(async () => {
      begun = own.begin("acme-prod");
      await new Promise(setImmediate); // without a lock it would have begun by now
      expect(one.runs()).toMatchObject([{ unfinished: [] }]);
    });
    await begun;
    expect(one.runs()).toMatchObject([{ unfinished: ["acme-prod"] }]);
  });

  test("a lock of a dead run is not cleared where another one has begun meanwhile", () => {
    const both = machine({ 200: "then" });
    const journal = journalWith(past(), both);
    expect(mayClear("acme-prod", holdersOf(locked("here", 5)), journal)).toBe(true);
    journalWith(past({ id: "r2", pid: 200 }), both);
    expect(mayClear("acme-prod", holdersOf(locked("here", 5)), journal)).toBe(false);
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

const locks: [string, Partial<Run>, Record<number, string>, Record<string, number[]>, string, boolean][] = [
  ["of a dead run of ours, whose Pulumi has ended", {}, {}, {}, locked("here", 5), true],
  ["whose Pulumi is still there", {}, { 5: "x" }, {}, locked("here", 5), false],
  ["of a dead run of which something is left", {}, {}, { r1: [9] }, locked("here", 5), false],
  ["of a run that is at work", {}, { 100: "then" }, {}, locked("here", 5), false],
  ["of another machine", {}, {}, {}, locked("there", 5), false],
  ["of nobody that we know of", { unfinished: ["acme-test"] }, {}, {}, locked("here", 5), false],
  ["of nobody that is named", {}, {}, {}, "[409] Conflict: Another update is currently in progress.", false],
];

test.each(locks)("a lock %s", (_, change, processes, left, text, expected) => {
  const journal = journalWith(past(change), machine(processes, left));
  expect(mayClear("acme-prod", holdersOf(text), journal)).toBe(expected);
});

test("what is said of a lock: who has it, since when, and what to do", () => {
  const journal = journalWith(past(), machine({ 100: "then" }));
  const message = lockedMessage("acme-prod", holdersOf(locked("there", 5)), journal, "/work");
  expect(message).toContain("a fleet run (up) of process 100 on here");
  expect(message).toContain("jo@there, process 5, since 2026-01-02T03:04:05Z");
  expect(message).toContain("pulumi cancel --yes --stack acme-prod (in /work)");
});

test("attributes that a kill left half-written are dropped, all others stay", () => {
  const state = join(folder, "state/.pulumi/stacks/fleet");
  mkdirSync(state, { recursive: true });
  for (const [name, text] of Object.entries({ "a.json.attrs": "", "b.json.attrs": "{}", "c.json": "" }))
    writeFileSync(join(state, name), text);
  dropTornAttributes(join(folder, "state/.pulumi"));
  expect(readdirSync(state)).toEqual(["b.json.attrs", "c.json"]);
});
