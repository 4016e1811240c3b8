// @ts-check
/** The time of an `up`, and its requests and those of a refresh, on the embedded service. */
import { bounded, seconds } from "../lib/report.mjs";
import { Stack, tetherId, upArgs } from "../lib/stack.mjs";

/**
 * Work on a service and a stack of its own.
 * @template T
 * @param {import("../lib/stack.mjs").Tools} tools
 * @param {string} program
 * @param {import("../../service/index.js").ServiceOptions} options
 * @param {(service: import("../../service/index.js").Service, stack: Stack) => Promise<T>} work
 */
async function withStack({ cli, module }, program, options, work) {
  const service = await module.startService({ tethers: [{ id: tetherId }], ...options });
  const env = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
  const stack = await Stack.create(cli, { program, env });
  try {
    return await work(service, stack);
  } finally {
    stack.remove();
    await service.close();
  }
}

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
/** The least that waiting can take: the nodes' own time, and a moment to see it. */
const unavoidable = nodeStart + 300;
const latency = 100;

/** How much longer an `up` takes than what it waits for. @type {import("../lib/stack.mjs").Measure} */
export const waiting = async (tools) => {
  const up = (/** @type {Partial<import("../../service/index.js").Timing>} */ timing) =>
    withStack(tools, reference, { timing: { latency, ...timing } }, async (service, stack) => {
      const { ms } = await stack.ok(upArgs);
      return { ms, requests: service.calls.length };
    });
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
  withStack(tools, twoConsortia, {}, async (service, stack) => {
    await stack.ok(upArgs);
    service.clearCalls();
    await stack.ok(["refresh", "--yes", "--skip-preview"]);
    return [bounded("requests of a `refresh` of 24 nodes in 6 environments", service.calls.length, { most: 20 })];
  });
