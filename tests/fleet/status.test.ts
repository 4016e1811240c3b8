import { type StackResult } from "../../fleet/results";
import {
  progressLine,
  type StackObject,
  type StackStatus,
  states,
  statusCode,
  statusJson,
  statusJunit,
  statusMetrics,
  statusOf,
  statusOfResult,
  statusText,
} from "../../fleet/status";
import { result } from "./made";

const at = "2026-11-27T10:00:00Z";
type Status = NonNullable<StackObject["status"]>;
const condition = (type: string, reason: string, message = "", on = "True") => ({
  type,
  status: on,
  reason,
  message,
  lastTransitionTime: at,
});
const object = (status: Status = {}, generation = 2): StackObject => ({
  metadata: { name: "acme-prod", namespace: "networks-acme", generation },
  spec: { stack: "acme-prod" },
  status: { observedGeneration: 2, ...status },
});
const locked =
  "up failed: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with " +
  "`pulumi cancel`.\n  s3://b/.pulumi/locks/organization/fleet/acme-prod/1.json: created by root@acme-prod-workspace-0 (pid 37) at 2026-11-27T09:00:00Z";
const failed = (message: string) => ({ state: "failed", message, lastResyncTime: at, lastSuccessfulCommit: "abc" });

test.each<[string, StackObject, Partial<StackStatus>]>([
  ["nothing yet", object({}), { state: "new", reason: undefined }],
  ["no status at all", { ...object(), status: undefined }, { state: "new" }],
  [
    "success",
    object({
      conditions: [condition("Ready", "ProcessingCompleted")],
      lastUpdate: { state: "succeeded", lastResyncTime: at, lastSuccessfulCommit: "abc" },
    }),
    { state: "ready", since: at, lastSuccess: at, commit: "abc", reason: undefined, lock: undefined },
  ],
  [
    "an earlier specification succeeded",
    object({ conditions: [condition("Ready", "ProcessingCompleted")] }, 3),
    { state: "new" },
  ],
  [
    "an update",
    object({ conditions: [condition("Reconciling", "StackProcessing", "updating")] }),
    { state: "running" },
  ],
  [
    "a failure that is tried again",
    object({
      conditions: [condition("Reconciling", "RetryingAfterFailure", "1 update failure(s)")],
      lastUpdate: failed("no"),
    }),
    {
      state: "retrying",
      reason: "RetryingAfterFailure: 1 update failure(s) (no)",
      lock: undefined,
      lastSuccess: undefined,
      commit: "abc",
    },
  ],
  ["a failed preview", object({ conditions: [condition("Reconciling", "PreviewFailed")] }), { state: "retrying" }],
  [
    "a prerequisite",
    object({ conditions: [condition("Reconciling", "PrerequisiteNotSatisfied", "prerequisite failed")] }),
    { state: "waiting", reason: "PrerequisiteNotSatisfied: prerequisite failed" },
  ],
  [
    "three failures, and a condition that is over",
    object({
      conditions: [
        condition("Reconciling", "StackProcessing", "", "False"),
        condition("Ready", "NotReadyStalled", "", "False"),
        condition("Stalled", "UpdateFailed", "up failed 3 times"),
      ],
      lastUpdate: failed("error: the service does not answer"),
    }),
    { state: "stalled", since: at, reason: "UpdateFailed: up failed 3 times (error: the service does not answer)" },
  ],
  [
    "an error below many lines, and another one: they alone are shown",
    object({
      conditions: [condition("Stalled", "UpdateFailed", "up failed 3 times")],
      lastUpdate: failed(
        `up failed:\n${"    pulumi:pulumi:Stack running\n".repeat(20)}    error: no such key\n  more\nerror: update failed`,
      ),
    }),
    { reason: "UpdateFailed: up failed 3 times (error: no such key; error: update failed)" },
  ],
  [
    "stalled, whatever the specification is now",
    object({ conditions: [condition("Stalled", "UpdateFailed")] }, 9),
    { state: "stalled", reason: "UpdateFailed: " },
  ],
  [
    "success, in a cluster that numbers no specifications",
    {
      ...object({ conditions: [condition("Ready", "Done")] }),
      metadata: { name: "acme-prod", namespace: "networks-acme" },
    },
    { state: "ready" },
  ],
  [
    "a long reason",
    object({ conditions: [condition("Stalled", "Long", "x".repeat(294))] }),
    { reason: `Long: ${"x".repeat(294)}` },
  ],
  [
    "a longer reason, which is cut off",
    object({ conditions: [condition("Stalled", "Long", "x".repeat(295))] }),
    { reason: `Long: ${"x".repeat(294)}…` },
  ],
  [
    "a lock",
    object({ conditions: [condition("Stalled", "UpdateFailed")], lastUpdate: failed(locked) }),
    { lock: expect.stringContaining("root@acme-prod-workspace-0, process 37, since 2026-11-27T09:00:00Z") as string },
  ],
  ["a lock that is over", object({ lastUpdate: { ...failed(locked), state: "succeeded" } }), { lock: undefined }],
])("a Stack with %s", (_, given, expected) => {
  expect(statusOf(given)).toMatchObject({
    stack: "acme-prod",
    namespace: "networks-acme",
    name: "acme-prod",
    ...expected,
  });
});

test.each<[Partial<StackResult>, Partial<StackStatus>]>([
  [{}, { state: "ready", reason: undefined }],
  [
    { outcome: "failed", error: "no" },
    { state: "failed", reason: "no", lock: undefined },
  ],
  [{ outcome: "failed", error: "the stack is locked by a@b." }, { lock: "the stack is locked by a@b." }],
  [
    { outcome: "drift", drift: ["Node n is gone"] },
    { state: "drift", reason: "Node n is gone" },
  ],
  [{ outcome: "not begun" }, { state: "not begun" }],
])("a result %j", (change, expected) => {
  expect(statusOfResult(result(change))).toMatchObject(expected);
  expect(states).toContain(statusOfResult(result(change)).state);
});

const ready: StackStatus = { stack: "a", namespace: "n", name: "a", state: "ready", since: at, lastSuccess: at };
const stalled: StackStatus = {
  stack: "b",
  namespace: "n",
  name: "b",
  state: "stalled",
  since: at,
  reason: 'UpdateFailed: "no"\nand',
  lock: "the stack is locked by x.",
};
const waiting: StackStatus = { stack: "c", namespace: "n", name: "c", state: "waiting", reason: "Prerequisite" };
const all = [ready, stalled, waiting];

test("progress and the exit code: 1 for stalled, 2 for not ready yet", () => {
  expect(progressLine(all)).toBe("1 of 3 stacks ready (33 %), 1 waiting, 1 stalled, 1 locked");
  expect(progressLine([])).toBe("0 of 0 stacks ready (100 %)");
  expect([all, [ready, waiting], [ready], []].map(statusCode)).toEqual([1, 2, 0, 0]);
});

test("a preview beside a Stack has a column and a label of its own, and does not count as the Stack", () => {
  const previews: StackStatus[] = [
    { ...ready, name: "a-preview", preview: true },
    { ...stalled, name: "b-preview", preview: true, state: "ready", lock: undefined },
    { ...waiting, name: "c-preview", preview: true, state: "retrying" },
  ];
  const both = [...all, ...previews];
  expect(progressLine(both)).toBe("1 of 3 stacks ready (33 %), 1 waiting, 1 stalled, 1 locked; 2 of 3 previews ready");
  expect(progressLine(previews)).toBe("0 of 0 stacks ready (100 %); 2 of 3 previews ready");
  expect(statusText(both).split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^STACK +KIND +STATE +SINCE +LAST SUCCESS +REASON$/) as string,
    expect.stringMatching(/^n\/b +stack +stalled /) as string,
  ]);
  expect(statusText(both)).toMatch(/^n\/c +preview +retrying /m);
  expect(JSON.parse(statusJson(both))).toMatchObject({ total: { ready: 1, stalled: 1, retrying: 0 } });
  expect(statusJunit(both)).toContain('name="b (preview)"');
  const metrics = statusMetrics(both);
  const series = metrics
    .split("\n")
    .flatMap((line) => (line.startsWith("#") || line === "" ? [] : [line.replace(/ [\d.]+$/, "")]));
  expect(new Set(series).size).toBe(series.length);
  expect(metrics).toContain('consortium_fleet_stacks{state="ready"} 1\n');
  expect(metrics).toContain('consortium_fleet_stacks{state="ready",preview="true"} 2\n');
  expect(metrics).toContain('consortium_fleet_stack_locked{namespace="n",stack="b",preview="true"} 0\n');
  expect(statusCode([ready, ...previews.slice(0, 2)])).toBe(0);
});

test("the table begins with the worst, one line each; with many stacks, it only counts ready ones", () => {
  expect(statusText(all).split("\n")).toEqual([
    "STACK  STATE    SINCE                 LAST SUCCESS          REASON",
    `n/b    stalled  ${at}  -                     the stack is locked by x. UpdateFailed: "no" and`,
    "n/c    waiting  -                     -                     Prerequisite",
    `n/a    ready    ${at}  ${at}  -`,
    "1 of 3 stacks ready (33 %), 1 waiting, 1 stalled, 1 locked",
  ]);
  const some = (count: number) => statusText(Array.from({ length: count }, () => ready)).split("\n").length;
  expect([some(20), some(21)]).toEqual([22, 1]);
  const many = [...Array.from({ length: 999 }, () => ready), stalled];
  expect(statusText(many).split("\n")).toHaveLength(3);
  expect(statusText(many)).toContain("999 of 1000 stacks ready (99 %), 1 stalled");
});

test("JSON, JUnit and metrics have each stack", () => {
  expect(JSON.parse(statusJson(all))).toMatchObject({
    ok: false,
    total: { ready: 1, stalled: 1, running: 0 },
    stacks: [{}, {}, {}],
  });
  const xml = statusJunit(all);
  expect(xml).toContain('tests="3" failures="1" errors="0" skipped="1"');
  expect(xml).toContain('<testcase classname="n" name="b">');
  expect(xml).toContain('<failure type="stalled" message="UpdateFailed: &quot;no&quot;">UpdateFailed: ');
  expect(xml).toContain('<skipped message="waiting: Prerequisite"/>');
  expect(xml.match(/last success: /g)).toHaveLength(1);
  expect(statusJunit([{ stack: "d", state: "failed" }])).toMatch(
    /<testcase classname="fleet" name="d">\s*<failure type="failed" message="failed">failed</,
  );
  const metrics = statusMetrics(all);
  const samplesOf = (name: string) =>
    metrics
      .split("\n")
      .flatMap((line) => new RegExp(`^consortium_fleet_${name}\\{.*stack="(.)".*\\} (\\d)`).exec(line)?.slice(1) ?? []);
  expect(samplesOf("stack_locked")).toEqual(["a", "0", "b", "1", "c", "0"]);
  expect(samplesOf("stack_state_since_seconds").filter((one) => /[a-z]/.test(one))).toEqual(["a", "b"]);
  expect(samplesOf("stack_last_success_seconds").filter((one) => /[a-z]/.test(one))).toEqual(["a"]);
  expect(metrics).toContain('consortium_fleet_stacks{state="ready"} 1\n');
  expect(metrics).toContain('consortium_fleet_stack_state{namespace="n",stack="b",state="stalled"} 1\n');
  expect(metrics).toContain('consortium_fleet_stack_locked{namespace="n",stack="b"} 1\n');
  expect(metrics).toContain(
    `consortium_fleet_stack_last_success_seconds{namespace="n",stack="a"} ${Date.parse(at) / 1_000}\n`,
  );
  const sample = /^[a-z_]+\{([a-z]+="([^"\\\n]|\\.)*",?)*\} [\d.]+$/;
  const lines = statusMetrics([{ ...ready, stack: 'a"\\\nb' }])
    .trim()
    .split("\n");
  expect(lines.filter((line) => !line.startsWith("#") && !sample.test(line))).toEqual([]);
});
