import { ApiError, type ConsortiumClient } from "../../../provider/api";
import { type ErrorKind } from "../../../provider/api/api-error";
import { silent } from "../../../provider/api/refusal";
import { type Props } from "../../../provider/core/definition";
import { newSession, type Session, within } from "../../../provider/core/session";
import { storedKey } from "../../../provider/core/state";
import { activateSoon, deactivated, refusedStart } from "../../../provider/resources/tether/activation";
import { funded, withPatience } from "../../../provider/resources/tether/funds";
import { reported } from "../../../provider/resources/tether/deploy";
import {
  accountOf,
  asItIs,
  read,
  shownOf,
  type TetherInputs,
  tetherSeen,
} from "../../../provider/resources/tether/read";
import { tetherIn } from "../../../provider/api/tether";
import { VirtualTime } from "../../support/virtual-time";

/* What the answers of a service about a tether mean, one by one. */

const refusal = (kind: ErrorKind, errorMessage = "no"): ApiError =>
  new ApiError({ kind, call: "X /tether/t", errorMessage });
const missing = refusal("missing");

type Call =
  | "getTether"
  | "getTetherAccount"
  | "makeTetherAccount"
  | "getTetherBalance"
  | "getTetherReportCount"
  | "activateTether"
  | "deactivateTether"
  | "list";
/** The answers of a call, one after the other; the last of them from then on. */
type Answers = Partial<Record<Call, unknown[]>>;

function tether(answers: Answers = {}, limitMs?: number) {
  const clock = new VirtualTime();
  const calls: string[] = [];
  const said: string[] = [];
  const left = new Map(Object.entries(answers).map(([name, all]) => [name, [...all]]));
  const answer = (name: Call) => (): Promise<unknown> => {
    calls.push(name.replace(/Tether/, ""));
    const all = left.get(name) ?? [{}];
    const next: unknown = all.length > 1 ? all.shift() : all[0];
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const names = [
    "getTether",
    "getTetherAccount",
    "makeTetherAccount",
    "getTetherBalance",
    "getTetherReportCount",
  ] as const;
  const all = [...names, "activateTether", "deactivateTether", "list"] as const;
  const client = Object.fromEntries(all.map((name) => [name, answer(name)])) as unknown as ConsortiumClient;
  Object.assign(client, { until: () => client, http: { serviceTime: () => undefined } });
  const whole = newSession(client, { clock, say: (line) => void said.push(line) });
  const session = limitMs === undefined ? whole : within(whole, limitMs);
  return { session, clock, calls, said };
}

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
    ["is none, if it is empty", { getTether: [""] }, undefined],

    ["fails with the service", { getTether: [refusal("server")] }, /X \/tether/],
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

    ["an error", refusal("denied"), /X \/tether/],
  ])("counts %s", async (_, answer, says) => {
    const { session } = tether({ getTetherReportCount: [answer] });
    if (says instanceof RegExp) await expect(reported(session, "t")).rejects.toThrow(says);
    else expect(await reported(session, "t")).toBe(says);
  });

  test.each<[string, Answers, string | RegExp, string[]]>([
    [
      "is made, and not shown",
      { getTetherAccount: [missing, {}] },
      "one was created",
      ["getAccount", "makeAccount", "getAccount"],
    ],
    [
      "cannot be made",
      { getTetherAccount: [missing], makeTetherAccount: [refusal("unsupported")] },
      /X \/tether\/t: no\./,
      ["getAccount", "makeAccount"],
    ],
    ["is refused", { getTetherAccount: [refusal("denied")] }, /X \/tether/, ["getAccount"]],
  ])("finds that its account %s", async (_, answers, is, made) => {
    const { session, calls, said } = tether(answers);
    const found = accountOf(session, "t");
    if (is instanceof RegExp) await expect(found).rejects.toThrow(is);
    else expect(`${(await found).account} ${said.join()}`).toContain(is);
    expect(calls).toEqual(made);
  });

  test.each<[string, Answers, Props, Props | undefined | RegExp]>([
    [
      "that nobody has read before",
      { getTether: [{ network: "mainnet" }], getTetherAccount: [{ account: "0x1", balanceWei: undefined }] },
      {},
      { tetherId: "t", network: "mainnet", state: "configured", account: "0x1" },
    ],
    [
      "that the service does not show",
      { getTether: [missing] },
      { network: "rinkeby", [storedKey]: { version: 2 } },
      { network: "rinkeby" },
    ],

    [
      "at a wrong address",
      { getTether: [missing], getTetherAccount: [missing], list: [missing] },
      { [storedKey]: { version: 2 } },
      /X \/tether/,
    ],
  ])("reads a tether %s", async (_, answers, before, after) => {
    const found = read(tether(answers).session, "t", before);
    if (after instanceof RegExp) await expect(found).rejects.toThrow(after);
    else if (after === undefined) expect(await found).toBeUndefined();
    else expect(await found).toMatchObject(after);
  });
});

describe("a start", () => {
  const busy = refusal("conflict");
  test.each<[string, Answers, string | undefined | RegExp, string[]]>([
    [
      "is refused, if it is shown as stopped",
      { activateTether: [refusal("conflict", "is active")], getTether: [{ state: "inactive" }] },
      "is active",
      ["activate", "get"],
    ],
    [
      "is none, if the service says that it is active",
      { activateTether: [refusal("invalid", "already started")], getTether: [missing] },
      undefined,
      ["activate", "get"],
    ],
    [
      "is refused, if that is malformed",
      { activateTether: [refusal("invalid")], getTether: [missing] },
      "no",
      ["activate", "get"],
    ],

    [
      "is refused, if that does not help",
      { activateTether: [busy, refusal("conflict", "again")], getTether: [missing], deactivateTether: [busy] },
      "no",
      ["activate", "get", "deactivate", "activate"],
    ],
  ])("%s", async (_, answers, is, made) => {
    const { session, calls } = tether(answers);
    const start = refusedStart(session, "t");
    if (is instanceof RegExp) await expect(start).rejects.toThrow(is);
    else expect((await start)?.errorMessage).toBe(is);
    expect(calls).toEqual(made);
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
    ["not if it is unknown", until(60_000, missing), /X \/tether/],
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
      { deactivateTether: [refusal("conflict")], getTether: [{ state: "inactive" }] },
      false,
      undefined,
      true,
    ],
    [
      "failed, if it is shown as active",
      { deactivateTether: [refusal("invalid", "is inactive")], getTether: [{ state: "active" }] },
      true,
      /is inactive\.$/,
      false,
    ],
    [
      "is none needed, if the service says so",
      { deactivateTether: [refusal("invalid", "was never started")], getTether: [missing] },
      false,
      undefined,
      true,
    ],
    [
      "failed, if nobody knows",
      { deactivateTether: [refusal("conflict")], getTether: [missing] },
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
    const { session, clock } = tether({ getTetherBalance: ["0"], getTetherAccount: [refusal("server")] }, 10_000);
    const patient = withPatience(session, { waitForFunds: "1m" });
    const found = funded(patient, { ...inputs, waitForFunds: "1m" }, { balanceWei: "0" }, true);
    await expect(found).rejects.toThrow(/while it waited for funds: .*X \/tether.* Nothing was spent/);
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(clock.now()).toBeLessThanOrEqual(65_000);
    expect([session.deadline.at, patient.deadline.at]).toEqual([10_000, 70_000]);
  });
});
