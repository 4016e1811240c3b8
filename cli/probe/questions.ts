import { paths } from "../../provider/api/paths";
import { conditionOf, isOneOf } from "../../provider/api/states";
import { fieldsOf } from "../../provider/plain";
import { itemsOf, ofAccount } from "./account";
import { ofLedger } from "./ledger";
import { ofTether } from "./tether";
import type { Seen } from "./notes";
import { type Answer, judged, type Question, type Removal, type World } from "./world";

const quorum = { provider: "quorum", consensus_type: "raft" };
/** An account that nobody uses, in the genesis of a ledger that lives for minutes. */
const account = "00000000000000000000000000000000000000a1";
const prefunded = (key: string) => ({ prefunded_accounts: { [key]: { balance: "1" } } });

const http = ({ status, form }: Seen): string => `${status}, ${form}`;
const isFailure = (status: number): boolean => status >= 400 && status <= 599;
const time = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** true, or the status of the refusal: the form of the service's settings. */
function trueOrStatus({ ok, status }: Seen, keep: (value: true | number) => void): string {
  if (ok || isFailure(status)) keep(ok || status);
  return ok ? "yes" : `no (HTTP ${status})`;
}

async function makeConsortium(world: World): Promise<string> {
  const seen = await world.mustCreate("consortium", paths.consortia, { name: world.name });
  world.answers.created = seen.status;
  world.answers.emptyBodies = seen.form === "no body";
  return seen.form === "no body" ? `${seen.status}, no body` : `${seen.status}, the object`;
}

async function idField(world: World): Promise<string> {
  const all = itemsOf(await world.ask("GET", paths.consortia)).map(fieldsOf);
  const own = all.find((one) => (one._id ?? one.id) === world.id("consortium"));
  world.answers.idField = own !== undefined && own._id === undefined ? "id" : "_id";
  return world.answers.idField;
}

async function makeMembership(world: World): Promise<string> {
  const collection = paths.memberships(world.id("consortium"));
  const [founder] = await world.client.listMemberships(world.id("consortium"));
  world.answers.foundingMembership = founder !== undefined;
  if (founder === undefined) await world.mustCreate("membership", collection, { org_name: world.name });
  return founder === undefined ? "no" : "yes";
}

async function makeEnvironment(world: World): Promise<Answer> {
  const collection = paths.environments(world.id("consortium"));
  const body = { name: world.name, ...quorum };
  const prefixed = await world.create("environment", collection, { ...body, ...prefunded(`0x${account}`) });
  if (prefixed.ok) {
    world.answers.bareAddresses = false;
    return judged(false, "taken with 0x");
  }
  if (prefixed.status !== 400) throw new Error(`The service did not create the environment: HTTP ${prefixed.status}.`);
  const bare = await world.create("environment", collection, { ...body, ...prefunded(account) });
  if (!bare.ok) await world.mustCreate("environment", collection, body);
  world.answers.bareAddresses = bare.ok;
  return judged(bare.ok, bare.ok ? "rejected with 0x (HTTP 400), accepted without" : "refused (HTTP 400)");
}

async function watchEnvironment(world: World): Promise<Answer> {
  const limit = world.waitMs / 5;
  world.release = (await world.listed("environment"))?.release_id;
  const { value, ms } = await world.until(async () => {
    const state = (await world.listed("environment"))?.state;
    return state === undefined || conditionOf(state) === "pending" ? {} : { value: state };
  }, limit);
  world.answers.environmentsWait = value === undefined;
  if (value !== undefined) {
    world.timing.environmentStart = Math.round(ms);
    return judged(false, `yes: ${value} after ${time(ms)}`);
  }
  world.answers.refuseEarlyDelete = false; // or an environment without a node could never be deleted
  return judged(true, `not within ${time(limit)}`);
}

async function autopause(world: World): Promise<Answer | string> {
  const shown = fieldsOf(await world.listed("environment"));
  const names = ["autopause_init_delay", "autopause_idle_hours", "initial_delay", "idle_hours"].filter(
    (name) => shown[name] !== undefined,
  );
  if (names.length === 0) return "none is shown";
  world.answers.autopauseNames = names[0]!.startsWith("autopause");
  return judged(world.answers.autopauseNames, names.join(" "));
}

async function makeNode(world: World): Promise<string> {
  const [member] = await world.client.listMemberships(world.id("consortium"));
  if (member === undefined) throw new Error("The consortium lists no membership, so it can have no node.");
  world.member = { id: member.id };
  await world.mustCreate("node", world.in(paths.nodes), { name: world.name, membership_id: member.id });
  const { urls } = fieldsOf((await world.ask("GET", world.path("node"))).body);
  world.answers.emptyUrls = fieldsOf(urls).wss === "";
  return urls === undefined ? "none at first" : world.answers.emptyUrls ? "an empty wss at first" : "from the start";
}

async function watchNode(world: World): Promise<string> {
  const { value, ms } = await world.until(async () => {
    const { state } = fieldsOf((await world.ask("GET", world.path("node"))).body);
    return conditionOf(state) === "pending" ? {} : { value: String(state) };
  });
  if (value === undefined) return `not within ${time(world.waitMs)}`;
  world.started = conditionOf(value) === "ready";
  if (world.started) world.timing.nodeStart = Math.round(ms);
  return `${value} after ${time(ms)}`;
}

const notStarted = "not asked: the node did not start";

async function urlsOfNode(world: World): Promise<Answer | string> {
  if (!world.started) return notStarted;
  const { urls } = fieldsOf((await world.ask("GET", world.path("node"))).body);
  return judged(urls !== undefined, urls === undefined ? "none in the node itself" : "in the node itself");
}

async function nodeStatus(world: World): Promise<Answer | string> {
  if (!world.started) return notStarted;
  const seen = await world.ask("GET", `${world.path("node")}/status`);
  if (!seen.ok) return `HTTP ${seen.status}`;
  const shown = Object.entries(fieldsOf(seen.body)).filter(([, inner]) => fieldsOf(inner).public_address !== undefined);
  if (shown.length === 0) return judged(false, "nowhere");
  world.answers.quorumStatus = shown[0]![0] === "quorum";
  return judged(world.answers.quorumStatus, world.answers.quorumStatus ? "in quorum" : "in geth");
}

async function getById(world: World): Promise<string> {
  const seen = await world.ask("GET", world.path("environment"));
  world.answers.getById = seen.ok;
  return seen.ok ? "yes" : `no (HTTP ${seen.status})`;
}

async function patch(world: World): Promise<string> {
  const description = "changed by the probe";
  const seen = await world.ask("PATCH", world.path("environment"), { body: { description } });
  const answer = trueOrStatus(seen, (value) => (world.answers.patch = value));
  if (!seen.ok) return answer;
  world.answers.updated = seen.status;
  const { value } = await world.until(
    async () => ((await world.listed("environment"))?.description === description ? { value: true } : {}),
    world.waitMs / 30,
  );
  return value === true ? `yes (HTTP ${seen.status})` : `HTTP ${seen.status}, but the list does not show it`;
}

async function pause(world: World): Promise<Answer | string> {
  if (world.answers.patch !== true) return judged(false, "PATCH does not work");
  if (!world.started) return notStarted;
  const send = (state: string) => world.ask("PATCH", world.path("environment"), { body: { state } });
  const ready = async () => ({
    value: conditionOf((await world.listed("environment"))?.state) === "ready" || undefined,
  });
  await world.until(ready, world.waitMs / 5);
  const paused = async () => ({ value: isOneOf(["paused"], (await world.listed("environment"))?.state) || undefined });
  const seen = await send("paused");
  if (!seen.ok) return judged(false, `no (HTTP ${seen.status})`);
  if ((await world.until(paused, world.waitMs / 5)).value === undefined)
    return judged(false, `HTTP ${seen.status}, but it is not paused`);
  const { status, ok } = await send("live");
  return judged(ok, ok ? "yes, and resumes it" : `yes, but resuming it is refused (HTTP ${status})`);
}

async function credentials(world: World): Promise<string> {
  const seen = await world.ask("GET", world.in(paths.appcreds));
  return trueOrStatus(seen, (value) => (world.answers.listCredentials = value));
}

async function regenerate(world: World): Promise<Answer | string> {
  if (!world.credential) return "not asked: no credential is shown";
  const { path, username, password } = world.credential;
  const seen = await world.ask("POST", `${path}/regenerate`, { body: {} });
  if (!seen.ok) return judged(false, `no (HTTP ${seen.status})`);
  const now = fieldsOf(seen.body);
  const isNew = typeof now.password === "string" && now.password !== password;
  return judged(isNew && now.username === username, isNew ? `yes (HTTP ${seen.status})` : "it shows no new password");
}

/** Asks with an unknown id. The answer differs between a call that exists and a path that does not. */
async function zones(world: World): Promise<Answer | string> {
  const call = await world.ask("DELETE", paths.item(world.in(paths.zones), "nosuchzone"));
  if ([405, 501].includes(call.status))
    return judged(
      true,
      trueOrStatus(call, (value) => (world.answers.deleteZones = value)),
    );
  const none = await world.ask("DELETE", `${world.path("environment")}/nosuchthing/nosuchzone`);
  const bare = ({ status, text }: Seen) => `${status} ${text.replace(/zones?|nosuchthing/g, "")}`;
  if (bare(call) === bare(none)) return `not known: answered as an unknown path (HTTP ${call.status})`;
  world.answers.deleteZones = true;
  return judged(false, "yes");
}

/** A filter that begins with an operator is compared with one that has no match. */
async function operators(world: World): Promise<Answer | string> {
  const found = async (name: string): Promise<boolean | string> => {
    const seen = await world.ask("GET", paths.consortia, { query: { name } });
    if (!seen.ok) return `HTTP ${seen.status}`;
    return itemsOf(seen).some((one) => fieldsOf(one).name === world.name);
  };
  const [exact, none, operator] = [
    await found(world.name),
    await found(`${world.name}x`),
    await found(`^${world.name.slice(0, -2)}`),
  ];
  if (exact !== true || none !== false)
    return judged(false, none === true ? "filters are ignored" : `no filters (${String(exact)})`);
  if (typeof operator === "string") return judged(false, `refused (${operator})`);
  return judged(operator, operator ? "yes" : "no: taken as it is");
}

async function pages(world: World): Promise<Answer> {
  const seen = await world.ask("GET", paths.environments(world.id("consortium")), { query: { limit: 1, skip: 1 } });
  if (!seen.ok) return judged(false, `refused (HTTP ${seen.status})`);
  const isEmpty = itemsOf(seen).length === 0;
  return judged(isEmpty, isEmpty ? "both work" : "ignored");
}

const isPlain = ({ form }: Seen): boolean => form === "plain text" || form === "no body";

async function missing(world: World): Promise<Answer> {
  const seen = await world.ask("GET", paths.environments("u0nothing0"));
  const { status } = seen;
  if (status === 404 || status === 410 || status === 403) world.answers.gone = status;
  world.answers.plainErrors ||= seen.form !== "JSON";
  return judged(isPlain(seen), http(seen));
}

async function stranger(world: World): Promise<Answer> {
  const seen = await world.askWith("u0stranger-bm90LWEta2V5", paths.consortia);
  world.answers.plainErrors = seen.form !== "JSON";
  return judged(isPlain(seen), http(seen));
}

async function release(world: World): Promise<Answer | string> {
  const now = (await world.listed("environment"))?.release_id;
  if (now === undefined || now === world.release) return "the release did not change during this run";
  return judged(true, "yes, during this run");
}

function membershipKept({ member }: World): Answer | string {
  const status = member?.whileNodeGoes;
  if (status === undefined) return "the node was gone at once";
  return judged(status >= 300, status >= 300 ? `yes (HTTP ${status})` : `no (HTTP ${status})`);
}

function deletedStatuses({ removals, answers }: World): string {
  const done = removals.filter(({ status }) => status >= 200 && status < 300);
  answers.deleted = Object.fromEntries(done.map(({ kind, status }) => [kind, status]));
  return done.map(({ kind, status }) => `${kind} ${status}`).join(", ");
}

function deletedStates({ removals, answers, timing }: World): Answer | string {
  const longest = (times: (number | undefined)[]) => Math.round(Math.max(0, ...times.map((ms) => ms ?? 0)));
  const lasts = ({ kind, going, listed }: Removal) =>
    kind !== "environment" && listed !== undefined ? "deleted" : going?.state;
  answers.deletion = removals.some((one) => ["deleted", "delete_pending"].includes(lasts(one) ?? ""))
    ? "delete_pending"
    : "deleting";
  timing.deleting = longest(removals.map(({ going }) => going?.ms));
  timing.deletedVisible = longest(removals.map(({ listed }) => listed?.ms));
  if (removals.length === 0) return "nothing was deleted";
  const said = removals
    .map(({ kind, going, listed }) => {
      const states = [
        ...(going ? [`${going.state} ${time(going.ms)}`] : []),
        ...(listed ? [`deleted ${listed.still ? "more than " : ""}${time(listed.ms)}`] : []),
      ];
      return `${kind}: ${states.join(", then ") || "gone at once"}`;
    })
    .join("; ");
  const isPending = removals.some(({ going }) => going?.state === "delete_pending");
  return judged(isPending && removals.some(({ listed }) => listed !== undefined), said);
}

/** In the order of asking: later questions need objects of earlier ones. */
export const questions: readonly Question[] = [
  { question: "A wrong key", fact: "plainErrors", ask: stranger },
  { question: "Something that does not exist", fact: "plainErrors", ask: missing },
  ...ofAccount,
  { question: "A create answers", ask: makeConsortium },
  { question: "The field of ids", ask: idField },
  { question: "Filters take operators", fact: "operators", ask: operators },
  { question: "The founder's membership is created with it", ask: makeMembership },
  { question: "prefunded_accounts", fact: "bareAddresses", ask: makeEnvironment },
  { question: "An environment starts without a node", fact: "environmentWaits", ask: watchEnvironment },
  { question: "Autopause is called", fact: "autopause", ask: autopause },
  { question: "urls in a node", ask: makeNode },
  { question: "A node", ask: watchNode },
  { question: "urls of a started node", fact: "quorumNode", ask: urlsOfNode },
  { question: "publicAddress in its status", fact: "quorumNode", ask: nodeStatus },
  ...ofLedger,
  { question: "GET of one environment", ask: getById },
  { question: "PATCH changes in place", ask: patch },
  { question: "PATCH of the state pauses", fact: "pause", ask: pause },
  { question: "Credentials are listed", ask: credentials },
  { question: "Another password for a credential", fact: "regenerate", ask: regenerate },
  { question: "DELETE of a zone exists", fact: "zoneDelete", ask: zones },
  { question: "?limit= and ?skip= of lists", fact: "lists", ask: pages },
  ...ofTether,
  { question: "The service upgrades a release", fact: "upgrades", ask: release },
  { question: "A DELETE answers", ask: deletedStatuses, after: true },
  { question: "A membership stays while its node goes", fact: "membershipKept", ask: membershipKept, after: true },
  { question: "A deleted object is listed as", fact: "deletion", ask: deletedStates, after: true },
];
