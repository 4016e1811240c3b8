// @ts-check
/** What an `up` and a refresh take on the embedded service: of time, and of requests. */
import { emptyMembers, members, reference } from "../programs/networks.mjs";
import { bounded, seconds } from "../lib/report.mjs";
import { refreshArgs, upArgs, withRig } from "../lib/stack.mjs";

const nodeStart = 37_000;
/** What waiting for that may cost at least: the nodes' own time, and a moment to see it. */
const unavoidable = nodeStart + 300;
const latency = 100;

/** How much longer an `up` takes than what it waits for. @type {import("../lib/stack.mjs").Measure} */
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
        most: 1.05,
        of: "(nothing to wait for + 37.3 s)",
        measured: `${seconds(slow.ms)} against ${seconds(nothing)} + 37.3 s: ×${ratio.toFixed(3)}`,
      }),
      bounded("its requests", slow.requests, { most: 40 }),
    ],
  };
};

const twoConsortia = `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  for (const c of [1, 2]) {
    const consortium = new Consortium("c" + c, {});
    const membership = new Membership("m" + c, { consortium, orgName: "acme" });
    for (const e of [1, 2, 3]) {
      const environment = new Environment("e" + c + e, { consortium, provider: "geth", consensusType: "poa" });
      for (const n of [1, 2, 3, 4]) new Node("n" + c + e + n, { environment, membership });
    }
  }
`;

/** How many requests a refresh takes. @type {import("../lib/stack.mjs").Measure} */
export const reading = (tools) =>
  withRig(tools, { program: twoConsortia }, async (service, stack) => {
    await stack.ok(upArgs);
    service.clearCalls();
    await stack.ok(refreshArgs);
    const requests = service.calls.length;
    return { rows: [bounded("requests of a `refresh` of 24 nodes in 6 environments", requests, { most: 20 })] };
  });

const count = 500;
const rounds = 2;

const memberships = members(count);
const empty = emptyMembers(count);

/** A large stack, beside one of as many dynamic resources that do nothing. @type {import("../lib/stack.mjs").Measure} */
export const scale = async (tools) => {
  const up = (/** @type {string} */ program, /** @type {Record<string, string>} */ env = {}) =>
    withRig(tools, { program, env, service: { timing: { latency: 20 } } }, async (service, stack) => {
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
      bounded(`\`up\` of ${count} memberships, 20 ms a call`, ratio, {
        most: 1.15,
        of: "as many empty dynamic resources",
        measured: `${seconds(best.ours)} against ${seconds(best.others)}: ×${ratio.toFixed(2)}`,
      }),
      bounded("requests of their `refresh`", requests, { most: 10 }),
    ],
    details: `The same ${count} memberships with PULUMI_SKIP_CHECKPOINTS=true: ${seconds(fast.ms)}`,
  };
};

/** And members enough to fill the limit. */
const crowded = `${reference}
  for (let n = 0; n < 40; n++) new Membership("member-" + n, { consortium });
`;

/** A service that refuses a third of all requests. @type {import("../lib/stack.mjs").Measure} */
export const throttled = async (tools) => {
  const rows = [];
  for (const limit of [8, 2]) {
    const env = { CONSORTIUM_MAX_CONCURRENCY: limit === 8 ? "" : String(limit) };
    const options = { program: crowded, env, service: { timing: { latency } } };
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
