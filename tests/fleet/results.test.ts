import { Progress } from "../../fleet/progress";
import {
  exitCode,
  type FleetResult,
  ledgerWarnings,
  mergeResults,
  type StackResult,
  summaryJson,
  summaryJunit,
  summaryLine,
  summaryOfStacks,
} from "../../fleet/results";
import { type EngineEvent } from "../../inventory/plan/read";
import { result, temporary, writeIn } from "./made";

const counts = { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 };
const fleet = (stacks: readonly StackResult[], change: Partial<FleetResult> = {}): FleetResult => ({
  command: "up",
  project: "fleet",
  seconds: 61.24,
  stacks,
  strays: [],
  ...change,
});
const results = [
  result({ created: 8 }),
  result({ stack: "acme-test", outcome: "failed", error: "the name is already taken by c1 <&> \u0000" }),
  result({ stack: "globex-prod", outcome: "not begun", seconds: 0 }),
  result({ stack: "globex-test", outcome: "drift", drift: ["Node trade/e/n is gone"] }),
];

test("the summary: each stack with its details, and a last line", () => {
  expect(summaryOfStacks(fleet(results))).toEqual([
    "acme-prod    ok: 8 created; 1.3 s",
    "acme-test    failed; 1.3 s",
    "  the name is already taken by c1 <&> \u0000",
    "globex-prod  not begun; 0.0 s",
    "globex-test  drift; 1.3 s",
    "  Node trade/e/n is gone",
  ]);
  expect(summaryLine(fleet(results))).toBe("1 of 4 stacks ok, 1 failed, 1 drift, 1 not begun; 8 created; 61.2 s");
  expect(summaryLine(fleet([result()], { seconds: 1 }))).toBe("1 of 1 stack ok; nothing changed; 1.0 s");
  expect(summaryLine(fleet([results[0]!], { command: "preview", seconds: 1 }))).toBe(
    "1 of 1 stack ok; 8 to be created; 1.0 s",
  );
});

test("a preview of many stacks: lost ledgers, then replacements, failures and changes, and a count of the rest", () => {
  const many = Array.from({ length: 500 }, (_, at) => result({ stack: `quiet-${at}` }));
  many[10] = result({ stack: "changed", updated: 2 });
  many[20] = result({ stack: "failed", outcome: "failed", error: "refused" });
  many[30] = result({ stack: "replaced", replaced: 2, replacements: ["Node a", "AppCred b"] });
  many[40] = result({ stack: "lost", replaced: 1, ledgers: ["replaces Environment e"] });
  const summary = (stacks: StackResult[]) => summaryOfStacks(fleet(stacks, { command: "preview" }));
  expect(summary(many)).toEqual([
    "lost      ok: 1 to be replaced; 1.3 s",
    "replaced  ok: 2 to be replaced; 1.3 s",
    "  replaces Node a",
    "  replaces AppCred b",
    "failed    failed; 1.3 s",
    "  refused",
    "changed   ok: 2 to be updated; 1.3 s",
    "496 more stacks without changes",
  ]);
  expect(summary(many.slice(0, 9))).toHaveLength(9);
  const nothing = many.filter(({ stack }) => stack.startsWith("quiet"));
  expect(summary(nothing)).toEqual(["496 stacks without changes"]);
});

test("JUnit: failures and stacks that were not begun, without characters that are invalid in XML", () => {
  const xml = summaryJunit(fleet(results));
  expect(xml).toContain('tests="4" failures="2" errors="0" skipped="1" time="61.240"');
  expect(xml).toContain('<failure type="failed" message="the name is already taken by c1 &lt;&amp;');
  expect(xml).not.toContain("\u0000");
  expect(xml).toContain("Node trade/e/n is gone</failure>");
});

const urn = (type: string, name: string): string =>
  `urn:pulumi:s::p::pulumi-nodejs:dynamic/consortium:${type}::${name}`;
const step = (
  kind: "resourcePreEvent" | "resOutputsEvent",
  op: string,
  type = "Node",
  extra: object = {},
): EngineEvent => ({
  [kind]: {
    metadata: {
      op,
      urn: urn(type, "n"),
      type: `pulumi-nodejs:dynamic/consortium:${type}`,
      new: { custom: true },
      ...extra,
    },
  },
});

/** A run whose steps are done, unless it is another command. */
function following(command?: "drift"): { progress: Progress; seen: StackResult } {
  const seen = result();
  return { progress: new Progress(seen, (text) => text.replaceAll("key-1", "[secret]"), command), seen };
}

test.each([
  ["dynamic provider", {}],
  ["plugin", { type: "consortium:index:Environment" }],
])("a replacement counts once, and a lost ledger causes a warning, on the %s", (_, extra) => {
  const { progress, seen } = following();
  const lines = ["delete-replaced", "replace", "create-replacement"].flatMap((op) => [
    ...progress.take(step("resourcePreEvent", op, "Environment", extra)),
    ...progress.take(step("resOutputsEvent", op, "Environment", extra)),
  ]);
  expect(seen).toMatchObject({ ...counts, replaced: 1 });
  expect(lines.filter((line) => line.startsWith("WARNING"))).toHaveLength(1);
});

test("drift says what differs, with its values, but for what changes by itself", () => {
  const { progress, seen } = following("drift");
  const state = (outputs: object) => ({
    custom: true,
    outputs: { membershipId: "m", __kept: { answered: { name: "a" } }, ...outputs },
  });
  const old = state({ name: "a", revision: "1", state: "started" });
  const differs = (now: object) => progress.take(step("resOutputsEvent", "update", "Node", { old, new: state(now) }));
  differs({ name: "b", revision: "2", state: "upgrade" });
  differs({ name: "a", revision: "2", state: "stopped" });
  progress.take(step("resOutputsEvent", "delete"));
  const drift = ['Node n differs: name is "b", and "a" in the stack', "Node n differs in state", "Node n is gone"];
  expect(seen).toMatchObject({ ...counts, drift });
});

type Outcome = StackResult["outcome"];
const outcomes = (...all: Outcome[]) => all.map((outcome, at) => result({ stack: `s${at}`, outcome }));
test.each<[Outcome[], number]>([
  [[], 0],
  [["ok", "ok"], 0],
  [["ok", "drift"], 2],
  [["drift", "failed"], 1],
  [["drift", "interrupted"], 1],
  [["ok", "not begun"], 1],
])("the exit code of %j is %d", (all, code) => expect(exitCode(fleet(outcomes(...all)))).toBe(code));

test("what is said below a stack: each line of its error, replacements, drift, leftovers, and that it went on", () => {
  const all = {
    error: "one\ntwo",
    replacements: ["Node a"],
    drift: ["Node b is gone"],
    leftovers: ["Node c may be left"],
    recovered: true,
    created: 1,
    replaced: 2,
  };
  const lines = (change: Partial<StackResult>) => summaryOfStacks(fleet([result({ stack: "a", ...change })]));
  expect(lines(all)).toEqual([
    "a  ok: 1 created, 2 replaced; 1.3 s",
    ...["  one", "  two", "  replaces Node a", "  Node b is gone", "  Node c may be left"],
    "  continued where a killed run stopped",
  ]);
  expect(lines({ ...all, outcome: "failed" })).not.toContain("  continued where a killed run stopped");
  expect(lines({})).toEqual(["a  ok; 1.3 s"]);
});

test("of more than twenty stacks, those with anything to say are shown", () => {
  const loud: Partial<StackResult>[] = [
    { deleted: 1 },
    { outcome: "interrupted" },
    { drift: ["x"] },
    { leftovers: ["x"] },
    { recovered: true },
  ];
  const quiet = Array.from({ length: 15 }, (_, at) => result({ stack: `q${at}`, unchanged: 5 }));
  const shown = (stacks: StackResult[]) => summaryOfStacks(fleet(stacks)).filter((line) => !line.startsWith("  "));
  const twenty = [...loud.map((one, at) => result({ stack: `l${at}`, ...one })), ...quiet];
  expect(shown(twenty)).toHaveLength(20);
  expect(shown([...twenty, result({ stack: "q15" })]).map((line) => line.split(" ")[0])).toEqual([
    ...["l0", "l1", "l2", "l3", "l4", "16"],
  ]);
  expect(summaryOfStacks(fleet([...twenty, result()])).at(-1)).toBe("16 more stacks without changes");
});

test("a line counts every outcome, and says where nothing was to be done", () => {
  const all = fleet(outcomes("ok", "interrupted", "interrupted", "not begun"), { seconds: 0.05 });
  expect(summaryLine(all)).toBe("1 of 4 stacks ok, 2 interrupted, 1 not begun; nothing changed; 0.1 s");
  expect(summaryLine({ ...all, command: "preview" })).toContain("; nothing to change; ");
  expect(JSON.parse(summaryJson(all))).toMatchObject({ ok: false, total: { created: 0 } });
  expect(JSON.parse(summaryJson(fleet([result({ updated: 2 }), result({ updated: 3 })])))).toMatchObject({
    ok: true,
    total: { updated: 5, created: 0 },
  });
});

test("each ledger is warned of with its stack", () => {
  const stacks = [result({ ledgers: ["deletes Environment e", "replaces Environment f"] }), result({ stack: "other" })];
  expect(ledgerWarnings({ stacks }, "IS")).toEqual(
    ["deletes Environment e", "replaces Environment f"].map(
      (what) => `WARNING: acme-prod: ${what}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, IS DESTROYED`,
    ),
  );
});

test("JUnit has each stack with its organization, counts and ledgers", () => {
  const lost = result({ created: 1, deleted: 2, ledgers: ["deletes Environment e"], organization: "globex" });
  const xml = summaryJunit(fleet([lost, ...outcomes("interrupted"), result({ outcome: "failed", error: "a\nb" })]));
  expect(xml).toContain('<testsuite name="consortium fleet up: fleet"');
  expect(xml).toContain('<testcase classname="fleet.globex" name="acme-prod" time="1.250">');
  expect(xml).toContain(
    "1 created, 0 updated, 0 replaced, 2 deleted, 0 unchanged\nWARNING: deletes Environment e, with its ledger",
  );
  expect(xml).toContain('<skipped message="interrupted"/>');
  expect(xml).toContain('<failure type="failed" message="a">a\nb</failure>');
});

describe("results of several runs", () => {
  const folder = temporary();
  type Of = Partial<FleetResult>;
  const file = (name: string, stacks: string[], change: Of = {}, outcome: Outcome = "ok") => {
    const all = stacks.map((stack) => result({ stack, outcome }));
    return writeIn(folder, `${name}.json`, JSON.stringify(fleet(all, { seconds: 1, ...change })));
  };
  const shard = (
    index: number,
    count: number,
    inAll: number,
    stage?: number,
    stages?: number[],
    names?: string[][],
  ): Of => ({
    shard: {
      index,
      count,
      inAll,
      ...(stage !== undefined && { stage, stages }),
      names: names?.map((some) => some.map((stack) => ({ stack, organization: "acme" }))),
    },
  });

  test("last as long as the longest of each stage, and have each stray once, in the order of the stages", () => {
    const two = [2, 1];
    const names = [
      file("a", ["c"], { ...shard(1, 1, 3, 2, two), seconds: 4, strays: ["x"] }),
      file("b", ["a"], { ...shard(1, 2, 3, 1, two), seconds: 2, strays: ["x", "y"] }),
      file("c", ["b"], { ...shard(2, 2, 3, 1, two), seconds: 3 }),
    ];
    const { merged, missing, again } = mergeResults(names);
    expect(merged).toMatchObject({ command: "up", project: "fleet", seconds: 7, strays: ["x", "y"] });
    expect(merged.stacks.map(({ stack }) => stack)).toEqual(["a", "b", "c"]);
    expect([missing, again]).toEqual([undefined, [[], []]]);
  });

  test("name the shards to run again: those that failed, and those that are missing", () => {
    const failed = mergeResults([file("a", ["a"], shard(1, 3, 3), "failed"), file("b", ["b"], shard(2, 3, 3))]);
    expect(failed.missing).toBe(
      "1 of 3 stacks have no result. There are no results of the shards 3/3. Run these shards again, and merge all of them.",
    );
    expect(failed.again).toEqual([[1, 3].map((index) => ({ stage: 1, shard: { index, count: 3 } }))]);
    const whole = mergeResults([file("a", ["a"], shard(1, 3, 2), "failed"), file("b", ["b"], shard(2, 3, 2))]);
    expect([whole.missing, whole.again]).toEqual([undefined, [[{ stage: 1, shard: { index: 1, count: 3 } }]]]);
  });

  test("say which stage did not run, and which lacks shards", () => {
    const stages = [2, 3, 1];
    const { missing, again } = mergeResults([file("a", ["a"], shard(2, 2, 6, 1, stages))]);
    expect(missing).toBe(
      "stage 1: 1 of 2 stacks have no result. There are no results of the shards 1/2. Stage 2 did not run: 3 stacks. " +
        "Stage 3 did not run: 1 stack. Run these shards again, and merge all of them.",
    );
    expect(again.map((own) => own.map(({ stage, shard: { index, count } }) => [stage, index, count]))).toEqual([
      [[1, 1, 2]],
      [2, 2].map((stage, at) => [stage, at + 1, 2]),
      [[3, 1, 1]],
    ]);
  });

  test("count stacks of shards and stages that did not run, and JUnit has them as skipped", () => {
    const of = (index: number) => shard(index, 2, 6, 1, [3, 2, 1], [["a", "b", "c"], ["d", "e"], ["f"]]);
    const one = mergeResults([file("a", ["a", "c"], of(2), "failed")]).merged;
    expect(one.stacks.map(({ stack, outcome }) => `${stack} ${outcome}`)).toEqual([
      ...["a failed", "c failed", "b not begun", "d not begun", "e not begun", "f not begun"],
    ]);
    expect(summaryJunit(one)).toContain('tests="6" failures="2" errors="0" skipped="4"');
    expect(summaryLine(one)).toContain("0 of 6 stacks ok, 2 failed, 4 not begun");
    const two = mergeResults([file("a", ["a", "c"], of(2)), file("b", ["b"], of(1))]).merged;
    expect(summaryJunit(two)).toContain('tests="6" failures="0" errors="0" skipped="3"');
    expect(summaryLine(two)).toContain("3 of 6 stacks ok, 3 not begun");
  });

  test("of one run without shards are that run's", () => {
    const { merged, missing, again } = mergeResults([file("a", ["a", "b"])]);
    expect([merged.stacks.length, missing, again]).toEqual([2, undefined, [[]]]);
    expect(mergeResults([file("b", ["a"], {}, "drift")]).again).toEqual([
      [{ stage: 1, shard: { index: 1, count: 1 } }],
    ]);
  });

  test.each<[string, () => string[], RegExp]>([
    [
      "nothing",
      () => [writeIn(folder, "empty.json", " \n")],
      /empty\.json: empty, because the run ended before it had a result/,
    ],
    [
      "another project",
      () => [file("a", ["a"]), file("b", ["b"], { project: "p" })],
      /b\.json has results of up in the project p, and .*a\.json has .* fleet: merge only files of one run/,
    ],
    [
      "a shard and a whole run",
      () => [file("a", ["a"], shard(1, 2, 2)), file("b", ["b"])],
      /b\.json has no shard, and .*a\.json has a shard of 2, with 2 stacks in all/,
    ],
    [
      "stages of other stacks",
      () => [file("a", ["a"], shard(1, 1, 2, 1, [1, 1])), file("b", ["b"], shard(1, 1, 3, 2, [1, 2]))],
      /b\.json has a stage of 2, with 1 and 2 stacks in all, and .* with 1 and 1 stacks/,
    ],
    [
      "other shards of a stage",
      () => [file("a", ["a"], shard(1, 2, 2, 1, [2])), file("b", ["b"], shard(2, 3, 2, 1, [2]))],
      /b\.json has a shard of 3, and .*a\.json has a shard of 2/,
    ],
    [
      "one stack twice",
      () => [file("a", ["a"], shard(1, 2, 2)), file("b", ["a"], shard(2, 2, 2))],
      /^a is in .*a\.json and in .*b\.json: name each/,
    ],
  ])("with %s are refused", (_, files, why) => expect(() => mergeResults(files())).toThrow(why));
});
