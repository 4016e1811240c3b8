import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failed, finished } from "../support/stack";
import { until } from "../../support/until";
import { type World, wholeTree, world } from "../support/world";

type Adapter = "dynamic" | "plugin";
const on = (adapter: Adapter) => ({ CONSORTIUM_PLUGIN: String(adapter === "plugin") });

const countsOf = async (w: World): Promise<Record<string, number>> =>
  Object.fromEntries(Object.entries(await w.network()).map(([kind, items]) => [kind, items.length]));

/** Presses Ctrl-C while a node of this name starts, and lets it get ready afterwards. */
async function interrupted(w: World, adapter: Adapter, node: string): Promise<void> {
  const { nodes } = w.service.store;
  const child = w.stack.start(["up", "--yes", "--skip-preview"], on(adapter));
  const end = finished(child);
  await until(() => nodes.list().some(({ fields }) => fields.name === node));
  w.service.clearCalls();
  child.kill("SIGINT");
  const text = await failed(end);
  // Looks are three seconds apart, and more on a busy machine.
  const looks = w.service.calls.filter(({ method, route }) => method === "GET" && route.endsWith("/nodes"));
  expect(looks.length).toBeLessThanOrEqual(2);
  expect(text).toMatch(new RegExp(`node "${node}" \\(\\w+\\): .*not ready: interrupted while waiting`));
  const kept = (await w.stack.resources()).find(({ urn }) => urn.endsWith(`:Node::${node}`));
  expect(kept?.id).toBe(nodes.list().find(({ fields }) => fields.name === node)?.id);
  for (const { id } of nodes.list()) nodes.setState(id, "started");
}

test("Ctrl-C ends waiting promptly and keeps new objects, on both providers, and either one continues", async () => {
  const w = await world(wholeTree, { plugin: true, timing: { nodeStart: 600_000 } });
  await interrupted(w, "dynamic", "n");
  // The other provider finishes an object that one left incomplete.
  w.stack.program(`${wholeTree} new Node("n2", { environment, membership });`);
  await interrupted(w, "plugin", "n2");
  expect(await w.stack.up(on("plugin"))).toMatchObject({ code: 0 });
  expect(await countsOf(w)).toEqual({ consortia: 1, memberships: 1, environments: 1, nodes: 2, appcreds: 1 });
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
