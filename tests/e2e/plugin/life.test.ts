import { canaryKey, tetherId, type World, wholeTree, world } from "../support/world";

/* One stack of the classes on the plugin, from its first up to its destroy. (What both providers do: tests/e2e/life.) */

/** Nodes that do not become ready by themselves; long enough for a line of progress: the first look after ten seconds, and looks are three apart. */
const impatient = wholeTree.replace(
  "{ environment, membership });\n  const cred",
  '{ environment, membership }, { customTimeouts: { create: "15s", update: "1s" } });\n  const cred',
);

let w: World;
beforeAll(async () => {
  expect(impatient).toContain("customTimeouts");
  w = await world(impatient, { inline: true, plugin: true, timing: { nodeStart: 600_000 } });
});
afterAll(() => w.close());

const nodeOf = async () => (await w.stack.resources()).find(({ type }) => type === "consortium:index:Node");
const writes = (): string[] =>
  w.service.calls.filter(({ method }) => method !== "GET").map(({ method, route }) => `${method} ${route}`);

/** One story: each test goes on where the one before it ended. */
test("waiting shows in the row of the node; one that takes too long is kept as not ready", async () => {
  const { code, text } = await w.stack.up();
  expect(code).not.toBe(0);
  expect(text).toMatch(/ consortium:index:Node n creating .*"initializing", 1\d s so far/);
  expect(text).toMatch(/node "n" \(\w+\) exists, but is not ready: still "initializing" after 15 s/);
  expect(await nodeOf()).toMatchObject({
    id: w.service.store.nodes.list()[0]!.id,
    outputs: { state: "initializing" },
    initErrors: [expect.stringContaining("not ready")],
  });
});

test("the next up goes on waiting for it, and makes nothing twice", async () => {
  expect((await w.stack.up()).text).toMatch(/node "n" \(\w+\) exists, but is not ready/);
  const { nodes } = w.service.store;
  for (const { id } of nodes.list()) nodes.setState(id, "started");
  w.service.clearCalls();
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  expect(writes().filter((call) => !call.includes("/tether/"))).toEqual([]);
  expect(await nodeOf()).toMatchObject({ id: nodes.list()[0]!.id, outputs: { state: "started" } });
  await w.stack.ok(["preview", "--expect-no-changes"]);
});

test("a refresh finds all as it is; no secret is in clear in output, state or log", async () => {
  const { code, text } = await w.stack.run([
    ...["refresh", "--yes", "--skip-preview", "--expect-no-changes"],
    ...["-v=9", "--logtostderr"],
  ]);
  expect({ code }).toEqual({ code: 0 });
  const { password, header } = await w.stack.outputs();
  const state = await w.stack.exported();
  // Pulumi itself prints what it exchanges with providers, as docs/settings.md says.
  const lines = text.split("\n").filter((line) => !/ rpc\.go:\d+\] /.test(line));
  expect(lines.length).toBeGreaterThan(100);
  for (const secret of [canaryKey, String(password), String(header)]) {
    expect(secret.length).toBeGreaterThan(8);
    expect(state).not.toContain(secret);
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  }
});

test("a preview names what changes; each changes in its own way", async () => {
  w.stack.program(
    impatient
      .replace('description: "first"', 'description: "second"')
      .replace('new Membership("m", { consortium })', 'new Membership("m", { consortium, orgName: "Acme" })')
      .replace(
        'new AppCred("a", { environment, membership })',
        'new AppCred("a", { environment, membership, keepers: { turn: 2 } })',
      )
      .replace("intervalHours: 1", "intervalHours: 6"),
  );
  const preview = await w.stack.preview({}, "--diff");
  expect(preview.text).toMatch(/~ description: +"first" => "second"/);
  expect(preview.text).toMatch(/~ 3 to update\n +\+-1 to replace/);
  w.service.clearCalls();
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  const within = "/consortia/:consortiumId";
  const credentials = `${within}/environments/:environmentId/appcreds`;
  expect(writes().sort()).toEqual([
    `DELETE ${credentials}/:credentialId`,
    `PATCH ${within}`,
    `PATCH ${within}/memberships/:membershipId`,
    `POST ${credentials}`,
    ...["activate", "deactivate", "interval"].map((step) => `POST /tether/:tetherId/${step}`),
  ]);
});

test("what was deleted behind our back is made again by up --refresh, and a destroy leaves nothing", async () => {
  w.service.setTiming({ nodeStart: 100 });
  w.service.store.nodes.remove(w.service.store.nodes.list()[0]!.id);
  await w.stack.ok(["up", "--yes", "--skip-preview", "--refresh"]);
  expect((await w.network()).nodes.map(({ name, state }) => [name, state])).toEqual([["n", "started"]]);
  await w.stack.ok(["destroy", "--yes", "--skip-preview"]);
  expect(await w.network()).toMatchObject({ consortia: [], environments: [] });
  expect(w.service.store.tethers.get(tetherId).fields.active).toBe(false);
});
