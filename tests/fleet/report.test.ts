import { ledgerWarnings, resultJson, resultJunit, resultMetrics, resultText, summaryLine } from "../../fleet/report";
import { type FleetResult, type Operated, type Outcome, type StackResult } from "../../fleet/results";
import { result } from "./made";

const fleet = (stacks: readonly StackResult[], change: Partial<FleetResult> = {}): FleetResult => ({
  command: "up",
  project: "fleet",
  seconds: 61.24,
  stacks,
  strays: [],
  ...change,
});
const outcomes = (...all: Outcome[]) => all.map((outcome, at) => result({ stack: `s${at}`, outcome }));

const at = "2026-11-27T10:00:00Z";
/** Three Stacks of the operator, as `status` has them. */
const stackOf = (stack: string, change: Partial<StackResult>, more: Partial<Operated> = {}): StackResult =>
  result({ stack, organization: "n", seconds: 0, ...change, operated: { namespace: "n", name: stack, ...more } });
const [ready, stalled, waiting] = [
  stackOf("a", { outcome: "ok" }, { since: at, lastSuccess: at }),
  stackOf("b", { outcome: "stalled", error: 'UpdateFailed: "no"' }, { since: at, lock: "the stack is locked by x." }),
  stackOf("c", { outcome: "waiting", error: "Prerequisite" }),
] as const;
const operated = (...stacks: StackResult[]): FleetResult =>
  fleet(stacks, { command: "status", project: undefined, seconds: undefined });
const all = operated(ready, stalled, waiting);
const previews = [
  stackOf("a", { outcome: "ok" }, { name: "a-preview", preview: true }),
  stackOf("b", { outcome: "ok" }, { name: "b-preview", preview: true }),
  stackOf("c", { outcome: "retrying" }, { name: "c-preview", preview: true }),
];
const both = operated(...all.stacks, ...previews);

describe("the table", () => {
  test("has the stacks of a run, the worst first, with all that is said of each, and a line that counts", () => {
    const results = [
      result({ created: 8 }),
      result({ stack: "acme-test", outcome: "failed", error: "the name is already taken by c1 <&> \u0000" }),
      result({ stack: "globex-prod", outcome: "not begun", seconds: 0 }),
      result({ stack: "globex-test", outcome: "drift", drift: ["Node trade/e/n is gone"] }),
    ];
    expect(resultText(fleet(results))).toEqual([
      "STACK        STATE      CHANGES    TIME   REASON",
      "acme-test    failed     -          1.3 s  the name is already taken by c1 <&> \u0000",
      "globex-test  drift      -          1.3 s  Node trade/e/n is gone",
      "globex-prod  not begun  -          -      -",
      "acme-prod    ok         8 created  1.3 s  -",
      "1 of 4 stacks ok, 1 failed, 1 drift, 1 not begun; 8 created; 61.2 s",
    ]);
    expect(resultText(fleet([result()], { seconds: 1 }))).toEqual([
      "STACK      STATE  TIME",
      "acme-prod  ok     1.3 s",
      "1 of 1 stack ok; nothing changed; 1.0 s",
    ]);
    expect(resultText(fleet([]))).toEqual(["0 of 0 stacks ok; nothing changed; 61.2 s"]);
  });

  test("has the operator's Stacks in the same columns, and what only it knows", () => {
    expect(resultText(all)).toEqual([
      "STACK  STATE    SINCE                 LAST SUCCESS          REASON",
      `n/b    stalled  ${at}  -                     the stack is locked by x.`,
      `${" ".repeat(60)}UpdateFailed: "no"`,
      "n/c    waiting  -                     -                     Prerequisite",
      `n/a    ready    ${at}  ${at}  -`,
      "1 of 3 stacks ready (33 %), 1 stalled, 1 waiting, 1 locked",
    ]);
    const [head, first] = resultText(both);
    expect(head).toMatch(/^STACK +KIND +STATE +SINCE +LAST SUCCESS +REASON$/);
    expect(first).toMatch(/^n\/b +stack +stalled /);
    expect(resultText(both).join("\n")).toMatch(/^n\/c +preview +retrying /m);
  });

  test("says each line of an error, replacements, drift, leftovers, and that a run went on", () => {
    const known = { replacements: ["Node a"], drift: ["Node b is gone"], leftovers: ["Node c may be left"] };
    const of = { stack: "a", error: "one\ntwo", ...known, recovered: true, created: 1, replaced: 2 };
    const lines = (change: Partial<StackResult>) => resultText(fleet([result({ ...of, ...change })]));
    const told = [
      "two",
      "replaces Node a",
      "Node b is gone",
      "Node c may be left",
      "continued where a killed run stopped",
    ];
    expect(lines({}).slice(1, -1)).toEqual([
      "a      ok     1 created, 2 replaced  1.3 s  one",
      ...told.map((line) => " ".repeat(44) + line),
    ]);
    expect(lines({ outcome: "failed" }).join("\n")).not.toContain("continued");
  });

  test("of a preview begins with lost ledgers, then replacements, failures and changes, and counts the rest", () => {
    const many = Array.from({ length: 500 }, (_, index) => result({ stack: `quiet-${index}` }));
    many[10] = result({ stack: "changed", updated: 2 });
    many[20] = result({ stack: "failed", outcome: "failed", error: "refused" });
    many[30] = result({ stack: "replaced", replaced: 2, replacements: ["Node a", "AppCred b"] });
    many[40] = result({ stack: "lost", replaced: 1, ledgers: ["replaces Environment e"] });
    const text = (stacks: StackResult[]) => resultText(fleet(stacks, { command: "preview" })).slice(0, -1);
    expect(text(many)).toEqual([
      "WARNING: lost: replaces Environment e: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WOULD BE DESTROYED",
      "STACK     STATE   CHANGES           TIME   REASON",
      "lost      ok      1 to be replaced  1.3 s  -",
      "replaced  ok      2 to be replaced  1.3 s  replaces Node a",
      "                                           replaces AppCred b",
      "failed    failed  -                 1.3 s  refused",
      "changed   ok      2 to be updated   1.3 s  -",
      "496 more stacks without changes",
    ]);
    expect(text(many.slice(0, 9))).toHaveLength(10);
    expect(text(many.filter(({ stack }) => stack.startsWith("quiet")))).toEqual(["496 stacks without changes"]);
  });

  test("of more than twenty stacks has those with anything to say", () => {
    const loud: Partial<StackResult>[] = [
      ...[{ deleted: 1 }, { outcome: "interrupted" as const }],
      ...[{ drift: ["x"] }, { leftovers: ["x"] }, { recovered: true }],
    ];
    const quiet = Array.from({ length: 15 }, (_, index) => result({ stack: `q${index}`, unchanged: 5 }));
    const shown = (stacks: StackResult[]) => resultText(fleet(stacks)).slice(1, -1);
    const twenty = [...loud.map((one, index) => result({ stack: `l${index}`, ...one })), ...quiet];
    expect(shown(twenty)).toHaveLength(20);
    expect(shown([...twenty, result({ stack: "q15" })]).map((line) => line.split(" ")[0])).toEqual([
      ...["l1", "l0", "l2", "l3", "l4", "16"],
    ]);
    const many = operated(...Array.from({ length: 999 }, () => ready), stalled);
    expect(resultText(many).slice(-2)).toEqual([
      "999 more stacks ready",
      "999 of 1000 stacks ready (99 %), 1 stalled, 1 locked",
    ]);
  });

  test("names stacks that left the file", () => {
    const text = (command: FleetResult["command"]) => resultText(fleet([], { command, strays: ["x", "y"] }), "f.yaml");
    expect(text("up").slice(1)).toEqual(
      ["x", "y"].map((name) => expect.stringMatching(`^The stack ${name} is not in f.yaml and was`) as string),
    );
    expect(text("destroy")).toHaveLength(1);
  });
});

test("a line counts every outcome, locks and previews, and says where nothing was to be done", () => {
  const some = fleet(outcomes("ok", "interrupted", "interrupted", "not begun"), { seconds: 0.05 });
  expect(summaryLine(some)).toBe("1 of 4 stacks ok, 2 interrupted, 1 not begun; nothing changed; 0.1 s");
  expect(summaryLine({ ...some, command: "preview" })).toContain("; nothing to change; ");
  expect(summaryLine({ ...some, command: "status" })).toBe("1 of 4 stacks ready (25 %), 2 interrupted, 1 not begun");
  const locked = result({ outcome: "failed", error: "the stack is locked by a@b." });
  expect(summaryLine(fleet([locked]))).toBe("0 of 1 stack ok, 1 failed, 1 locked; nothing changed; 61.2 s");
  expect(summaryLine(operated())).toBe("0 of 0 stacks ready (100 %)");
  expect(summaryLine(both)).toBe("1 of 3 stacks ready (33 %), 1 stalled, 1 waiting, 1 locked; 2 of 3 previews ready");
  expect(summaryLine(operated(previews[2]!))).toBe("0 of 0 stacks ready (100 %); 0 of 1 preview ready");
});

test("each ledger is warned of with its stack", () => {
  const ledgers = ["deletes Environment e", "replaces Environment f"];
  expect(ledgerWarnings({ stacks: [result({ ledgers }), result({ stack: "other" })] }, "IS")).toEqual(
    ledgers.map((what) => `WARNING: acme-prod: ${what}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, IS DESTROYED`),
  );
});

describe("JSON", () => {
  const read = (given: FleetResult) =>
    JSON.parse(resultJson(given)) as { stacks: object[]; total: object; ok: boolean };

  test("has what a run counted, and the state and the reason of each stack", () => {
    const lost = result({ updated: 3, outcome: "loses a ledger", ledgers: ["x", "y"] });
    expect(read(fleet([result({ updated: 2 }), lost]))).toMatchObject({
      command: "up",
      project: "fleet",
      ok: false,
      total: { updated: 5, created: 0, ready: 1, "loses a ledger": 1 },
      stacks: [
        { stack: "acme-prod", organization: "acme", outcome: "ok", state: "ready", updated: 2, seconds: 1.25 },
        { outcome: "loses a ledger", state: "loses a ledger", reason: "x\ny" },
      ],
    });
    expect(read(fleet([result()]))).toMatchObject({ ok: true });
  });

  test("has what the operator knows, and nothing that it does not", () => {
    const { stacks, total, ok } = read(both);
    expect([ok, total]).toEqual([false, expect.objectContaining({ ready: 1, stalled: 1, retrying: 0, running: 0 })]);
    const b = { stack: "b", namespace: "n", name: "b", state: "stalled", since: at };
    expect(stacks.slice(0, 2)).toEqual([
      { stack: "a", namespace: "n", name: "a", state: "ready", since: at, lastSuccess: at },
      { ...b, reason: 'UpdateFailed: "no"', lock: "the stack is locked by x." },
    ]);
    expect(stacks[5]).toEqual({ stack: "c", namespace: "n", name: "c-preview", preview: true, state: "retrying" });
  });
});

describe("JUnit", () => {
  test("has each stack of a run with its organization, counts and ledgers, and why it failed or was skipped", () => {
    const lost = result({ created: 1, deleted: 2, ledgers: ["deletes Environment e"], organization: "globex" });
    const failed = result({ outcome: "failed", error: "a <&> \u0000\nb" });
    const drifted = result({ outcome: "drift", drift: ["Node trade/e/n is gone"] });
    const skipped = result({ outcome: "not begun", error: "why" });
    const xml = resultJunit(fleet([lost, ...outcomes("interrupted"), failed, drifted, skipped]));
    for (const part of [
      '<testsuite name="consortium fleet up: fleet" tests="5" failures="2" errors="0" skipped="2" time="61.240"',
      '<testcase classname="fleet.globex" name="acme-prod" time="1.250">',
      "1 created, 0 updated, 0 replaced, 2 deleted, 0 unchanged\nWARNING: deletes Environment e, with its ledger",
      '<skipped message="interrupted"/>',
      '<skipped message="not begun: why"/>',
      '<failure type="failed" message="a &lt;&amp;',
      "\nb</failure>",
      "Node trade/e/n is gone</failure>",
    ])
      expect(xml).toContain(part);
    expect(xml).not.toContain("\u0000"); // which is invalid in XML
  });

  test("has each of the operator's Stacks with its namespace, and previews by their own names", () => {
    const xml = resultJunit(both);
    for (const part of [
      '<testsuite name="consortium fleet status" tests="6" failures="1" errors="0" skipped="2">',
      '<testcase classname="n" name="b">',
      '<failure type="stalled" message="UpdateFailed: &quot;no&quot;">UpdateFailed: "no"<',
      '<skipped message="waiting: Prerequisite"/>',
      'name="b (preview)"',
    ])
      expect(xml).toContain(part);
    expect(xml.match(/last success: /g)).toHaveLength(1);
    const unexplained = resultJunit(operated(stackOf("d", { outcome: "stalled" })));
    expect(unexplained).toContain('<failure type="stalled" message="stalled">stalled<');
  });
});

describe("metrics", () => {
  test("have each stack, and previews with a label", () => {
    const metrics = resultMetrics(both);
    const lines = metrics.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const series = lines.map((line) => line.replace(/ [\d.]+$/, ""));
    expect(new Set(series).size).toBe(series.length);
    const samplesOf = (name: string) =>
      lines.flatMap(
        (line) =>
          new RegExp(`^consortium_fleet_${name}\\{namespace="n",stack="(.)"[^p]*\\} (\\d)`).exec(line)?.slice(1) ?? [],
      );
    expect(samplesOf("stack_locked")).toEqual(["a", "0", "b", "1", "c", "0"]);
    expect(samplesOf("stack_state_since_seconds").filter((one) => /[a-z]/.test(one))).toEqual(["a", "b"]);
    expect(samplesOf("stack_last_success_seconds").filter((one) => /[a-z]/.test(one))).toEqual(["a"]);
    for (const line of [
      'consortium_fleet_stacks{state="ready"} 1',
      'consortium_fleet_stacks{state="ready",preview="true"} 2',
      'consortium_fleet_stack_state{namespace="n",stack="b",state="stalled"} 1',
      'consortium_fleet_stack_locked{namespace="n",stack="b"} 1',
      'consortium_fleet_stack_locked{namespace="n",stack="b",preview="true"} 0',
      `consortium_fleet_stack_last_success_seconds{namespace="n",stack="a"} ${Date.parse(at) / 1_000}`,
    ])
      expect(lines).toContain(line);
  });

  test("of a run have its stacks, which locks stopped, and names in quotes", () => {
    const locked = result({ stack: 'a"\\\nb', outcome: "failed", error: "the stack is locked by a@b." });
    const lines = resultMetrics(fleet([result(), locked]))
      .trim()
      .split("\n");
    const sample = /^[a-z_]+\{([a-z]+="([^"\\\n]|\\.)*",?)*\} [\d.]+$/;
    expect(lines.filter((line) => !line.startsWith("#") && !sample.test(line))).toEqual([]);
    expect(lines).toContain('consortium_fleet_stack_locked{stack="acme-prod"} 0');
    expect(lines.filter((line) => /^consortium_fleet_stack_locked.* 1$/.test(line))).toHaveLength(1);
  });
});
