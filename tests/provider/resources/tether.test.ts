import { Engine } from "../../support/engine";
import { errorOf, ether, firstSteps, post, tetherArgs, tethered, tetherId, whose } from "../../support/tethered";

/* The tether service: configured, deployed once a network, started and stopped. */

test("created: every step once, in the order of the rules; then nothing more to do", async () => {
  const { engine, calls, fields } = await tethered();
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  expect(calls()).toEqual([...firstSteps, ...whose]);
  expect(fields()).toMatchObject({ network: "rinkeby", interval: 2, active: true });
  expect(engine.kept!.id).toBe(tetherId);
  expect(engine.outputs).toMatchObject({
    ...tetherArgs,
    active: true,
    state: "active",
    deployedNetworks: ["rinkeby"],
    balanceWei: ether,
    account: expect.stringMatching(/^0x[0-9a-f]{40}$/i) as string,
  });
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
  expect(calls()).toEqual([]);
});

test("back to a network that has its contract: it is not deployed again", async () => {
  const { engine, fields } = await tethered();
  await engine.up(tetherArgs);
  await engine.up({ ...tetherArgs, network: "mainnet" });
  await engine.up(tetherArgs);
  expect(fields().deployments).toEqual({ rinkeby: 1, mainnet: 1 });
  expect(engine.outputs.deployedNetworks).toEqual(["rinkeby", "mainnet"]);
});

test.each([true, false])(
  "one that somebody else has started is stopped before it is set, shown or not (%s)",
  async (getById) => {
    const { engine, calls, fields } = await tethered({ answers: { getById } });
    await new Engine("tetherService").up({ ...tetherArgs, network: "mainnet" });
    calls();
    expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
    const first = getById ? [] : [post("targetNetwork")]; // refused
    const changes = calls().filter((call) => call.startsWith("POST"));
    expect(changes.slice(0, first.length + 2)).toEqual([...first, post("deactivate"), post("targetNetwork")]);
    expect(fields()).toMatchObject({ network: "rinkeby", active: true });
  },
);

test("refused when it is started again: an error at once, since its contract has been there for long", async () => {
  const { engine, service, time } = await tethered();
  await engine.up(tetherArgs);
  await engine.up({ ...tetherArgs, active: false });
  const fault = { method: "POST", route: "/tether/:tetherId/activate", times: Infinity };
  service.faults.add({ kind: "status", status: 409, errorMessage: "not now", ...fault });
  const before = time.now();
  expect(errorOf(await engine.up(tetherArgs))).toMatch(/HTTP 409: not now/);
  expect(time.now() - before).toBeLessThan(1_000);
});
