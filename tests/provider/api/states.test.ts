import { conditionOf } from "../../../provider/api/states";

/* The meaning of an object's state, also for check and map (tests/observe). */

test.each([
  ["started", "ready"],
  ["running", "ready"],
  ["live", "ready"],
  [undefined, "ready"],
  ["initializing", "pending"],
  ["failed", "failed"],
  ["stopped", "stopped"],
  ["Deleting", "going"],
  ["delete_pending", "going"],
  ["pending delete", "going"],
  ["terminating", "going"],
  ["delete_protected", "ready"],
  ["upgrade", "pending"],
  ["Provisioning", "pending"],
  ["configuring", "pending"],
  ["queued", "pending"],
  ["in progress", "pending"],
  ["setup", "ready"], // of every consortium
  ["Stopping", "stopped"],
  ["DELETED", "gone"],
])("%s: %s", (state, condition) => {
  expect(conditionOf(state)).toBe(condition);
});
