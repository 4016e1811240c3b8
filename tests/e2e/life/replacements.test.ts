import { done, failed } from "../support/stack";
import { world, writesOf } from "../support/world";

/*
 * A replaced ledger, with the real CLI: the new one is ready before the old one goes, whatever becomes of the run. (Refused, at a limit,
 * killed: provider/stacks/replaced. In the engine's order: engine.)
 */

const program = (consensusType: string, size?: string): string => `
  const { AppCred, Consortium, Environment, Membership, Node, Service } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "${consensusType}" });
  const within = { environment, membership };
  new Node("n1", within, { deletedWith: environment });
  new Node("n2", { ...within, ...${JSON.stringify({ size })} });
  new AppCred("a", within);
  new Service("s", { ...within, service: "ipfs" });
`;

const route = "/consortia/:consortiumId/environments/:environmentId/nodes";

test.each([false, true])(
  "a node that is refused in the new one, also with --continue-on-error: the old ledger keeps its nodes, and goes last (plugin: %s)",
  async (plugin) => {
    const { stack, service, network } = await world(program("raft"), { inline: true, plugin });
    await done(stack.up());
    const before = await network();
    const errorMessage = "no such size";
    const fault = service.faults.add({ kind: "status", method: "POST", route, status: 400, errorMessage, times: Infinity }); // prettier-ignore
    stack.program(program("ibft", "huge"));
    for (const args of [[], ["--continue-on-error"]]) {
      expect(await failed(stack.up({}, ...args))).toContain(errorMessage);
      expect((await network()).nodes).toEqual(expect.arrayContaining(before.nodes));
    }
    fault.remove();
    service.clearCalls();
    await done(stack.up());
    const writes = writesOf(service).map((call) => call.split(" ")[0]);
    expect(writes.lastIndexOf("POST")).toBeLessThan(writes.indexOf("DELETE"));
    expect(await network()).toMatchObject({ environments: [{ name: "e", consensus_type: "ibft" }], nodes: [{}, {}] });
    expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  },
);
