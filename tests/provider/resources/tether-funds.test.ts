import { type FaultRule } from "../../../service/index";
import { errorOf } from "../../support/engine";
import { otherTether } from "../../support/other-tether";
import {
  ether,
  firstSteps,
  tetherArgs as base,
  tethered,
  type Tethered,
  tetherId,
  whose,
} from "../../support/tethered";

/* Funds: how long a deployment waits for them, and its messages meanwhile and after a lost answer. */

const address = "0x[0-9a-fA-F]{40}";
const account = { method: "GET", route: "/tether/:tetherId/account" };

async function funded(rinkeby = "0"): Promise<Tethered & { fund: (wei: string) => void }> {
  const world = await tethered({ tethers: [{ id: tetherId, funds: { rinkeby } }] });
  return { ...world, fund: (wei) => world.service.store.tethers.setFunds(tetherId, "rinkeby", wei) };
}

const sent = (calls: string[]): number => calls.filter((call) => call.endsWith("/deploy")).length;

test("waits until they arrive, reports what is missing at once and then ever more rarely, then continues", async () => {
  const { engine, time, said, fund, calls, fields } = await funded("40");
  time.when(/\/account$/, () => fund(ether), 60_000);
  const args = { ...base, waitForFunds: "30m", minimumBalanceWei: ether };
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

test("does not wait for funds that exist already", async () => {
  const { engine, said, calls } = await funded(ether);
  expect(await engine.up({ ...base, waitForFunds: "30m" })).toEqual({ then: "created" });
  expect(said).toEqual([]);
  expect(calls().filter((call) => call.endsWith("/account"))).toHaveLength(1);
});

test("does not count toward the resource's time-out", async () => {
  const world = await otherTether({ unready: 409, silent: true, minedAfterMs: 14_000 });
  world.funds = 5n;
  world.time.when(/\/account$/, () => (world.funds = 1000n), 100_000);
  const args = { ...base, minimumBalanceWei: "1000", waitForFunds: "5m", customTimeouts: { create: 20 } };
  expect(await world.engine.up(args)).toEqual({ then: "created" });
  expect(world.time.now()).toBeGreaterThan(110_000);
  expect(world.did).toMatchObject({ deploys: 1, mined: ["rinkeby"], active: true });
  expect(await world.engine.up(args)).toEqual({ then: "same" });
});

test("after the time-out: nothing was spent, the settings are kept, and the next update does only the rest", async () => {
  const { engine, time, fund, calls, fields } = await funded("7");
  const args = { ...base, waitForFunds: "1m30s", minimumBalanceWei: "10" };
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

test("without it: fails at once with the address, the network and what is missing", async () => {
  const { engine, time, calls } = await funded("7");
  const outcome = await engine.up({ ...base, minimumBalanceWei: "10" });
  expect(errorOf(outcome)).toMatch(
    new RegExp(
      `Send funds to ${address} on rinkeby.*waitForFunds: "30m".*account ${address} has 7 wei on rinkeby, which is 3 too little .*Nothing was spent`,
    ),
  );
  expect(sent(calls())).toBe(0);
  expect(time.now()).toBeLessThan(12_000);
});

test("some funds, but too little for the chain: the service's own message and the account", async () => {
  const { engine, calls } = await funded("5");
  expect(errorOf(await engine.up(base))).toMatch(
    /deployment on rinkeby failed: .*HTTP 402.*no funds.*account 0x[0-9a-f]{40} must have funds/i,
  );
  expect(calls()).toEqual([...firstSteps.slice(0, 7), ...whose]);
});

test.each<[string, FaultRule]>([
  ["answers 500 for a while", { kind: "status", status: 500, times: 30 }],
  ["drops connections for a while", { kind: "resetBefore", times: 30 }],
])("a service that %s does not end the wait", async (_, fault) => {
  const { engine, service, time, fund, said, fields } = await funded();
  service.faults.add({ ...fault, ...account, nth: 2 });
  time.when(/\/account$/, () => fund(ether), 200_000);
  expect(await engine.up({ ...base, waitForFunds: "1h" })).toEqual({ then: "created" });
  expect(said.some((line) => /cannot read the balance/.test(line))).toBe(true);
  expect(fields().deployments).toMatchObject({ rinkeby: 1 });
});

test("a key that is refused meanwhile ends it, and the completed steps are kept", async () => {
  const { engine, service } = await funded();
  service.faults.add({ kind: "status", status: 401, ...account, nth: 3, times: Infinity });
  const outcome = await engine.up({ ...base, waitForFunds: "1h" });
  expect(outcome.then).toBe("incomplete");
  expect(errorOf(outcome)).toMatch(/while it waited for funds: .*HTTP 401.*Nothing was spent.*pulumi up/);
});

test.each(["soon", "30", "-5m", "1d", 30, ""])("waitForFunds: %j is refused before any call", async (waitForFunds) => {
  const { engine, calls } = await funded();
  expect(await engine.up({ ...base, waitForFunds })).toEqual({
    then: "refused",
    failures: [{ property: "waitForFunds", reason: expect.stringMatching(/must be a duration, such as/) as string }],
  });
  expect(calls()).toEqual([]);
});

test("a running tether is not stopped for a network on which it has too little", async () => {
  const { engine, fields, calls } = await funded(ether);
  await engine.up(base);
  calls();
  expect(errorOf(await engine.up({ ...base, network: "mainnet" }))).toMatch(
    /has 0 wei on mainnet, .*Nothing was spent.*The tether stays on rinkeby, unchanged/,
  );
  expect(calls().filter((call) => call.startsWith("POST"))).toEqual([]);
  expect(fields()).toMatchObject({ network: "rinkeby", active: true });
});
