import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failed, finished } from "../support/stack";
import { until } from "../../support/until";
import { countsOf, type World, wholeTree, world } from "../support/world";

type Adapter = "dynamic" | "plugin";
const on = (adapter: Adapter) => ({ CONSORTIUM_PLUGIN: String(adapter === "plugin") });

const more = (name: string, options = "{}"): string => `new Node("${name}", { environment, membership }, ${options});`;
/** How a run says that it waits for this node. */
const waiting = {
  dynamic: (node: string) => new RegExp(`node "${node}": "initializing", \\d+ s so far`, "g"),
  plugin: (node: string) => new RegExp(` consortium:index:Node ${node} creating .*"initializing", \\d+ s so far`, "g"),
};

/** An update, from when it says that it waits for a node of this name. */
async function begun(w: World, adapter: Adapter, node: string) {
  const child = w.stack.start(["up", "--yes", "--skip-preview"], on(adapter));
  let said = "";
  child.stdout!.on("data", (part) => (said += String(part)));
  const end = finished(child);
  await until(() => waiting[adapter](node).test(said));
  w.service.clearCalls();
  return { child, end };
}

/** Presses Ctrl-C while a node of this name starts, and lets it get ready afterwards. */
async function interrupted(w: World, adapter: Adapter, node: string): Promise<void> {
  const { nodes } = w.service.store;
  const { child, end } = await begun(w, adapter, node);
  child.kill("SIGINT");
  const text = await failed(end);
  // Looks are three seconds apart, and more on a busy machine.
  const looks = w.service.calls.filter(({ method, route }) => method === "GET" && route.endsWith("/nodes"));
  expect(looks.length).toBeLessThanOrEqual(2);
  expect(text).toContain("1 error occurred:");
  expect(text).toMatch(new RegExp(`node "${node}" \\(\\w+\\): .*not ready: interrupted while waiting`));
  expect(text.match(waiting.dynamic(node))?.length ?? 0).toBeLessThanOrEqual(2); // the second one under Diagnostics
  const kept = (await w.stack.resources()).find(({ urn }) => urn.endsWith(`:Node::${node}`));
  expect(kept?.id).toBe(nodes.list().find(({ fields }) => fields.name === node)?.id);
  for (const { id } of nodes.list()) nodes.setState(id, "started");
}

test("waiting is shown, Ctrl-C ends it promptly and keeps new objects, on both providers, and either one continues", async () => {
  const w = await world(wholeTree, { plugin: true, timing: { nodeStart: 600_000 } });
  await interrupted(w, "dynamic", "n");
  // The other provider finishes an object that one left incomplete.
  w.stack.program(wholeTree + more("n2"));
  await interrupted(w, "plugin", "n2");
  expect(await w.stack.up(on("plugin"))).toMatchObject({ code: 0 });
  expect(countsOf(await w.network())).toEqual({ consortia: 1, memberships: 1, environments: 1, nodes: 2, appcreds: 1 });
  expect(await w.stack.preview(on("plugin"), "--expect-no-changes")).toMatchObject({ code: 0 });

  // A service that dies: the resource, the call and the address come before the engine's heading.
  w.stack.program(wholeTree + more("n2") + more("n3", '{ customTimeouts: { create: "15s" } }'));
  const { end } = await begun(w, "plugin", "n3");
  await w.service.close();
  expect(await failed(end)).toMatch(
    / node "n3" \(\w+\): Run .*not ready: The service at http:\S+ .*GET \/consortia\/\w+\/environments\/\w+\/nodes: /,
  );
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
  expect(countsOf(await w.network()).consortia).toBe(1);
});
