import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, treeOf } from "../../../tools/lib/processes.mjs";
import { failed, finished, root } from "../support/stack";
import { until } from "../../support/until";
import { tetherId, type World, wholeTree, world } from "../support/world";

type Adapter = "dynamic" | "plugin";
const on = (adapter: Adapter) => ({ CONSORTIUM_PLUGIN: String(adapter === "plugin") });

const exactly = { consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 };
const countsOf = async (w: World): Promise<Record<string, number>> =>
  Object.fromEntries(Object.entries(await w.network()).map(([kind, items]) => [kind, items.length]));

/** The documented recovery leads to exactly the network, and destroy removes all of it. */
async function recovered(w: World, adapter: Adapter, victim?: "cli" | "provider"): Promise<void> {
  await w.stack.run(["cancel", "--yes"]);
  const up = await w.stack.up({ ...on(adapter), CONSORTIUM_ADOPT: "true" });
  expect(up).toMatchObject({ code: 0 });
  if (victim === "cli") expect(up.text).toContain("pending operations from previous deployment");
  // A credential that the killed run created and did not record is named. A person has it removed.
  const [, ids] = /consortium sweep --id (\S+)/.exec(up.text) ?? [];
  expect((await countsOf(w)).appcreds).toBe(ids ? 2 : 1);
  if (ids) {
    const cli = [join(root, "dist/cli/consortium.js"), "sweep", "--yes", "--id", ids];
    const swept = await finished(spawn(process.execPath, cli, { env: { ...process.env, ...w.stack.env } }));
    expect(swept).toMatchObject({ code: 0 });
  }
  expect(await countsOf(w)).toEqual(exactly);
  expect(w.service.store.tethers.get(tetherId).fields.deployments.rinkeby).toBe(1);
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
}

/** The call at which the run is killed, whether it was acted on, and what is killed (all of them: `npm run reliability`). */
const kills: [string, { method: string; route: string }, "cli" | "provider", "before" | "after", Adapter][] = [
  ["the first create", { method: "POST", route: "/consortia" }, "cli", "after", "dynamic"],
  [
    "a credential's create",
    { method: "POST", route: "/consortia/:consortiumId/environments/:environmentId/appcreds" },
    "provider",
    "after",
    "plugin",
  ],
  ["the tether's deployment", { method: "POST", route: "/tether/:tetherId/deploy" }, "cli", "after", "plugin"],
  ["the tether's deployment", { method: "POST", route: "/tether/:tetherId/deploy" }, "provider", "before", "dynamic"],
];

// At the same time, because most of it is waiting.
test.concurrent.each(kills)(
  "killed at %s (%j, the %s, %s it was acted on, %s): recovers to exactly the network",
  async (_, call, victim, when, adapter) => {
    const w = await world(wholeTree, { plugin: true });
    const fault = w.service.faults.add({ ...call, kind: "hang", acted: when === "after" });
    const child = w.stack.start(["up", "--yes", "--skip-preview"], on(adapter));
    const end = finished(child);
    await until(() => fault.hits > 0);
    const processes = treeOf(child.pid!).slice(1);
    const providers = processes.filter(({ command }) => /dynamic-provider|pulumi-resource-consortium/.test(command));
    expect(providers.length).toBeGreaterThan(0);
    for (const { pid } of victim === "cli" ? processes.filter((one) => !providers.includes(one)) : providers)
      process.kill(pid, "SIGKILL");
    if (victim === "cli") child.kill("SIGKILL");
    await end;
    // Nothing of the killed run may act on: its provider notices that nobody is left to tell.
    await until(() => !providers.some(({ pid }) => isAlive(pid)));
    w.service.faults.clear();
    await recovered(w, adapter, victim);
  },
);

/** Presses Ctrl-C while a node of this name starts, and lets it get ready afterwards. */
async function interrupted(w: World, adapter: Adapter, node: string): Promise<void> {
  const { nodes } = w.service.store;
  const child: ChildProcess = w.stack.start(["up", "--yes", "--skip-preview"], on(adapter));
  const end = finished(child);
  await until(() => nodes.list().some(({ fields }) => fields.name === node));
  w.service.clearCalls();
  child.kill("SIGINT");
  const text = await failed(end);
  // Looks are three seconds apart, and more on a busy machine.
  const looks = w.service.calls.filter(({ method, route }) => method === "GET" && route.endsWith("/nodes"));
  expect(looks.length).toBeLessThanOrEqual(2);
  expect(text).toMatch(new RegExp(`node "${node}" \\(\\w+\\) exists, but is not ready: interrupted while waiting`));
  const kept = (await w.stack.resources()).find(({ urn }) => urn.endsWith(`:Node::${node}`));
  expect(kept?.id).toBe(nodes.list().find(({ fields }) => fields.name === node)?.id);
  for (const { id } of nodes.list()) nodes.setState(id, "started");
}

test("Ctrl-C ends waiting promptly and keeps what was created, on both providers, and either goes on", async () => {
  const w = await world(wholeTree, { plugin: true, timing: { nodeStart: 600_000 } });
  await interrupted(w, "dynamic", "n");
  // What one provider left incomplete, the other one finishes.
  w.stack.program(`${wholeTree} new Node("n2", { environment, membership });`);
  await interrupted(w, "plugin", "n2");
  expect(await w.stack.up(on("plugin"))).toMatchObject({ code: 0 });
  expect(await countsOf(w)).toEqual({ ...exactly, nodes: 2 });
  expect(await w.stack.preview(on("plugin"), "--expect-no-changes")).toMatchObject({ code: 0 });
});

test("a state file that was cut off is replaced by Pulumi's backup, as docs/recovery.md says", async () => {
  const w = await world(`new (require("pulumi-consortium").Consortium)("c")`, { inline: true });
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  const file = join(w.stack.folder, "state/.pulumi/stacks/e2e/test.json");
  writeFileSync(file, readFileSync(file, "utf8").slice(0, 500));
  const cut = await failed(w.stack.preview());
  expect(cut).toContain("failed to load checkpoint");
  copyFileSync(`${file}.bak`, file);
  expect(await w.stack.up({ CONSORTIUM_ADOPT: "true" })).toMatchObject({ code: 0 });
  expect((await countsOf(w)).consortia).toBe(1);
});
