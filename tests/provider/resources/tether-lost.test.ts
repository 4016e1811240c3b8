import { type FaultRule } from "../../../service";
import { Engine } from "../../support/engine";
import { impatient, newProcess } from "../../support/service";
import { errorOf, ether, tetherArgs, tethered, tetherId } from "../../support/tethered";

/* A deployment costs money: whatever is lost on the way, the contract is deployed once. */

const deploy = { method: "POST", route: "/tether/:tetherId/deploy" };

const faults: FaultRule[] = [
  { kind: "resetBefore" },
  { kind: "resetAfter" },
  { kind: "hang" },
  { kind: "hang", acted: true },
  { kind: "truncated" },
  { kind: "html" },
  { kind: "html", acted: true },
  { kind: "status", status: 500 },
  { kind: "status", status: 500, acted: true },
  { kind: "status", status: 503 },
  { kind: "status", status: 504, acted: true },
  { kind: "status", status: 429, retryAfter: 2 },
];
const acted = (fault: FaultRule): boolean =>
  fault.kind === "resetAfter" || fault.kind === "truncated" || ("acted" in fault && fault.acted === true);
const table = faults.map((fault) => [JSON.stringify(fault), fault] as const);

describe.each([true, false])("active: %s", (active) => {
  test.each(table)("the answer to deploy is lost: %s", async (_title, fault) => {
    const { engine, service, calls, fields } = await tethered();
    impatient(fault);
    service.faults.add({ ...fault, ...deploy });
    expect(await engine.up({ ...tetherArgs, active })).toEqual({ then: "created" });
    expect(calls().filter((call) => call.endsWith("/deploy"))).toHaveLength(acted(fault) ? 1 : 2);
    expect(fields()).toMatchObject({ active, deployments: { rinkeby: 1 } });
    expect(engine.outputs).toMatchObject({ deployedNetworks: ["rinkeby"], balanceWei: ether });
    expect(engine.outputs).not.toHaveProperty("__deployment");
  });
});

test.each([true, false])(
  "a run that ends without knowing (deployed: %s): the next one looks first",
  async (deployed) => {
    const { engine, service, calls, fields } = await tethered();
    // Nothing answers any more from the deployment on: neither this nor the looks that follow.
    impatient({ kind: "hang" });
    service.faults.add({ kind: "hang", acted: deployed, ...deploy });
    service.faults.add({ kind: "status", status: 401, method: "GET", nth: 2, times: Infinity });
    const outcome = await engine.up(tetherArgs);
    expect(outcome.then).toBe("incomplete");
    expect(engine.outputs).toMatchObject({ network: "rinkeby", intervalHours: 2, deployedNetworks: [] });
    service.faults.clear();
    newProcess();
    calls();
    expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
    expect(calls().filter((call) => call.endsWith("/deploy"))).toHaveLength(deployed ? 0 : 1);
    expect(fields()).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
    expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
  },
);

test("a lower balance tells that it was deployed, where activation cannot", async () => {
  const { engine, service, calls, fields } = await tethered({
    tethers: [{ id: tetherId, funds: { rinkeby: ether }, environment: "not there yet" }],
  });
  service.faults.add({ kind: "resetAfter", ...deploy });
  const outcome = await engine.up(tetherArgs);
  expect(errorOf(outcome)).toMatch(/environment not there yet does not exist/);
  expect(calls().filter((call) => call.endsWith("/deploy"))).toHaveLength(1);
  expect(fields()).toMatchObject({ deployments: { rinkeby: 1 } });
  expect(engine.outputs).toMatchObject({ state: "deployed", deployedNetworks: ["rinkeby"] });
});

test("a service that fails every time is sent three at most, with looks between, and then an error", async () => {
  const { engine, service, calls, fields } = await tethered();
  service.faults.add({ kind: "status", status: 500, ...deploy, times: Infinity });
  const outcome = await engine.up(tetherArgs);
  expect(outcome).toMatchObject({
    then: "incomplete",
    error: expect.stringMatching(/deployment on rinkeby failed: POST .*HTTP 500.*run `pulumi up` again/) as string,
  });
  const made = calls();
  expect(made.filter((call) => call.endsWith("/deploy"))).toHaveLength(3);
  expect(made.filter((call) => call.endsWith("/account")).length).toBeGreaterThan(6);
  expect(fields()).toMatchObject({ active: false, deployments: { rinkeby: 0 } });
});

test("a contract that somebody else has deployed there is taken as it is", async () => {
  const { engine, calls, fields } = await tethered();
  const other = new Engine("tetherService");
  await other.up(tetherArgs);
  await other.destroy();
  calls();
  expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
  expect(fields()).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
});

test.each(["targetNetwork", "interval", "activate", "deactivate"])(
  "a lost answer to %s is repeated",
  async (action) => {
    const { engine, service, fields } = await tethered();
    service.faults.add({ kind: "resetAfter", method: "POST", route: `/tether/:tetherId/${action}` });
    expect(await engine.up(tetherArgs)).toEqual({ then: "created" });
    expect(await engine.up({ ...tetherArgs, intervalHours: 3 })).toEqual({ then: "updated" });
    expect(fields()).toMatchObject({ active: true, interval: 3, deployments: { rinkeby: 1 } });
  },
);

test.each([
  ["interval", { network: "rinkeby", state: "configured" }],
  ["deploy", { network: "rinkeby", intervalHours: 2, state: "configured" }],
  ["activate", { network: "rinkeby", intervalHours: 2, state: "deployed", deployedNetworks: ["rinkeby"] }],
])("refused at %s: what was done is kept, and the next update does the rest", async (action, kept) => {
  const { engine, service, calls } = await tethered();
  service.faults.add({
    kind: "status",
    status: 400,
    errorMessage: "not now",
    method: "POST",
    route: `/tether/:tetherId/${action}`,
  });
  const outcome = await engine.up(tetherArgs);
  expect(outcome).toMatchObject({ then: "incomplete", error: expect.stringContaining("not now") as string });
  expect(engine.outputs).toMatchObject({ ...kept, __provider: expect.stringContaining("tetherService") as string });
  calls();
  expect(await engine.up(tetherArgs)).toEqual({ then: "updated" });
  expect(calls()).not.toContain("POST /tether/:tetherId/targetNetwork");
  expect(await engine.up(tetherArgs)).toEqual({ then: "same" });
});
