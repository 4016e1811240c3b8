import { resultOfStack, type StackObject } from "../../fleet/cluster";
import { type Operated, type StackResult } from "../../fleet/results";

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

test.each<[string, StackObject, Partial<StackResult & Operated>]>([
  ["nothing yet", object({}), { outcome: "new", error: undefined }],
  ["no status at all", { ...object(), status: undefined }, { outcome: "new" }],
  [
    "success",
    object({
      conditions: [condition("Ready", "ProcessingCompleted")],
      lastUpdate: { state: "succeeded", lastResyncTime: at, lastSuccessfulCommit: "abc" },
    }),
    { outcome: "ok", since: at, lastSuccess: at, commit: "abc", error: undefined, lock: undefined },
  ],
  [
    "an earlier specification succeeded",
    object({ conditions: [condition("Ready", "ProcessingCompleted")] }, 3),
    { outcome: "new" },
  ],
  [
    "an update",
    object({ conditions: [condition("Reconciling", "StackProcessing", "updating")] }),
    { outcome: "running" },
  ],
  [
    "a failure that is tried again",
    object({
      conditions: [condition("Reconciling", "RetryingAfterFailure", "1 update failure(s)")],
      lastUpdate: failed("no"),
    }),
    {
      outcome: "retrying",
      error: "RetryingAfterFailure: 1 update failure(s) (no)",
      lock: undefined,
      lastSuccess: undefined,
      commit: "abc",
    },
  ],
  ["a failed preview", object({ conditions: [condition("Reconciling", "PreviewFailed")] }), { outcome: "retrying" }],
  [
    "a prerequisite",
    object({ conditions: [condition("Reconciling", "PrerequisiteNotSatisfied", "prerequisite failed")] }),
    { outcome: "waiting", error: "PrerequisiteNotSatisfied: prerequisite failed" },
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
    { outcome: "stalled", since: at, error: "UpdateFailed: up failed 3 times (error: the service does not answer)" },
  ],
  [
    "an error below many lines, and another one: they alone are shown",
    object({
      conditions: [condition("Stalled", "UpdateFailed", "up failed 3 times")],
      lastUpdate: failed(
        `up failed:\n${"    pulumi:pulumi:Stack running\n".repeat(20)}    error: no such key\n  more\nerror: update failed`,
      ),
    }),
    { error: "UpdateFailed: up failed 3 times (error: no such key; error: update failed)" },
  ],
  [
    "stalled, whatever the specification is now",
    object({ conditions: [condition("Stalled", "UpdateFailed")] }, 9),
    { outcome: "stalled", error: "UpdateFailed: " },
  ],
  [
    "success, in a cluster that numbers no specifications",
    {
      ...object({ conditions: [condition("Ready", "Done")] }),
      metadata: { name: "acme-prod", namespace: "networks-acme" },
    },
    { outcome: "ok" },
  ],
  [
    "a long reason",
    object({ conditions: [condition("Stalled", "Long", "x".repeat(294))] }),
    { error: `Long: ${"x".repeat(294)}` },
  ],
  [
    "a longer reason, which is cut off",
    object({ conditions: [condition("Stalled", "Long", "x".repeat(295))] }),
    { error: `Long: ${"x".repeat(294)}…` },
  ],
  [
    "a lock",
    object({ conditions: [condition("Stalled", "UpdateFailed")], lastUpdate: failed(locked) }),
    { lock: expect.stringContaining("root@acme-prod-workspace-0 (process 37) since 2026-11-27T09:00:00Z") as string },
  ],
  ["a lock that is over", object({ lastUpdate: { ...failed(locked), state: "succeeded" } }), { lock: undefined }],
])("a Stack with %s", (_, given, expected) => {
  const { operated, ...known } = resultOfStack(given);
  const own = { stack: "acme-prod", namespace: "networks-acme", name: "acme-prod" };
  expect({ ...known, ...operated }).toMatchObject({ ...own, ...expected });
});
