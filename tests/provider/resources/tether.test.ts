import { Engine } from "../../support/engine";
import {
  errorOf,
  ether,
  firstSteps,
  post,
  posting,
  tetherArgs,
  tethered,
  tetherId,
  whose,
} from "../../support/tethered";
import { newProcess } from "../../support/service";

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
  expect(fields().deployments).toEqual({ rinkeby: 1, mainnet: 1, local: 0 });
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

test("refused when it is started again: an error at once, because its contract has been there for long", async () => {
  const { engine, service, time } = await tethered();
  await engine.up(tetherArgs);
  await engine.up({ ...tetherArgs, active: false });
  const fault = { kind: "status", status: 409, errorMessage: "not now", times: Infinity } as const;
  service.faults.add({ ...fault, ...posting("activate") });
  const before = time.now();
  expect(errorOf(await engine.up(tetherArgs))).toMatch(/HTTP 409: not now/);
  expect(time.now() - before).toBeLessThan(1_000);
});

describe("on a service like the hosted one", () => {
  const hosted = { answers: { like: "hosted" } } as const;

  test("its account is made, its contract is paid for once, and a warning says that the unit of the interval is not known", async () => {
    const { engine, calls, fields, said } = await tethered(hosted);
    expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
    expect(calls()).toEqual(expect.arrayContaining([post("account"), post("deploy"), post("activate")]));
    expect(fields()).toMatchObject({ deployments: { rinkeby: 1 }, active: true, interval: 2 });
    expect(engine.outputs).toMatchObject({ state: "active", account: expect.stringMatching(/^0x/) as string });
    expect(said.join("\n")).toMatch(
      /an interval of 2, but does not say whether in hours or in minutes.*last two reports/s,
    );
    expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
    newProcess();
    expect(await engine.refresh()).toBe("there");
    expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
  });

  test("another resource of it sees its contract, and pays for no second one", async () => {
    const { engine, calls, fields } = await tethered(hosted);
    await engine.up(tetherArgs);
    newProcess();
    calls();
    await new Engine("tetherService").up(tetherArgs);
    expect(fields()).toMatchObject({ deployments: { rinkeby: 1 } });
    expect(calls()).not.toContain(post("deploy"));
  });

  const answers = (config: object) => ({ environment_id: "e1", config, account: {} });
  test.each([
    ["another network", "targetNetwork", { targetNetwork: "mainnet" }, /that its network is mainnet, not rinkeby/],
    ["another interval", "interval", { targetNetwork: "rinkeby", uploadInterval: 7 }, /that its interval is 7, not 2/],
  ])("that answers with %s is believed before anything is paid", async (_, action, config, error) => {
    const { engine, service, calls } = await tethered(hosted);
    service.faults.add({ kind: "status", status: 200, body: answers(config), ...posting(action) });
    const message = errorOf(await engine.up(tetherArgs));
    expect(message).toMatch(error);
    expect(message).toContain(". Nothing was paid.");
    expect(calls()).not.toContain(post("deploy"));
  });

  test("that shows the old interval when it sets the network is not taken for one that sets another", async () => {
    const { engine, fields } = await tethered(hosted);
    await engine.up(tetherArgs);
    expect(await engine.up({ ...tetherArgs, network: "mainnet", intervalHours: 1 })).toEqual({ then: "updated" });
    expect(fields()).toMatchObject({ network: "mainnet", interval: 1 });
  });

  test("that answers with sixty times the interval counts in hours: no warning", async () => {
    const { engine, service, said } = await tethered(hosted);
    const body = answers({ targetNetwork: "rinkeby", uploadInterval: 120 });
    service.faults.add({ kind: "status", status: 200, body, acted: true, ...posting("interval") });
    await engine.up(tetherArgs);
    expect(said.join("\n")).not.toContain("does not say whether");
  });
});
