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
  new Node("n1", within, { deletedWith: environment });
  new Node("n2", { ...within, ...${JSON.stringify({ size })} });
  new AppCred("a", within);
  new Service("s", { ...within, service: "ipfs" });
  for (let at = 0; at < ${beside}; at++) new Environment("other" + at, { ...base, consensusType: "raft" });
`;

const environments = "/consortia/:consortiumId/environments";
const nodes = `${environments}/:environmentId/nodes`;
const replaced: Shape = { consensusType: "ibft" };

const made = async (shape: Shape, adapter: object) => {
  const w = await world(program(shape), adapter);
  expect(await done(w.stack.up())).toMatchObject({ code: 0 });
  const before = await w.network();
  w.service.clearCalls();
  const refuse = (route: string, status: number, errorMessage: string) =>
    w.service.faults.add({ kind: "status", method: "POST", route, status, errorMessage, times: Infinity });
  return { ...w, before, refuse };
};
const environmentsOf = async ({ network }: World): Promise<unknown[]> =>
  (await network()).environments.map(({ name, consensus_type: type }) => [name, type]);
/** All creates come before the first deletion. */
const isNewFirst = ({ service }: World): boolean => {
  const all = writesOf(service).map((call) => call.split(" ")[0]);
  return all.lastIndexOf("POST") < all.indexOf("DELETE");
};

describe.each([
  ["dynamic", { inline: true }],
  ["plugin", { inline: true, plugin: true }],
])("%s", (_, adapter) => {
  test("a typo is refused; refused by the service, or at a limit, all is as it was; then the new one comes first, with everything in it", async () => {
    const w = await made({ beside: 2 }, adapter);
    w.stack.program(program({ consensusType: "rfat", beside: 2 }));
    for (const run of [() => w.stack.preview(), () => w.stack.up({}, "--skip-preview")])
      expect((await run()).text.replace(/\s+/g, " ")).toMatch(/not "rfat"; did you mean "raft"\?.*write "other:rfat"/);
    expect(await w.network()).toEqual(w.before);
    w.stack.program(program({ ...replaced, beside: 2 }));
    const limit = await failed(w.stack.up());
    expect(limit).toMatch(/It replaces \w+, which stays as it was.*deleteBeforeReplace: true/s);
    expect(await w.network()).toEqual(w.before);
    w.stack.program(program());
    expect(await done(w.stack.up())).toMatchObject({ code: 0 });
    w.stack.program(program(replaced));
    const fault = w.refuse(environments, 400, "consensus_type is not supported");
    expect(await failed(w.stack.up())).toContain("consensus_type is not supported");
    fault.remove();
    expect((await w.network()).nodes).toEqual(w.before.nodes);
    expect(await done(w.stack.up())).toMatchObject({ code: 0 });
    w.service.clearCalls();
    w.stack.program(program());
    expect(await done(w.stack.up())).toMatchObject({ code: 0 });
    expect([isNewFirst(w), await environmentsOf(w)]).toEqual([true, [["e", "raft"]]]);
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a node that is refused in the new one, also with --continue-on-error: the old ledger keeps its nodes", async () => {
    const w = await made({}, adapter);
    w.stack.program(program({ ...replaced, size: "huge" }));
    const fault = w.refuse(nodes, 400, "no such size");
    for (const args of [[], ["--continue-on-error"]]) {
      expect(await failed(w.stack.up({}, ...args))).toContain("no such size");
      const { nodes: there } = await w.network();
      expect(there).toEqual(expect.arrayContaining(w.before.nodes));
    }
    fault.remove();
    expect(await done(w.stack.up())).toMatchObject({ code: 0 });
    expect(await environmentsOf(w)).toEqual([["e", "ibft"]]);
    expect((await w.network()).nodes).toHaveLength(2);
  });
});

test("a run that is killed between create and deletion: the next one goes on", async () => {
  const w = await made({}, {});
  w.stack.program(program(replaced));
  w.service.faults.add({ kind: "hang", method: "POST", route: nodes, acted: true, times: Infinity });
  const child = w.stack.start(["up", "--yes", "--skip-preview"]);
  const end = finished(child);
  await until(() => w.service.calls.some(({ method, route }) => method === "POST" && route === nodes));
  spawnSync("kill", ["-KILL", ...treeOf(child.pid!).map(({ pid }) => String(pid))]);
  expect((await end).code).not.toBe(0);
  w.service.faults.clear();
  expect((await w.network()).nodes).toEqual(expect.arrayContaining(w.before.nodes));
  await w.stack.ok(["cancel", "--yes"]);
  expect(await done(w.stack.up())).toMatchObject({ code: 0 });
  expect(await environmentsOf(w)).toEqual([["e", "ibft"]]);
  expect((await w.network()).nodes).toHaveLength(2);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
