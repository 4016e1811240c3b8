import { isApiError, type Method, path } from "../../provider/api";
import { systemClock } from "../../provider/api/clock";
import { paths } from "../../provider/api/paths";
import { conditionOf } from "../../provider/api/states";
import { counted, fieldsOf } from "../../provider/plain";
import type { Seen } from "./notes";
import { type Answer, judged, type Question, type World } from "./world";

/* What the service shows of the key, its organization and its plan. Changes nothing. */

export const itemsOf = ({ body }: Seen): unknown[] => (Array.isArray(body) ? body : []);
/** There is no such call, as opposed to one that failed. */
const isAbsent = ({ status }: Seen): boolean => [404, 405, 410, 501].includes(status);
/** What to say of a call that did not succeed: a service without it is not as assumed. */
const without = (seen: Seen): Answer | string =>
  isAbsent(seen) ? judged(false, `there is none (HTTP ${seen.status})`) : `not asked: HTTP ${seen.status}`;

async function askAll(world: World): Promise<string> {
  const { client, account } = world;
  const organizations = await world.ask("GET", paths.organizations);
  const { plan } = fieldsOf(itemsOf(organizations)[0]);
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
  account.set("/orgs", organizations);
  for (const [name, method, where, sent] of calls) account.set(name, await world.ask(method, where, { body: sent }));
  const seen = [...account];
  const there = seen.filter(([, { ok }]) => ok).map(([name]) => name);
  const missing = seen.filter(([, { ok }]) => !ok).map(([name, { status }]) => `${name} (${status})`);
  world.answers.extended = there.length > 0;
  await refuseNearLimit(world);
  return [
    ...(there.length > 0 ? [there.join(" ")] : []),
    ...(missing.length > 0 ? [`not ${missing.join(" ")}`] : []),
  ].join("; ");
}

const limitOf = (plan: Seen, kind: string, place: string): unknown =>
  fieldsOf(fieldsOf(fieldsOf(fieldsOf(plan.body).limits)[kind]).per)[place];

/** The plan may limit the number of consortia. @throws Error if the limit is reached */
async function refuseNearLimit(world: World): Promise<void> {
  const plan = world.account.get("/plans")!;
  const most = limitOf(plan, "consortia", "org");
  if (!plan.ok || typeof most !== "number") return;
  const count = (await world.client.listConsortia()).filter((one) => conditionOf(one.state) !== "gone").length;
  if (count >= most)
    throw new Error(
      `The plan allows ${counted(most, "consortium", "consortia")}, and ${count} ${count === 1 ? "exists" : "exist"}. Nothing was created: delete one first.`,
    );
}

/** A question about one of the calls about the account. */
const about = (name: string, read: (seen: Seen, world: World) => Promise<Answer | string> | Answer | string) => {
  return (world: World) => {
    const seen = world.account.get(name)!;
    return seen.ok ? read(seen, world) : without(seen);
  };
};

const secret = about("/orgs", (seen) => {
  const names = itemsOf(seen).flatMap((one) => Object.keys(fieldsOf(one)).filter((name) => /secret/i.test(name)));
  return judged(names.length > 0, names.length > 0 ? "yes" : "no");
});

const limits = about("/plans", (plan) => {
  const all = { consortia: "org", environments: "consortium", nodes: "environment" };
  const shown = Object.entries(all).flatMap(([kind, place]) => {
    const most = limitOf(plan, kind, place);
    return typeof most === "number" ? [`${kind} ${most}`] : [];
  });
  return judged(shown.length > 0, shown.join(", ") || "no numbers");
});

const regions = about("/regions", (seen, { client }) => {
  const named = itemsOf(seen).map((one) => String(fieldsOf(one)._id ?? fieldsOf(one).id));
  const shown = named.filter((one) => /^[a-z]{2,12}\d{0,2}$/.test(one));
  const [begin] = /^[a-z]\d(?=[a-z\d]*-)/.exec(client.http.settings.apiKey.reveal()) ?? [];
  const key = begin === undefined ? "a key that does not begin with one" : `a key that begins with ${begin}`;
  const isKnown = ["us1", "eu1"].some((one) => shown.includes(one)) && begin !== undefined;
  return judged(isKnown, `${shown.join(" ") || "none is shown"}; ${key}`);
});

const clients = about("/releases", (seen) => {
  const named = itemsOf(seen).map((one) => String(fieldsOf(one).provider));
  const shown = [...new Set(named.filter((one) => /^[a-z][a-z-]{1,20}$/.test(one) && one !== "undefined"))];
  if (shown.length === 0) return "not asked: /releases names no client";
  return judged(
    shown.some((one) => !["quorum", "geth"].includes(one)),
    shown.join(" "),
  );
});

/** The usual time of a call. */
async function timeOf(call: () => Promise<Seen>): Promise<number | undefined> {
  const times: number[] = [];
  for (let index = 0; index < 5; index++) {
    const start = systemClock.now();
    if (!(await call()).ok) return undefined;
    times.push(systemClock.now() - start);
  }
  return times.sort((a, b) => a - b)[2];
}

const token = about("/authtoken", async (seen, world) => {
  const { token: text } = fieldsOf(seen.body);
  if (typeof text !== "string") return judged(false, "it answers without a token");
  const withToken = await timeOf(() => world.askWith(text, paths.consortia));
  if (withToken === undefined) return judged(false, "it answers a token, but not the calls with it");
  const withKey = (await timeOf(() => world.ask("GET", paths.consortia))) ?? NaN;
  const minutes = minutesOf(text);
  const said = `${minutes === undefined ? "an unknown time" : counted(minutes, "minute")}; calls take ${ms(withToken)}, ${ms(withKey)} with the key`;
  return minutes === undefined ? `not known how long it is good: ${said}` : judged(minutes > 50 && minutes < 70, said);
});

const ms = (time: number): string => `${Math.round(time)} ms`;

/** How long a token is good, by its claims. */
function minutesOf(jwt: string): number | undefined {
  try {
    const claims = fieldsOf(JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()));
    const { exp, iat } = claims;
    if (typeof exp !== "number") return undefined;
    return Math.round((exp - (typeof iat === "number" ? iat : Date.now() / 1000)) / 60);
  } catch {
    return undefined;
  }
}

async function organization({ client }: World): Promise<string> {
  return (await organizationOf(client)) === undefined ? "no" : "yes";
}

const organizationOf = (client: World["client"]): Promise<string | undefined> =>
  client.organizationOfKey().catch((error: unknown) => {
    if (isApiError(error)) return undefined;
    throw error;
  });

async function invited(world: World): Promise<Answer | string> {
  const own = await organizationOf(world.client);
  if (own === undefined) return "not asked: the key's organization is not shown";
  const owners = (await world.client.listConsortia()).map((one) => fieldsOf(one).owner);
  const others = owners.filter((owner) => typeof owner === "string" && owner !== own);
  return others.length > 0 ? judged(true, "yes") : "none is";
}

export const ofAccount: readonly Question[] = [
  { question: "Beyond the specification", ask: askAll },
  { question: "/orgs shows a secret", fact: "secretOfOrgs", ask: secret },
  { question: "The key's organization is shown", ask: organization },
  { question: "Consortia of others are listed", fact: "invited", ask: invited },
  { question: "The plan's limits", fact: "limits", ask: limits },
  { question: "Regions", fact: "regions", ask: regions },
  { question: "Clients of releases", fact: "clients", ask: clients },
  { question: "A token is good for", fact: "token", ask: token },
];
