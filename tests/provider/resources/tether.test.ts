import { Engine, type Props } from "../../support/engine";
import { account, ether, firstSteps, post, tetherArgs, tethered, tetherId, whose } from "../../support/tethered";

/* The tether service: configured, deployed once a network, started and stopped. */

test("created: every step once, in the order of the rules; then nothing more to do", async () => {
  const { engine, calls, fields } = await tethered();
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  expect(calls()).toEqual([...firstSteps, whose]);
  expect(fields()).toMatchObject({ network: "rinkeby", interval: 2, active: true });
  expect(engine.kept!.id).toBe(tetherId);
  expect(engine.outputs).toMatchObject({
    ...tetherArgs,
    ...{ active: true, state: "active", deployedNetworks: ["rinkeby"], balanceWei: ether },
    account: expect.stringMatching(/^0x[0-9a-f]{40}$/i) as string,
  });
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
  expect(calls()).toEqual([]);
});

describe("a change", () => {
  const changes: [Props, string[], Props][] = [
    [
      { intervalHours: 5 },
      [post("deactivate"), post("interval"), account, post("activate")],
      { interval: 5, active: true },
    ],
    [
      { network: "mainnet" },
      [post("deactivate"), post("targetNetwork"), account, post("deploy"), post("activate")],
      { network: "mainnet", active: true },
    ],
    [{ active: false }, [account, post("deactivate")], { active: false }],
    [
      { active: false, intervalHours: 5 },
      [post("deactivate"), post("interval"), account],
      { active: false, interval: 5 },
    ],
    [{ minimumBalanceWei: "5" }, [account], { active: true }],
  ];
  test.each(changes)(
    "%j: by the calls that are needed, stopped before settings change",
    async (change, wanted, shown) => {
      const { engine, calls, fields } = await tethered();
      await engine.up(tetherArgs);
      calls();
      expect(await engine.up({ ...tetherArgs, ...change })).toEqual({ then: "updated" });
      expect(calls()).toEqual(wanted);
      expect(fields()).toMatchObject(shown);
      expect(await engine.up({ ...tetherArgs, ...change })).toEqual({ then: "same" });
    },
  );

  test("back to a network that has its contract: it is not deployed again", async () => {
    const { engine, fields } = await tethered();
    await engine.up(tetherArgs);
    await engine.up({ ...tetherArgs, network: "mainnet" });
    await engine.up(tetherArgs);
    expect(fields().deployments).toEqual({ rinkeby: 1, mainnet: 1 });
    expect(engine.outputs.deployedNetworks).toEqual(["rinkeby", "mainnet"]);
  });

  test("of the id makes a new one", async () => {
    const { engine } = await tethered({ tethers: [{ id: tetherId }, { id: "tether0002" }] });
    await engine.up(tetherArgs);
    expect(await engine.up({ ...tetherArgs, tetherId: "tether0002" })).toMatchObject({
      then: "replaced",
      replaces: ["tetherId"],
    });
  });

  test.each<[Props, string, RegExp]>([
    [{ tetherId: "short" }, "tetherId", /has 10 characters/],
    [{ tetherId: undefined }, "tetherId", /give tetherId, or consoleUrl/],
    [{ network: "ropsten" }, "network", /one of mainnet, rinkeby/],
    [{ intervalHours: 0 }, "intervalHours", /at least 1/],
    [{ intervalHours: 1.5 }, "intervalHours", /whole number of hours/],
    [{ active: "yes" }, "active", /true or false/],
    [{ minimumBalanceWei: "1.5" }, "minimumBalanceWei", /whole number of wei/],
    [{ minimumBalanceWei: -1 }, "minimumBalanceWei", /whole number of wei/],
    [{ minimumBalanceWei: true }, "minimumBalanceWei", /whole number of wei/],
  ])("%j is refused before any call", async (change, property, reason) => {
    const { engine, calls } = await tethered();
    const failures = [{ property, reason: expect.stringMatching(reason) as string }];
    expect(await engine.up({ ...tetherArgs, ...change })).toEqual({ then: "refused", failures });
    expect(calls()).toEqual([]);
  });

  test("one that somebody else has started is stopped before it is set", async () => {
    const { engine, calls, fields } = await tethered();
    await new Engine("tetherService").up({ ...tetherArgs, network: "mainnet" });
    calls();
    expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
    expect(calls().slice(0, 3)).toEqual([post("targetNetwork"), post("deactivate"), post("targetNetwork")]);
    expect(fields()).toMatchObject({ network: "rinkeby", active: true });
  });
});
