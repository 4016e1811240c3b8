// @ts-check
/** A large stack, beside one of as many dynamic resources that do nothing. */
import { bounded, seconds } from "../lib/report.mjs";
import { withRig } from "../lib/rig.mjs";
import { refreshArgs, upArgs } from "../lib/stack.mjs";
import { emptyMembers, members } from "../programs/members.mjs";

const count = 500;
const latency = 20;
const rounds = 2;
const most = { ratio: 1.15, requests: 10 };

const memberships = members(count);
const empty = emptyMembers(count);

/** @type {import("../lib/rig.mjs").Measure} */
export const scale = async (tools) => {
  const up = (/** @type {string} */ program, /** @type {Record<string, string>} */ env = {}) =>
    withRig(tools, { program, env, service: { timing: { latency } } }, async (service, stack) => {
      const { ms } = await stack.ok(upArgs);
      service.clearCalls();
      if (program !== empty) await stack.ok(refreshArgs);
      return { ms, requests: service.calls.length };
    });
  const [ours, others] = [[await up(memberships)], [await up(empty)]];
  for (let round = 1; round < rounds; round++) {
    others.push(await up(empty));
    ours.push(await up(memberships));
  }
  const fast = await up(memberships, { PULUMI_SKIP_CHECKPOINTS: "true" });
  const best = { ours: Math.min(...ours.map(({ ms }) => ms)), others: Math.min(...others.map(({ ms }) => ms)) };
  const ratio = best.ours / best.others;
  const requests = Math.max(...ours.map((one) => one.requests));
  return {
    rows: [
      bounded(`\`up\` of ${count} memberships, ${latency} ms a call`, ratio, {
        most: most.ratio,
        of: "as many empty dynamic resources",
        measured: `${seconds(best.ours)} against ${seconds(best.others)}: ×${ratio.toFixed(2)}`,
      }),
      bounded("requests of their `refresh`", requests, { most: most.requests }),
    ],
    details: `The same ${count} memberships with PULUMI_SKIP_CHECKPOINTS=true: ${seconds(fast.ms)}`,
  };
};
