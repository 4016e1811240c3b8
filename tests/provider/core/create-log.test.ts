import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiError } from "../../../provider/api";
import { systemClock } from "../../../provider/api/clock";
import {
  CreateLog,
  FleetLog,
  isSentWith,
  type Line,
  type LogContents,
  type LoggedCreate,
  markInterrupted,
  markNew,
  readCreateLog,
  written,
} from "../../../provider/core/create-log";
import { bases, collectionOf } from "../../support/bases";
import { Engine, errorOf, failed, type Outcome, type Props } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { send } from "../../support/network";
import { settingsFor } from "../../support/peer";
import { newProcess } from "../../support/service";

/* A killed run leaves proof of the objects that it created; the next run takes nothing else. */

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-creates-"));
  file = join(folder, "acme-test.jsonl");
});

/** A run that was killed after the service had created the object: before its answer came, or after. */
async function killed(kind: "consortium", { answered }: { answered: boolean }) {
  const here = await world(kind);
  const args: Props = bases[kind](here.net);
  newProcess({ CONSORTIUM_FLEET_CREATES: file });
  expect(await here.engine.up(args)).toEqual({ then: "created" });
  if (!answered) loseAnswers();
  /** The next run of the stack. Its state has none of the new objects. */
  const again = async (change: Props = {}): Promise<Outcome & { id?: string }> => {
    newProcess();
    const engine = new Engine(kind);
    const outcome = await engine.up({ ...args, ...change });
    return { ...outcome, ...(engine.kept && { id: engine.kept.id }) };
  };
  return { ...here, args, id: here.engine.kept!.id, again };
}

function loseAnswers(): void {
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.filter((line) => !line.startsWith('{"made"')).join("\n"));
}

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

test("in a fleet, no run adopts everything: the error does not advise it", async () => {
  const { again, id } = await killed("consortium", { answered: true });
  const error = errorOf(await again());
  expect(error).toContain(`adopt: "${id}"`);
  expect(error).not.toContain("CONSORTIUM_ADOPT");
});

test("a run that made its stack waits for no states; one that continues it does", async () => {
  const waits = jest.spyOn(systemClock, "sleep");
  const isWaiting = () => waits.mock.calls.splice(0).some(([ms]) => ms === 300);
  markNew(file);
  const { again } = await killed("consortium", { answered: true });
  expect(isWaiting()).toBe(false);
  markInterrupted(file, []);
  expect(await again()).toMatchObject({ then: "created" });
  expect(isWaiting()).toBe(true);
});

test.each([
  ["refused, nothing comes of it: one of its name is somebody else's", 400, failed("already taken")],
  ["unclear, it may still be carried out: one of its name is its own", 500, { then: "created" }],
])("after a create with an answer that is %s", async (_, status, outcome) => {
  const { engine, service, net } = await world("node");
  const args = bases.node(net);
  newProcess({ CONSORTIUM_FLEET_CREATES: file });
  service.faults.add({ kind: "status", status, errorMessage: "no", method: "POST", times: Infinity });
  expect(await engine.up(args)).toEqual(failed(`HTTP ${status}`));
  service.faults.clear();
  const { _id: late } = await send(service, "POST", collectionOf("node", net), {
    name: args.name,
    membership_id: net.membershipId,
  });
  markInterrupted(file, []);
  newProcess();
  expect(await engine.up(args)).toEqual(outcome);
  expect(engine.kept?.id).toBe(status === 500 ? late : undefined);
});

test("a create that was not sent does not count, nor a line that a power cut left incomplete", async () => {
  const { again, args } = await killed("consortium", { answered: true });
  await again({ name: args.name as string }); // taken: it is not sent
  writeFileSync(file, `${readFileSync(file, "utf8")}{"begun":{"att`);
  const { current } = readCreateLog(file);
  expect(current).toHaveLength(1);
  expect(current[0]!.id).toBeDefined();
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
    expect(nothing).toEqual({
      interrupted: [],
      current: [],
      left: [],
      isOfNewStack: false,
      isContinued: false,
      held: new Set(),
    });
  });

  test.each<[string, Line[], Partial<LogContents>]>([
    ["a create", [{ begun: a }], { current: [a] }],
    ["its answer", [{ begun: a }, { begun: b }, { made: "a", id: "x" }], { current: [{ ...a, id: "x" }, b] }],
    ["that it was sent again", [{ begun: a }, { again: "a", at: 5 }], { current: [{ ...a, last: { at: 5 } }] }],
    ["that it was refused", [{ begun: a }, { begun: b }, { refused: "a" }], { current: [b] }],
    ["no answer to what was never begun", [{ made: "a", id: "x" }, { again: "b", at: 5 }, { refused: "c" }], {}],
    ["whose they are", [{ run: "r" }], { run: "r" }],
    ["what a service left", [{ left: a }, { left: b }], { left: [a, b] }],
    ["that the stack is new", [{ newStack: true }, { begun: a }], { isOfNewStack: true, current: [a] }],
    [
      "where a killed run ended",
      [{ newStack: true }, { begun: a }, { continued: { held: ["/p/x"] } }, { begun: b }],
      { interrupted: [a], current: [b], isContinued: true, held: new Set(["/p/x"]) },
    ],
    [
      "where a second one did",
      [{ begun: a }, { continued: { held: [] } }, { begun: b }, { continued: { held: ["/q"] } }],
      { interrupted: [a, b], isContinued: true, held: new Set(["/q"]) },
    ],
  ])("tell %s", (_, lines, contents) => {
    expect(of(...lines)).toEqual({ ...nothing, ...contents });
  });

  /** The log of a process that finds these contents. */
  function logOf(contents: Partial<LogContents>, isFleets = false, stacks: Record<string, Line[]> = {}) {
    const written: Line[] = [];
    const others = Object.entries(stacks).map(([stack, lines]) => {
      const own = join(folder, `${stack}.log`);
      writeFileSync(own, lines.map((line) => JSON.stringify(line)).join("\n"));
      return { stack, file: own };
    });
    const before = { ...nothing, ...contents };
    const log = new CreateLog({ isFleets, before, write: (line) => void written.push(line), others: () => others });
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

  test("of several creates, the newest comes first", () => {
    const { log } = logOf({ interrupted: [a, b] });
    expect(log.interrupted({ path: "/p", name: "n" })).toEqual([b, a]);
    expect(new CreateLog().interrupted({ path: "/p", name: "n" })).toEqual([]);
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
    const here = settingsFor("https://here/api/v1");
    expect(logOf({ interrupted }).log.nameFor("/p", "r", here, (id) => id === "x")).toBe(name);
    expect(new CreateLog().nameFor("/p", "r", here, () => false)).toBeUndefined();
  });

  test("what other stacks create in a place is theirs, whether a run of theirs was killed or not", () => {
    const own: Line[] = [
      { begun: a },
      { continued: { held: [] } },
      { begun: b },
      { begun: begun("c", { path: "/q" }) },
    ];
    const { log } = logOf({}, true, { one: own, two: [] });
    expect(log.ofOtherStacks("/p")).toEqual([
      { stack: "one", create: a },
      { stack: "one", create: b },
    ]);
    expect(new CreateLog().ofOtherStacks("/p")).toEqual([]);
  });

  test.each<
    [string, boolean, Partial<LogContents>, [fleets: boolean, isNew: boolean, continued: boolean, held: boolean]]
  >([
    ["a fleet, which made the stack", true, { isOfNewStack: true }, [true, true, false, false]],
    ["a fleet", true, { held: new Set(["/p/x"]) }, [true, false, false, true]],
    ["a stack", false, { isOfNewStack: true, isContinued: true }, [false, false, true, false]],
  ])("the log of %s says what it knows", (_, isFleets, contents, facts) => {
    const { log } = logOf(contents, isFleets);
    expect([log.isFleets, log.isOfNewStack, log.isContinued, log.isHeld("/p/x")]).toEqual(facts);
  });

  test("without a log, nothing is known, and a create is only sent", async () => {
    const log = new CreateLog();
    expect([log.isFleets, log.isOfNewStack, log.isContinued, log.isHeld("/p/x")]).toEqual(Array(4).fill(false));
    const made = log.logged({ path: "/p", before: [], settings }, async (sending) => {
      await sending(1);
      return { id: "x" };
    });
    expect(await made).toEqual({ id: "x" });
    await log.left({ path: "/p", id: "x" }, settings);
    await log.continued(a, "x");
  });

  const settings = settingsFor("https://x/api/v1");
  const refusal = (kind: "invalid" | "lost") => new ApiError({ kind, call: "POST /p", errorMessage: "no" });

  test.each<[string, unknown, string[]]>([
    ["that is answered", { id: "x" }, ["begun", "again", "made"]],
    ["that is refused", refusal("invalid"), ["begun", "again", "refused"]],
    ["that may have been carried out", refusal("lost"), ["begun", "again"]],
    ["that failed in another way", new Error("no"), ["begun", "again"]],
  ])("a create %s is written down before each request, and after", async (_, result, kinds) => {
    const { log, written } = logOf({});
    const sent = log.logged({ path: "/p", name: "n", before: ["y"], settings }, async (sending) => {
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
    expect([again, serviceAt, isSentWith(first, settings)]).toEqual([first.attempt, 8, true]);
    expect(isSentWith(first, settingsFor("https://y/api/v1"))).toBe(false);
  });

  test.each([false, true])(
    "what was left and what is continued is written down, but not in a fleet (%s)",
    async (isFleets) => {
      const { log, written } = logOf({}, isFleets);
      await log.left({ path: "/p", name: "n", id: "x" }, settings);
      await log.continued(a, "y");
      if (isFleets) return expect(written).toEqual([]);
      const [{ left }, ...more] = written as [{ left: LoggedCreate }, ...Line[]];
      expect([left.id, left.before, isSentWith(left, settings)]).toEqual(["x", [], true]);
      const attempt = expect.not.stringMatching(/^a$/) as string;
      expect(more).toEqual([{ begun: { ...a, attempt } }, { made: attempt, id: "y" }]);
    },
  );

  test("the logs of a fleet's other stacks are the other ones beside it", async () => {
    for (const name of ["acme-test.jsonl", "acme-prod.jsonl", "notes.txt"]) writeFileSync(join(folder, name), "");
    const log = new FleetLog(file);
    expect(log.others()).toEqual([{ stack: "acme-prod", file: join(folder, "acme-prod.jsonl") }]);
    await log.write({ begun: a });
    expect([log.isFleets, readCreateLog(file).current]).toEqual([true, [a]]);
  });
});
