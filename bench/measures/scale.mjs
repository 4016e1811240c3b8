// @ts-check
/** A large stack, beside one of as many dynamic resources that do nothing. */
import { bounded, seconds } from "../lib/report.mjs";
import { withRig } from "../lib/rig.mjs";
import { refreshArgs, upArgs } from "../lib/stack.mjs";

const count = 500;
const latency = 20;
const rounds = 2;
const most = { ratio: 1.15, requests: 10 };

const memberships = `
  const { Consortium, Membership } = require("pulumi-consortium");
  const consortium = new Consortium("c", {});
  for (let n = 0; n < ${count}; n++) new Membership("m" + n, { consortium });
`;
const empty = `
  const pulumi = require("@pulumi/pulumi");
  const provider = { create: (inputs) => Promise.resolve({ id: String(inputs.name), outs: inputs }) };
  class Empty extends pulumi.dynamic.Resource {
    constructor(name, args) {
      super(provider, name, { name, ...args });
    }
  }
  const parent = new Empty("c", {});
  for (let n = 0; n < ${count}; n++) new Empty("m" + n, { parentId: parent.id });
`;

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
        ...{ most: most.ratio, of: "as many empty dynamic resources" },
        measured: `${seconds(best.ours)} against ${seconds(best.others)}: ×${ratio.toFixed(2)}`,
      }),
      bounded("requests of their `refresh`", requests, { most: most.requests }),
    ],
    details: `The same ${count} memberships with PULUMI_SKIP_CHECKPOINTS=true: ${seconds(fast.ms)}`,
  };
};
