import { isApiError, type Method, path } from "../../provider/api";
import { paths } from "../../provider/api/paths";
import { conditionOf, isOneOf } from "../../provider/api/states";
import { fieldsOf } from "../../provider/plain";
import { ofLedger } from "./ledger";
import { type Question, type Removal, type Seen, type World } from "./world";

const quorum = { provider: "quorum", consensus_type: "raft" };
/** An account that nobody uses, in the genesis of a ledger that lives for minutes. */
const account = "00000000000000000000000000000000000000a1";
const prefunded = (key: string) => ({ prefunded_accounts: { [key]: { balance: "1" } } });

const http = ({ status, form }: Seen): string => `${status}, ${form}`;
const isFailure = (status: number): boolean => status >= 400 && status <= 599;
const time = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
const itemsOf = ({ body }: Seen): unknown[] => (Array.isArray(body) ? body : []);

/** true, or the status of the refusal: the form of the service's settings. */
function trueOrStatus({ ok, status }: Seen, keep: (value: true | number) => void): string {
  if (ok || isFailure(status)) keep(ok || status);
  return ok ? "yes" : `no (HTTP ${status})`;
}

async function askForAccount(world: World): Promise<string> {
  const { client } = world;
  const organizations = await world.ask("GET", paths.organizations);
  const plan = fieldsOf(itemsOf(organizations)[0]).plan;
  const planPath = path`/plans/${typeof plan === "string" && plan !== "" ? plan : "starter"}`;
  const body = { apikey: client.http.settings.apiKey.reveal() };
  const calls: [string, Method, string, object?][] = [
    ["/authtoken", "POST", "/authtoken", body],
    ["/apikeys", "GET", paths.apiKeys],
    ["/memberships", "GET", paths.ownMemberships],
    ["/regions", "GET", "/regions"],
    ["/plans", "GET", planPath],
    ["/releases", "GET", paths.releases],
  ];
  const seen: [string, Seen][] = [["/orgs", organizations]];
  for (const [name, method, where, sent] of calls) seen.push([name, await world.ask(method, where, { body: sent })]);
  const there = seen.filter(([, { ok }]) => ok).map(([name]) => name);
  const missing = seen.filter(([, { ok }]) => !ok).map(([name, { status }]) => `${name} (${status})`);
  world.answers.extended = there.length > 0;
  await refuseNearLimit(world, seen.find(([name]) => name === "/plans")![1]);
  return [
    ...(there.length > 0 ? [there.join(" ")] : []),
    ...(missing.length > 0 ? [`not ${missing.join(" ")}`] : []),
  ].join("; ");
}

/** The plan may limit the number of consortia. @throws Error if the limit is reached */
async function refuseNearLimit(world: World, plan: Seen): Promise<void> {
  const { consortia } = fieldsOf(fieldsOf(plan.body).limits);
  const most = fieldsOf(fieldsOf(consortia).per).org;
  if (!plan.ok || typeof most !== "number") return;
  const count = (await world.client.listConsortia()).filter((one) => conditionOf(one.state) !== "gone").length;
  if (count >= most)
    throw new Error(`The plan allows ${most} consortia, and ${count} exist. Nothing was created: delete one first.`);
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

async function makeEnvironment(world: World): Promise<string> {
  const collection = paths.environments(world.id("consortium"));
  const body = { name: world.name, ...quorum };
  const prefixed = await world.create("environment", collection, { ...body, ...prefunded(`0x${account}`) });
  if (prefixed.ok) {
    world.answers.bareAddresses = false;
    return "taken with 0x";
  }
  if (prefixed.status !== 400) throw new Error(`The service did not create the environment: HTTP ${prefixed.status}.`);
  const bare = await world.create("environment", collection, { ...body, ...prefunded(account) });
  if (!bare.ok) await world.mustCreate("environment", collection, body);
  world.answers.bareAddresses = bare.ok;
  return bare.ok ? "rejected with 0x (HTTP 400), accepted without" : "refused (HTTP 400)";
}

async function watchEnvironment(world: World): Promise<string> {
  const limit = world.waitMs / 5;
  const { value, ms } = await world.until(async () => {
    const state = (await world.listed("environment"))?.state;
    return state === undefined || conditionOf(state) === "pending" ? {} : { value: state };
  }, limit);
  world.answers.environmentsWait = value === undefined;
  if (value !== undefined) {
    world.timing.environmentStart = Math.round(ms);
    return `yes: ${value} after ${time(ms)}`;
  }
  world.answers.refuseEarlyDelete = false; // or an environment without a node could never be deleted
  return `not within ${time(limit)}`;
}

async function autopause(world: World): Promise<string> {
  const shown = fieldsOf(await world.listed("environment"));
  const names = ["autopause_init_delay", "autopause_idle_hours", "initial_delay", "idle_hours"].filter(
    (name) => shown[name] !== undefined,
  );
  if (names.length > 0) world.answers.autopauseNames = names[0]!.startsWith("autopause");
  return names.join(" ") || "none is shown";
}

async function makeNode(world: World): Promise<string> {
  const [member] = await world.client.listMemberships(world.id("consortium"));
  if (member === undefined) throw new Error("The consortium lists no membership, so it can have no node.");
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

async function nodeStatus(world: World): Promise<string> {
  if (!world.started) return "not asked: the node did not start";
  const seen = await world.ask("GET", `${world.path("node")}/status`);
  if (!seen.ok) return `HTTP ${seen.status}`;
  const shown = Object.entries(fieldsOf(seen.body)).filter(([, inner]) => fieldsOf(inner).public_address !== undefined);
  if (shown.length > 0) world.answers.quorumStatus = shown[0]![0] === "quorum";
  return shown.length > 0 ? `in ${shown[0]![0]}` : "nowhere";
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

async function pause(world: World): Promise<string> {
  if (world.answers.patch !== true) return "not asked: PATCH does not work";
  if (!world.started) return "not asked: the node did not start";
  const send = (state: string) => world.ask("PATCH", world.path("environment"), { body: { state } });
  const ready = async () => ({
    value: conditionOf((await world.listed("environment"))?.state) === "ready" || undefined,
  });
  await world.until(ready, world.waitMs / 5);
  const paused = async () => ({ value: isOneOf(["paused"], (await world.listed("environment"))?.state) || undefined });
  const seen = await send("paused");
  if (!seen.ok) return `no (HTTP ${seen.status})`;
  if ((await world.until(paused, world.waitMs / 5)).value === undefined)
    return `HTTP ${seen.status}, but it is not paused`;
  const { status, ok } = await send("live");
  return ok ? "yes, and resumes it" : `yes, but resuming it is refused (HTTP ${status})`;
}

async function credentials(world: World): Promise<string> {
  const seen = await world.ask("GET", world.in(paths.appcreds));
  return trueOrStatus(seen, (value) => (world.answers.listCredentials = value));
}

/** Asks with an unknown id. The answer differs between a call that exists and a path that does not. */
async function zones(world: World): Promise<string> {
  const call = await world.ask("DELETE", paths.item(world.in(paths.zones), "nosuchzone"));
  if ([405, 501].includes(call.status)) return trueOrStatus(call, (value) => (world.answers.deleteZones = value));
  const none = await world.ask("DELETE", `${world.path("environment")}/nosuchthing/nosuchzone`);
  const bare = ({ status, text }: Seen) => `${status} ${text.replace(/zones?|nosuchthing/g, "")}`;
  if (bare(call) === bare(none)) return `not known: answered as an unknown path (HTTP ${call.status})`;
  world.answers.deleteZones = true;
  return "yes";
}

async function pages(world: World): Promise<string> {
  const seen = await world.ask("GET", paths.environments(world.id("consortium")), { query: { limit: 1, skip: 1 } });
  if (!seen.ok) return `refused (HTTP ${seen.status})`;
  return itemsOf(seen).length === 0 ? "both work" : "ignored";
}

async function missing(world: World): Promise<string> {
  const seen = await world.ask("GET", paths.environments("u0nothing0"));
  const { status } = seen;
  if (status === 404 || status === 410 || status === 403) world.answers.gone = status;
  world.answers.plainErrors ||= seen.form !== "JSON";
  return http(seen);
}

async function stranger(world: World): Promise<string> {
  const seen = await world.askAsStranger(paths.consortia);
  world.answers.plainErrors = seen.form !== "JSON";
  return http(seen);
}

async function organization({ client }: World): Promise<string> {
  const told = await client.organizationOfKey().catch((error: unknown) => {
    if (isApiError(error)) return undefined;
    throw error;
  });
  return told === undefined ? "no" : "yes";
}

function deletedStatuses({ removals, answers }: World): string {
  const done = removals.filter(({ status }) => status >= 200 && status < 300);
  answers.deleted = Object.fromEntries(done.map(({ kind, status }) => [kind, status]));
  return done.map(({ kind, status }) => `${kind} ${status}`).join(", ");
}

function deletedStates({ removals, answers, timing }: World): string {
  const longest = (times: (number | undefined)[]) => Math.round(Math.max(0, ...times.map((ms) => ms ?? 0)));
  const lasts = ({ kind, going, listed }: Removal) =>
    kind !== "environment" && listed !== undefined ? "deleted" : going?.state;
  answers.deletion = removals.some((one) => ["deleted", "delete_pending"].includes(lasts(one) ?? ""))
    ? "delete_pending"
    : "deleting";
  timing.deleting = longest(removals.map(({ going }) => going?.ms));
  timing.deletedVisible = longest(removals.map(({ listed }) => listed?.ms));
  return removals
    .map(({ kind, going, listed }) => {
      const states = [
        ...(going ? [`${going.state} ${time(going.ms)}`] : []),
        ...(listed ? [`deleted ${listed.still ? "more than " : ""}${time(listed.ms)}`] : []),
      ];
      return `${kind}: ${states.join(", then ") || "gone at once"}`;
    })
    .join("\n");
}

/** In the order of asking: later questions need objects of earlier ones. */
export const questions: readonly Question[] = [
  { question: "A wrong key", use: "every form is supported", ask: stranger },
  {
    question: "Something that does not exist",
    use: "plain text means that the object is gone, an HTML page does not",
    ask: missing,
  },
  { question: "Beyond the specification", use: "each is requested once, then skipped", ask: askForAccount },
  {
    question: "The key's organization is shown",
    use: "checked before changes; otherwise known from the members, or CONSORTIUM_ORGANIZATION",
    ask: organization,
  },
  { question: "A create answers", use: "an object that is not shown is found by its name", ask: makeConsortium },
  { question: "The field of ids", use: "both are read", ask: idField },
  { question: "The founder's membership is created with it", use: "adopted if it exists", ask: makeMembership },
  { question: "prefunded_accounts", use: "sent as given", ask: makeEnvironment },
  { question: "An environment starts without a node", use: "nodes do not wait for it", ask: watchEnvironment },
  { question: "Autopause is called", use: "both pairs are read", ask: autopause },
  { question: "urls in a node", use: "read from its status; empty means none", ask: makeNode },
  { question: "A node", use: "the run waits for it, up to the create timeout", ask: watchNode },
  { question: "publicAddress in its status", use: "read from either", ask: nodeStatus },
  ...ofLedger,
  { question: "GET of one environment", use: "otherwise read from the list", ask: getById },
  { question: "PATCH changes in place", use: "otherwise an error says what to do", ask: patch },
  { question: "PATCH of the state pauses", use: "used by the argument paused", ask: pause },
  { question: "Credentials are listed", use: "otherwise known only from the state", ask: credentials },
  { question: "DELETE of a zone exists", use: "otherwise it stays until its environment is deleted", ask: zones },
  {
    question: "?limit= and ?skip= of lists",
    use: "a list of a round length is asked on; Link headers are followed",
    ask: pages,
  },
  {
    question: "A DELETE answers",
    use: "any success counts, and the list confirms it",
    ask: deletedStatuses,
    after: true,
  },
  {
    question: "A deleted object is listed as",
    use: "not adopted; the run waits until it is gone",
    ask: deletedStates,
    after: true,
  },
];
