import {
  type EnvironmentModel,
  type MembershipModel,
  type NetworkModel,
  type TetherModel,
} from "../../inventory/model";
import { check, type Result } from "../../observe/check/checks";
import { type NodeProbe, type Observations } from "../../observe/check/observations";
import { anyText, containing } from "../service/helpers";
import { environmentOf, memberOf, networkOf, nodeOf } from "./models";

/* What each check says of what was observed. How that is observed, on real chains: check.test.ts and troubles.test.ts. */

const now = Date.UTC(2026, 5, 1);
const minute = 60_000;

/** The results of one check of a network with these parts. */
function said(
  name: string,
  {
    environment,
    members = [],
    tether,
    model,
    ...observed
  }: {
    environment?: EnvironmentModel;
    members?: MembershipModel[];
    tether?: TetherModel;
    model?: Partial<NetworkModel>;
  } & Partial<Omit<Observations, "model">>,
): Pick<Result, "outcome" | "text">[] {
  const environments = environment ? [environment] : [];
  const all: Observations = {
    model: networkOf({ environments, memberships: members }, { tethers: tether ? [tether] : [], ...model }),
    nodes: new Map(),
    credentials: [],
    allListed: true,
    tethers: new Map(),
    trusted: new Set(),
    now,
    pinsAhead: 24,
    ...observed,
  };
  return check(all)
    .filter((one) => one.check === name)
    .map(({ outcome, text }) => ({ outcome, text }));
}

/** A time so many minutes ago. */
const ago = (minutes: number) => new Date(now - minutes * minute).toISOString();

const block = { chainId: 1001, first: 5, last: 6, seconds: 4, period: 5, waiting: 0 };
const active = { id: "tether0001", state: "active", intervalHours: 1 };
const answered = (more: Partial<Extract<NodeProbe, { kind: "answered" }>> = {}): NodeProbe => ({
  kind: "answered",
  ...block,
  ...more,
});
const one = (probe: NodeProbe) => ({
  environment: environmentOf(1, [nodeOf(1, 0)]),
  nodes: new Map([["e1n0", probe]]),
});

test.each<[string, number, string, string?]>([
  ["is dated 14 minutes ahead", -14, "ok"],
  ["is dated 16 minutes ahead", -16, "failed", "report 3 is dated 0.3 h from now"],
  ["was an hour and 14 minutes ago", 74, "ok"],
  ["was an hour and 16 minutes ago", 76, "failed"],
])("the last pin, due every hour, give or take 15 minutes, %s", (_what, minutes, outcome, text = anyText) => {
  const tether = { ...active, reports: 4, lastPin: { index: 3, at: ago(minutes) } };
  expect(said("last pin on time", { tether })).toEqual([{ outcome, text }]);
});

const hour = 60 * minute;
test.each([
  [
    "are 6 minutes apart",
    6 * minute,
    /6 min apart, .* every 6 h\. Either the service counts minutes.*, or the interval was/,
  ],
  ["are 8 minutes apart", 8 * minute, /counts minutes/],
  ["are 15 days apart", 15 * 24 * hour, /sixty times as long, or the interval was changed/],
  ["are 6 hours apart", 6 * hour, undefined],
  ["are a minute apart", minute, undefined],
  ["are an hour apart", hour, undefined],
  ["are in no order", -6 * minute, undefined],
  ["have no times", undefined, undefined],
])("the last two reports, due every 6 hours, %s", (_what, apartMs, wrong) => {
  const tether = { ...active, reports: 4, intervalHours: 6, lastPin: { index: 3, at: ago(1) } };
  const probe = apartMs === undefined ? {} : { apartMs };
  const [found] = said("last pin on time", { tether, tethers: new Map([["tether0001", probe]]) });
  expect(found!.outcome).toBe(wrong ? "failed" : "ok");
  if (wrong) expect(found!.text).toMatch(wrong);
});

describe.each([
  ["has never reported", { reports: 0 }],
  ["was stopped for a while", { reports: 4, lastPin: { index: 3, at: ago(1_000) } }],
])("a tether that is active and %s", (_, reported) => {
  test.each([
    ["is new until a report is due and 15 minutes longer", { changedAt: ago(74) }, "skipped"],
    ["is wrong after that", { changedAt: ago(76) }, "failed"],
    ["is wrong where nothing shows that it is new", {}, "failed"],
  ])("%s", (_what, more, outcome) => {
    const tether = { ...active, ...reported, ...more };
    expect(said("last pin on time", { tether })).toMatchObject([{ outcome }]);
  });
});

test("a tether that is not active and has never reported is not due", () => {
  const tether = { ...active, reports: 0, state: "inactive" };
  expect(said("last pin on time", { tether })).toMatchObject([{ outcome: "skipped" }]);
});

const funds = (balanceWei: string, weiPerPin?: bigint) =>
  said("tether funds", {
    tether: { ...active, balanceWei },
    tethers: new Map([["tether0001", weiPerPin === undefined ? {} : { weiPerPin }]]),
  });

test.each([
  ["has enough for as many pins as are wanted", funds("2400", 100n), "ok"],
  ["has too little for one of them", funds("2399", 100n), "failed"],
  ["has something, and nobody knows what a pin costs", funds("1"), "ok"],
  ["is empty, and nobody knows what a pin costs", funds("0"), "failed"],
])("a tether's account %s", (_what, results, outcome) => expect(results).toMatchObject([{ outcome }]));

describe("a node that is not started", () => {
  const stopped = environmentOf(1, [nodeOf(1, 0, { state: "stopped" })]);

  test("is in order if it answers", () => {
    const nodes = new Map([["e1n0", answered()]]);
    expect(said("node started", { environment: stopped, nodes })).toEqual([
      { outcome: "ok", text: "its state is stopped, but it answers" },
    ]);
  });

  test.each<[string, NodeProbe]>([
    ["was asked, and does not answer", { kind: "failed", why: "no", next: "" }],
    ["was not asked", { kind: "skipped", why: "no credential" }],
  ])("is wrong if it %s", (_what, probe) => {
    const nodes = new Map([["e1n0", probe]]);
    expect(said("node started", { environment: stopped, nodes })).toMatchObject([{ outcome: "failed" }]);
  });
});

describe("a chain", () => {
  test.each<[string, Parameters<typeof answered>[0], string]>([
    ["with a new block", {}, "ok"],
    ["that stands, and should not", { last: 5 }, "failed"],
    ["that stands, without a period", { last: 5, period: undefined }, "ok"],
    ["that stands, without a period, while a transaction waits", { last: 5, period: undefined, waiting: 1 }, "failed"],
    ["with a new block, while another transaction waits", { period: undefined, waiting: 1 }, "ok"],
    ["that went back", { last: 4 }, "failed"],
  ])("%s", (_what, probe, outcome) => expect(said("new blocks", one(answered(probe)))).toMatchObject([{ outcome }]));

  test.each([
    ["are near each other", 97, { outcome: "ok", text: "2 nodes at block 100" }],
    ["are far apart", 96, { outcome: "failed", text: "node-1-1 is at block 96, 4 behind node-1-0" }],
  ])("whose nodes %s", (_what, height, verdict) => {
    const probes = [100, height].map((own, at): [string, NodeProbe] => [
      `e1n${at}`,
      answered({ compared: { height: own, reached: 100 } }),
    ]);
    const environment = environmentOf(1, [nodeOf(1, 0), nodeOf(1, 1)]);
    expect(said("block heights", { environment, nodes: new Map(probes) })).toEqual([verdict]);
  });

  test.each<[string, number, number | undefined, number | undefined, string]>([
    ["as the service shows it", 1001, 1001, undefined, "ok"],
    ["other than the service shows it", 1002, 1001, undefined, "failed"],
    ["as the stack has it, where the service shows none", 1001, undefined, 1001, "ok"],
    ["as the stack has it, where the service shows another", 1002, 1001, 1002, "failed"],
    ["as the service shows it, where the stack has another", 1001, 1001, 1002, "failed"],
    ["that nobody states", 1001, undefined, undefined, "skipped"],
  ])("with an id %s", (_what, chainId, shown, asked, outcome) => {
    const environment = environmentOf(1, [nodeOf(1, 0)], { chainId: shown });
    const stack =
      asked === undefined ? {} : { stack: networkOf({ environments: [{ ...environment, chainId: asked }] }) };
    const nodes = new Map([["e1n0", answered({ chainId })]]);
    expect(said("chain id", { environment, nodes, ...stack })).toMatchObject([{ outcome }]);
  });
});

const opensNothing = { credential: { username: "u1", password: "p" }, nodes: 0, opened: [], refused: [] };
test.each([
  ["is wrong if a node refused it", { nodes: 1, refused: ["n1"], why: "wrong" }, {}, true, "failed"],
  [
    "is wrong if the service lists all, and not this one",
    {},
    undefined,
    true,
    "failed",
    "no credential of this user name",
  ],
  ["is not wrong if the service does not list all", {}, undefined, false, "skipped", "its member has no nodes"],
  ["is not wrong if it is listed, and its member has no nodes", {}, {}, true, "skipped"],
  ["is not wrong if it is listed as active", {}, { state: "active" }, true, "skipped"],
  ["is wrong if it is listed as deleted", {}, { state: "deleted" }, true, "failed", "no credential of this user name"],
  ["is nothing to say of if its nodes could not be asked: they say why", { nodes: 1 }, {}, true, undefined],
])("a credential that opens nothing %s", (_what, probe, listed, allListed, outcome, text = "") => {
  const environment = environmentOf(1, [], listed ? { credentials: [{ id: "u1", ...listed }] } : {});
  const results = said("credential", { environment, credentials: [{ ...opensNothing, ...probe }], allListed });
  expect(results).toEqual(outcome ? [{ outcome, text: containing(text) }] : []);
});

describe("a consortium and a member", () => {
  test.each([
    ["deleting", "its state is deleting"],
    ["failed", "its state is failed"],
    ["suspended", "its state is suspended"],
    ["initializing", "it is still initializing"],
  ])("whose state is %s", (state, text) => {
    const { consortia } = networkOf({ state, memberships: [memberOf(0, { state })] });
    for (const kind of ["consortium", "membership"])
      expect(said(kind, { model: { consortia } })).toEqual([{ outcome: "failed", text }]);
  });

  test("that are ready, or gone, are nothing to say of", () => {
    const { consortia } = networkOf({ state: "setup", memberships: [memberOf(0), memberOf(1, { state: "gone" })] });
    for (const kind of ["consortium", "membership"]) expect(said(kind, { model: { consortia } })).toEqual([]);
  });
});

const own = environmentOf(1, [nodeOf(1, 0), nodeOf(1, 1, { membershipId: "m0" })]); // two of m0
test.each<[string, Partial<MembershipModel>, string[]]>([
  ["without a minimum, with any number of nodes", {}, []],
  ["with as many nodes as it must have", { minimumNodes: 2 }, ["ok"]],
  ["with fewer", { minimumNodes: 3 }, ["failed"]],
])("a member %s", (_what, more, outcomes) => {
  const results = said("minimum of nodes", { environment: own, members: [memberOf(0, more)] });
  expect(results.map(({ outcome }) => outcome)).toEqual(outcomes);
});
