import { exitCode, type FleetResult, mergeResults, type Outcome, outcomes } from "../../fleet/results";
import { result, temporary, writeIn } from "./made";

const seen = (...all: Outcome[]) => ({ stacks: all.map((outcome, at) => result({ stack: `s${at}`, outcome })) });

test.each<[Outcome[], number]>([
  [[], 0],
  [["ok", "ok"], 0],
  [["ok", "drift"], 2],
  [["ok", "loses a ledger"], 2],
  [["drift", "failed"], 1],
  [["drift", "interrupted"], 1],
  [["ok", "not begun"], 1],
  [["ok", "waiting"], 2],
  [["new", "stalled"], 1],
])("the exit code of %j is %d", (all, code) => expect(exitCode(seen(...all))).toBe(code));

test("whatever is not ok has an exit code", () => {
  expect(outcomes.filter((one) => exitCode(seen(one)) === 0)).toEqual(["ok"]);
});

describe("results of several runs", () => {
  const folder = temporary();
  type Of = Partial<FleetResult>;
  const file = (name: string, stacks: string[], change: Of = {}, outcome: Outcome = "ok") => {
    const all = stacks.map((stack) => result({ stack, outcome }));
    const whole = { command: "up", project: "fleet", seconds: 1, strays: [], stacks: all };
    return writeIn(folder, `${name}.json`, JSON.stringify({ ...whole, ...change }));
  };
  /** The shard of a stage, with the stacks of each stage: "ab c" are two stages. */
  const shard = (index: number, count: number, all: string, stage?: number): Of => {
    const names = all.split(" ").map((some) => [...some].map((stack) => ({ stack, organization: "acme" })));
    return { shard: { index, count, names, stage } };
  };

  test("last as long as the longest of each stage, and have each stray once, in the order of the stages", () => {
    const two = "ab c";
    const names = [
      file("a", ["c"], { ...shard(1, 1, two, 2), seconds: 4, strays: ["x"] }),
      file("b", ["a"], { ...shard(1, 2, two, 1), seconds: 2, strays: ["x", "y"] }),
      file("c", ["b"], { ...shard(2, 2, two, 1), seconds: 3 }),
    ];
    const { merged, missing, again } = mergeResults(names);
    expect(merged).toMatchObject({ command: "up", project: "fleet", seconds: 7, strays: ["x", "y"] });
    expect(merged.stacks.map(({ stack }) => stack)).toEqual(["a", "b", "c"]);
    expect([missing, again]).toEqual([undefined, [[], []]]);
  });

  test("name the shards to run again: those that failed, and those that are missing", () => {
    const killed = writeIn(folder, "killed.json", ""); // the remains of its job
    const of = [file("a", ["a"], shard(1, 3, "abc"), "failed"), file("b", ["b"], shard(2, 3, "abc"))];
    const failed = mergeResults([killed, ...of]);
    expect(failed.missing).toBe(
      "1 of 3 stacks have no result. There are no results of the shards 3/3. Run these shards again, and merge all of them.",
    );
    expect(failed.again).toEqual([[1, 3].map((index) => ({ stage: 1, shard: { index, count: 3 } }))]);
    const whole = mergeResults([file("a", ["a"], shard(1, 3, "ab"), "failed"), file("b", ["b"], shard(2, 3, "ab"))]);
    expect([whole.missing, whole.again]).toEqual([undefined, [[{ stage: 1, shard: { index: 1, count: 3 } }]]]);
  });

  test("say which stage did not run, and which lacks shards", () => {
    const { missing, again } = mergeResults([file("b", ["b"], shard(2, 2, "ab cde f", 1))]);
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

  test("have the stacks of shards and stages that did not run", () => {
    const of = (index: number) => shard(index, 2, "abc de f", 1);
    const outcomesOf = (...files: string[]) =>
      mergeResults(files).merged.stacks.map(({ stack, outcome }) => `${stack} ${outcome}`);
    expect(outcomesOf(file("a", ["a", "c"], of(1), "failed"))).toEqual([
      ...["a failed", "b not begun", "c failed", "d not begun", "e not begun", "f not begun"],
    ]);
    expect(outcomesOf(file("a", ["a", "c"], of(1)), file("b", ["b"], of(2)))).toEqual([
      ...["a ok", "b ok", "c ok", "d not begun", "e not begun", "f not begun"],
    ]);
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
      "what is no result",
      () => [file("a", ["a"]), writeIn(folder, "b.json", "{}")],
      /Name files that .* printed: .*b\.json does not hold the results of a fleet\.$/,
    ],
    [
      "another project",
      () => [file("a", ["a"]), file("b", ["b"], { project: "p" })],
      /^Merge only files of one run: .*b\.json has results of up in the project p, and .*a\.json has .* fleet\.$/,
    ],
    [
      "a shard and a whole run",
      () => [file("a", ["a"], shard(1, 2, "ab")), file("b", ["b"])],
      /b\.json has no shard, and .*a\.json has a shard of 2, with 2 stacks in all/,
    ],
    [
      "stages of other stacks",
      () => [file("a", ["a"], shard(1, 1, "a b", 1)), file("b", ["b"], shard(1, 1, "a bc", 2))],
      /b\.json has a stage of 2, with 1 and 2 stacks in all, and .* with 1 and 1 stacks/,
    ],
    [
      "other shards of a stage",
      () => [file("a", ["a"], shard(1, 2, "ab", 1)), file("b", ["b"], shard(2, 3, "ab", 1))],
      /b\.json has a shard of 3, and .*a\.json has a shard of 2/,
    ],
    [
      "one stack twice",
      () => [file("a", ["a"], shard(1, 2, "ab")), file("b", ["a"], shard(2, 2, "ab"))],
      /^Name each result once: a is in .*a\.json and in .*b\.json/,
    ],
  ])("with %s are refused", (_, files, why) => expect(() => mergeResults(files())).toThrow(why));
});
