import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { treeOf } from "../../../tools/lib/processes.mjs";
import { temporary } from "../../fleet/made";
import { finished, type Result } from "../support/stack";
import { until } from "../../support/until";
import { type World, wholeTree, world } from "../support/world";

/* The CLI and the providers are killed at each create of the reference network: `pulumi cancel && pulumi up` continues. */

const creates = {
  consortia: "/consortia",
  memberships: "/consortia/:consortiumId/memberships",
  environments: "/consortia/:consortiumId/environments",
  nodes: "/consortia/:consortiumId/environments/:environmentId/nodes",
  appcreds: "/consortia/:consortiumId/environments/:environmentId/appcreds",
} as const;
const once = { consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 };

const countsOf = async (w: World): Promise<Record<string, number>> =>
  Object.fromEntries(Object.entries(await w.network()).map(([kind, items]) => [kind, items.length]));

/** Kills everything that an `up` has started, at once, when the service has created something by this route. */
async function killedAt(w: World, route: string): Promise<void> {
  const child = w.stack.start(["up", "--yes", "--skip-preview"]);
  const end = finished(child);
  await until(() => w.service.calls.some((call) => call.method === "POST" && call.route === route));
  spawnSync("kill", ["-KILL", ...treeOf(child.pid!).map(({ pid }) => String(pid))]);
  expect((await end).code).not.toBe(0);
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

/**
 * One run after the other is killed at the next create. Only the last one gets through. (Every create, on both adapters:
 * provider/stacks/killed and reliability/oracle.)
 */
test.each([
  ["dynamic", "unanswered"],
  ["plugin", "answered"],
])("on the %s provider, killed at each create, %s: `pulumi cancel && pulumi up` continues", async (adapter, how) => {
  const w = await world(wholeTree, { plugin: adapter === "plugin", env: { XDG_STATE_HOME: temporary() } });
  for (const route of Object.values(creates)) {
    if (how === "unanswered") w.service.faults.add({ kind: "hang", method: "POST", route, acted: true });
    await killedAt(w, route);
    w.service.faults.clear();
    await cancelled(w);
  }
  const { code, text } = await w.stack.up();
  expect([code, text]).toEqual([0, expect.not.stringMatching(/already taken|CONSORTIUM_ADOPT/)]);
  expect(await countsOf(w)).toEqual(once);
  expect(logsIn(w)).toEqual([]);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect((await w.stack.destroy()).code).toBe(0);
  expect(await countsOf(w)).toMatchObject({ consortia: 0 });
});

test("a name that `pulumi:autonaming` made is found again after a kill", async () => {
  const program = `new (require("pulumi-consortium").Consortium)("c")`;
  const autonaming = { pattern: "${name}-${hex(8)}" } as unknown as string;
  const w = await world(program, { plugin: true, config: { "pulumi:autonaming": autonaming } });
  w.service.faults.add({ kind: "hang", method: "POST", route: creates.consortia, acted: true, times: 1 });
  await killedAt(w, creates.consortia);
  const [{ name } = { name: "" }] = (await w.network()).consortia;
  expect(name).toMatch(/^c-[0-9a-f]{8}$/);
  await cancelled(w);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toMatchObject([{ name }]);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
