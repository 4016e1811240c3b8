import { resultOfStack, type StackObject } from "../../fleet/cluster";
import { type Operated, type StackResult } from "../../fleet/results";

const at = "2026-11-27T10:00:00Z";
type Status = NonNullable<StackObject["status"]>;
type Condition = [type: string, reason: string, message?: string, status?: string];

/** A Stack of the second generation, as the operator saw it. */
function object(conditions: Condition[], lastUpdate?: Status["lastUpdate"], generation: number | undefined = 2) {
  const all = conditions.map(([type, reason, message = "", status = "True"]) => {
    return { type, status, reason, message, lastTransitionTime: at };
  });
  return {
    metadata: { name: "acme-prod", namespace: "networks-acme", generation },
    spec: { stack: "acme-prod" },
    status: { observedGeneration: 2, conditions: all, lastUpdate },
  } as StackObject;
}
const succeeded: Condition = ["Ready", "ProcessingCompleted"];
const locked =
  "up failed: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with " +
  "`pulumi cancel`.\n  s3://b/.pulumi/locks/organization/fleet/acme-prod/1.json: created by root@acme-prod-workspace-0 (pid 37) at 2026-11-27T09:00:00Z";
const failed = (message: string) => ({ state: "failed", message, lastResyncTime: at, lastSuccessfulCommit: "abc" });
const stalled = (message: string, reason = "UpdateFailed") => object([["Stalled", reason, message]]);
const retried = "RetryingAfterFailure: 1 update failure(s)";
const many = "    pulumi:pulumi:Stack running\n".repeat(20);

test.each<[string, StackObject, Partial<StackResult & Operated>]>([
  ["nothing yet", object([]), { outcome: "new", error: undefined }],
  ["no status at all", { ...object([]), status: undefined }, { outcome: "new" }],
  [
    "success",
    object([succeeded], { state: "succeeded", lastResyncTime: at, lastSuccessfulCommit: "abc" }),
    { outcome: "ok", since: at, lastSuccess: at, commit: "abc", error: undefined, lock: undefined },
  ],
  ["an earlier specification succeeded", object([succeeded], undefined, 3), { outcome: "new" }],
  ["an update", object([["Reconciling", "StackProcessing", "updating"]]), { outcome: "running" }],
  [
    "a failure that is tried again",
    object([["Reconciling", ...(retried.split(": ") as [string, string])]], failed("no")),
    { outcome: "retrying", error: `${retried} (no)`, lock: undefined, lastSuccess: undefined, commit: "abc" },
  ],
  ["a failed preview", object([["Reconciling", "PreviewFailed"]]), { outcome: "retrying" }],
  [
    "a prerequisite",
    object([["Reconciling", "PrerequisiteNotSatisfied", "prerequisite failed"]]),
    { outcome: "waiting", error: "PrerequisiteNotSatisfied: prerequisite failed" },
  ],
  [
    "three failures, and a condition that is over",
    object(
      [
        ["Reconciling", "StackProcessing", "", "False"],
        ["Ready", "NotReadyStalled", "", "False"],
        ["Stalled", "UpdateFailed", "up failed 3 times"],
      ],
      failed("error: the service does not answer"),
    ),
    { outcome: "stalled", since: at, error: "UpdateFailed: up failed 3 times (error: the service does not answer)" },
  ],
  [
    "an error below many lines, and another one: they alone are shown",
    object(
      [["Stalled", "UpFailed", "x"]],
      failed(`up failed:\n${many}    error: no such key\n  more\nerror: update failed`),
    ),
    { error: "UpFailed: x (error: no such key; error: update failed)" },
  ],
  [
    "stalled, whatever the specification is now",
    object([["Stalled", "UpdateFailed"]], undefined, 9),
    { outcome: "stalled", error: "UpdateFailed: " },
  ],
  ["success, in a cluster that numbers no specifications", unnumbered(object([succeeded])), { outcome: "ok" }],
  ["a long reason", stalled("x".repeat(294), "Long"), { error: `Long: ${"x".repeat(294)}` }],
  ["a longer reason, which is cut off", stalled("x".repeat(295), "Long"), { error: `Long: ${"x".repeat(294)}…` }],
  [
    "a lock",
    object([["Stalled", "UpdateFailed"]], failed(locked)),
    { lock: expect.stringContaining("root@acme-prod-workspace-0 (process 37) since 2026-11-27T09:00:00Z") as string },
  ],
  ["a lock that is over", object([], { ...failed(locked), state: "succeeded" }), { lock: undefined }],
])("a Stack with %s", (_, given, expected) => {
  const { operated, ...known } = resultOfStack(given);
  const own = { stack: "acme-prod", namespace: "networks-acme", name: "acme-prod" };
  expect({ ...known, ...operated }).toMatchObject({ ...own, ...expected });
});

function unnumbered(one: StackObject): StackObject {
  delete one.metadata.generation;
  return one;
}
