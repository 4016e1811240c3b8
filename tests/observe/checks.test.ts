import {
  type EnvironmentModel,
  type MembershipModel,
  type NetworkModel,
  type OtherModel,
  type TetherModel,
} from "../../inventory/model";
import { check, type Outcome, type Result, verdictOf } from "../../observe/check/checks";
import { type NodeProbe, type Observations } from "../../observe/check/observations";
import { containing } from "../service/helpers";
import { environmentOf, memberOf, networkOf, nodeOf } from "./models";

/* The result of each check for given observations. For observations of real chains, see check.test.ts and troubles.test.ts. */

const now = Date.UTC(2026, 5, 1);
const minute = 60_000;

type Parts = {
  environment?: EnvironmentModel;
  members?: MembershipModel[];
  tether?: TetherModel;
  model?: Partial<NetworkModel>;
} & Partial<Omit<Observations, "model">>;

/** The results of one check of a network with these parts. */
function resultsOf(name: string, { environment, members = [], tether, model, ...observed }: Parts): Result[] {
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
  return check(all).filter((one) => one.check === name);
}

const said = (name: string, parts: Parts): Pick<Result, "outcome" | "text">[] =>
  resultsOf(name, parts).map(({ outcome, text }) => ({ outcome, text }));

/** What it says of the only object that it looks at. */
function told(name: string, parts: Parts): string | undefined {
  const [found, ...others] = resultsOf(name, parts);
  expect(others).toEqual([]);
  if (!found) return undefined;
  const { outcome, text, next, value } = found;
  return `${outcome}: ${text}${next ? ` → ${next}` : ""}${value === undefined ? "" : ` (${value})`}`;
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

const opensNothing = { credential: { username: "u1", password: "p" }, nodes: 0, opened: [], refused: [] };
const nobodys = "no credential of this user name";
test.each([
  ["is wrong if a node refused it", { nodes: 1, refused: ["n1"], why: "wrong" }, {}, true, "failed"],
  ["is wrong if the service lists all, and not this one", {}, undefined, true, "failed", nobodys],
  ["is not wrong if the service does not list all", {}, undefined, false, "skipped", "its member has no nodes"],
  ["is not wrong if it is listed, and its member has no nodes", {}, {}, true, "skipped"],
  ["is not wrong if it is listed as active", {}, { state: "active" }, true, "skipped"],
  ["is wrong if it is listed as deleted", {}, { state: "deleted" }, true, "failed", nobodys],
  ["is nothing to say of if its nodes could not be asked: they say why", { nodes: 1 }, {}, true, undefined],
])("a credential that opens nothing %s", (_what, probe, listed, allListed, outcome, text = "") => {
  const environment = environmentOf(1, [], listed ? { credentials: [{ id: "u1", ...listed }] } : {});
  const results = said("credential", { environment, credentials: [{ ...opensNothing, ...probe }], allListed });
  expect(results).toEqual(outcome ? [{ outcome, text: containing(text) }] : []);
});

test.each([
  ["failed", "its state is failed"],
  ["suspended", "its state is suspended"],
  ["initializing", "it is still initializing"],
])("a consortium and a member whose state is %s", (state, text) => {
  const { consortia } = networkOf({ state, memberships: [memberOf(0, { state })] });
  for (const kind of ["consortium", "membership"])
    expect(said(kind, { model: { consortia } })).toEqual([{ outcome: "failed", text }]);
});

test("a consortium and a member that are ready or gone are not reported", () => {
  const { consortia } = networkOf({ state: "setup", memberships: [memberOf(0), memberOf(1, { state: "gone" })] });
  for (const kind of ["consortium", "membership"]) expect(said(kind, { model: { consortia } })).toEqual([]);
});

const up = "→ Run `pulumi refresh`, then `pulumi up`, or look at it in the console.";
const odd = "its state is purring, which this version does not know → Look in the console whether it works.";
const nodes = [nodeOf(1, 0)];
test.each<[Partial<EnvironmentModel>, string]>([
  [{ nodes }, "ok: it is live"],
  [{ nodes, state: undefined }, "ok: it is unknown"],
  [{ nodes, state: "paused" }, "ok: it is paused"],
  [{ nodes, state: "purring" }, `unknown: ${odd}`],
  [{}, "skipped: it has no nodes"],
  [{ state: "initializing" }, "skipped: it has no nodes"],
  [{ nodes, state: "initializing" }, "failed: it is still initializing → Wait, then check again."],
  [{ nodes, state: "failed" }, `failed: its state is failed ${up}`],
  [{ state: "failed" }, `failed: its state is failed ${up}`],
  [{ state: "gone", drift: ["it differs"] }, `failed: it is gone from the service ${up}`],
  [{ state: "gone", drift: [] }, `failed: its state is gone ${up}`],
  [{ state: "failed", drift: ["it differs"] }, `failed: its state is failed ${up}`],
])("an environment with %j", (more, text) => {
  expect(told("environment", { environment: environmentOf(1, [], more) })).toBe(text);
});

const start = "Start it in the console. A new node takes about a minute.";
test.each<[string | undefined, NodeProbe | undefined, string]>([
  ["started", undefined, "ok: it is started"],
  [undefined, undefined, "ok: the service does not show its state"],
  ["gone", undefined, `failed: it is gone from the service ${up}`],
  ["stopped", undefined, `failed: its state is stopped → ${start}`],
  ["stopped", { kind: "failed", why: "no", next: "" }, `failed: its state is stopped → ${start}`],
  ["stopped", answered(), "ok: its state is stopped, but it answers"],
  ["purring", undefined, `unknown: ${odd}`],
])("a node that is %s, asked: %j", (state, probe, text) => {
  const nodes = new Map(probe && [["e1n0", probe]]);
  expect(told("node started", { environment: environmentOf(1, [nodeOf(1, 0, { state })]), nodes })).toBe(text);
});

const other = (kind: OtherModel["kind"], more: Partial<OtherModel>): Parts => ({
  environment: environmentOf(1, [], { others: [{ kind, id: "o1", name: "one", facts: {}, ...more }] }),
});
test.each<[Partial<OtherModel>, string]>([
  [{ state: "started" }, "ok: it is started"],
  [{ state: "started", urls: { http: "https://a", ws: "wss://b" } }, "ok: it is started, at https://a, at wss://b"],
  [{ urls: { http: "https://a" } }, "ok: the service does not show its state, at https://a"],
  [{ state: "stopped" }, "failed: its state is stopped → Start it in the console. A new service takes a while."],
])("a service with %j", (more, text) => expect(told("service started", other("service", more))).toBe(text));

test.each<[Partial<OtherModel>, string]>([
  [{}, "skipped: the service does not show whether it is set up"],
  [{ facts: { setupComplete: true } }, "ok: it is set up"],
  [{ facts: { setupComplete: true, uri: "kld://x" } }, "ok: it is set up, at kld://x"],
  [
    { facts: { setupComplete: false, uri: "kld://x" } },
    "failed: it is not set up → Verify the member, and register it with an id registry: `testCertificate` and `idRegistry` of a Destination do both.",
  ],
  [{ state: "gone", facts: { setupComplete: true } }, `failed: it is gone from the service ${up}`],
])("a destination with %j", (more, text) => expect(told("destination ready", other("destination", more))).toBe(text));

test.each<[NodeProbe, string]>([
  [answered(), "ok: it answers with the credential of its member"],
  [{ kind: "skipped", why: "it is stopped", next: "Start it." }, "skipped: it is stopped → Start it."],
  [{ kind: "failed", why: "it refuses", next: "Look." }, "failed: it refuses → Look."],
  [{ kind: "unknown", why: "no credential", next: "Pass one." }, "unknown: no credential → Pass one."],
])("a node that was asked: %j", (probe, text) => expect(told("node reachable", one(probe))).toBe(text));
test("a node that was not asked", () => {
  const { environment } = one(answered());
  for (const name of ["node reachable", "chain id", "new blocks", "transaction"])
    expect(told(name, { environment })).toBeUndefined();
});

const find =
  "→ Transactions signed for one chain are invalid on another: find out who changed it before you send transactions.";
test.each<[number, number | undefined, number | undefined, string]>([
  [1001, 1001, undefined, "ok: it is 1001"],
  [1001, undefined, undefined, "skipped: the service shows no chain id"],
  [1001, undefined, 1001, "ok: it is 1001"],
  [1002, 1001, undefined, `failed: the service shows 1001, but the node is on 1002 ${find}`],
  [1002, 1001, 1002, `failed: the stack has 1002, but the service shows 1001 ${find}`],
  [1001, 1001, 1002, `failed: the stack has 1002, but the node is on 1001 ${find}`],
])("a chain that is %s, shown as %s, and asked as %s", (chainId, shown, asked, text) => {
  const environment = environmentOf(1, nodes, { chainId: shown });
  const environments = [environmentOf(2, [], { chainId: 7 }), { ...environment, chainId: asked }];
  const stack = asked === undefined ? {} : { stack: networkOf({ environments }) };
  expect(told("chain id", { ...one(answered({ chainId })), environment, ...stack })).toBe(text);
});

const at = (height: number, reached: number) => answered({ compared: { height, reached } });
const behind = "Wait while it catches up. If it does not, read its logs in the console.";
test.each<[string, NodeProbe[], string | undefined]>([
  ["one node", [at(9, 9)], undefined],
  ["nodes of which the lowest has caught up", [at(9, 8), at(10, 9)], "ok: 2 nodes at block 10 (0)"],
  ["three nodes in no order", [at(8, 9), at(10, 9), at(9, 9)], "ok: 3 nodes at block 10 (1)"],
  ["a node that is three behind", [at(100, 100), at(97, 100)], "ok: 2 nodes at block 100 (3)"],
  [
    "a node that is further behind",
    [at(10, 9), at(5, 9), at(9, 9)],
    `failed: node-1-1 is at block 5, 4 behind node-1-0 → ${behind} (4)`,
  ],
])("the heights of %s", (_, compared, text) => {
  const probes = [...compared, answered(), { kind: "skipped" as const, why: "" }];
  const environment = environmentOf(
    1,
    [...probes.keys()].map((index) => nodeOf(1, index)),
  );
  const nodes = new Map(probes.map((probe, index) => [`e1n${index}`, probe]));
  expect(told("block heights", { environment, nodes })).toBe(text);
});

const quorum =
  "→ Check that enough validators are started: ibft needs more than two thirds of them, raft and poa more than half.";
test.each<[Parameters<typeof answered>[0], string]>([
  [{}, "ok: block 6, one every 5 s (6)"],
  [{ period: undefined, waiting: 1 }, "ok: block 6; none is due without a transaction (6)"],
  [{ last: 5, period: undefined }, "ok: block 5; none is due without a transaction (5)"],
  [{ last: 5, seconds: 4.4 }, `failed: no new block after block 5 for 4 s, and one is due every 5 s ${quorum} (5)`],
  [
    { last: 5, waiting: 1, period: undefined },
    `failed: no new block after block 5 for 4 s, although a transaction is pending ${quorum} (5)`,
  ],
  [
    { last: 4, waiting: 2 },
    `failed: no new block after block 4 for 4 s, although 2 transactions are pending ${quorum} (4)`,
  ],
])("a chain with %j", (probe, text) => expect(told("new blocks", one(answered(probe)))).toBe(text));

test.each<[Parameters<typeof answered>[0], string | undefined]>([
  [{}, undefined],
  [{ written: { kind: "mined", block: 7, seconds: 1.25 } }, "ok: in block 7 after 1.3 s (1.25)"],
  [{ written: { kind: "failed", why: "it is lost" } }, `failed: it is lost ${quorum}`],
  [{ written: { kind: "skipped", why: "it has no account" } }, "skipped: it has no account"],
])("a transaction: %j", (probe, text) => expect(told("transaction", one(answered(probe)))).toBe(text));

test("credentials, with their names and where they are", () => {
  const credential = (username: string, environmentId?: string) => ({ username, password: "p", environmentId });
  const probe = { nodes: 2, opened: [], refused: [] };
  const environments = [
    environmentOf(1, [], { credentials: [{ id: "u0" }] }),
    environmentOf(2, [], { credentials: [{ id: "u9" }, { id: "u1", name: "app" }] }),
  ];
  const results = resultsOf("credential", {
    model: { consortia: networkOf({ environments }).consortia },
    credentials: [
      { ...probe, credential: credential("u1"), opened: ["n1", "n2"], refused: ["n3"], why: "no" },
      { ...probe, credential: credential("u2", "e1"), refused: ["n1", "n2"], why: "HTTP 401" },
      { ...probe, credential: credential("u3") },
    ],
  });
  const kind = "credential";
  const failed = { check: "credential", outcome: "failed", next: containing("Replace the AppCred") };
  const text = `it does not work on any node: the service has ${nobodys}`;
  const refused = "it does not work on any node: n1, n2 refused it: HTTP 401";
  const inSecond = { kind, id: "u1", name: "app", within: "environment 2" };
  expect(results).toEqual([
    { check: "credential", outcome: "ok", text: "it opens n1, n2", value: 2, subject: inSecond },
    { ...failed, subject: { kind, id: "u2", name: "u2", within: "environment 1" }, text: refused },
    { ...failed, subject: { kind, id: "u3", name: "u3" }, text },
  ]);
});

test("members with a minimum, and one without", () => {
  const own = environmentOf(1, [nodeOf(1, 0), nodeOf(1, 1, { membershipId: "m0" })]); // two of m0
  const members = [memberOf(0, { minimumNodes: 2 }), memberOf(1, { minimumNodes: 1 }), memberOf(2)];
  const results = resultsOf("minimum of nodes", { environment: own, members });
  expect(results).toEqual([
    {
      check: "minimum of nodes",
      outcome: "ok",
      text: "2 of at least 2 nodes",
      value: 2,
      subject: { kind: "membership", id: "m0", name: "Member 0", within: "Trade" },
    },
    expect.objectContaining({
      outcome: "failed",
      text: "0 of at least 1 node",
      value: 0,
      next: "Add a node for Member 1, or agree on another minimum.",
    }),
  ]);
});

test("what differs, and what did not answer", () => {
  const some = [nodeOf(1, 0, { drift: ["a", "b"], unseen: "HTTP 500" }), nodeOf(1, 1, { drift: [] })];
  const environment = environmentOf(1, some);
  expect(told("as the stack says", { environment })).toBe(`failed: a; b ${up}`);
  expect(told("service answers", { environment })).toBe(
    "unseen: HTTP 500 → Check again. If the error persists, ask those who run the service.",
  );
});

test("limits: of the organization, a consortium, and an environment that is full", () => {
  const environments = [environmentOf(1, nodes), environmentOf(2, [nodeOf(2, 0), nodeOf(2, 1)])];
  const limits = [
    { kind: "consortia" as const, used: 1, most: 2 },
    { kind: "environments" as const, of: "c1", used: 2, most: 2 },
    { kind: "nodes" as const, of: "e1", used: 1, most: 2 },
    { kind: "nodes" as const, of: "e2", used: 2, most: 2 },
  ];
  const { consortia } = networkOf({ environments });
  const results = resultsOf("limits", { model: { consortia, limits, organization: "o1" } });
  expect(results.map(({ subject, text, value }) => [subject, text, value])).toEqual([
    [{ kind: "organization", id: "o1", name: "o1" }, "1 of 2 consortia", 1],
    [{ kind: "consortium", id: "c1", name: "Trade" }, "2 of 2 environments", 2],
    [{ kind: "environment", id: "e2", name: "environment 2" }, "2 of 2 nodes", 2],
  ]);
  const [unnamed] = resultsOf("limits", { model: { limits: limits.slice(0, 1) } });
  expect(unnamed!.subject).toEqual({ kind: "organization", id: "", name: "organization" });
});

const where = "it is the last 10 characters of its address in the console.";
test.each<[Partial<TetherModel>, string]>([
  [{ network: "rinkeby" }, "ok: it pins to rinkeby"],
  [{}, "ok: it pins to its network"],
  [{ problem: "no funds" }, "failed: it could not pin: no funds → Fix this; the next pin is attempted automatically."],
  [{ state: "missing" }, `failed: the service does not show it → Check its id: ${where}`],
  [{ state: undefined }, "skipped: the service does not show its state"],
  [{ state: "off" }, "failed: its state is off → Run `pulumi up` with a TetherService whose `active` is true."],
])("a tether with %j", (more, text) => {
  expect(told("tether active", { tether: { ...active, ...more } })).toBe(text);
});

const late =
  "→ Check that its account has funds and its environment has started nodes; then look at it in the console.";
const clock = "Compare this machine's clock with the service's, and correct the wrong one.";
const unshown = "skipped: the service does not show when the last pin was, or the interval";
const since = "the tether was changed since, so the next one may not be due yet";
/** Report 3, so many minutes ago; one is due every hour, give or take 15 minutes. */
const pin = (minutes: number) => ({ reports: 4, lastPin: { index: 3, at: ago(minutes) } });
test.each<[Partial<TetherModel>, string | undefined]>([
  [{ reports: undefined }, "skipped: the service does not show its reports"],
  [{ state: "missing", reports: 4 }, undefined],
  [{ reports: 4 }, unshown],
  [{ ...pin(1), intervalHours: undefined }, unshown],
  [pin(74), "ok: report 3 is 1.2 h old, and one is due every 1 h (4440)"],
  [pin(76), `failed: report 3 is 1.3 h old, and one is due every 1 h ${late} (4560)`],
  [{ ...pin(90), changedAt: ago(76) }, `failed: report 3 is 1.5 h old, and one is due every 1 h ${late} (5400)`],
  [{ ...pin(90), changedAt: ago(74) }, `skipped: report 3 is 1.5 h old, and one is due every 1 h; ${since}`],
  [
    { ...pin(90), state: "inactive", changedAt: ago(1) },
    `failed: report 3 is 1.5 h old, and one is due every 1 h ${late} (5400)`,
  ],
  [pin(-14), "ok: report 3 is 0.2 h old, and one is due every 1 h (-840)"],
  [pin(-16), `failed: report 3 is dated 0.3 h in the future → ${clock} (-960)`],
  [{ reports: 0, state: "inactive", changedAt: ago(1) }, "skipped: there is no report yet"],
  [{ reports: 0, changedAt: ago(74) }, "skipped: its first report is due within 1 h of its activation"],
  [{ reports: 0, changedAt: ago(76) }, `failed: it is active, and has never reported ${late}`],
  [{ reports: 0 }, `failed: it is active, and has never reported ${late}`],
])("the reports of a tether with %j", (more, text) => {
  expect(told("last pin on time", { tether: { ...active, ...more } })).toBe(text);
});

test.each([
  [
    8,
    /^failed: its last two reports are 8 min apart, .* every 6 h\. .* counts minutes .*, or the interval was.*until you know.* \(480\)$/,
  ],
  [10, /^ok/],
  [4.4, /^ok/],
  [15 * 24 * 60, /^ok/],
  [-6, /^ok/],
  [0, /^ok/],
  [undefined, /^ok/],
])("two reports that are %d minutes apart, due every 6 hours", (minutes, text) => {
  const tether = { ...active, reports: 4, intervalHours: 6, lastPin: { index: 3, at: ago(1) } };
  const tethers = new Map([["tether0001", { apartMs: minutes && minutes * minute }]]);
  expect(told("last pin on time", { tether, tethers })).toMatch(text);
  const stack = { tethers: [tether] } as unknown as NetworkModel;
  const inMinutes = { ...tether, intervalHours: 360 };
  expect(told("last pin on time", { tether: inMinutes, tethers, stack })).toMatch(text);
});

test.each([
  ["1 h, as somebody set it, where the stack has 6 h", 1, 6, /^failed: report 3 is 1\.5 h old, .* every 1 h/],
  ["6 h, where the stack has 1 h", 6, 1, /^ok: report 3 is 1\.5 h old, .* every 6 h/],
  ["60, which are minutes where the stack has 1 h", 60, 1, /^failed: report 3 is 1\.5 h old, .* every 1 h/],
])("a report is due in the interval that the service shows: %s", (_, intervalHours, asked, text) => {
  const tether = { ...active, reports: 4, intervalHours, lastPin: { index: 3, at: ago(90) } };
  const stack = {
    tethers: [
      { ...active, id: "other", intervalHours: 48 },
      { ...active, intervalHours: asked },
    ],
  };
  expect(told("last pin on time", { tether, stack: stack as unknown as NetworkModel })).toMatch(text);
});

type Look = Observations["tethers"] extends ReadonlyMap<string, infer One> ? One : never;
const pinned = { verified: true, blockNumber: 9, chainId: 4 } as unknown as Look["verdict"];
const differs = { verified: false, reason: "it differs" } as unknown as Look["verdict"];
const noAddress = "skipped: no address of the public chain is known → Pass one: --target";
const tampered =
  "→ Do not rely on the ledger's history until you know the reason: compare the nodes' blocks with earlier reports.";
const broken = [4, 3].map((index) => ({ index, reason: `of ${index}` }));
test.each<[Partial<TetherModel>, Look, string | undefined]>([
  [{ state: "missing" }, {}, undefined],
  [{ reports: 0 }, {}, undefined],
  [{ reports: undefined }, {}, undefined],
  [{}, { unseen: "no answer" }, "unseen: no answer → Pass another address of the chain with --target."],
  [{}, {}, `${noAddress} mainnet=https://…`],
  [{ network: "rinkeby" }, {}, `${noAddress} rinkeby=https://…`],
  [{ network: "rinkeby", lastPin: { index: 1, network: "local" } }, {}, `${noAddress} local=https://…`],
  [{}, { verdict: differs }, `failed: it differs ${tampered}`],
  [
    { lastPin: { index: 5 } },
    { verdict: pinned, broken },
    `failed: report 4 does not hold: of 4; report 3 does not hold: of 3 ${tampered}`,
  ],
  [
    { network: "rinkeby" },
    { verdict: pinned, broken: broken.slice(1) },
    `failed: report 3 does not hold: of 3 ${tampered}`,
  ],
  [{ network: "rinkeby" }, { verdict: pinned }, "ok: in block 9 of chain 4"],
  [
    { network: "local", targetUrl: "http://t" },
    { verdict: pinned },
    "ok: in block 9 of chain 4 (by the service's own address of it, http://t)",
  ],
])("the last pin of a tether with %j, of which is known: %j", (more, look, text) => {
  const tether = { ...active, reports: 2, ...more };
  const observed = { tethers: new Map([["tether0001", look]]), trusted: new Set(["rinkeby"]) };
  expect(told("last pin verified", { tether, ...observed })).toBe(text);
});

const balanceWei = "1000000000000000000";
const send = "→ Send ether to its account on the network.";
test.each<[Partial<TetherModel>, Look, string | undefined]>([
  [{ state: "missing", balanceWei: "1" }, {}, undefined],
  [{}, {}, "skipped: the service does not show its balance"],
  [{ balanceWei: "0" }, {}, `failed: its account is empty ${send} (0)`],
  [
    { balanceWei: "0", account: "0xa", network: "rinkeby" },
    { weiPerPin: 5n },
    "failed: its account is empty → Send ether to 0xa on rinkeby. (0)",
  ],
  [{ balanceWei }, {}, "ok: 1 ether; the cost of a pin is not known yet"],
  [{ balanceWei }, { weiPerPin: 0n }, "ok: 1 ether; the cost of a pin is not known yet"],
  [{ balanceWei: "2400" }, { weiPerPin: 100n }, "ok: less than 0.0001 ether, enough for 24 more pins (24)"],
  [
    { balanceWei: "2399" },
    { weiPerPin: 100n },
    `failed: less than 0.0001 ether, enough for 23 more pins; 24 are wanted ${send} (23)`,
  ],
])("the account of a tether with %j, of which is known: %o", (more, look, text) => {
  const observed = { tether: { ...active, ...more }, tethers: new Map([["tether0001", look]]) };
  expect(told("tether funds", observed)).toBe(text);
});

test.each<[string, Record<string, Outcome>, string, number]>([
  ["nothing", {}, "nothing to check", 0],
  ["limits alone", { limits: "ok" }, "nothing to check", 0],
  ["limits and a node", { limits: "ok", "node started": "ok" }, "usable", 0],
  ["something skipped", { "node started": "ok", environment: "skipped" }, "nothing wrong", 0],
  ["something unknown", { a: "skipped", b: "unknown" }, "unknown", 3],
  ["something unseen", { a: "unknown", b: "unseen", c: "ok" }, "unseen", 2],
  ["something wrong", { a: "unseen", b: "ok", c: "failed" }, "wrong", 1],
])("of %s: %s", (_, results, verdict, exitCode) => {
  const subject = { kind: "node", id: "n", name: "n" };
  const all = Object.entries(results).map(([name, outcome]): Result => ({ check: name, outcome, subject, text: "" }));
  expect(verdictOf(all)).toEqual({ verdict, exitCode });
});
