import { bases } from "../../support/bases";
import { errorOf, type Props } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { newProcess } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* Objects that exist but did not become ready: their id and whole state are kept, and the next update continues. */

/** A node that fails while it starts, and what the run says. */
async function failed() {
  const at = await world("node");
  const { engine, service, net, time } = at;
  service.setTiming({ nodeStart: 600_000 });
  time.when(
    /^POST .*nodes$/,
    () => service.store.nodes.setState(service.store.nodes.list({ name: "n1" })[0]!.id, "failed"),
    40_000,
  );
  const outcome = await engine.up(bases.node(net));
  expect(outcome.then).toBe("incomplete");
  return { ...at, outcome };
}

test("a node that fails ends the wait at once, and is kept whole", async () => {
  const { engine, service, net, time, outcome } = await failed();
  expect(time.now()).toBeLessThan(60_000);
  const [made] = service.store.nodes.list({ name: "n1" });
  expect(errorOf(outcome)).toMatch(
    new RegExp(`^node "n1" \\(${made!.id}\\): look at it .*pulumi up.*It went to the state "failed"\\.`),
  );
  expect(engine.kept!.id).toBe(made!.id);
  expect(engine.outputs).toEqual({
    ...bases.node(net),
    state: "failed",
    role: "validator",
    size: "small",
    provider: "quorum",
    consensusType: "ibft",
    revision: "1",
    createdAt: new Date(made!.createdAt).toISOString(),
    __provider: `exports.handler=()=>require("pulumi-consortium/runtime").node`,
    __kept: {
      version: 2,
      open: ["ready"],
      organizations: [service.organizations[0]!.id],
      keys: [expect.stringMatching(/^[0-9a-f]{32}:[0-9a-f]{32}:[0-9a-f]{8}$/)],
    },
  });
});

test("the next update fails again while it is failed, and succeeds once it has recovered", async () => {
  const { engine, service, net, calls } = await failed();
  const { id } = engine.kept!;
  expect((await engine.up(bases.node(net))).then).toBe("incomplete");
  expect(engine.kept!.id).toBe(id);
  service.store.nodes.setState(id, "started");
  newProcess();
  calls();
  expect(await engine.up(bases.node(net))).toEqual({ then: "updated" });
  expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  const outputs = { state: "started", urls: { rpc: expect.any(String) as string } };
  expect(engine.kept).toMatchObject({ id, incomplete: false, outputs });
  expect(await engine.up(bases.node(net))).toEqual({ then: "same" });
  await engine.destroy();
  expect(service.store.nodes.list({ name: "n1" })).toEqual([]);
});

test.each(["node", "service"] as const)("%s: out of time, it is kept, and the next update waits on", async (kind) => {
  const { engine, service, net, time, count, said } = await world(kind);
  service.setTiming({ nodeStart: 120_000 });
  const args: Props = { ...bases[kind](net), customTimeouts: { create: 60, update: 120 } };
  const began = time.now();
  const outcome = await engine.up(args);
  expect(errorOf(outcome)).toMatch(/still "initializing" after 6[01] s, which is the limit \(customTimeouts\)/);
  expect(outcome.then).toBe("incomplete");
  expect(time.now() - began).toBeGreaterThanOrEqual(60_000);
  expect(time.now() - began).toBeLessThan(62_000);
  expect(said.filter((line) => line.includes(`${kind} "${String(args.name)}": "initializing"`)).length).toBe(2);
  const { id } = engine.kept!;
  expect(engine.outputs).toMatchObject({
    ...args,
    state: "initializing",
    __provider: expect.stringContaining(kind) as string,
  });

  expect(await engine.up(args)).toEqual({ then: "updated" });
  expect(engine.kept!.id).toBe(id);
  expect(await count()).toBe(1);
  expect(await engine.up(args)).toEqual({ then: "same" });
});

test.each([
  ["initializing", "updated"],
  ["started", "same"],
])("one with an interrupted wait that a refresh shows as %s: %s", async (state, then) => {
  const { engine, service, net } = await world("node");
  service.setTiming({ nodeStart: 120_000 });
  const args = { ...bases.node(net), customTimeouts: { create: 30, update: 300 } };
  expect((await engine.up(args)).then).toBe("incomplete");
  service.store.nodes.setState(engine.kept!.id, state);
  newProcess();
  await engine.refresh();
  expect(engine.outputs).toMatchObject({ state });
  expect((await engine.preview(args)).then).toBe(then);
});

test.each([
  [undefined, 300],
  [{ delete: 20 }, 20],
])("a deletion has a limit, too (%j): the error names the object and its state", async (customTimeouts, seconds) => {
  const { engine, service, net, time } = await world("membership");
  await engine.up({ ...bases.membership(net), customTimeouts });
  service.setTiming({ deleting: 10_000_000 });
  const began = time.now();
  await expect(engine.destroy()).rejects.toThrow(
    new RegExp(`^membership ".*" \\(${engine.kept!.id}\\): still being deleted after ${seconds} s`),
  );
  expect(time.now() - began).toBeLessThan((seconds + 1) * 1_000);
});

test("deleted by somebody while it starts: the wait ends with that error", async () => {
  const { engine, service, net, time } = await world("environment");
  service.setTiming({ environmentStart: 600_000 });
  time.when(
    /^POST .*environments$/,
    () => service.store.environments.setState(service.store.environments.list({ name: "dev" })[0]!.id, "deleted"),
    20_000,
  );
  const outcome = await engine.up(bases.environment(net));
  expect(outcome.then).toBe("incomplete");
  expect(errorOf(outcome)).toMatch(
    /^environment "dev" \(\w+\): run `pulumi up --refresh`, .*Somebody else deleted it.*\[deleted-outside:/,
  );
});

test("gone from the list while it starts: the wait ends after a minute, in the next run, too", async () => {
  const { engine, service, net, time } = await world("node");
  service.setTiming({ nodeStart: 600_000 });
  time.when(
    /^POST .*nodes$/,
    () => service.store.nodes.remove(service.store.nodes.list({ name: "n1" })[0]!.id),
    20_000,
  );
  for (const seconds of [100, 70]) {
    const began = time.now();
    const outcome = await engine.up(bases.node(net));
    expect(errorOf(outcome)).toMatch(/\[deleted-outside:/);
    expect(time.now() - began).toBeLessThan(seconds * 1_000);
    newProcess();
  }
});

test("an output that the service does not show yet is looked for twice more, and not longer", async () => {
  const { engine, net, calls } = await world("environment");
  const looks = async (): Promise<number> => {
    newProcess();
    calls();
    expect(await engine.up(bases.environment(net))).toEqual({ then: "created" });
    const count = calls().filter((call) => call.startsWith("GET") && call.endsWith("/environments")).length;
    await engine.destroy();
    return count;
  };
  const usual = await looks();
  rewriting({ answer: (text) => text.replaceAll(/"chain_id":\d+/g, '"chain_id":null') });
  expect(await looks()).toBe(usual + 2);
});

describe("an environment that stays initializing until something is in it", () => {
  test.each(["initializing", "INITIALIZING"])(
    "%s: is created with its outputs, and does not change afterwards",
    async (state) => {
      const { engine, net, time, service } = await world("environment");
      service.setTiming({ environmentStart: 1e9 });
      rewriting({ answer: (text) => text.replaceAll('"initializing"', `"${state}"`) });
      const start = time.wall();
      const args = bases.environment(net);
      expect(await engine.up(args)).toEqual({ then: "created" });
      expect(engine.outputs).toMatchObject({ state, chainId: expect.any(Number) as number });
      expect(time.wall() - start).toBeLessThan(60_000);
      expect(await engine.up(args)).toEqual({ then: "same" });
      expect(await engine.refresh()).toBe("there");
      expect(await engine.up(args)).toEqual({ then: "same" });
    },
  );

  test("is waited for if the state soon changes by itself", async () => {
    const { engine, net, service } = await world("environment");
    service.setTiming({ environmentStart: 10_000 });
    await engine.up(bases.environment(net));
    expect(engine.outputs.state).not.toBe("initializing");
  });
});
