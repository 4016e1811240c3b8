import { type ApiError } from "../../../provider/api";
import { silent } from "../../../provider/api/refusal";
import { tetherIn } from "../../../provider/api/tether";
import { type Props } from "../../../provider/core/definition";
import { type Session } from "../../../provider/core/session";
import { storedKey } from "../../../provider/core/state";
import { activateSoon, deactivated, refusedStart } from "../../../provider/resources/tether/activation";
import { reported } from "../../../provider/resources/tether/deploy";
import { funded, withPatience } from "../../../provider/resources/tether/funds";
import {
  accountOf,
  asItIs,
  read,
  shownOf,
  type TetherInputs,
  tetherSeen,
} from "../../../provider/resources/tether/read";
import { type Answers, busy, missing, refusal, tether } from "./tether-client";

/* What the answers of a service about a tether mean, one by one. */

const inputs = { tetherId: "t", network: "rinkeby", intervalHours: 2 } as TetherInputs;

describe("what is shown of a tether", () => {
  test.each<[string, Props, Props]>([
    [
      "a contract there",
      { network: "rinkeby", deployed_networks: ["rinkeby"] },
      { network: "rinkeby", state: "inactive", active: false, deployedNetworks: ["rinkeby"] },
    ],
  ])("%s is taken as it is", (_, shown, props) => {
    expect(asItIs(tetherIn(shown), { network: "rinkeby", intervalHours: 2 })).toEqual(props);
  });

  const state = { network: "rinkeby", intervalHours: 2, state: "active", active: true };
  test.each<[string, Props, Props | undefined, Props]>([
    ["the same, in its own way", state, { network: "Rinkeby", interval: 120 }, state],
    ["that it was stopped", state, { state: "inactive" }, { ...state, state: "inactive", active: false }],
    ["that it was started", { ...state, state: "inactive", active: false }, { state: "active" }, state],
    [
      "that it is still stopped",
      { ...state, state: "deployed" },
      { state: "inactive" },
      { ...state, state: "deployed" },
    ],
  ])("%s: the state after a refresh", (_, before, shown, after) => {
    expect(tetherSeen(before, shown && tetherIn(shown))).toEqual(after);
  });
});

describe("a look", () => {
  test.each<[string, Answers, Props | undefined | RegExp]>([
    ["is none, if it is empty", { look: [""] }, undefined],
    ["fails with the service", { look: [refusal("server")] }, /POST \/tether/],
  ])("%s", async (_, answers, shown) => {
    const look = shownOf(tether(answers).session, "t");
    if (shown instanceof RegExp) await expect(look).rejects.toThrow(shown);
    else expect(await look).toEqual(shown && tetherIn(shown));
  });

  test.each<[string, unknown, string | undefined | RegExp]>([
    ...(["missing", "unsupported", "invalid"] as const).map((kind): [string, unknown, undefined] => [
      `none: ${kind}`,
      refusal(kind),
      undefined,
    ]),
    ["an error", refusal("denied"), /POST \/tether/],
  ])("counts %s", async (_, answer, says) => {
    const { session } = tether({ reports: [answer] });
    if (says instanceof RegExp) await expect(reported(session, "t")).rejects.toThrow(says);
    else expect(await reported(session, "t")).toBe(says);
  });

  test.each<[string, Answers, string | RegExp, string[]]>([
    ["is made, and not shown", { account: [missing, {}] }, "one was created", ["account", "make account", "account"]],
    [
      "cannot be made",
      { account: [missing], "make account": [refusal("unsupported")] },
      /POST \/tether\/t: no\./,
      ["account", "make account"],
    ],
    ["is refused", { account: [refusal("denied")] }, /POST \/tether/, ["account"]],
  ])("finds that its account %s", async (_, answers, is, made) => {
    const { session, steps, said } = tether(answers);
    const found = accountOf(session, "t");
    if (is instanceof RegExp) await expect(found).rejects.toThrow(is);
    else expect(`${(await found).account} ${said.join()}`).toContain(is);
    expect(steps).toEqual(made);
  });

  test.each<[string, Answers, Props, Props | undefined | RegExp]>([
    [
      "that nobody has read before",
      { look: [{ network: "mainnet" }], account: [{ account: "0x1", balanceWei: undefined }] },
      {},
      { tetherId: "t", network: "mainnet", state: "configured", account: "0x1" },
    ],
    [
      "that the service does not show",
      { look: [missing] },
      { network: "rinkeby", [storedKey]: { version: 2 } },
      { network: "rinkeby" },
    ],
    [
      "at a wrong address",
      { look: [missing], account: [missing], consortia: [missing] },
      { [storedKey]: { version: 2 } },
      /POST \/tether/,
    ],
  ])("reads a tether %s", async (_, answers, before, after) => {
    const found = read(tether(answers).session, "t", before);
    if (after instanceof RegExp) await expect(found).rejects.toThrow(after);
    else if (after === undefined) expect(await found).toBeUndefined();
    else expect(await found).toMatchObject(after);
  });
});

describe("a start", () => {
  test.each<[string, Answers, string | undefined | RegExp, string[]]>([
    [
      "is refused, if it is shown as stopped",
      { start: [refusal("conflict", "is active")], look: [{ state: "inactive" }] },
      "is active",
      ["start", "look"],
    ],
    [
      "is none, if the service says that it is active",
      { start: [refusal("invalid", "already started")], look: [missing] },
      undefined,
      ["start", "look"],
    ],
    ["is refused, if that is malformed", { start: [refusal("invalid")], look: [missing] }, "no", ["start", "look"]],
    [
      "is refused, if that does not help",
      { start: [busy, refusal("conflict", "again")], look: [missing], stop: [busy] },
      "no",
      ["start", "look", "stop", "start"],
    ],
  ])("%s", async (_, answers, is, made) => {
    const { session, steps } = tether(answers);
    const start = refusedStart(session, "t");
    if (is instanceof RegExp) await expect(start).rejects.toThrow(is);
    else expect((await start)?.errorMessage).toBe(is);
    expect(steps).toEqual(made);
  });

  const until = (ms: number, error: ApiError) => (session: Session) => () =>
    Promise.resolve(session.clock.now() < ms ? error : undefined);
  const noEnvironment = refusal("invalid", "environment e does not exist");
  const wordless = refusal("conflict", silent("false"));
  test.each<[string, ReturnType<typeof until>, number | RegExp, number?]>([
    ["if it says why", until(60_000, refusal("conflict", "not yet mined")), 60_000],
    ["if it is away", until(60_000, refusal("server")), 60_000],
    ["for half a minute if it says nothing", until(28_000, wordless), 28_000],
    ["no longer than that", until(60_000, wordless), /without a reason/],
    ["for ten seconds if it knows no environment", until(8_000, noEnvironment), 8_000],
    ["as long as this run creates something", until(30_000, noEnvironment), 30_000, 1],
    ["not if it has created it", until(30_000, noEnvironment), /does not exist/, 0],
    ["not if it is unknown", until(60_000, missing), /POST \/tether/],
  ])("that is refused is tried again, %s", async (...[, start, is, unsettled]) => {
    const { session, clock } = tether({}, 300_000);
    if (unsettled !== undefined) session.run.unsettled.set("/p", unsettled);
    const soon = activateSoon(session, "t", start(session));
    if (is instanceof RegExp) return expect(soon).rejects.toThrow(is);
    await soon;
    expect(clock.now()).toBeGreaterThanOrEqual(is);
    return expect(clock.now()).toBeLessThan(is + 5_000);
  });
});

describe("a stop", () => {
  test.each<[string, Answers, boolean, RegExp | undefined, boolean]>([
    [
      "is none needed, if it is shown as stopped",
      { stop: [refusal("conflict")], look: [{ state: "inactive" }] },
      false,
      undefined,
      true,
    ],
    [
      "failed, if it is shown as active",
      { stop: [refusal("invalid", "is inactive")], look: [{ state: "active" }] },
      true,
      /is inactive\.$/,
      false,
    ],
    [
      "is none needed, if the service says so",
      { stop: [refusal("invalid", "was never started")], look: [missing] },
      false,
      undefined,
      true,
    ],
    [
      "failed, if nobody knows",
      { stop: [refusal("conflict")], look: [missing] },
      false,
      /^Next\. .*does not show whether it is active, and goes on paying /,
      false,
    ],
  ])("%s", async (_, answers, mayBe, why, isSaid) => {
    const { session, said } = tether(answers);
    const stop = deactivated(session, "t", "Next.", mayBe);
    await (why ? expect(stop).rejects.toThrow(why) : stop);
    expect(said.some((line) => line.includes("was not active"))).toBe(isSaid);
  });
});

describe("funds", () => {
  test.each<[string, Props, Props, boolean, Answers, bigint | undefined | RegExp]>([
    ["are none", {}, { balanceWei: "0" }, true, {}, /has 0 wei on rinkeby, which is 1 too little/],
  ])("%s", async (_, more, account, isTarget, answers, is) => {
    const { session } = tether(answers);
    const found = funded(session, { ...inputs, ...more }, account, isTarget);
    if (is instanceof RegExp) await expect(found).rejects.toThrow(is);
    else expect(await found).toBe(is);
  });

  test("of a service that stays away are waited for, and take none of the resource's time", async () => {
    const { session, clock } = tether({ balance: ["0"], account: [refusal("server")] }, 10_000);
    const patient = withPatience(session, { waitForFunds: "1m" });
    const found = funded(patient, { ...inputs, waitForFunds: "1m" }, { balanceWei: "0" }, true);
    await expect(found).rejects.toThrow(/while it waited for funds: .*POST \/tether.* Nothing was spent/);
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(clock.now()).toBeLessThanOrEqual(65_000);
    expect([session.deadline.at, patient.deadline.at]).toEqual([10_000, 70_000]);
  });
});
