// @ts-check
/** How much longer an `up` takes than what it waits for. */
import { Trouble } from "../../tools/lib/say.mjs";
import { reference } from "../lib/reference.mjs";
import { lowest, seconds } from "../lib/report.mjs";
import { timeline, withRig } from "../lib/rig.mjs";

const nodeStart = 37_000;
/** What waiting for that may cost at least: the nodes' own time, and a moment to see it. */
const unavoidable = nodeStart + 300;
const latency = 100;
const most = { ratio: 1.05, requests: 40 };

/**
 * @param {import("../lib/rig.mjs").Tools} tools
 * @returns {Promise<{ rows: import("../lib/rig.mjs").Row[], details: string }>}
 */
export async function waiting(tools) {
  const up = (/** @type {Partial<import("../../service/index.js").Timing>} */ timing) =>
    withRig(tools, { program: reference, service: { timing: { latency, ...timing } } }, async (service, stack) => {
      const { code, text, ms } = await stack.up();
      if (code !== 0) throw new Trouble(`the up failed:\n${text}`);
      return { ms, requests: service.calls.length, details: timeline(service) };
    });
  const instant = { nodeStart: 0, environmentStart: 0 };
  const before = await up(instant);
  const slow = await up({ nodeStart, environmentStart: 500 });
  const after = await up(instant);
  const nothing = lowest([before.ms, after.ms]);
  const ratio = slow.ms / (nothing + unavoidable);
  const sum = `${seconds(slow.ms)} against ${seconds(nothing)} + 37.3 s: ×${ratio.toFixed(3)}`;
  return {
    rows: [
      {
        measure: "`up` of the reference network, nodes ready after 37 s, 100 ms a call",
        target: `at most ${most.ratio} × (nothing to wait for + 37.3 s)`,
        measured: sum,
        met: ratio <= most.ratio,
      },
      {
        measure: "its requests",
        target: `at most ${most.requests}`,
        measured: String(slow.requests),
        met: slow.requests <= most.requests,
      },
    ],
    details: slow.details,
  };
}
