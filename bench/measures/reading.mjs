// @ts-check
/** How many requests a refresh takes. */
import { bounded } from "../lib/report.mjs";
import { withRig } from "../lib/rig.mjs";
import { refreshArgs, upArgs } from "../lib/stack.mjs";

const most = 20;

const program = `
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

/** @type {import("../lib/rig.mjs").Measure} */
export const reading = (tools) =>
  withRig(tools, { program }, async (service, stack) => {
    await stack.ok(upArgs);
    service.clearCalls();
    await stack.ok(refreshArgs);
    const requests = service.calls.length;
    return { rows: [bounded("requests of a `refresh` of 24 nodes in 6 environments", requests, { most })] };
  });
