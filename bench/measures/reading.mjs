// @ts-check
/** How many requests a refresh takes. */
import { Trouble } from "../../tools/lib/say.mjs";
import { withRig } from "../lib/rig.mjs";

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

/**
 * @param {import("../lib/rig.mjs").Tools} tools
 * @returns {Promise<{ rows: import("../lib/rig.mjs").Row[], details: string }>}
 */
export const reading = (tools) =>
  withRig(tools, { program }, async (service, stack) => {
    await stack.ok(["up", "--yes", "--skip-preview"]);
    service.clearCalls();
    const { code, text } = await stack.refresh();
    if (code !== 0) throw new Trouble(`the refresh failed:\n${text}`);
    const requests = service.calls.length;
    const row = {
      measure: "requests of a `refresh` of 24 nodes in 6 environments",
      target: `at most ${most}`,
      measured: String(requests),
      met: requests <= most,
    };
    return { rows: [row], details: "" };
  });
