// @ts-check
/** A service that refuses a third of all requests. */
import { reference } from "../programs/reference.mjs";
import { seconds } from "../lib/report.mjs";
import { withRig } from "../lib/rig.mjs";
import { upArgs } from "../lib/stack.mjs";

const latency = 100;

/** And members enough to fill the limit. */
const program = `${reference}
  for (let n = 0; n < 40; n++) new Membership("member-" + n, { consortium });
`;

/** @type {import("../lib/rig.mjs").Measure} */
export const throttled = async (tools) => {
  const rows = [];
  for (const limit of [8, 2]) {
    const env = { CONSORTIUM_MAX_CONCURRENCY: limit === 8 ? "" : String(limit) };
    const options = { program, env, service: { timing: { latency } } };
    rows.push(
      await withRig(tools, options, async (service, stack) => {
        service.faults.add({ kind: "status", status: 429, every: 3 });
        const { ms } = await stack.ok(upArgs);
        const refused = service.calls.filter(({ status }) => status === 429).length;
        const { max } = service.inFlight;
        return {
          measure: `reference network and 40 members, 429 on a third of all requests, limit of ${limit}${limit === 8 ? " (the default)" : ""}`,
          target: `\`up\` completes, never more than ${limit} in flight`,
          measured: `${seconds(ms)}, ${refused} of ${service.calls.length} refused, at most ${max} in flight`,
          met: max <= limit && service.store.nodes.list().length === 4,
        };
      }),
    );
  }
  return { rows };
};
