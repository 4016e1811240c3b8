import { Engine, errorOf } from "../../support/engine";
import { send } from "../../support/network";
import { newProcess, setEnvironment } from "../../support/service";
import {
  ether,
  firstSteps,
  post,
  posting,
  tetherArgs,
  tethered,
  type Tethered,
  tetherId,
  whose,
} from "../../support/tethered";

/* The tether service: configured, deployed once a network, started and stopped; changes by others, its end. */

test("created: every step once, in the specified order; then nothing is left to do", async () => {
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

test.each<[string, object, boolean]>([
  ["a network that is known announces what it costs", {}, true],
  ["a network that is misspelt announces nothing: it is refused", { network: "rinkebi" }, false],
])("a preview with %s", async (_, args, isAnnounced) => {
  const { engine, said } = await tethered();
  await engine.preview({ ...tetherArgs, ...args, __preview: true });
  expect(said.some((line) => line.includes("pays for a contract"))).toBe(isAnnounced);
});

test("does not wait for the limit if the environment to pin does not exist", async () => {
  const { engine, service, time } = await tethered();
  const errorMessage = "The environment payments does not exist yet.";
  service.faults.add({ ...posting("activate"), kind: "status", status: 409, errorMessage, times: Infinity });
  const startedAt = time.now();
  expect(errorOf(await engine.up(tetherArgs))).toMatch(/environment.* does not exist/);
  expect(time.now() - startedAt).toBeLessThan(30_000);
});

test.each([true, false])(
  "one that others started is stopped before it is configured, shown or not (%s)",
  async (getById) => {
    const { engine, calls, fields, said } = await tethered({ answers: { getById } });
    await new Engine("tetherService").up({ ...tetherArgs, network: "mainnet" });
    calls();
    // Whether it has a contract on rinkeby, too, only a list of contracts tells.
    const outcome = await engine.up(tetherArgs);
    expect(outcome).toMatchObject({ then: getById ? "created" : "incomplete" });
    expect(said.filter((line) => line.includes("this stack had not started it"))).toHaveLength(1);
    const first = getById ? [] : [post("targetNetwork")]; // refused
    const changes = calls().filter((call) => call.startsWith("POST"));
    expect(changes.slice(0, first.length + 2)).toEqual([...first, post("deactivate"), post("targetNetwork")]);
    if (!getById) {
      expect(changes).not.toContain(post("deploy"));
      const word = /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(errorOf(outcome))![1]!;
      setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
      expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
    }
    expect(fields().deployments).toEqual({ rinkeby: 1, mainnet: 1, local: 0 });
    expect(fields()).toMatchObject({ network: "rinkeby", active: true });
  },
);

test.each([
  [true, 409, "not now"],
  [false, 409, "deploy first"],
])("refused when it is started again (shown: %s; %d %s): an error at once", async (getById, status, errorMessage) => {
  const { engine, service, time, calls } = await tethered({ answers: { getById } });
  await engine.up(tetherArgs);
  await engine.up({ ...tetherArgs, active: false });
  service.faults.add({ kind: "status", status, errorMessage, times: Infinity, ...posting("activate") });
  calls();
  const before = time.now();
  const error = errorOf(await engine.up(tetherArgs));
  expect(error).toContain(`HTTP ${status}: ${errorMessage}`);
  expect(error.includes("remove the resource from the program")).toBe(errorMessage === "deploy first"); // it has lost it
  expect(time.now() - before).toBeLessThan(1_000);
  expect(calls()).not.toContain(post("deactivate"));
});

describe("delete", () => {
  test("of a stopped one stops it, too; of a missing one, and a second time: succeeds", async () => {
    const { engine, service, fields } = await tethered({ answers: { getById: false } });
    await engine.up(tetherArgs);
    const kept = engine.kept!;
    await engine.up({ ...tetherArgs, active: false });
    await send(service, "POST", `/tether/${tetherId}/activate`, {}); // in the console
    await engine.destroy();
    expect(fields()).toMatchObject({ active: false });
    for (const id of [tetherId, "tether0009"]) {
      engine.kept = { ...kept, id };
      await engine.destroy();
    }
  });
});

describe("read", () => {
  test("what is not shown has not drifted", async () => {
    const { engine } = await tethered({ answers: { getById: false } });
    await engine.up(tetherArgs);
    await new Engine("tetherService").up({ ...tetherArgs, intervalHours: 9, active: false });
    newProcess();
    expect(await engine.refresh()).toBe("there");
    expect(engine.outputs).toMatchObject({ ...tetherArgs, state: "active" });
    expect((await engine.up(tetherArgs)).then).toBe("same");
  });

  test("a create with an unknown id: the error says where to order the service", async () => {
    const { engine } = await tethered();
    const outcome = await engine.up({ ...tetherArgs, tetherId: "tether0009" });
    expect(errorOf(outcome)).toMatch(/create it in the console.*There is no tether service with this id .*HTTP 404/);
    expect(engine.kept).toBeUndefined();
  });
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

  const answers = (config: object) => ({ environment_id: "e1", config, account: {} });
  test.each([
    ["another network", "targetNetwork", { targetNetwork: "mainnet" }, /that its network is mainnet, not rinkeby/],
    ["another interval", "interval", { targetNetwork: "rinkeby", uploadInterval: 7 }, /that its interval is 7, not 2/],
  ])("that answers with %s is believed before anything is paid", async (_, action, config, error) => {
    const { engine, service, calls } = await tethered(hosted);
    service.faults.add({ kind: "status", status: 200, body: answers(config), ...posting(action) });
    const message = errorOf(await engine.up(tetherArgs));
    expect(message).toMatch(error);
    expect(message).toMatch(/\. Nothing was paid\..*\[tether-failed:/);
    expect(calls()).not.toContain(post("deploy"));
  });

  test("that shows the old interval after it set the network is not mistaken for one that set another interval", async () => {
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

describe("funds for a contract", () => {
  const address = "0x[0-9a-fA-F]{40}";

  async function funded(rinkeby = "0"): Promise<Tethered & { fund: (wei: string) => void }> {
    const world = await tethered({ tethers: [{ id: tetherId, funds: { rinkeby } }] });
    return { ...world, fund: (wei) => world.service.store.tethers.setFunds(tetherId, "rinkeby", wei) };
  }

  const sent = (calls: string[]): number => calls.filter((call) => call.endsWith("/deploy")).length;

  test("waits until they arrive, reports what is missing at once and then ever more rarely, then continues", async () => {
    const { engine, time, said, fund, calls, fields } = await funded("40");
    time.when(/\/account$/, () => fund(ether), 60_000);
    const args = { ...tetherArgs, waitForFunds: "30m", minimumBalanceWei: ether };
    expect(await engine.up(args)).toEqual({ then: "created" });
    const missing = `the account ${address} has 40 wei on rinkeby; ${BigInt(ether) - 40n} wei are missing`;
    expect(said[0]).toMatch(
      new RegExp(`^tether service "${tetherId}": ${missing}. Send funds to ${address} on rinkeby: it waits 30m.$`),
    );
    expect(said[1]).toMatch(new RegExp(`^tether service "${tetherId}": ${missing}, \\d+ s so far$`));
    expect(said).toHaveLength(3);
    expect(time.now()).toBeLessThan(60_000 + 15_000);
    const made = calls();
    expect(sent(made)).toBe(1);
    expect(made.length).toBeLessThan(43);
    expect(fields().deployments).toMatchObject({ rinkeby: 1 });
    expect(engine.outputs).toMatchObject({ ...args, balanceWei: ether, state: "active" });
    expect(await engine.up(args)).toEqual({ then: "same" });
  });

  test("after the time-out: nothing was spent, the settings are kept, and the next update does only the rest", async () => {
    const { engine, time, fund, calls, fields } = await funded("7");
    const args = { ...tetherArgs, waitForFunds: "1m30s", minimumBalanceWei: "10" };
    const outcome = await engine.up(args);
    expect(outcome.then).toBe("incomplete");
    expect(errorOf(outcome)).toMatch(
      new RegExp(`${address} has 7 wei on rinkeby, which is 3 too little .*Nothing was spent.*pulumi up`),
    );
    expect(time.now()).toBeGreaterThanOrEqual(90_000);
    expect(fields().balances).toMatchObject({ rinkeby: "7" });
    expect(sent(calls())).toBe(0);
    fund(ether);
    expect(await engine.up(args)).toEqual({ then: "updated" });
    expect(calls().map((call) => call.split("/").at(-1))).toEqual([
      "account",
      ":tetherId",
      "reportCount",
      "deploy",
      "activate",
    ]);
  });

  test.each(["soon", "30", "-5m", "1d", 30, ""])(
    "waitForFunds: %j is refused before any call",
    async (waitForFunds) => {
      const { engine, calls } = await funded();
      expect(await engine.up({ ...tetherArgs, waitForFunds })).toEqual({
        then: "refused",
        failures: [
          { property: "waitForFunds", reason: expect.stringMatching(/must be a duration, such as/) as string },
        ],
      });
      expect(calls()).toEqual([]);
    },
  );
});
