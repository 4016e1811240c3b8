import { conditionOf, isSettledState } from "../../../provider/api/states";

/* What the state of an object means, for all who ask: also check and map (tests/observe). */

test.each([
  ["started", "ready", true],
  ["running", "ready", true],
  ["live", "ready", true],
  [undefined, "ready", true],
  ["initializing", "pending", false],
  ["provisioning", "pending", false],
  ["failed", "failed", false],
  ["stopped", "stopped", true],
  ["deleting", "going", true],
  ["Deleting", "going", true],
  ["delete_pending", "going", true],
  ["pending delete", "going", true],
  ["terminating", "going", true],
  ["delete_protected", "ready", true],
  ["upgrade", "pending", false],
  ["Provisioning", "pending", false],
  ["configuring", "pending", false],
  ["queued", "pending", false],
  ["in progress", "pending", false],
  ["setup", "ready", true], // of every consortium
  ["Stopping", "stopped", true],
  ["DELETED", "gone", true],
  ["deleted", "gone", true],
])("%s: %s; nothing to wait for: %s", (state, condition, settled) => {
  expect([conditionOf(state), isSettledState(state)]).toEqual([condition, settled]);
});
