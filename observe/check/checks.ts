import { replaceCredential } from "../../inventory/credentials";
import {
  type ConsortiumModel,
  displayName,
  type EnvironmentModel,
  environmentsOf,
  type MembershipModel,
  type NodeModel,
  type ObjectModel,
  objectsOf,
  type OtherModel,
  type TetherModel,
} from "../../inventory/model";
import { type Kind } from "../../provider/constants";
import { conditionOf } from "../../provider/api/states";
import { inEther } from "../../provider/plain";
import { toneOf } from "../map/items";
import { type Observations } from "./observations";

/**
 * - `ok`, `failed`
 * - `skipped`: there was nothing to check; it says why
 * - `unseen`: it was asked and got no answer, which says nothing about the network
 * - `unknown`: it could not be asked, because no credential is available; whether applications can use it is unknown
 */
export type Outcome = "ok" | "failed" | "skipped" | "unseen" | "unknown";

interface Subject {
  kind: string;
  id: string;
  name: string;
  /** Name of the environment or consortium that it is in. */
  within?: string;
}

/** The result of one check for one object. */
export interface Result {
  check: string;
  subject: Subject;
  outcome: Outcome;
  /** The observation, or the reason for the failure. */
  text: string;
  /** The next step. */
  next?: string;
  /** The measured value, for metrics. */
  value?: number;
}

/** Overall results with their exit codes. The first that applies counts. */
const verdicts = [
  ["wrong", 1, ({ outcome }: Result) => outcome === "failed"],
  ["unseen", 2, ({ outcome }: Result) => outcome === "unseen"],
  ["unknown", 3, ({ outcome }: Result) => outcome === "unknown"],
] as const;
export type Verdict = (typeof verdicts)[number][0] | "usable" | "nothing wrong" | "nothing to check";

export function verdictOf(results: readonly Result[]): { verdict: Verdict; exitCode: 0 | 1 | 2 | 3 } {
  const found = verdicts.find(([, , applies]) => results.some(applies));
  if (found) return { verdict: found[0], exitCode: found[1] };
  const isEmpty = results.every(({ check }) => check === "limits"); // these say nothing about a network
  if (isEmpty) return { verdict: "nothing to check", exitCode: 0 };
  return { verdict: results.some(({ outcome }) => outcome === "skipped") ? "nothing wrong" : "usable", exitCode: 0 };
}

/** Checks one thing that a usable network has. It only uses the observations and makes no requests. */
type Check = (observed: Observations) => Result[];

type Finding = Pick<Result, "outcome" | "text"> & Partial<Pick<Result, "next" | "value">>;

const ok = (text: string, value?: number): Finding => ({ outcome: "ok", text, value });
const failed = (text: string, next: string, value?: number): Finding => ({ outcome: "failed", text, next, value });
const skipped = (text: string, next?: string): Finding => ({ outcome: "skipped", text, next });
const unseen = (text: string, next: string): Finding => ({ outcome: "unseen", text, next });
const unknown = (text: string, next: string): Finding => ({ outcome: "unknown", text, next });

/** The objects of each kind, with their parents. */
interface Kinds {
  consortium: [ConsortiumModel, undefined];
  membership: [MembershipModel, ConsortiumModel];
  environment: [EnvironmentModel, ConsortiumModel];
  node: [NodeModel, EnvironmentModel];
  tetherService: [TetherModel, undefined];
  service: [OtherModel, EnvironmentModel];
  destination: [OtherModel, EnvironmentModel];
  /** Any of them. */
  object: [ObjectModel, unknown];
}

type Look<K extends keyof Kinds> = (
  object: Kinds[K][0],
  observed: Observations,
  within: Kinds[K][1],
) => Finding | undefined;

/** Names of kinds in results, which dashboards and pipelines rely on. */
const wordFor = (kind: Kind): string =>
  (({ appCred: "credential", tetherService: "tether" }) as Partial<Record<Kind, string>>)[kind] ?? kind;

/** A check of each object of a kind. */
const checkOf =
  <K extends keyof Kinds>(name: string, kind: K, look: Look<K>): Check =>
  (observed) =>
    objectsOf(observed.model).flatMap(({ kind: own, object, within }) => {
      if (kind !== "object" && kind !== own) return [];
      const verdict = look(object, observed, within);
      const place = within && { within: displayName(within) };
      const subject = { kind: wordFor(own), id: object.id, name: displayName(object), ...place };
      return verdict ? [{ check: name, subject, ...verdict }] : [];
    });

const upOf = (what: string): string => `Run \`pulumi refresh\`, then \`pulumi up\`, or look at ${what} in the console.`;

/** A word that is not in the vocabulary is not taken for "fine". */
const unknownState = (state: string): Finding =>
  unknown(`its state is ${state}, which this version does not know`, "Look in the console whether it works.");

const environmentLive = checkOf("environment", "environment", (environment, { nodes }) => {
  const { state = "unknown" } = environment;
  if (environment.drift?.length && conditionOf(state) === "gone")
    return failed("it is gone from the service", upOf("it"));
  if (toneOf("environment", environment) === "bad") return failed(`its state is ${state}`, upOf("it"));
  const isEmpty = environment.nodes.length === 0;
  // A service may keep this state until the environment has a node.
  if (toneOf("environment", environment) === "waiting" && !isEmpty)
    return failed(`it is still ${state}`, "Wait, then check again.");
  if (isEmpty) return skipped("it has no nodes");
  if (
    conditionOf(environment.state) === "unknown" &&
    !environment.nodes.some(({ id }) => nodes.get(id)?.kind === "answered")
  )
    return unknownState(state);
  return ok(`it is ${state}`);
});

/** Whether consortia and members are ready. A missing one counts as drift. */
const standing =
  <K extends "consortium" | "membership">(what: string): Look<K> =>
  ({ state }) => {
    const condition = conditionOf(state);
    if (state === undefined || condition === "ready" || condition === "gone") return undefined;
    if (condition === "pending") return failed(`it is still ${state}`, "Wait, then check again.");
    if (condition === "unknown") return unknownState(state);
    return failed(`its state is ${state}`, `Look at ${what} in the console, or ask those who run the service.`);
  };
const consortiumStands = checkOf("consortium", "consortium", standing("it"));
const membershipStands = checkOf("membership", "membership", standing("the member"));

function started(state: string | undefined, where: string, patience: string): Finding {
  if (state === undefined) return ok(`the service does not show its state${where}`);
  if (conditionOf(state) === "ready") return ok(`it is ${state}${where}`);
  if (conditionOf(state) === "gone") return failed("it is gone from the service", upOf("it"));
  if (conditionOf(state) === "unknown") return unknownState(state);
  return failed(`its state is ${state}`, `Start it in the console. ${patience}`);
}

const nodeStarted = checkOf("node started", "node", ({ id, state }, { nodes }) => {
  const verdict = started(state, "", "A new node takes about a minute.");
  const answers = verdict.outcome !== "ok" && nodes.get(id)?.kind === "answered";
  return answers ? ok(`its state is ${state}, but it answers`) : verdict;
});

const serviceStarted = checkOf("service started", "service", ({ state, urls = {} }) => {
  const where = Object.values(urls).map((url) => `, at ${url}`);
  return started(state, where.join(""), "A new service takes a while.");
});

const destinationReady = checkOf("destination ready", "destination", ({ state, facts }) => {
  if (conditionOf(state) === "gone") return failed("it is gone from the service", upOf("it"));
  if (facts.setupComplete === undefined) return skipped("the service does not show whether it is set up");
  if (facts.setupComplete === true)
    return ok(facts.uri === undefined ? "it is set up" : `it is set up, at ${facts.uri}`);
  return failed(
    "it is not set up",
    "Verify the member, and register it with an id registry: `testCertificate` and `idRegistry` of a Destination do both.",
  );
});

const nodeReachable = checkOf("node reachable", "node", ({ id }, { nodes }) => {
  const probe = nodes.get(id);
  if (!probe) return undefined;
  if (probe.kind === "answered") return ok("it answers with the credential of its member");
  if (probe.kind === "skipped") return skipped(probe.why, probe.next);
  return probe.kind === "failed" ? failed(probe.why, probe.next) : unknown(probe.why, probe.next);
});

const chainId = checkOf("chain id", "node", ({ id }, { nodes, stack }, environment) => {
  const probe = nodes.get(id);
  if (probe?.kind !== "answered") return undefined;
  const asked = stack && environmentsOf(stack).find((one) => one.id === environment.id)?.chainId;
  const wanted = asked ?? environment.chainId;
  if (wanted === undefined) return skipped("the service shows no chain id");
  if (probe.chainId === wanted && (environment.chainId ?? wanted) === wanted) return ok(`it is ${wanted}`);
  const differs =
    probe.chainId === wanted ? `the service shows ${environment.chainId}` : `the node is on ${probe.chainId}`;
  return failed(
    `${asked === undefined ? "the service shows" : "the stack has"} ${wanted}, but ${differs}`,
    "Transactions signed for one chain are invalid on another: find out who changed it before you send transactions.",
  );
});

/** A block takes a moment to reach all nodes. */
const mostApart = 3;

const heights = checkOf("block heights", "environment", ({ nodes }, observed) => {
  const answers = nodes.flatMap((node) => {
    const probe = observed.nodes.get(node.id);
    return probe?.kind === "answered" && probe.compared ? [{ node, ...probe.compared }] : [];
  });
  if (answers.length < 2) return undefined;
  const sorted = answers.sort((a, b) => a.height - b.height);
  const [lowest, highest] = [sorted[0]!, sorted.at(-1)!];
  const apart = Math.max(0, lowest.reached - lowest.height);
  if (apart <= mostApart) return ok(`${answers.length} nodes at block ${highest.height}`, apart);
  return failed(
    `${displayName(lowest.node)} is at block ${lowest.height}, ${apart} behind ${displayName(highest.node)}`,
    "Wait while it catches up. If it does not, read its logs in the console.",
    apart,
  );
});

const growing = checkOf("new blocks", "node", ({ id }, { nodes }) => {
  const probe = nodes.get(id);
  if (probe?.kind !== "answered") return undefined;
  const { first, last, period, waiting } = probe;
  const none = `no new block after block ${last} for ${Math.round(probe.seconds)} s`;
  if (last <= first && waiting > 0) return failed(`${none}, although ${transactions(waiting)} pending`, quorum, last);
  if (period === undefined) return ok(`block ${last}; none is due without a transaction`, last);
  if (last > first) return ok(`block ${last}, one every ${period} s`, last);
  return failed(`${none}, and one is due every ${period} s`, quorum, last);
});

const transactions = (count: number): string => (count === 1 ? "a transaction is" : `${count} transactions are`);

const quorum =
  "Check that enough validators are started: ibft needs more than two thirds of them, raft and poa more than half.";

const written = checkOf("transaction", "node", ({ id }, { nodes }) => {
  const probe = nodes.get(id);
  const became = probe?.kind === "answered" ? probe.written : undefined;
  if (became?.kind === "mined")
    return ok(`in block ${became.block} after ${became.seconds.toFixed(1)} s`, became.seconds);
  return became && (became.kind === "failed" ? failed(became.why, quorum) : skipped(became.why));
});

/** Every known credential, and whether it opens a node. */
const credentials: Check = ({ model, credentials, allListed }) =>
  credentials.flatMap(({ credential: { username, environmentId }, nodes, opened, refused, why }) => {
    const within = environmentsOf(model).find(({ id, credentials: some }) => {
      return id === environmentId || some.some((one) => one.id === username);
    });
    const listed = within?.credentials.find(({ id }) => id === username);
    const subject = { kind: wordFor("appCred"), id: username, name: (listed && displayName(listed)) ?? username };
    const isListed = listed !== undefined && conditionOf((listed as { state?: string }).state) !== "gone";
    const verdict = (): Finding | undefined => {
      if (opened.length > 0) return ok(`it opens ${opened.join(", ")}`, opened.length);
      if (refused.length > 0)
        return failed(`it does not work on any node: ${refused.join(", ")} refused it: ${why}`, replaceCredential);
      if (!isListed && allListed)
        return failed(
          "it does not work on any node: the service has no credential of this user name",
          replaceCredential,
        );
      return nodes === 0 ? skipped("its member has no nodes") : undefined; // the checks of its nodes give the reason
    };
    const became = verdict();
    const place = within && { within: displayName(within) };
    return became ? [{ check: "credential", subject: { ...subject, ...place }, ...became }] : [];
  });

const minimumNodes = checkOf("minimum of nodes", "membership", (member, _observed, { environments }) => {
  const { id, orgName, minimumNodes: least = 0 } = member;
  const own = environments.flatMap(({ nodes }) => nodes).filter(({ membershipId }) => membershipId === id).length;
  if (least === 0) return undefined;
  const text = `${own} of at least ${least} node${least === 1 ? "" : "s"}`;
  if (own >= least) return ok(text, own);
  return failed(text, `Add a node for ${orgName}, or agree on another minimum.`, own);
});

const drift = checkOf("as the stack says", "object", ({ drift: differences = [] }) =>
  differences.length > 0 ? failed(differences.join("; "), upOf("it")) : undefined,
);

const answers = checkOf("service answers", "object", ({ unseen: why }) =>
  why === undefined ? undefined : unseen(why, "Check again. If the error persists, ask those who run the service."),
);

const limitsUsed: Check = ({ model }) =>
  model.limits.flatMap(({ kind, of, used, most }) => {
    if (kind === "nodes" && used < most) return [];
    const owner = model.consortia.flatMap((one) => [one, ...one.environments]).find(({ id }) => id === of);
    const subject: Subject = owner
      ? { kind: kind === "nodes" ? "environment" : "consortium", id: owner.id, name: displayName(owner) }
      : { kind: "organization", id: model.organization ?? "", name: model.organization ?? "organization" };
    return [{ check: "limits", subject, ...ok(`${used} of ${most} ${kind}`, used) }];
  });

const active = checkOf("tether active", "tetherService", ({ state, network, problem }) => {
  if (problem !== undefined)
    return failed(`it could not pin: ${problem}`, "Fix this; the next pin is attempted automatically.");
  if (state === "active") return ok(`it pins to ${network ?? "its network"}`);
  if (state === "missing") {
    const next = "Check its id: it is the last 10 characters of its address in the console.";
    return failed("the service does not show it", next);
  }
  if (state === undefined) return skipped("the service does not show its state");
  return failed(`its state is ${state}`, "Run `pulumi up` with a TetherService whose `active` is true.");
});

/** A pin waits for a block of the public chain, and clocks differ. */
const graceMs = 15 * 60_000;

const late = "Check that its account has funds and its environment has started nodes; then look at it in the console.";

/** How far a measured interval may deviate from a factor of sixty: pins wait for blocks, and clocks differ. */
const [fewest, most] = [45, 80];

/** The vendor documents the interval in hours on one page and in minutes on another, so reports may come sixty times too often. */
function inMinutes(apartMs: number | undefined, intervalHours: number): Finding | undefined {
  const times = (intervalHours * 3_600_000) / (apartMs ?? NaN);
  if (!(times >= fewest && times <= most)) return undefined;
  const minutes = Math.round(apartMs! / 60_000);
  return failed(
    `its last two reports are ${minutes} min apart, and one is due every ${intervalHours} h. Either the service counts minutes where ` +
      "hours were asked, or the interval was changed between the two",
    "Each report costs money: stop the tether with `active: false` until you know why reports come sixty times too often.",
    Math.round(apartMs! / 1000),
  );
}

const onTime = checkOf("last pin on time", "tetherService", (tether, { now, tethers, stack }) => {
  const { lastPin, reports, state, changedAt } = tether;
  const asked = stack?.tethers.find(({ id }) => id === tether.id)?.intervalHours;
  // A service may show minutes.
  const intervalHours = asked !== undefined && tether.intervalHours === 60 * asked ? asked : tether.intervalHours;
  if (state === "missing") return undefined;
  if (reports === undefined) return skipped("the service does not show its reports");
  const dueMs = (intervalHours ?? 0) * 3_600_000 + graceMs;
  const isNew = state === "active" && now - Date.parse(changedAt ?? "") < dueMs;
  if (reports === 0 && state === "active") {
    if (isNew) return skipped(`its first report is due within ${intervalHours} h of its activation`);
    return failed("it is active, and has never reported", late);
  }
  if (reports === 0) return skipped("there is no report yet");
  if (lastPin?.at === undefined || intervalHours === undefined)
    return skipped("the service does not show when the last pin was, or the interval");
  const age = now - Date.parse(lastPin.at);
  const [hours, value] = [Math.round(Math.abs(age) / 360_000) / 10, Math.round(age / 1000)];
  if (age < -graceMs) {
    const next = "Compare this machine's clock with the service's, and correct the wrong one.";
    return failed(`report ${lastPin.index} is dated ${hours} h in the future`, next, value);
  }
  const tooOften = inMinutes(tethers.get(tether.id)?.apartMs, intervalHours);
  if (tooOften) return tooOften;
  const text = `report ${lastPin.index} is ${hours} h old, and one is due every ${intervalHours} h`;
  if (age <= dueMs) return ok(text, value);
  // For example, it was stopped for a while and started again.
  return isNew
    ? skipped(`${text}; the tether was changed since, so the next one may not be due yet`)
    : failed(text, late, value);
});

const verified = checkOf("last pin verified", "tetherService", (tether, { trusted, tethers }) => {
  const { unseen: why, verdict, broken = [] } = tethers.get(tether.id) ?? {};
  const { state, reports = 0, targetUrl, lastPin } = tether;
  const network = lastPin?.network ?? tether.network ?? "";
  if (state === "missing" || reports === 0) return undefined;
  if (why !== undefined) return unseen(why, "Pass another address of the chain with --target.");
  if (verdict === undefined)
    return skipped("no address of the public chain is known", `Pass one: --target ${network || "mainnet"}=https://…`);
  if (broken.length > 1 || (broken.length > 0 && verdict.verified))
    return failed(broken.map(({ index, reason }) => `report ${index} does not hold: ${reason}`).join("; "), tampered);
  if (!verdict.verified) return failed(verdict.reason, tampered);
  const own = trusted.has(network) ? "" : ` (by the service's own address of it, ${targetUrl})`;
  return ok(`in block ${verdict.blockNumber} of chain ${verdict.chainId}${own}`);
});

const tampered =
  "Do not rely on the ledger's history until you know the reason: compare the nodes' blocks with earlier reports.";

const funds = checkOf("tether funds", "tetherService", (tether, { pinsAhead, tethers }) => {
  const { weiPerPin } = tethers.get(tether.id) ?? {};
  const { balanceWei, account, network = "the network", state } = tether;
  if (state === "missing") return undefined;
  if (balanceWei === undefined) return skipped("the service does not show its balance");
  const has = BigInt(balanceWei);
  const next = `Send ether to ${account ?? "its account"} on ${network}.`;
  if (has === 0n) return failed("its account is empty", next, 0);
  if (!weiPerPin) return ok(`${inEther(balanceWei)}; the cost of a pin is not known yet`);
  const pins = Number(has / weiPerPin);
  const text = `${inEther(balanceWei)}, enough for ${pins} more pins`;
  return pins >= pinsAhead ? ok(text, pins) : failed(`${text}; ${pinsAhead} are wanted`, next, pins);
});

const checks: readonly Check[] = [
  ...[
    answers,
    consortiumStands,
    membershipStands,
    environmentLive,
    nodeStarted,
    nodeReachable,
    credentials,
    chainId,
    heights,
    growing,
    written,
  ],
  ...[serviceStarted, destinationReady, minimumNodes, drift, limitsUsed, active, onTime, verified, funds],
];

/** Checks whether the network is usable. */
export const check = (observed: Observations): Result[] => checks.flatMap((one) => one(observed));
