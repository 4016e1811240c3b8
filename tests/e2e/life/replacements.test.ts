import { spawnSync } from "node:child_process";
import { treeOf } from "../../../tools/lib/processes.mjs";
import { until } from "../../support/until";
import { done, failed, finished } from "../support/stack";
import { type World, world, writesOf } from "../support/world";

/* A replaced ledger, with the real CLI: the new one is ready before the old one goes, whatever becomes of the run. */

interface Shape {
  consensusType?: string;
  /** Environments beside it. */
  beside?: number;
  /** Of the second node. */
  size?: string;
  options?: object;
}

const program = ({ consensusType = "raft", beside = 0, size, options }: Shape = {}): string => `
  const { AppCred, Consortium, Environment, Membership, Node, Service } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const base = { consortium, provider: "quorum", consensusType: "${consensusType}" };
  const environment = new Environment("e", base, ${JSON.stringify(options)});
  const within = { environment, membership };
  new Node("n1", within);
  new Node("n2", { ...within, ...${JSON.stringify({ size })} });
  new AppCred("a", within);
  new Service("s", { ...within, service: "ipfs" });
  for (let at = 0; at < ${beside}; at++) new Environment("other" + at, { ...base, consensusType: "raft" });
`;

const environments = "/consortia/:consortiumId/environments";
const replaced = program({ consensusType: "ibft" });

describe.each([
  ["dynamic", { inline: true }],
  ["plugin", { inline: true, plugin: true }],
])("%s", (_, adapter) => {
  const made = async (shape: Shape = {}): Promise<World & { before: unknown }> => {
    const w = await world(program(shape), adapter);
    expect(await done(w.stack.up())).toMatchObject({ code: 0 });
    const before = await w.network();
    w.service.clearCalls();
    return { ...w, before };
  };
  const prod = async ({ network }: World): Promise<unknown[]> =>
    (await network()).environments.map(({ name, consensus_type: type }) => [name, type]);

  test("all goes well: the new one first, with everything in it; then the old one", async () => {
    const w = await made();
    w.stack.program(replaced);
    const { text } = await done(w.stack.up());
    console.log(text, writesOf(w.service));
    expect(await prod(w)).toEqual([["e", "ibft"]]);
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
