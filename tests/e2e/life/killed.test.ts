import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Call } from "../../../service/index";
import { isAlive, treeOf } from "../../../tools/lib/processes.mjs";
import { temporary } from "../../fleet/made";
import { finished, type Result } from "../support/stack";
import { until } from "../../support/until";
import { countsOf, tetherId, type World, wholeTree, world } from "../support/world";

/*
 * The CLI and the providers are killed at each create of the reference network: `pulumi cancel && pulumi up` continues.
 * tests/reliability has every fault at every call, on a double of the engine.
 */

const creates = {
  consortia: "/consortia",
  memberships: "/consortia/:consortiumId/memberships",
  environments: "/consortia/:consortiumId/environments",
  nodes: "/consortia/:consortiumId/environments/:environmentId/nodes",
  appcreds: "/consortia/:consortiumId/environments/:environmentId/appcreds",
} as const;
const deploy = "/tether/:tetherId/deploy";

/** There is exactly the network, the tether is paid for once, a second `up` changes nothing, and a destroy leaves nothing. */
async function expectWhole(w: World): Promise<void> {
  expect(countsOf(await w.network())).toEqual({ consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 });
  const ids = Object.values(await w.network()).flatMap((items) => items.map((item) => item._id ?? item.id));
  expect(await w.stack.ids()).toEqual([...ids, tetherId].sort());
  expect(w.service.store.tethers.get(tetherId).fields).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect((await w.stack.destroy()).code).toBe(0);
  expect((await w.network()).consortia).toEqual([]);
  expect(w.service.store.tethers.get(tetherId).fields).toMatchObject({ active: false });
}

const isProvider = ({ command }: { command: string }): boolean =>
  /dynamic-provider|pulumi-resource-consortium/.test(command);

/** Kills what an `up` has started, at once, when the service has got as many calls by this route: everything, or the provider alone. */
async function killedAt(w: World, route: string, nth: number, victim = (_: { command: string }): boolean => true) {
  const child = w.stack.start(["up", "--yes", "--skip-preview"]);
  const end = finished(child);
  const isIt = (call: Call): boolean => call.method === "POST" && call.route === route;
  await until(() => w.service.calls.filter(isIt).length >= nth);
  const processes = treeOf(child.pid!);
  spawnSync("kill", ["-KILL", ...processes.filter(victim).map(({ pid }) => String(pid))]);
  expect((await end).code).not.toBe(0);
  await until(() => !processes.some(({ pid }) => isAlive(pid)));
}

/** Files of the log of creates. */
const logsIn = (w: World): string[] =>
  readdirSync(join(w.stack.env.XDG_STATE_HOME!, "pulumi-consortium"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".jsonl"),
  );

/** `pulumi cancel`. A CLI that was killed while it wrote the state may have left half of it: then docs/recovery.md says what to do. */
async function cancelled({ stack }: World): Promise<void> {
  const cancel = (): Promise<Result> => stack.run(["cancel", "--yes"]);
  let { code, text } = await cancel();
  if (code === 0) return;
  expect(text).toMatch(/failed to load checkpoint|EOF/);
  const folder = join(stack.folder, "state/.pulumi/stacks/e2e");
  for (const name of readdirSync(folder))
    if (name.endsWith(".attrs") && statSync(join(folder, name)).size === 0) rmSync(join(folder, name));
  ({ code, text } = await cancel());
  if (code === 0) return;
  expect(text).toContain("failed to load checkpoint");
  copyFileSync(join(folder, "test.json.bak"), join(folder, "test.json"));
  await stack.ok(["cancel", "--yes"]);
}

/** A create, whether the service acts if it does not answer, and what is killed then: the rest is an answer, and everything. */
type Kill = [route: string, unanswered?: { acted: boolean }, victim?: typeof isProvider];
const acted = { acted: true };
const { consortia, memberships, environments, nodes, appcreds } = creates;
const kills: [adapter: string, kills: Kill[]][] = [
  [
    "dynamic",
    [
      ...Object.values(creates).map((route): Kill => [route, acted]),
      [deploy, { acted: false }, isProvider],
      [deploy, acted],
    ],
  ],
  // The credential before any other run has asked for one, and once more: both are nobody's then.
  [
    "plugin",
    [
      ...[[consortia, acted] as Kill, [memberships] as Kill, [environments] as Kill],
      ...[[appcreds, acted, isProvider] as Kill, [nodes] as Kill, [appcreds, acted] as Kill, [deploy] as Kill],
    ],
  ],
];

/**
 * One run after the other is killed at the next create. Only the last one gets through, and finds names again that `pulumi:autonaming` made.
 * (Every create, on both adapters: provider/stacks/killed and reliability/oracle.)
 */
test.each(kills)(
  "on the %s provider, killed at each create: `pulumi cancel && pulumi up` continues",
  async (adapter, all) => {
    const autonaming = { providers: { consortium: { pattern: "${name}-${hex(8)}" } } } as unknown as string;
    const onPlugin = { plugin: true, config: { "pulumi:autonaming": autonaming } };
    const w = await world(wholeTree, { ...(adapter === "plugin" && onPlugin), env: { XDG_STATE_HOME: temporary() } });
    const named = async () => (await w.network()).consortia.map(({ name }) => name);
    let names: unknown[] | undefined;
    for (const [at, [route, unanswered, victim]] of all.entries()) {
      if (unanswered) w.service.faults.add({ kind: "hang", method: "POST", route, times: 1, ...unanswered });
      await killedAt(w, route, all.slice(0, at + 1).filter(([one]) => one === route).length, victim);
      w.service.faults.clear();
      await cancelled(w);
      expect(await named()).toEqual((names ??= await named()));
    }
    expect(names).toEqual([expect.stringMatching(adapter === "plugin" ? /^c-[0-9a-f]{8}$/ : /^c$/)]);
    const { code, text } = await w.stack.up();
    expect([code, text]).toEqual([0, expect.not.stringMatching(/already taken|CONSORTIUM_ADOPT/)]);
    expect(text).toContain("pending operations from previous deployment");
    expect(await named()).toEqual(names);
    expect(logsIn(w)).toEqual([]);
    await expectWhole(w);
  },
);
