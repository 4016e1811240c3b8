import { type FaultRule } from "../../../service/index";
import { Engine, errorOf } from "../../support/engine";
import { acts, lostAnswers, titled } from "../../support/faults";
import { send } from "../../support/network";
import { impatient, newProcess, setEnvironment } from "../../support/service";
import { rewriting } from "../../support/virtual-time";
import { ether, posting, tetherArgs, tethered } from "../../support/tethered";

/* A deployment costs money: whatever answer is lost, the contract is deployed once. */

const deploy = posting("deploy");

const faults: FaultRule[] = [
  ...lostAnswers,
  { kind: "status", status: 503 },
  { kind: "status", status: 429, retryAfter: 2 },
];
const deploys = (calls: string[]): number => calls.filter((call) => call.endsWith("/deploy")).length;

describe.each([true, false])("active: %s", (active) => {
  const args = { ...tetherArgs, active };

  test.each(titled(faults))("the answer to deploy is lost: %s", async (_title, fault) => {
    const { engine, service, calls, fields } = await tethered();
    impatient(fault);
    service.faults.add({ ...fault, ...deploy });
    const outcome = await engine.up(args);
    const made = calls();
    if ("status" in fault && fault.status === 429)
      expect(deploys(made)).toBe(2); // it says that nothing was done
    else expect(deploys(made)).toBe(1);
    expect(made.filter((call) => call.endsWith("/activate")).length).toBe(active && outcome.then === "created" ? 1 : 0);
    expect(fields().deployments).toMatchObject({ rinkeby: outcome.then === "created" ? 1 : 0 });
    if (outcome.then !== "created") {
      expect(acts(fault)).toBe(false);
      const word = /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(errorOf(outcome))![1]!;
      setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
      expect(await engine.up(args)).toEqual({ then: "updated" });
      expect(deploys(calls())).toBe(1);
    }
    expect(fields()).toMatchObject({ active, deployments: { rinkeby: 1 } });
    expect(engine.outputs).toMatchObject({ deployedNetworks: ["rinkeby"], balanceWei: ether });
    expect(engine.outputs).not.toHaveProperty("__kept.deployment");
  });
});

test("a run that ends while it looks: the next one continues to look before anything else", async () => {
  const { engine, service, calls, fields } = await tethered();
  // Nothing answers any more from the deployment on: neither this nor the looks that follow.
  impatient({ kind: "hang" });
  service.faults.add({ kind: "hang", acted: true, ...deploy });
  service.faults.add({ kind: "status", status: 401, method: "GET", nth: 5, times: Infinity });
  const outcome = await engine.up(tetherArgs);
  expect(errorOf(outcome)).toMatch(/not known whether .*HTTP 401/);
  expect(engine.outputs).toMatchObject({ network: "rinkeby", intervalHours: 2, deployedNetworks: [] });
  service.faults.clear();
  newProcess();
  calls();
  expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
  expect(deploys(calls())).toBe(0);
  expect(fields()).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
});

test("a service that is in trouble meanwhile does not end the look", async () => {
  const { engine, service, said, calls } = await tethered();
  service.faults.add({ kind: "resetAfter", ...deploy });
  service.faults.add({ kind: "status", status: 500, method: "GET", nth: 5, times: 20 });
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  expect(said.some((line) => /\(at last GET .*HTTP 500/.test(line))).toBe(true);
  expect(deploys(calls())).toBe(1);
});

const settings = ["targetNetwork", "interval", "activate", "deactivate"];
test.each(settings)("a lost answer to %s is repeated", async (action) => {
  const { engine, service, fields } = await tethered();
  service.faults.add({ kind: "resetAfter", ...posting(action) });
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  expect(await engine.up({ ...tetherArgs, intervalHours: 3 })).toEqual({ then: "updated" });
  expect(fields()).toMatchObject({ active: true, interval: 3, deployments: { rinkeby: 1 } });
});

test.each([
  ["interval", { intervalHours: 3 }, { interval: tetherArgs.intervalHours }],
  ["deactivate", { active: false }, { active: true }],
  ["targetNetwork", { network: "mainnet" }, { network: "rinkeby" }],
])("after a %s without a clear answer, a return to the old value is sent", async (action, args, fields) => {
  const tether = await tethered();
  const { engine, service } = tether;
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  const lost = service.faults.add({ kind: "status", status: 500, acted: true, ...posting(action), times: Infinity });
  expect(await engine.up({ ...tetherArgs, ...args })).toMatchObject({ then: "incomplete" });
  expect(tether.fields()).not.toMatchObject(fields);
  lost.remove();
  expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
  expect(tether.fields()).toMatchObject({ ...fields, active: true, deployments: { rinkeby: 1 } });
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
});

test.each([
  ["interval", { network: "rinkeby", state: "configured" }],
  ["deploy", { network: "rinkeby", intervalHours: 2, state: "configured" }],
])("refused at %s: the completed steps are kept, and the next update does the rest", async (action, kept) => {
  const { engine, service, calls } = await tethered();
  service.faults.add({ kind: "status", status: 400, errorMessage: "not now", ...posting(action) });
  const outcome = await engine.up(tetherArgs);
  expect(outcome).toMatchObject({ then: "incomplete", error: expect.stringContaining("not now") as string });
  expect(engine.outputs).toMatchObject({ ...kept, __provider: expect.stringContaining("tetherService") as string });
  calls();
  expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
  expect(calls()).not.toContain("POST /tether/:tetherId/targetNetwork");
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
});

describe("a step that is refused because it is done already", () => {
  const refused = (action: string, errorMessage = "no") =>
    ({ kind: "status", status: 409, errorMessage, ...posting(action) }) as const;

  test.each([true, false])(
    "stopping a tether that somebody else has stopped, shown or not (%s): continues",
    async (getById) => {
      const { engine, service, fields } = await tethered({ answers: { getById } });
      await engine.up(tetherArgs);
      for (const change of [{ intervalHours: 3 }, { intervalHours: 3, active: false }]) {
        await send(service, "POST", `/tether/${tetherArgs.tetherId}/deactivate`, {});
        expect(fields()).toMatchObject({ active: false });
        const fault = service.faults.add(refused("deactivate", "not active"));
        expect(await engine.up({ ...tetherArgs, ...change })).toEqual({ then: "updated" });
        fault.remove();
        expect(fields()).toMatchObject({ interval: 3, active: change.active ?? true, deployments: { rinkeby: 1 } });
      }
    },
  );

  test.each([
    [true, "no"],
    [false, "the tether is already active"],
    [false, "no"],
  ])("activating an active one after a lost answer (shown: %s; %s): continues", async (getById, errorMessage) => {
    const { engine, service, fields } = await tethered({ answers: { getById } });
    service.faults.add({ kind: "resetAfter", ...posting("activate") });
    service.faults.add({ ...refused("activate", errorMessage), nth: 2 });
    expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
    expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
    expect(fields()).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
  });

  test("stopping it, after another refusal: the error says that one", async () => {
    const { engine, service } = await tethered();
    service.faults.add(refused("targetNetwork", "busy"));
    service.faults.add(refused("deactivate", "not active"));
    expect(errorOf(await engine.up(tetherArgs))).toMatch(/targetNetwork: HTTP 409: busy/);
  });

  test.each([
    ["says so", "the tether is already active", 1],
    ["does not say why", "no", 2],
  ])(
    "activating an active one on a service that shows nothing and %s: not paid again",
    async (_, errorMessage, stops) => {
      // stopped once to set the network
      const { engine, service, calls } = await tethered({ answers: { getById: false } });
      await new Engine("tetherService").up(tetherArgs);
      calls();
      service.faults.add(refused("activate", errorMessage));
      await engine.up(tetherArgs);
      const sent = calls();
      expect(deploys(sent)).toBe(0);
      expect(sent.filter((call) => call.endsWith("/deactivate"))).toHaveLength(stops);
    },
  );

  test.each<[boolean | string, string]>([
    [true, "no"],
    ["ACTIVE", "no"],
    ["running", "no"],
    [false, "no"],
    [false, "a pin is in progress"],
    [false, "it cannot be deactivated now"],
  ])("but one that still pins does not count as stopped (shown: %s; %s)", async (shown, errorMessage) => {
    const { engine, service, fields } = await tethered({ answers: { getById: shown !== false } });
    if (typeof shown === "string")
      rewriting({ answer: (text) => text.replace('"state":"active"', `"state":"${shown}"`) });
    await engine.up(tetherArgs);
    expect(await engine.refresh()).toBe("there");
    expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
    const fault = service.faults.add({ ...refused("deactivate", errorMessage), times: Infinity });
    expect(errorOf(await engine.up({ ...tetherArgs, active: false }))).toContain(errorMessage);
    await expect(engine.destroy()).rejects.toThrow(errorMessage);
    fault.remove();
    expect(fields()).toMatchObject({ active: true });
    await engine.destroy();
    expect(fields()).toMatchObject({ active: false });
  });
});
