import { bases, routeOf } from "../../support/bases";
import { world } from "../../support/lifecycle";

/* A service may keep an environment `initializing` until a node is in it, and refuse what comes too early. */

const inEnvironment = ["node", "appCred", "configuration", "service", "environmentZone"] as const;

describe("an environment that stays initializing until something is in it", () => {
  const forever = { timing: { environmentStart: 1e9 } };

  test("is made, with its outputs, and is no change for the next runs", async () => {
    const { engine, net, time, service } = await world("environment");
    service.setTiming(forever.timing);
    const start = time.wall();
    const args = bases.environment(net);
    expect(await engine.up(args)).toEqual({ then: "created" });
    expect(engine.outputs).toMatchObject({ state: "initializing", chainId: expect.any(Number) as number });
    expect(time.wall() - start).toBeLessThan(60_000);
    expect(await engine.up(args)).toEqual({ then: "same" });
    expect(await engine.refresh()).toBe("there");
    expect(await engine.up(args)).toEqual({ then: "same" });
  });

  test("is waited for where that passes by itself soon", async () => {
    const { engine, net, service } = await world("environment");
    service.setTiming({ environmentStart: 10_000 });
    await engine.up(bases.environment(net));
    expect(engine.outputs.state).not.toBe("initializing");
  });
});

describe.each(inEnvironment)("a %s that is refused as too early", (kind) => {
  const refusals: [string, number, string | undefined, boolean][] = [
    ["in words", 409, "the environment is still initializing", true],
    ["without a reason, while its environment is not ready", 409, undefined, true],
    ["without a reason, in an environment that is ready", 409, undefined, false],
    ["because of a limit, while its environment is not ready", 409, "the limit of 4 is reached", false],
  ];
  test.each(refusals)("%s", async (where, status, errorMessage, isRepeated) => {
    const { engine, net, service, count } = await world(kind);
    const before = await count();
    if (/not ready/.test(where)) service.store.environments.setState(net.environmentId, "initializing");
    service.faults.add({
      method: "POST",
      route: routeOf(kind),
      kind: "status",
      status,
      times: 4,
      ...(errorMessage === undefined ? { body: {} } : { errorMessage }),
    });
    const outcome = await engine.up(bases[kind](net));
    expect(outcome.then).toBe(isRepeated ? "created" : "failed");
    expect(await count()).toBe(before + (isRepeated ? 1 : 0));
  });
});
