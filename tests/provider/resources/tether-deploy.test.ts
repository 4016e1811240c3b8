import { type Engine, errorOf, type Outcome } from "../../support/engine";
import { account, type Manners, otherTether, type OtherTether } from "../../support/other-tether";
import { newProcess, setEnvironment } from "../../support/service";
import { tetherArgs as args, tetherId } from "../../support/tethered";

/* A service that accepts and charges every deployment: one with an unknown outcome is never sent again unasked. */

const strict: Manners = { unready: 409 };
const never: Manners = { ...strict, silent: true, minedAfterMs: Infinity };

/** The answers that the error offers to the user. */
function words(outcome: Outcome): { yes: Record<string, string>; no: Record<string, string> } {
  const value = (name: string): string => new RegExp(`${name}=(\\S+)`).exec(errorOf(outcome))![1]!;
  return {
    yes: { CONSORTIUM_DEPLOYED: value("CONSORTIUM_DEPLOYED") },
    no: { CONSORTIUM_NOT_DEPLOYED: value("CONSORTIUM_NOT_DEPLOYED") },
  };
}

/** An `up` with this result, which uses the one contract that was paid for. */
const settlesOnce = async ({ engine, did }: OtherTether, then: string): Promise<void> => {
  expect(await engine.up(args)).toEqual({ then });
  expect(did).toMatchObject({ deploys: 1, mined: ["rinkeby"], active: true });
  expect(engine.outputs).toMatchObject({ state: "active", deployedNetworks: ["rinkeby"] });
  expect(engine.outputs).not.toHaveProperty("__kept.deployment");
  expect(await engine.up(args)).toEqual({ then: "same" });
};

/** An `up` that ends with an unknown outcome. */
async function lost(world: OtherTether, given: object = args): Promise<Outcome> {
  const outcome = await world.engine.up({ ...given });
  expect(outcome).toMatchObject({ then: "incomplete" });
  return outcome;
}

describe("sent once, although the answer is late or lost", () => {
  test.each<[string, Manners]>([
    ["answered after 14 s, which is more than the client waits", { ...strict, silent: true, minedAfterMs: 14_000 }],
    ["mined after 12 s, answered with 504", { ...strict, deploy: 504, minedAfterMs: 12_000 }],
    ["mined after 200 s, answered with 500", { unready: 400, deploy: 500, minedAfterMs: 200_000 }],
    ["mined after 40 s, answered with 503", { unready: 400, deploy: 503, minedAfterMs: 40_000 }],
  ])("%s", async (_, manners) => {
    const world = await otherTether(manners);
    await settlesOnce(world, "created");
    expect(world.said[0]).toMatch(/it is not sent again, and the run looks for it on rinkeby/);
    expect(world.said.some((line) => /no trace .* account 0x(5b)+ has 1000 wei, \d+ s so far/.test(line))).toBe(true);
    expect(world.said.at(-1)).toMatch(/has paid 7 wei for it/);
  });

  test.each([409, 400])("answered at once, mined after 40 s: waits while `activate` answers %d", async (unready) => {
    const world = await otherTether({ unready, minedAfterMs: 40_000 });
    await settlesOnce(world, "created");
    expect(world.said.some((line) => /not ready to be activated .*no contract yet.* s so far/.test(line))).toBe(true);
  });

  test("answered at once, but never mined: the wait ends with the resource's time-out, and the next run continues", async () => {
    const world = await otherTether({ ...strict, minedAfterMs: 400_000 });
    const outcome = await lost(world);
    expect(errorOf(outcome)).toMatch(/not ready to be activated .*HTTP 409: no contract yet.* after 300 s/);
    world.time.pass(100_000);
    await settlesOnce(world, "updated");
  });

  test("a start without a clear answer before it is mined: the next run waits for that, too", async () => {
    const world = await otherTether({ unready: 502, minedAfterMs: Infinity });
    expect(errorOf(await lost(world))).toMatch(/HTTP 502/);
    expect(world.engine.outputs).not.toHaveProperty("state");
    world.manners = strict;
    const began = world.time.now();
    world.time.when(/\/activate$/, () => world.did.mined.push("rinkeby"), 90_000);
    await settlesOnce(world, "updated");
    expect(world.time.now() - began).toBeGreaterThanOrEqual(90_000);
  });

  test.each<[string, Manners["shows"]]>([
    ["its networks", ({ mined }) => ({ deployed_networks: mined })],
    ["its contracts", ({ mined }) => ({ contracts: Object.fromEntries(mined.map((name) => [name, account])) })],
    ["its state", ({ mined, network }) => ({ network, state: mined.length > 0 ? "deployed" : "setup" })],
  ])("the service shows the contract by %s if the balance does not", async (_, shows) => {
    const world = await otherTether({ ...strict, silent: true, minedAfterMs: 14_000, balance: "constant", shows });
    await settlesOnce(world, "created");
    expect(world.said.at(-1)).toMatch(/is deployed on rinkeby: the service shows it/);
  });

  const mute: Manners = { ...strict, silent: true, minedAfterMs: 14_000, balance: "none" };
  test("a service that shows nothing at all tells by its answer to `activate`", async () => {
    const world = await otherTether(mute);
    await settlesOnce(world, "created");
  });

  test("but a tether that is to be inactive is not activated for that", async () => {
    const world = await otherTether(mute);
    await lost(world, { ...args, active: false });
    expect(world.did).toMatchObject({ deploys: 1, activates: 0 });
  });
});

describe("never executed", () => {
  const looked = (engine: Engine): unknown =>
    (engine.outputs.__kept as { deployment: Record<string, unknown> }).deployment.rinkeby;

  test.each([
    ["5 min", args, 300_000],
    ["customTimeouts", { ...args, customTimeouts: { create: 20 } }, 20_000],
  ])("looked for until the resource's time-out: %s", async (_, given, ms) => {
    const world = await otherTether(never);
    const outcome = await lost(world, given);
    expect(errorOf(outcome)).toMatch(
      new RegExp(
        `check the account ${account} on rinkeby, and the tether service in the console.*not known whether the contract was ` +
          `deployed on rinkeby \\(POST /tether/${tetherId}/deploy: no answer .* after ${ms / 1000} s.*not sent again\\.`,
      ),
    );
    expect(world.time.now()).toBeGreaterThanOrEqual(ms);
    expect(world.time.now()).toBeLessThan(ms + 10_000);
    expect(looked(world.engine)).toMatchObject({
      since: expect.stringMatching(/^20.*Z$/) as string,
      balanceWei: "1000",
    });
    expect(world.did).toMatchObject({ deploys: 1, activates: 0 });
  });

  test("the next runs only look, too; a contract that they find is used", async () => {
    const world = await otherTether(never);
    await lost(world);
    await world.engine.refresh();
    await lost(world);
    await lost(world, { ...args, minimumBalanceWei: "5" });
    expect(world.did.deploys).toBe(1);
    world.did.mined.push("rinkeby");
    await settlesOnce(world, "updated");
  });

  test("a detour over another network does not send it again, either", async () => {
    const world = await otherTether(never);
    await lost(world);
    world.manners = strict;
    expect(await world.engine.up({ ...args, network: "mainnet" })).toEqual({ then: "updated" });
    expect(world.did).toMatchObject({ deploys: 2, mined: ["mainnet"] });
    world.manners = { ...strict, balance: "constant" };
    await lost(world);
    expect(world.did.deploys).toBe(2);
  });

  test("a service that would activate without a contract is no proof of one", async () => {
    const world = await otherTether({ ...never, unready: undefined });
    await lost(world);
    expect(world.did).toMatchObject({ deploys: 1, activates: 0, active: false });
  });

  test("the user's confirmation sends this one once more, and no later one", async () => {
    const world = await otherTether(never);
    const { no } = words(await lost(world));
    setEnvironment(no);
    const again = await lost(world);
    expect(world.did.deploys).toBe(2);
    expect(words(again).no).not.toEqual(no);
    await lost(world);
    expect(world.did.deploys).toBe(2);
    world.manners = strict;
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: `other00001@x, ${words(again).no.CONSORTIUM_NOT_DEPLOYED}` });
    expect(await world.engine.up(args)).toEqual({ then: "updated" });
    expect(world.said.some((line) => /says CONSORTIUM_NOT_DEPLOYED: it is sent once more/.test(line))).toBe(true);
    expect(world.did).toMatchObject({ deploys: 3, mined: ["rinkeby"], active: true });
  });

  test("that confirmation is not believed if the account has paid", async () => {
    const world = await otherTether(never);
    setEnvironment(words(await lost(world)).no);
    world.did.mined.push("rinkeby");
    await settlesOnce(world, "updated");
  });

  test("if the user confirms the contract, it is used", async () => {
    const world = await otherTether({ ...never, balance: "constant" });
    setEnvironment(words(await lost(world)).yes);
    world.did.mined.push("rinkeby");
    await settlesOnce(world, "updated");
  });

  test("the balance on another network, after somebody changed the network, proves nothing", async () => {
    const world = await otherTether({ ...never, shows: ({ network }) => ({ network }) });
    await lost(world);
    world.manners.shows = () => ({ network: "mainnet" });
    world.funds = 3n;
    expect(errorOf(await lost(world))).toMatch(/still targeting mainnet: the account .* shows nothing about rinkeby/);
    expect(world.did.deploys).toBe(1);
  });

  test("a destroy names it, because the state no longer records it", async () => {
    const world = await otherTether(never);
    await lost(world);
    await world.engine.destroy();
    expect(world.said.join("\n")).toMatch(
      new RegExp(`not known whether its contract was deployed on rinkeby, .*check the account ${account} there`),
    );
  });
});

test.each([
  ...[400, 402, 403, 409, 422].map((status) => [status, "that did not work"] as const),
  [409, "the account already has a pending transaction"],
  [409, "a lock exists: a deployment is already in progress"],
] as const)("%d %j is a refusal: an error at once, and sent by the next run", async (deploy, says) => {
  const world = await otherTether({ ...strict, deploy, says, minedAfterMs: Infinity });
  expect(errorOf(await lost(world))).toContain(`HTTP ${deploy}: ${says}`);
  expect(world.time.now()).toBeLessThan(10_000);
  world.manners = strict;
  expect(await world.engine.up(args)).toEqual({ then: "updated" });
  expect(world.did).toMatchObject({ deploys: 2, mined: ["rinkeby"], active: true });
});

test("an activation refused with 404: the state keeps the contract that was paid for", async () => {
  const world = await otherTether({ unready: 404, minedAfterMs: Infinity });
  expect(errorOf(await lost(world))).toMatch(/There is no tether service with this id .*kept/);
  expect(world.engine.outputs).toMatchObject({ state: "deployed", deployedNetworks: ["rinkeby"] });
  world.did.mined.push("rinkeby");
  await settlesOnce(world, "updated");
});

test("after a killed run, which remembers nothing, the service is asked before anything is spent", async () => {
  const world = await otherTether({ ...strict, shows: ({ mined }) => ({ deployed_networks: mined }) });
  world.did.mined.push("rinkeby");
  expect(await world.engine.up(args)).toEqual({ then: "created" });
  expect(world.did.deploys).toBe(0);
});

describe("a run that adopts whatever is there, on a service that shows nothing of the tether", () => {
  const mute: Manners = { ...strict, balance: "none" };
  const follow = (): void => newProcess({ CONSORTIUM_ADOPT: "true" });

  test("activates the existing contract, and does not pay for another", async () => {
    const world = await otherTether(mute);
    world.did.mined.push("rinkeby");
    follow();
    expect(await world.engine.up(args)).toEqual({ then: "created" });
    expect(world.did).toMatchObject({ deploys: 0, mined: ["rinkeby"], active: true });
  });

  test("deploys it if there is none", async () => {
    const world = await otherTether(mute);
    follow();
    await settlesOnce(world, "created");
  });
});

describe("a tether that is to be stopped, on a service that shows nothing of it and refuses without a reason", () => {
  const stopped = { ...args, active: false };

  test("is, if nobody knows whether it was started", async () => {
    const world = await otherTether({ ...strict, startsUnclear: true });
    await lost(world);
    expect(world.did.active).toBe(true);
    world.manners = strict;
    const elsewhere = { ...stopped, network: "mainnet" };
    expect(await world.engine.up(elsewhere)).toMatchObject({ then: "updated" });
    expect(world.did.active).toBe(false);
    expect(await world.engine.up(elsewhere)).toEqual({ then: "same" });
  });

  test.each([true, false])("is, if somebody else runs it (%s), and may be if nobody does", async (active) => {
    const world = await otherTether(strict);
    Object.assign(world.did, { active });
    expect(await world.engine.up(stopped)).toEqual({ then: "created" });
    expect(world.did.active).toBe(false);
    expect(await world.engine.up(stopped)).toEqual({ then: "same" });
    await world.engine.destroy(); // sends no second stop, which this service would refuse
  });

  test("is, if the run that created the resource did not end", async () => {
    const world = await otherTether({ ...strict, deploy: 409 });
    world.did.active = true;
    await lost(world, stopped);
    world.manners = strict;
    expect(await world.engine.up(stopped)).toEqual({ then: "updated" });
    expect(world.did.active).toBe(false);
  });
});
