import { errorOf, type Outcome } from "../../support/engine";
import { type Manners, otherTether, type OtherTether } from "../../support/other-tether";
import { setEnvironment } from "../../support/service";
import { tetherArgs as args } from "../../support/tethered";

/* A service that accepts and charges every deployment: one with an unknown outcome is never sent again unasked. */

const strict: Manners = { unready: 409 };
const never: Manners = { ...strict, silent: true, minedAfterMs: Infinity };

/** What the error offers to the user, who has looked: there is no contract. */
const noContract = (outcome: Outcome): string => /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(errorOf(outcome))![1]!;

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

test("a tether that is to be inactive is not activated to see whether it has a contract", async () => {
  const world = await otherTether({ ...strict, silent: true, minedAfterMs: 14_000, balance: "none" });
  await lost(world, { ...args, active: false });
  expect(world.did).toMatchObject({ deploys: 1, activates: 0 });
});

describe("never executed", () => {
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
    const word = noContract(await lost(world));
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
    const again = await lost(world);
    expect(world.did.deploys).toBe(2);
    expect(noContract(again)).not.toBe(word);
    await lost(world);
    expect(world.did.deploys).toBe(2);
    world.manners = strict;
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: `other00001@x, ${noContract(again)}` });
    expect(await world.engine.up(args)).toEqual({ then: "updated" });
    expect(world.said.some((line) => /says CONSORTIUM_NOT_DEPLOYED: it is sent once more/.test(line))).toBe(true);
    expect(world.did).toMatchObject({ deploys: 3, mined: ["rinkeby"], active: true });
  });

  test("that confirmation is not believed if the account has paid", async () => {
    const world = await otherTether(never);
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: noContract(await lost(world)) });
    world.did.mined.push("rinkeby");
    await settlesOnce(world, "updated");
  });
});
