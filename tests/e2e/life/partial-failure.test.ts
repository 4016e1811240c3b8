import { failed } from "../support/stack";
import { until } from "../../support/until";
import { type World, wholeTree, world } from "../support/world";

/** Nodes that never become ready by themselves, in a program that allows them two seconds. */
const impatient = wholeTree.replace(
  "{ environment, membership });\n  const cred",
  '{ environment, membership }, { customTimeouts: { create: "2s", update: "2s" } });\n  const cred',
);

let w: World;
beforeAll(async () => {
  expect(impatient).toContain("customTimeouts");
  w = await world(impatient, { inline: true, timing: { nodeStart: 600_000 } });
});

const nodeOf = async () => (await w.stack.resources()).find(({ urn }) => urn.endsWith(":Node::n"));

/** One story: each test goes on where the one before it ended. (A node that fails: tests/provider/resources/partial.test.ts.) */
test("a node that takes too long is kept as not ready", async () => {
  const text = await failed(w.stack.up());
  const [, said = ""] = text.split("Diagnostics:");
  expect(said).toContain("1 error occurred:");
  expect(
    said.match(/node "n" \(\w+\): Run `pulumi up` again .*not ready: still "initializing" after 2 s.*\[not-ready:/g),
  ).toHaveLength(1);
  expect(await nodeOf()).toMatchObject({
    id: w.service.store.nodes.list()[0]!.id,
    outputs: { state: "initializing", __provider: expect.stringContaining("runtime") as string },
  });
});

test("the next up continues to wait for it, even after a refresh", async () => {
  expect(await w.stack.refresh()).toMatchObject({ code: 0 });
  const kept = await nodeOf();
  expect(kept).toMatchObject({ outputs: { state: "initializing" } });
  // A refresh drops the engine's own note that it is not ready: up still goes on waiting.
  expect((await w.stack.up()).text).toMatch(/node "n" \(\w+\): .*\[not-ready:/);
  w.service.store.nodes.setState(kept!.id, "started");
  w.service.clearCalls();
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  expect(w.service.calls.filter(({ method, route }) => method === "POST" && route.endsWith("/nodes"))).toEqual([]);
  expect(await nodeOf()).toMatchObject({
    id: kept?.id,
    outputs: { state: "started", urls: { rpc: expect.any(String) as string } },
  });
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
});

test("a service that dies during a run: the resource, the call and the address come before the engine's heading", async () => {
  const patient = impatient.replace('create: "2s"', 'create: "6s"');
  expect(patient).not.toBe(impatient);
  w.stack.program(patient);
  const run = w.stack.up();
  await until(() => w.service.store.nodes.list().length > 0);
  const looks = () => w.service.calls.filter(({ method, route }) => method === "GET" && route.endsWith("/nodes"));
  const before = looks().length;
  await until(() => looks().length > before); // the run knows of it, and waits
  await w.service.close();
  const text = await failed(run);
  expect(text).toMatch(
    / node "n" \(\w+\): Run .*not ready: The service at http:\S+ .*GET \/consortia\/\w+\/environments\/\w+\/nodes: /,
  );
});
