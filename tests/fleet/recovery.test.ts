import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { findPulumi, pathsIn, workspaceIn } from "../../fleet/pulumi";
import {
  begin,
  type Begun,
  dropTornAttributes,
  endProcesses,
  haveEnded,
  holdersOf,
  isAnyOpen,
  leftoversOf,
  markOf,
  processesOf,
  recordOf,
} from "../../fleet/recovery";
import { built } from "../service/child";
import { setEnvironment } from "../support/service";
import { unreaped } from "../support/unreaped";
import { temporary, writeIn } from "./made";
import { StubPulumi } from "./stub-pulumi";

/* How active runs are told from killed ones, and what a killed run leaves behind. */

const root = resolve(__dirname, "../..");
/** No process has an id as high as this. */
const ended = 2 ** 22 + 1;
const past = { user: "jo", pid: ended, host: "there", since: "2026-01-01T00:00:00Z" };

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = temporary();
  mkdirSync(join(folder, "journal"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** The remains of a killed run. `silentMs`: how long ago it last renewed its lock of the stack. */
function write({ stack = "acme-prod", silentMs }: { stack?: string; silentMs?: number } = {}): string {
  const file = recordOf(folder, stack);
  writeFileSync(file, JSON.stringify(past));
  if (silentMs === undefined) return file;
  const at = (Date.now() - silentMs) / 1000;
  mkdirSync(`${file}.lock`);
  utimesSync(`${file}.lock`, at, at);
  return file;
}

/** Locks are stale after three seconds instead of ten. */
const begins = (stack = "acme-prod", changes = true): Promise<Begun> => begin(recordOf(folder, stack), changes, 3_000);
const files = (): string[] => readdirSync(join(folder, "journal"));

test("a run records what it begins; the records of what has ended go, and others are left to the next run", async () => {
  const begun = [await begins(), await begins("acme-test")];
  expect(begun.map(({ isContinued }) => isContinued)).toEqual([false, false]);
  const record = JSON.parse(readFileSync(recordOf(folder, "acme-prod"), "utf8")) as unknown;
  expect(record).toMatchObject({ host: hostname(), pid: process.pid });
  for (const [at, one] of begun.entries()) await one.end(at === 1);
  for (const hasEnded of [false, true]) {
    expect([files(), isAnyOpen(folder)]).toEqual([["acme-prod.json"], true]);
    const next = await begins();
    expect(next.isContinued).toBe(true);
    await next.end(hasEnded);
  }
  expect([files(), isAnyOpen(folder)]).toEqual([[], false]);
});

test("a run without changes records nothing, and keeps the records of a killed one", async () => {
  const record = write();
  const looking = await begins("acme-prod", false);
  expect(looking.isContinued).toBe(true);
  expect(await begins("acme-test", false)).toMatchObject({ isContinued: false });
  await looking.end(true);
  expect(files()).toEqual(["acme-prod.json"]);
  expect(JSON.parse(readFileSync(record, "utf8"))).toEqual(past);
});

test.each([
  ["whose lock nobody holds", undefined],
  ["whose lock was not renewed for long", 20_000],
  ["whose lock will be stale in a moment", 2_500],
])("a record %s belongs to a dead run", async (_, silentMs) => {
  write({ silentMs });
  const begun = await begins();
  expect(begun.isContinued).toBe(true);
  await begun.end(true);
});

test("an active run on any machine locks its stack against changes, but not against previews", async () => {
  const record = write({ silentMs: 0 });
  const renewing = setInterval(() => utimesSync(`${record}.lock`, new Date(), new Date()), 500);
  const refused = expect(begins()).rejects.toMatchObject({
    code: "stack-locked",
    message: expect.stringMatching(/^the stack is locked by jo@there \(process \d+\) since 2026.*Wait until/) as string,
  });
  expect(await begins("acme-prod", false)).toMatchObject({ isContinued: false });
  await refused;
  expect(JSON.parse(readFileSync(record, "utf8"))).toEqual(past);
  clearInterval(renewing);
});

/** A process of a dead run that does not end on Ctrl-C. */
async function stubborn(record: string): Promise<void> {
  const code = `process.on("SIGINT", () => {}); setInterval(() => {}, 1000); console.log("ready");`;
  const env = { ...process.env, ...markOf(record) };
  const child = spawn(process.execPath, ["-e", code], { env, detached: true });
  children.push(child);
  await once(child.stdout, "data");
}

test("a dead run's processes end before its stack is begun again, and no others do", async () => {
  const [record, other] = [write(), write({ stack: "acme-prod.json" })];
  for (const one of [record, record, other]) await stubborn(one);
  expect(processesOf(markOf(record))).toHaveLength(2);
  const begun = await begins();
  expect([processesOf(markOf(record)), processesOf(markOf(other))]).toEqual([[], [children[2]!.pid]]);
  await begun.end(true);
  await endProcesses(markOf(other));
  expect(processesOf(markOf(other))).toEqual([]);
});

describe("two runs at a time", () => {
  beforeAll(built);

  test("each recovers different stacks, and no record of the dead run returns", async () => {
    const names = ["a", "b", "c", "d"].map((letter) => Array.from({ length: 25 }, (_, index) => `${letter}${index}`));
    for (const stack of names.flat()) write({ stack });
    const program = `const { begin, recordOf } = require(${JSON.stringify(join(root, "fleet/dist/recovery.js"))});
      const [folder, ...stacks] = process.argv.slice(1);
      (async () => {
        for (const one of stacks) {
          const { isContinued, end } = await begin(recordOf(folder, one), true, 3_000);
          if (!isContinued) throw new Error("somebody else took what was left");
          await end(true);
        }
      })();`;
    const all = names.map((stacks) => promisify(execFile)(process.execPath, ["-e", program, folder, ...stacks]));
    await Promise.all(all);
    expect(files()).toEqual([]);
    expect(readdirSync(folder)).toEqual(["journal"]);
  });

  test("neither begins a stack that the other one is changing", async () => {
    const one = await begins();
    let hasBegun = false;
    const other = begins().finally(() => (hasBegun = true));
    await (await begins("acme-test")).end(true); // without the lock, the other one would have begun by now
    expect(hasBegun).toBe(false);
    await one.end(true);
    await (await other).end(true);
  });
});

const locked = (host: string, pid: number): string =>
  `error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with \`pulumi cancel\`.\n` +
  `  file:///state/.pulumi/locks/organization/fleet/acme-prod/x.json: created by jo@${host} (pid ${pid}) at 2026-01-02T03:04:05Z`;

test("the holder of a lock is read from Pulumi's message", () => {
  const text = locked("here", 5);
  expect(holdersOf(`${text}\n${text}`)).toEqual([{ user: "jo", host: "here", pid: 5, since: "2026-01-02T03:04:05Z" }]);
});

const here = hostname();
test.each<[string, string, boolean]>([
  ["whose Pulumi has ended", locked(here, ended), true],
  ["whose Pulumi is still there", locked(here, process.pid), false],
  ["of another user's Pulumi", locked(here, 1), false],
  ["of another machine", locked("there", ended), false],
  ["of which one holder has ended", `${locked(here, ended)}\n${locked(here, process.pid)}`, false],
  ["of nobody that is named", "[409] Conflict: Another update is currently in progress.", false],
])("a lock %s", (_, text, expected) => {
  expect(haveEnded(holdersOf(text))).toBe(expected);
});

if (process.platform === "linux")
  test("a lock of a zombie process", async () => {
    const { pid, end } = await unreaped();
    const hasEnded = haveEnded(holdersOf(locked(here, pid)));
    end();
    expect(hasEnded).toBe(true);
  });

const begun = (attempt: string, path: string, name?: string) => ({
  begun: { attempt, path, name, before: [], key: "salt:key", at: 0 },
});
const made = (attempt: string, id: string) => ({ made: attempt, id });

test("objects that killed runs created and no state has are named, unless they were deleted with their parent", () => {
  const memberships = "/consortia/c-held/memberships";
  const log = (stack: string, name: string, ...all: object[]) =>
    writeIn(folder, `creates/+fleet+${stack}/${name}.jsonl`, all.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const held = [begun("1", "/consortia", "held"), made("1", "c-held")];
  const ours = [begun("2", "/consortia", "ours"), made("2", "c-ours")];
  log("acme-test", "first", ...held, ...ours, begun("3", memberships, "acme"), made("3", "m-ours"));
  log("acme-test", "second", begun("4", "/consortia", "maybe"), begun("5", memberships));
  log("acme-test-2", "first", begun("6", "/consortia", "others"));
  const [consortium, member] = [`/consortia/c-ours ("ours")`, `${memberships}/m-ours ("acme")`];
  const left = (...own: string[]) => leftoversOf(join(folder, "creates"), "acme-test", ["/consortia/c-held"], own);
  const open = [`/consortia ("maybe")`, memberships];
  expect(left("/consortia/c-held")).toEqual({ certain: [consortium, member], open });
  expect(left("/consortia/c-held", "/consortia/c-ours")).toEqual({ certain: [member], open });
  expect(left()).toEqual({ certain: [consortium], open: open.slice(0, 1) });
});

test("the paths of objects in a state, read concurrently; a missing stack has none", async () => {
  const pulumi = new StubPulumi(join(folder, "stub"));
  setEnvironment(pulumi.env);
  pulumi.stacks = { "fleet/acme-test": { tags: {}, networks: ["trade"], ids: ["c1", "m1"] } };
  writeFileSync(join(folder, "Pulumi.yaml"), "name: fleet\n");
  const workspace = await workspaceIn(folder, pulumi.env, await findPulumi());
  const all = await Promise.all(Array.from({ length: 6 }, () => pathsIn("acme-test", workspace)));
  expect(all).toEqual(all.map(() => ["/consortia/c1", "/consortia/m1"]));
  expect(await pathsIn("acme-other", workspace)).toEqual([]);
});

test("attributes files that a kill left empty are deleted, others stay", () => {
  const state = join(folder, "state/.pulumi/stacks/fleet");
  for (const [name, text] of Object.entries({ "a.json.attrs": "", "b.json.attrs": "{}", "c.json": "" }))
    writeIn(state, name, text);
  dropTornAttributes(`file://${folder}/state`);
  expect(readdirSync(state)).toEqual(["b.json.attrs", "c.json"]);
});
