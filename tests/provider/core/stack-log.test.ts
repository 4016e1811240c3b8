import { readdirSync, readFileSync, utimesSync } from "node:fs";
import os from "node:os";
import { dirname, join } from "node:path";
import { type LoggedCreate } from "../../../provider/core/create-log";
import { type Line, StackLog } from "../../../provider/pulumi/stack-log";
import { temporary, writeIn } from "../../fleet/made";
import { setEnvironment } from "../../support/service";

/* The logs of one user's stacks on one machine: whose file is whose, what a run reads of the others, and what stays when it ends. */

const { argv } = process;
let home: string;
beforeEach(() => {
  home = temporary();
  setEnvironment({ XDG_STATE_HOME: home });
});
afterEach(() => void (process.argv = argv));

interface Whose {
  organization?: string;
  project?: string;
  stack?: string;
  /** Processes with the same number belong to one run. */
  run?: number;
}

/** The log of one process. */
function logOf({ project = "trade", stack = "test", run, ...more }: Whose = {}, said: string[] = []): StackLog {
  process.argv = run === undefined ? argv : [...argv, `127.0.0.1:${run}`];
  const log = new StackLog((line) => void said.push(line));
  log.nameStack({ project, stack, ...more });
  return log;
}

const create = (attempt: string, change: Partial<LoggedCreate> = {}): LoggedCreate => ({
  attempt,
  path: "/consortia",
  name: "c",
  before: [],
  key: "k",
  at: 1,
  ...change,
});

/** What a process logs of one create. */
const lines = (attempt: string, { id, ...change }: Partial<LoggedCreate> = {}): Line[] => [
  { begun: create(attempt, change) },
  ...(id === undefined ? [] : [{ made: attempt, id }]),
];

function write(log: StackLog, ...all: Line[]): StackLog {
  for (const line of all) void log.write(line); // it is in the file at once
  return log;
}

const folder = (): string => join(home, "pulumi-consortium", "creates");
const files = (): string[] =>
  readdirSync(folder(), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder(), name));
const seenBy = (log: StackLog): string[] => log.before.interrupted.map(({ attempt }) => attempt);

describe("the folder", () => {
  const { platform } = process;
  afterEach(() => {
    Object.defineProperty(process, "platform", { value: platform });
    jest.restoreAllMocks();
  });

  test.each<[string, NodeJS.Platform, Record<string, string>, string]>([
    ["is Windows's own", "win32", { LOCALAPPDATA: "local" }, "local"],
    ["is below the home on Windows, too", "win32", { LOCALAPPDATA: "" }, "user/.local/state"],
    ["is no variable of Windows elsewhere", "linux", { LOCALAPPDATA: "local" }, "user/.local/state"],
  ])("of logs %s", (_, on, variables, expected) => {
    Object.defineProperty(process, "platform", { value: on });
    jest.spyOn(os, "homedir").mockReturnValue(join(home, "user"));
    const at = (name: string): string => (/^\w/.test(name) ? join(home, name) : name);
    const given = Object.entries(variables).map(([name, one]) => [name, one && at(one)] as const);
    setEnvironment({ XDG_STATE_HOME: undefined, ...Object.fromEntries(given) });
    write(logOf(), ...lines("1"));
    expect(readdirSync(join(home, expected, "pulumi-consortium", "creates"))).toHaveLength(1);
  });
});

describe("a stack", () => {
  test.each<[string, Whose, Whose, boolean]>([
    ["has one whether the engine tells its organization or not", { organization: "organization" }, {}, true],
    ["has none of another organization's", { organization: "acme" }, { organization: "globex" }, false],
    ["has none of another one's", {}, { stack: "other" }, false],
  ])("%s (%j, %j)", (_, first, second, same) => {
    write(logOf(first), ...lines("1"));
    expect(seenBy(logOf(second))).toEqual(same ? ["1"] : []);
  });

  test("is the one that the program names, also where a URN does so first or later", () => {
    write(logOf({ organization: "acme" }), ...lines("1"));
    const log = logOf();
    log.nameStack({ organization: "acme", project: "trade", stack: "test" });
    log.nameStack({ project: "trade", stack: "test" });
    expect(seenBy(log)).toEqual(["1"]);
  });

  test("without a name has no log", () => {
    const log = new StackLog(() => undefined);
    write(log, ...lines("1"));
    log.end(new Set());
    expect([log.before.interrupted, log.isMadeElsewhere("/consortia")]).toEqual([[], false]);
    expect(readdirSync(home)).toEqual([]);
  });
});

test("of a log that cannot be kept, the user hears once; afterwards nothing is written or read", () => {
  const blocked = writeIn(home, "file", "");
  setEnvironment({ XDG_STATE_HOME: blocked });
  const said: string[] = [];
  const log = write(logOf({}, said), ...lines("1"), ...lines("2"));
  expect(said).toEqual([expect.stringMatching(/^No log of creates is kept \(.*docs\/recovery\.md\.$/)]);
  setEnvironment({ XDG_STATE_HOME: home });
  write(log, ...lines("3"));
  expect([readdirSync(home), said.length]).toEqual([["file"], 1]);
});

describe("what a run finds", () => {
  test("is what other runs logged, in the order in which it was sent, also what a service left", () => {
    write(logOf(), ...lines("2", { at: 2 }), { left: create("4", { at: 4, id: "z" }) });
    write(logOf(), ...lines("1", { at: 1 }), ...lines("3", { at: 3 }));
    const log = logOf();
    expect(seenBy(log)).toEqual(["1", "2", "3", "4"]);
    expect(log.before.isContinued).toBe(true);
  });

  test("is the same as long as it goes on", () => {
    write(logOf(), ...lines("1"));
    const log = logOf();
    expect(seenBy(log)).toEqual(["1"]);
    write(logOf(), ...lines("2"));
    expect(seenBy(log)).toEqual(["1"]);
  });

  test("is in no file that is older than 30 days, and in no other one", () => {
    write(logOf(), ...lines("0"));
    const [first = ""] = files();
    const text = readFileSync(first, "utf8");
    const now = Date.now() / 1000;
    for (const days of [29.9, 30.1]) {
      const file = writeIn(dirname(first), `${days}.jsonl`, text.replaceAll('"0"', `"${days}"`));
      utimesSync(file, now, now - days * 24 * 3600);
    }
    writeIn(dirname(first), "notes.txt", text);
    expect(seenBy(logOf()).toSorted()).toEqual(["0", "29.9"]);
    expect(files()).toHaveLength(2);
  });

  test.each<[string, Whose, Partial<LoggedCreate>, boolean]>([
    ["another process of this run", { run: 1 }, { id: "x" }, true],
    ["another run", { run: 2 }, { id: "x" }, false],
    ["another process, of another object", { run: 1 }, { id: "y" }, false],
  ])("of an object that %s made (%j)", (_, whose, made, is) => {
    write(logOf(whose), ...lines("0"), ...lines("1", made));
    write(logOf({ run: 3 }), ...lines("2"));
    expect(logOf({ run: 1 }).isMadeElsewhere("/consortia/x")).toBe(is);
  });
});

describe("when a run ends as it should", () => {
  test("its log goes, and what a service left stays known", () => {
    const log = write(logOf({ run: 1 }), ...lines("1", { id: "x" }), { left: create("2", { id: "z" }) });
    log.end(new Set());
    expect(seenBy(logOf({ run: 2 }))).toEqual(["2"]);
    expect(seenBy(logOf({ run: 1 }))).toEqual([]);
  });

  test("but not while it still creates something", async () => {
    const log = write(logOf(), ...lines("1", { id: "x" }));
    const during = (): Promise<void> => Promise.resolve(log.end(new Set()));
    await log.creating(during);
    expect(files()).toHaveLength(1);
    await expect(log.creating(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await log.creating(() => Promise.resolve("made"))).toBe("made");
    log.end(new Set());
    expect(files()).toEqual([]);
  });

  const inState = "/consortia/x";
  test.each<[string, Line[], string[], boolean]>([
    [
      "of which a state has one of two",
      [...lines("1", { id: "x" }), ...lines("2", { id: "y", name: "d" })],
      [inState],
      false,
    ],
    ["without an answer, of a place whose path is shown", lines("1"), ["/consortia"], true],
    ["that logged nothing else", [{ refused: "1" }], [], false],
  ])("a killed run's log %s", (_, logged, shown, goes) => {
    write(logOf({ run: 1 }), ...logged);
    logOf({ run: 2 }).end(new Set(shown));
    expect(files()).toHaveLength(goes ? 0 : 1);
  });

  test.each<[string, Partial<LoggedCreate>, boolean]>([
    ["the same, later", { at: 2, id: "y" }, true],
    ["the same, earlier", { at: 0, id: "y" }, false],
    ["the same, without an answer", { at: 2 }, false],
    ["one for another resource", { at: 2, id: "y", resource: "d" }, false],
    ["one in another place", { at: 2, id: "y", path: "/others" }, false],
  ])("an unanswered create of a killed run is settled by one of this run or not: %s (%j)", (_, again, goes) => {
    write(logOf({ run: 1 }), ...lines("1"));
    write(logOf({ run: 2 }), ...lines("2", again)).end(new Set());
    expect(files()).toHaveLength(goes ? 0 : 1);
  });

  test("the log of another process of it stays, whatever is in the states", () => {
    write(logOf({ run: 1 }), ...lines("1", { id: "x" }));
    logOf({ run: 1 }).end(new Set([inState]));
    expect(files()).toHaveLength(1);
  });
});
