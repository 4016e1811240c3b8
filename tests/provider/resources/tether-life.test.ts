import { Engine } from "../../support/engine";
import { newProcess, setEnvironment } from "../../support/service";
import { errorOf, firstSteps, post, tetherArgs, tethered, tetherId, whose } from "../../support/tethered";

/* What a tether service meets in its life: empty accounts, changes by others, its end. */

describe("funds", () => {
  test("more than none, but too few for the chain: the service's own sentence and the account", async () => {
    const { engine, calls } = await tethered({ tethers: [{ id: tetherId, funds: { rinkeby: "5" } }] });
    const outcome = await engine.up(tetherArgs);
    expect(errorOf(outcome)).toMatch(
      /deployment on rinkeby failed: .*HTTP 402.*no funds.*account 0x[0-9a-f]{40} must have funds/i,
    );
    expect(calls()).toEqual([...firstSteps.slice(0, 6), ...whose]);
  });
});

describe("delete", () => {
  test("stops it, and leaves what was deployed", async () => {
    const { engine, calls, fields } = await tethered();
    await engine.up(tetherArgs);
    calls();
    await engine.destroy();
    expect(calls()).toEqual([post("deactivate")]);
    expect(fields()).toMatchObject({ active: false });
    expect(fields().deployments).toMatchObject({ rinkeby: 1 });
  });

  test("of one that is stopped asks nothing", async () => {
    const { engine, calls } = await tethered();
    await engine.up(tetherArgs);
    await engine.up({ ...tetherArgs, active: false });
    calls();
    await engine.destroy();
    expect(calls()).toEqual([]);
  });

  test("of one that is gone, and again: done", async () => {
    const { engine } = await tethered();
    await engine.up(tetherArgs);
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
      await engine.up(tetherArgs);
      const drifted = { ...tetherArgs, intervalHours: 9, active: false };
      const other = new Engine("tetherService");
      await other.up(drifted);
      newProcess();
      expect(await engine.refresh()).toBe("there");
      expect(engine.outputs).toMatchObject(
        getById ? { intervalHours: 9, active: false, state: "inactive" } : { ...tetherArgs, state: "active" },
      );
      expect((await engine.up(tetherArgs)).then).toBe(getById ? "updated" : "same");
      if (getById) expect(service.store.tethers.get(tetherId).fields).toMatchObject({ interval: 2, active: true });
    },
  );

  test("an id that the service does not know is gone; a refused key or a wrong address is an error", async () => {
    const { engine, service } = await tethered();
    await engine.up(tetherArgs);
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
    const outcome = await engine.up({ ...tetherArgs, tetherId: "tether0009" });
    expect(errorOf(outcome)).toMatch(/has none with this id .*HTTP 404.*Create it in the console/);
    expect(engine.kept).toBeUndefined();
  });
});
