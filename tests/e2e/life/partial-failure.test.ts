import { until } from "../support/ledger";
import { tetherId, type World, wholeTree, world } from "../support/world";

/** Nodes that never become ready by themselves, in a program that allows them two seconds. */
const impatient = wholeTree.replace(
  "{ environment, membership });\n  const cred",
  '{ environment, membership }, { customTimeouts: { create: "2s", update: "2s" } });\n  const cred',
);

const nodeOf = async (w: World) => (await w.stack.resources()).find(({ type }) => type.endsWith(":Node"));
const finish = (w: World, state: string): void => {
  for (const { id } of w.service.store.nodes.list()) w.service.store.nodes.setState(id, state);
};

/** What a run says before the engine's own heading of such an error, which names no cause. */
function beforeHeading(text: string): string {
  const heading = text.indexOf("error: 1 error occurred:");
  expect(heading).toBeGreaterThan(0);
  return text.slice(0, heading);
}

async function slow(): Promise<World> {
  expect(impatient).toContain("customTimeouts");
  return world(impatient, { timing: { nodeStart: 600_000 } });
}

test("a node that takes too long is kept as not ready; the next up goes on waiting for it", async () => {
  const w = await slow();
  try {
    const { code, text } = await w.stack.up();
    expect(code).not.toBe(0);
    expect(text).toMatch(
      /node "n" \(\w+\) exists, but is not ready: still "initializing" after 2 s, which is all the time it has \(customTimeouts\)/,
    );
    expect(beforeHeading(text)).toMatch(/ node "n" \(\w+\) exists, but is not ready: still "initializing"/);
    const kept = await nodeOf(w);
    expect(kept).toMatchObject({
      id: w.service.store.nodes.list()[0]!.id,
      outputs: { state: "initializing", __provider: expect.stringContaining("runtime") as string },
    });
    finish(w, "started");
    w.service.clearCalls();
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(w.service.calls.filter(({ method, route }) => method === "POST" && route.endsWith("/nodes"))).toEqual([]);
    expect(await nodeOf(w)).toMatchObject({
      id: kept?.id,
      outputs: { state: "started", urls: { rpc: expect.any(String) as string } },
    });
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  } finally {
    await w.close();
  }
});

test("refresh and destroy work straight after a partial failure", async () => {
  const w = await slow();
  try {
    expect((await w.stack.up()).code).not.toBe(0);
    expect(await w.stack.refresh()).toMatchObject({ code: 0 });
    expect(await nodeOf(w)).toMatchObject({ outputs: { state: "initializing" } });
    // A refresh drops the engine's own note that it is not ready: up still goes on waiting.
    const again = await w.stack.up();
    expect(again.text).toMatch(/node "n" \(\w+\) exists, but is not ready/);
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  } finally {
    await w.close();
  }
});

test("a node that fails ends the waiting at once, and destroy removes it", async () => {
  const w = await slow();
  try {
    w.service.faults.add({
      method: "POST",
      route: "/consortia/:consortiumId/environments/:environmentId/nodes",
      kind: "delay",
      ms: 0,
    });
    w.stack.program(wholeTree);
    const run = w.stack.run(["up", "--yes", "--skip-preview"]);
    const failing = setInterval(() => finish(w, "failed"), 100);
    const { code, text } = await run.finally(() => clearInterval(failing));
    expect(code).not.toBe(0);
    expect(text).toMatch(/node "n" \(\w+\) exists, but is not ready: it went to the state "failed"/);
    expect(await nodeOf(w)).toMatchObject({ outputs: { state: "failed" } });
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  } finally {
    await w.close();
  }
});

test("a tether without funds: the resource, the cause and the account come before the engine's heading", async () => {
  const w = await world(
    `const { TetherService } = require("pulumi-consortium");
    new TetherService("t", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 });`,
    { tethers: [{ id: tetherId, funds: { rinkeby: "0" } }] },
  );
  try {
    const { code, text } = await w.stack.up();
    expect(code).not.toBe(0);
    expect(beforeHeading(text)).toMatch(
      new RegExp(
        ` tether service "${tetherId}": the account 0x[0-9a-f]{40} has 0 wei on rinkeby, .* Nothing was spent`,
      ),
    );
  } finally {
    await w.close();
  }
});

test("a service that dies during a run: the resource, the call and the address come before the engine's heading", async () => {
  const patient = impatient.replace('create: "2s"', 'create: "6s"');
  expect(patient).not.toBe(impatient);
  const w = await world(patient, { timing: { nodeStart: 600_000 } });
  try {
    const run = w.stack.up();
    await until(() => w.service.store.nodes.list().length > 0);
    const looks = () => w.service.calls.filter(({ method, route }) => method === "GET" && route.endsWith("/nodes"));
    const before = looks().length;
    await until(() => looks().length > before); // the run knows of it, and waits
    await w.service.close();
    const { code, text } = await run;
    expect(code).not.toBe(0);
    expect(beforeHeading(text)).toMatch(
      / node "n" \(\w+\) exists, but is not ready: GET \/consortia\/\w+\/environments\/\w+\/nodes: .* The service at http:\S+ /,
    );
  } finally {
    await w.close();
  }
});
