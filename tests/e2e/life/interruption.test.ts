import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { descendants } from "../support/processes";
import { finished, root } from "../support/stack";
import { until } from "../support/until";
import { tetherId, type World, wholeTree, world } from "../support/world";

const recover = { CONSORTIUM_ADOPT: "true" };

const commandOf = (pid: number): string => {
  try {
    return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
};
const isProvider = (pid: number): boolean => /dynamic-provider/.test(commandOf(pid));

const exactly = { consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 };
const countsOf = async (w: World): Promise<Record<string, number>> =>
  Object.fromEntries(Object.entries(await w.network()).map(([kind, items]) => [kind, items.length]));

/** Each run has a tether of its own, since a contract that is deployed stays. */
const tetherOf = (run: number): string => `${tetherId.slice(0, -1)}${run}`;

let w: World;
beforeAll(async () => {
  w = await world("", { tethers: Array.from({ length: kills.length + 1 }, (_, run) => ({ id: tetherOf(run) })) });
});
afterAll(() => w.close());

/** A run ends in one way or another; all that it made is gone again at the end. */
async function recovered(run: number): Promise<void> {
  await w.stack.run(["cancel", "--yes"]);
  const up = await w.stack.up(recover);
  expect(up).toMatchObject({ code: 0 });
  // A credential that the dead run had made and not recorded is named, and goes at a person's word.
  const [, ids] = /consortium sweep --id (\S+)/.exec(up.text) ?? [];
  expect((await countsOf(w)).appcreds).toBe(ids ? 2 : 1);
  if (ids) {
    const cli = [join(root, "dist/cli/consortium.js"), "sweep", "--yes", "--id", ids];
    const swept = await finished(spawn(process.execPath, cli, { env: { ...process.env, ...w.stack.env } }));
    expect(swept).toMatchObject({ code: 0 });
  }
  expect(await countsOf(w)).toEqual(exactly);
  expect(w.service.store.tethers.get(tetherOf(run)).fields.deployments.rinkeby).toBe(1);
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
}

/** The call at which the run is killed, whether it was acted on, and what is killed (all of them: `npm run reliability`). */
const kills: [string, { method: string; route: string }, "cli" | "provider", "before" | "after"][] = [
  ["the first create", { method: "POST", route: "/consortia" }, "cli", "after"],
  [
    "a credential's create",
    { method: "POST", route: "/consortia/:consortiumId/environments/:environmentId/appcreds" },
    "provider",
    "after",
  ],
  ["the tether's deployment", { method: "POST", route: "/tether/:tetherId/deploy" }, "cli", "after"],
  ["the tether's deployment", { method: "POST", route: "/tether/:tetherId/deploy" }, "provider", "before"],
];

test.each(kills.map((kill, run) => [...kill, run] as const))(
  "killed at %s (%j, the %s, %s it was acted on): recovers to exactly the network",
  async (_, call, victim, when, run) => {
    w.stack.program(wholeTree.replace(tetherId, tetherOf(run)));
    const fault = w.service.faults.add({ ...call, kind: "hang", acted: when === "after" });
    const child = w.stack.start(["up", "--yes", "--skip-preview"]);
    const end = finished(child);
    await until(() => fault.hits > 0);
    const processes = descendants(child.pid!);
    const providers = processes.filter(isProvider);
    expect(providers.length).toBeGreaterThan(0);
    for (const pid of victim === "cli" ? processes.filter((pid) => !isProvider(pid)) : providers)
      process.kill(pid, "SIGKILL");
    if (victim === "cli") child.kill("SIGKILL");
    await end;
    // Nothing of the dead run may act on: its provider notices that nobody is left to tell.
    await until(() => !providers.some(isProvider));
    w.service.faults.clear();
    await recovered(run);
  },
);

test("Ctrl-C ends waiting promptly and keeps what was created", async () => {
  w.stack.program(wholeTree.replace(tetherId, tetherOf(kills.length)));
  w.service.setTiming({ nodeStart: 600_000 });
  const child: ChildProcess = w.stack.start(["up", "--yes", "--skip-preview"]);
  const end = finished(child);
  await until(() => w.service.store.nodes.list().length > 0);
  const pressed = Date.now();
  child.kill("SIGINT");
  const { code, text } = await end;
  expect(code).not.toBe(0);
  expect(Date.now() - pressed).toBeLessThan(15_000);
  expect(text).toMatch(/node "n" \(\w+\) exists, but is not ready: interrupted while waiting/);
  const kept = (await w.stack.resources()).find(({ type }) => type.endsWith(":Node"));
  expect(kept?.id).toBe(w.service.store.nodes.list()[0]?.id);
  for (const { id } of w.service.store.nodes.list()) w.service.store.nodes.setState(id, "started");
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  expect(await countsOf(w)).toEqual(exactly);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
