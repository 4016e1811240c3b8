import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiError } from "../../../provider/api";
import {
  type Before,
  CreateLog,
  type Line,
  type LogContents,
  readCreateLog,
  written,
} from "../../../provider/pulumi/stack-log";
import { type LoggedCreate, noLog } from "../../../provider/core/create-log";
import { isKnown } from "../../../provider/core/organization";
import { settingsFor } from "../../support/peer";

/* A killed run leaves proof of the objects that it created; the next run takes nothing else. */

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-creates-"));
  file = join(folder, "acme-test.jsonl");
});

afterEach(() => jest.restoreAllMocks());

describe("a line is on the disk", () => {
  /** Flushes that the test ends. */
  function slowDisk() {
    const ends: (() => void)[] = [];
    const sync = () => new Promise<void>((end) => void ends.push(end));
    jest
      .spyOn(promises, "open")
      .mockImplementation(() =>
        Promise.resolve({ sync, close: () => Promise.resolve() } as unknown as promises.FileHandle),
      );
    return ends;
  }
  const line = (id: string) => ({ refused: id });
  const turn = () => new Promise(setImmediate);

  test("before its create is sent, and one flush serves all that were written before it began", async () => {
    const ends = slowDisk();
    const done: string[] = [];
    const log = (id: string) => void written(file, line(id)).then(() => done.push(id));
    ["a", "b"].forEach(log);
    await turn();
    ["c", "d"].forEach(log); // too late for the first flush
    await turn();
    expect([readFileSync(file, "utf8").split("\n").length - 1, ends.length, done]).toEqual([4, 1, []]);
    ends[0]!();
    await turn();
    expect([ends.length, done]).toEqual([2, ["a", "b"]]);
    ends[1]!();
    await turn();
    expect([ends.length, done]).toEqual([2, ["a", "b", "c", "d"]]);
  });

  test("or the create fails, and the next line is flushed again", async () => {
    jest.spyOn(promises, "open").mockRejectedValueOnce(new Error("the disk is full"));
    await expect(written(file, line("a"))).rejects.toThrow("the disk is full");
    await expect(written(file, line("b"))).resolves.toBeUndefined();
  });
});

describe("the lines of a file", () => {
  const begun = (attempt: string, more: Partial<LoggedCreate> = {}): LoggedCreate => ({
    attempt,
    path: "/p",
    name: "n",
    before: [],
    key: "k",
    at: 1,
    ...more,
  });
  const of = (...lines: Line[]) => {
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
    return readCreateLog(file);
  };
  const [a, b] = [begun("a"), begun("b")];
  const nothing = readCreateLog("");

  test("tell of nothing where there is no file", () => {
    expect(nothing).toEqual({ creates: [], left: [] });
  });

  test.each<[string, Line[], Partial<LogContents>]>([
    ["a create", [{ begun: a }], { creates: [a] }],
    ["its answer", [{ begun: a }, { begun: b }, { made: "a", id: "x" }], { creates: [{ ...a, id: "x" }, b] }],
    ["that it was sent again", [{ begun: a }, { again: "a", at: 5 }], { creates: [{ ...a, last: { at: 5 } }] }],
    ["that it was refused", [{ begun: a }, { begun: b }, { refused: "a" }], { creates: [b] }],
    ["no answer to what was never begun", [{ made: "a", id: "x" }, { again: "b", at: 5 }, { refused: "c" }], {}],
    ["whose they are", [{ run: "r" }], { run: "r" }],
    ["what a service left", [{ left: a }, { left: b }], { left: [a, b] }],
  ])("tell %s", (_, lines, contents) => {
    expect(of(...lines)).toEqual({ ...nothing, ...contents });
  });

  const settings = settingsFor("https://x/api/v1");

  /** The log of a process that finds these contents. */
  function logOf(contents: Partial<Before>, stacks: Record<string, Line[]> = {}) {
    const written: Line[] = [];
    const others = Object.entries(stacks).map(([stack, lines]) => {
      const own = join(folder, `${stack}.log`);
      writeFileSync(own, lines.map((line) => JSON.stringify(line)).join("\n"));
      return { stack, file: own };
    });
    const before = { interrupted: [], isContinued: false, ...contents };
    const log = new CreateLog({ before, write: (line) => void written.push(line), others: () => others }, settings);
    return { log, written };
  }

  test.each<[string, Partial<LoggedCreate>, Partial<LoggedCreate>, boolean]>([
    ["it", {}, {}, true],
    ["it, of the same resource", { resource: "r" }, { resource: "r" }, true],
    ["it, of a resource that the log does not name", {}, { resource: "r" }, true],
    ["it, of a resource that nobody names", { resource: "r" }, {}, true],
    ["nothing of another resource", { resource: "r" }, { resource: "s" }, false],
    ["nothing of another name", {}, { name: "m" }, false],
    ["nothing of another place", {}, { path: "/q" }, false],
  ])("a create of a killed run is found as %s (%j for %j)", (_, logged, asked, found) => {
    const { log } = logOf({ interrupted: [begun("a", logged)] });
    expect(log.interrupted({ path: "/p", name: "n", ...asked })).toHaveLength(found ? 1 : 0);
  });

  test.each<[string, LoggedCreate[], string | undefined]>([
    ["the last one", [begun("a", { resource: "r" }), begun("b", { resource: "r", name: "m" })], "m"],
    ["none of another resource", [begun("a", { resource: "s" })], undefined],
    ["none of another place", [begun("a", { resource: "r", path: "/q" })], undefined],
    [
      "none of what a state has",
      [begun("a", { resource: "r", id: "y" }), begun("b", { resource: "r", name: "m", id: "x" })],
      "n",
    ],
    ["none at all", [], undefined],
  ])("the name that a killed run sent for a resource is %s", (_, interrupted, name) => {
    expect(logOf({ interrupted }).log.nameFor("/p", "r", (id) => id === "x")).toBe(name);
  });

  test("what other stacks create in a place is theirs, whether a run of theirs was killed or not", () => {
    const own: Line[] = [{ begun: a }, { begun: b }, { begun: begun("c", { path: "/q" }) }];
    const { log } = logOf({}, { one: own, two: [] });
    expect(log.ofOtherStacks("/p")).toEqual([
      { stack: "one", create: a },
      { stack: "one", create: b },
    ]);
    expect(noLog.ofOtherStacks("/p")).toEqual([]);
  });

  const isSentWith = ({ key }: LoggedCreate, by = settings) => isKnown({ keys: [key] }, by);
  const refusal = (kind: "invalid" | "lost") => new ApiError({ kind, call: "POST /p", errorMessage: "no" });

  test.each<[string, unknown, string[]]>([
    ["that is answered", { id: "x" }, ["begun", "again", "made"]],
    ["that is refused", refusal("invalid"), ["begun", "again", "refused"]],
    ["that may have been carried out", refusal("lost"), ["begun", "again"]],
    ["that failed in another way", new Error("no"), ["begun", "again"]],
  ])("a create %s is written down before each request, and after", async (_, result, kinds) => {
    const { log, written } = logOf({});
    const sent = log.logged({ path: "/p", name: "n", before: ["y"] }, async (sending) => {
      await sending(7);
      await sending(8);
      if (result instanceof Error) throw result;
      return result as { id: string };
    });
    if (result instanceof Error) await expect(sent).rejects.toBe(result);
    else expect(await sent).toBe(result);
    expect(written.map((line) => Object.keys(line)[0])).toEqual(kinds);
    const [{ begun: first }, { again, serviceAt }] = written as [
      { begun: LoggedCreate },
      { again: string; serviceAt: number },
    ];
    expect(first).toMatchObject({ path: "/p", name: "n", before: ["y"], serviceAt: 7 });
    expect([again, serviceAt, isSentWith(first)]).toEqual([first.attempt, 8, true]);
    expect(isSentWith(first, settingsFor("https://y/api/v1"))).toBe(false);
  });

  test("what was left and what is continued is written down", async () => {
    const { log, written } = logOf({});
    await log.left({ path: "/p", name: "n", id: "x" });
    await log.continued(a, "y");
    const [{ left }, ...more] = written as [{ left: LoggedCreate }, ...Line[]];
    expect([left.id, left.before, isSentWith(left)]).toEqual(["x", [], true]);
    const attempt = expect.not.stringMatching(/^a$/) as string;
    expect(more).toEqual([{ begun: { ...a, attempt } }, { made: attempt, id: "y" }]);
  });
});
