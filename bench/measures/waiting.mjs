// @ts-check
/** How much longer an `up` takes than what it waits for. */
import { reference } from "../programs/reference.mjs";
import { bounded, seconds } from "../lib/report.mjs";
import { withRig } from "../lib/rig.mjs";
import { upArgs } from "../lib/stack.mjs";

const nodeStart = 37_000;
/** What waiting for that may cost at least: the nodes' own time, and a moment to see it. */
const unavoidable = nodeStart + 300;
const latency = 100;
const most = { ratio: 1.05, requests: 40 };

/** @type {import("../lib/rig.mjs").Measure} */
export const waiting = async (tools) => {
  const up = (/** @type {Partial<import("../../service/index.js").Timing>} */ timing) =>
    withRig(tools, { program: reference, service: { timing: { latency, ...timing } } }, async (service, stack) => {
      const { ms } = await stack.ok(upArgs);
      return { ms, requests: service.calls.length };
    });
  const instant = { nodeStart: 0, environmentStart: 0 };
  const before = await up(instant);
  const slow = await up({ nodeStart, environmentStart: 500 });
  const after = await up(instant);
  const nothing = Math.min(before.ms, after.ms);
  const ratio = slow.ms / (nothing + unavoidable);
  return {
    rows: [
      bounded("`up` of the reference network, nodes ready after 37 s, 100 ms a call", ratio, {
        most: most.ratio,
        of: "(nothing to wait for + 37.3 s)",
        measured: `${seconds(slow.ms)} against ${seconds(nothing)} + 37.3 s: ×${ratio.toFixed(3)}`,
      }),
      bounded("its requests", slow.requests, { most: most.requests }),
    ],
  };
};
