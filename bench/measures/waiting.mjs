// @ts-check
/** The time of an `up` and its requests, on the embedded service. */
import { bounded, seconds } from "../lib/report.mjs";
import { Stack, tetherId, upArgs } from "../lib/stack.mjs";

/** The network of examples/quickstart: two members with two nodes and a credential each. */
const reference = `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("coffee-trade", { description: "Who delivered which beans to whom" });
  const environment = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });
  const nodes = [];
  for (const name of ["grower", "roaster"]) {
    const membership = new Membership(name, { consortium });
    nodes.push(new Node(name + "-1", { environment, membership }), new Node(name + "-2", { environment, membership }));
    new AppCred(name + "-app", { environment, membership });
  }
  new TetherService("pin", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: nodes });
`;

const nodeStart = 37_000;
/** The minimum wait: the nodes' own time, and a moment to notice it. */
const unavoidable = nodeStart + 300;
const latency = 100;

/** The overhead of an `up` beyond its waits. @type {import("../lib/stack.mjs").Measure} */
export const waiting = async (tools) => {
  /** On a service and a stack of its own. @param {Partial<import("../../service/index.js").Timing>} timing */
  const up = async (timing) => {
    const service = await tools.module.startService({ tethers: [{ id: tetherId }], timing: { latency, ...timing } });
    const env = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
    const stack = await Stack.create(tools.cli, { program: reference, env });
    try {
      const { ms } = await stack.ok(upArgs);
      return { ms, requests: service.calls.length };
    } finally {
      stack.remove();
      await service.close();
    }
  };
  const instant = { nodeStart: 0, environmentStart: 0 };
  const before = await up(instant);
  const slow = await up({ nodeStart, environmentStart: 500 });
  const after = await up(instant);
  const nothing = Math.min(before.ms, after.ms);
  const ratio = slow.ms / (nothing + unavoidable);
  return [
    bounded("`up` of the reference network, nodes ready after 37 s, 100 ms a call", ratio, {
      most: 1.05,
      of: "(nothing to wait for + 37.3 s)",
      measured: `${seconds(slow.ms)} against ${seconds(nothing)} + 37.3 s: ×${ratio.toFixed(3)}`,
    }),
    bounded("its requests", slow.requests, { most: 40 }),
  ];
};
