import { type ServiceOptions } from "../../../service";
import { Engine, type Outcome, type Props } from "../../support/engine";
import { network } from "../../support/network";
import { newProcess, setEnvironment, start, type Started } from "../../support/service";

/* The tether service: configured, deployed once a network, started and stopped. */

const tetherId = "tether0001";
const ether = "1000000000000000000";
const base = { tetherId, network: "rinkeby", intervalHours: 2 };
const at = (action: string) => `/tether/:tetherId${action}`;
const post = (action: string) => `POST ${at(action)}`;
const account = `GET ${at("/account")}`;
const first = [post("/targetNetwork"), post("/interval"), account, post("/deploy"), post("/activate")];

type World = Started & { engine: Engine; deployments(): Record<string, number>; state(): Props };

async function tethered(options: ServiceOptions = {}): Promise<World> {
  const started = await start({ tethers: [{ id: tetherId, funds: { rinkeby: ether, mainnet: ether } }], ...options });
  await network(started.service, started.time);
  const { tethers } = started.service.store;
  return {
    ...started,
    engine: new Engine("tetherService"),
    deployments: () => tethers.get(tetherId).fields.deployments,
    state: () => tethers.get(tetherId).fields,
  };
}

const errorOf = (outcome: Outcome): string => (outcome as { error: string }).error;

test("created: every step once, in the order of the rules; then nothing more to do", async () => {
  const { engine, calls, state } = await tethered();
  expect(await engine.up(base)).toEqual({ then: "created" });
  expect(calls()).toEqual(first);
  expect(state()).toMatchObject({ network: "rinkeby", interval: 2, active: true });
  expect(engine.kept!.id).toBe(tetherId);
  expect(engine.outputs).toMatchObject({
    ...base,
    ...{ active: true, state: "active", deployedNetworks: ["rinkeby"], balanceWei: ether },
    account: expect.stringMatching(/^0x[0-9a-f]{40}$/i) as string,
  });
  expect(await engine.up(base)).toEqual({ then: "same" });
  expect(calls()).toEqual([]);
});

describe("a change", () => {
  const changes: [Props, string[], Props][] = [
    [
      { intervalHours: 5 },
      [post("/deactivate"), post("/interval"), account, post("/activate")],
      { interval: 5, active: true },
    ],
    [
      { network: "mainnet" },
      [post("/deactivate"), post("/targetNetwork"), account, post("/deploy"), post("/activate")],
      { network: "mainnet", active: true },
    ],
    [{ active: false }, [account, post("/deactivate")], { active: false }],
    [
      { active: false, intervalHours: 5 },
      [post("/deactivate"), post("/interval"), account],
      { active: false, interval: 5 },
    ],
    [{ minimumBalanceWei: "5" }, [account], { active: true }],
  ];
  test.each(changes)(
    "%j: by the calls that are needed, stopped before settings change",
    async (change, wanted, shown) => {
      const { engine, calls, state } = await tethered();
      await engine.up(base);
      calls();
      expect(await engine.up({ ...base, ...change })).toEqual({ then: "updated" });
      expect(calls()).toEqual(wanted);
      expect(state()).toMatchObject(shown);
      expect(await engine.up({ ...base, ...change })).toEqual({ then: "same" });
    },
  );

  test("back to a network that has its contract: it is not deployed again", async () => {
    const { engine, deployments } = await tethered();
    await engine.up(base);
    await engine.up({ ...base, network: "mainnet" });
    await engine.up(base);
    expect(deployments()).toEqual({ rinkeby: 1, mainnet: 1 });
    expect(engine.outputs.deployedNetworks).toEqual(["rinkeby", "mainnet"]);
  });

  test("of the id makes a new one", async () => {
    const { engine } = await tethered({ tethers: [{ id: tetherId }, { id: "tether0002" }] });
    await engine.up(base);
    expect(await engine.up({ ...base, tetherId: "tether0002" })).toMatchObject({
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
    expect(await engine.up({ ...base, ...change })).toEqual({ then: "refused", failures });
    expect(calls()).toEqual([]);
  });

  test("one that somebody else has started is stopped before it is set", async () => {
    const { engine, calls, state } = await tethered();
    await new Engine("tetherService").up({ ...base, network: "mainnet" });
    calls();
    expect(await engine.up(base)).toEqual({ then: "created" });
    expect(calls().slice(0, 3)).toEqual([post("/targetNetwork"), post("/deactivate"), post("/targetNetwork")]);
    expect(state()).toMatchObject({ network: "rinkeby", active: true });
  });
});

describe("funds", () => {
  test("none: a clear error with the account, before anything is spent; sent, the next update goes on", async () => {
    const { engine, service, calls, deployments } = await tethered({
      tethers: [{ id: tetherId, funds: { rinkeby: "0" } }],
    });
    const outcome = await engine.up(base);
    expect(outcome.then).toBe("incomplete");
    expect(errorOf(outcome)).toMatch(
      /0x[0-9a-f]{40} has 0 wei on rinkeby, .*1 too little.*Nothing was spent.*pulumi up/i,
    );
    expect(calls()).toEqual(first.slice(0, 3));
    service.store.tethers.setFunds(tetherId, "rinkeby", ether);
    expect(await engine.up(base)).toEqual({ then: "updated" });
    expect(calls()).toEqual(first.slice(2));
    expect(deployments()).toMatchObject({ rinkeby: 1 });
  });

  test("fewer than the minimum that is asked for", async () => {
    const { engine, deployments } = await tethered();
    const outcome = await engine.up({ ...base, minimumBalanceWei: "2000000000000000000" });
    expect(errorOf(outcome)).toContain(`${ether} too little`);
    expect(deployments()).toMatchObject({ rinkeby: 0 });
  });

  test("more than none, but too few for the chain: the service's own sentence and the account", async () => {
    const { engine, calls } = await tethered({ tethers: [{ id: tetherId, funds: { rinkeby: "5" } }] });
    const outcome = await engine.up(base);
    expect(errorOf(outcome)).toMatch(
      /deployment on rinkeby failed: .*HTTP 402.*no funds.*account 0x[0-9a-f]{40} has to have funds/i,
    );
    expect(calls()).toEqual(first.slice(0, 4));
  });
});

describe("delete", () => {
  test("stops it, and leaves what was deployed", async () => {
    const { engine, calls, state, deployments } = await tethered();
    await engine.up(base);
    calls();
    await engine.destroy();
    expect(calls()).toEqual([post("/deactivate")]);
    expect(state()).toMatchObject({ active: false });
    expect(deployments()).toMatchObject({ rinkeby: 1 });
  });

  test("of one that is stopped asks nothing", async () => {
    const { engine, calls } = await tethered();
    await engine.up(base);
    await engine.up({ ...base, active: false });
    calls();
    await engine.destroy();
    expect(calls()).toEqual([]);
  });

  test("of one that is gone, and again: done", async () => {
    const { engine } = await tethered();
    await engine.up(base);
    const kept = engine.kept!;
    await engine.destroy();
    engine.kept = kept;
    await engine.destroy();
    engine.kept = { ...kept, id: "tether0009" };
    await engine.destroy();
  });
});

describe("read", () => {
  test.each([true, false])(
    "drift is seen where the service shows settings (%s), and is no change elsewhere",
    async (getById) => {
      const { engine, service } = await tethered({ answers: { getById } });
      await engine.up(base);
      const drifted = { ...base, intervalHours: 9, active: false };
      const other = new Engine("tetherService");
      await other.up(drifted);
      newProcess();
      expect(await engine.refresh()).toBe("there");
      expect(engine.outputs).toMatchObject(
        getById ? { intervalHours: 9, active: false, state: "inactive" } : { ...base, state: "active" },
      );
      expect((await engine.up(base)).then).toBe(getById ? "updated" : "same");
      if (getById) expect(service.store.tethers.get(tetherId).fields).toMatchObject({ interval: 2, active: true });
    },
  );

  test("an id that the service does not know is gone; a refused key or a wrong address is an error", async () => {
    const { engine, service } = await tethered();
    await engine.up(base);
    engine.kept!.id = "tether0009";
    setEnvironment({ CONSORTIUM_BASE_URL: `${service.url}/elsewhere/api/v1` });
    await expect(engine.refresh()).rejects.toThrow(/HTTP 404/);
    setEnvironment({ CONSORTIUM_BASE_URL: service.baseUrl, CONSORTIUM_API_KEY: "wrong" });
    await expect(engine.refresh()).rejects.toThrow(/HTTP 401/);
    setEnvironment({ CONSORTIUM_API_KEY: service.apiKey });
    expect(await engine.refresh()).toBe("gone");
  });

  test("to create one that the service does not know: says where it is made", async () => {
    const { engine } = await tethered();
    const outcome = await engine.up({ ...base, tetherId: "tether0009" });
    expect(errorOf(outcome)).toMatch(/knows none with this id .*HTTP 404.*made in the console/);
    expect(engine.kept).toBeUndefined();
  });
});
