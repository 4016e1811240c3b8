import { setTimeout as wait } from "node:timers/promises";
import type { Looked, NetworkView, Section, Shown } from "../../console/protocol";
import { Live, type Page } from "../../console/server/live";
import { ApiError } from "../../provider/api/api-error";
import { codedMessage } from "../../provider/errors";
import { populated, start } from "../service/helpers";
import { until } from "../support/until";
import { json, type Peer, peer } from "../support/peer";
import { consoleOf, signIn, TestPage } from "./support";

const shortMs = 100;
const watched = async (periodMs = shortMs) => {
  const { service, ...world } = await populated({ timing: { nodeStart: 0 } });
  const console = await consoleOf(service, { periodMs });
  const session = await signIn(console);
  const open = async () => {
    const page = new TestPage(session);
    await page.answered();
    page.watch("network", "maps", `environment/${world.environment}`);
    await until(() => page.shown.size === 3);
    return page;
  };
  return { service, world, open, console, session };
};

test("what an action has changed is seen at once, however long the period is", async () => {
  const { world, open, console, session } = await watched(600_000);
  const page = await open();
  const { consortium, environment, membership } = world;
  const headers = { origin: console.url, cookie: session.cookie, "content-type": "application/json" };
  for (const count of [2, 3]) {
    const body = JSON.stringify({ consortium, environment, membership });
    await fetch(`${session.place}api/make-credential`, { method: "POST", headers, body });
    const seen = () => (page.shown.get("network")!.value as NetworkView).model.consortia[0]!.environments[0]!;
    await until(() => seen().credentials.length === count);
  }
});

/** A page of `live`, with what it was sent. */
function paged(live: Live) {
  const sent: (Shown | Looked)[] = [];
  const page: Page = { watching: new Set(), send: (message) => void sent.push(message) };
  live.join(page);
  const shown = () => sent.filter((message): message is Shown => "section" in message);
  return { sent, shown, watch: (...sections: Section[]) => live.watch(page, sections) };
}

test("20 pages cause no more looks than one, and no pages cause none", async () => {
  const period = 50;
  let looks = 0;
  const live = new Live(() => Promise.resolve(++looks), period);
  const pages = Array.from({ length: 20 }, () => paged(live));
  const began = performance.now();
  for (const page of pages) page.watch("network");
  await until(() => looks >= 10);
  expect(looks).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / period) + 1);
  for (const page of pages) page.watch(); // hidden
  const before = looks;
  await wait(5 * period);
  expect(looks).toBe(before);
  await live.close();
});

test("every watching page gets the changes, but never a secret", async () => {
  const { open, service, world } = await watched();
  const [page, other] = [await open(), await open()];
  const stateIn = ({ shown }: TestPage) =>
    (shown.get("network")!.value as NetworkView).model.consortia[0]!.environments[0]!.nodes[0]!.state;
  await until(() => stateIn(page) === "started");
  service.store.nodes.setState(world.node, "failed");
  await until(() => stateIn(page) === "failed" && stateIn(other) === "failed");
  const everything = JSON.stringify([...page.shown.values()]);
  expect(everything).toContain(world.credential.username);
  for (const secret of [service.apiKey, world.credential.password]) expect(everything).not.toContain(secret);
  expect(service.calls.filter(({ method }) => method === "GET")).toEqual([]); // observers' calls are not logged
});

test("a service that does not answer is reported, with the time of its last answer, and the console can be closed", async () => {
  const { open, service, console } = await watched();
  const began = Date.now();
  const page = await open();
  await service.close();
  const closed = Date.now();
  await until(() => page.shown.get("network")?.problem !== undefined);
  const { problem, since = 0 } = page.shown.get("network")!;
  expect(problem).toContain("connection");
  expect(since).toBeGreaterThan(began);
  expect(since).toBeLessThan(closed);
  const end = page.closed();
  await console.close(); // does not wait for those who look
  await end;
});

test("a poll that fails again is repeated ever more rarely, until one succeeds", async () => {
  let looks = 0;
  const look = () => (++looks <= 3 ? Promise.reject(new Error("away")) : Promise.resolve(looks));
  const live = new Live(look, 10);
  const { sent, watch } = paged(live);
  watch("network");
  const pauses = () => sent.flatMap((one) => ("next" in one ? [one.next] : []));
  await until(() => pauses().length >= 5);
  await live.close();
  expect(pauses().slice(0, 5)).toEqual([20, 40, 80, 10, 10]);
});

test("a slow poll is reported meanwhile, and its result is shown even without a change", async () => {
  let answer = (_value: unknown): void => undefined;
  const looks: Promise<unknown>[] = [Promise.resolve("first"), new Promise((resolve) => (answer = resolve))];
  const live = new Live(() => looks.shift() ?? Promise.resolve("first"), 10, 20);
  const { shown, watch } = paged(live);
  watch("network");
  await until(() => shown().length >= 3);
  const [first, ...late] = shown();
  expect(first).toMatchObject({ value: "first" });
  for (const message of late)
    expect(message).toEqual({ section: "network", late: true, since: expect.any(Number) as number });
  answer("first");
  await until(() => shown().at(-1)?.value === "first");
  await live.close();
});

test("what was looked at within a period is shown to another page, and what was not is looked at now", async () => {
  const asked: string[] = [];
  const live = new Live((section) => (asked.push(section), Promise.resolve(section)), 600_000);
  const [one, other] = [paged(live), paged(live)];
  const seen = ({ shown }: typeof one) => shown().map(({ section }) => section);
  one.watch();
  one.watch("network"); // in the same moment
  await until(() => seen(one).length === 1);
  for (let time = 0; time < 2; time++) other.watch("network");
  expect(seen(other)).toEqual(["network"]);
  await wait(50);
  expect(asked).toEqual(["network"]);
  other.watch("network", "maps");
  await until(() => seen(other).includes("maps"));
  expect(asked).toEqual(["network", "network", "maps"]);
  expect(seen(one)).toEqual(["network"]); // nothing has changed
  for (const page of [one, other]) page.watch();
  await live.close();
});

test.each([
  ["what is no text", { watch: [5, null, "keys"] }],
  ["more than a page can show", { watch: ["keys", ...Array.from({ length: 20 }, (_, at) => `tether/t${at}`)] }],
  ["no list", { watch: "network" }],
  ["no JSON", "{"],
])("a page that asks for %s gets the rest", async (_, asked) => {
  const { service } = await start();
  const page = new TestPage(await signIn(await consoleOf(service)));
  await page.answered();
  page.send(typeof asked === "string" ? asked : JSON.stringify(asked));
  const isList = typeof asked === "object" && Array.isArray(asked.watch);
  if (isList) await page.has("keys");
  if (isList && asked.watch.length > 20) await until(() => page.shown.size === 20);
  await wait(100);
  expect([...page.shown.keys()].filter((section) => section === "tether/t19")).toEqual([]);
  page.watch("network");
  await page.has("network");
});

test.each([
  ["an answer that does not come in time", { kind: "lost", late: true }, "slow"],
  ["a proxy that waited in vain", { kind: "lost", status: 504, late: true }, "slow"],
  ["no connection", { kind: "unsent" }, "unreachable"],
  ["a connection that broke", { kind: "lost" }, "unreachable"],
  ["a refused key", { kind: "denied", status: 401 }, "refused"],
  ["an object that the key may not see", { kind: "denied", status: 403 }, "failing"],
  ["a service that is down", { kind: "unavailable", status: 503 }, "failing"],
  ["an answer that is cut off", { kind: "lost", status: 200 }, "failing"],
] as const)("a failed poll is reported with its kind: %s", async (_, facts, trouble) => {
  const error = new ApiError({ call: "GET /consortia", errorMessage: "no", ...facts });
  expect(await firstOf(() => Promise.reject(error))).toMatchObject({ problem: codedMessage(error), trouble });
});

test("a failure that the service did not cause is not blamed on it", async () => {
  expect(await firstOf(() => Promise.reject(new Error("dev.json is no export")))).not.toHaveProperty("trouble");
});

/** The first contents of a page. */
async function firstOf(look: () => Promise<unknown>): Promise<Shown> {
  const live = new Live(look, 10);
  const { shown, watch } = paged(live);
  watch("network");
  await until(() => shown().length > 0);
  await live.close();
  return shown()[0]!;
}

test("for other services than the embedded one, only the network is shown", async () => {
  const api: Peer = await peer((response, seen, socket) => {
    const isList = api.requests[seen - 1]!.url.endsWith("/consortia");
    json(isList ? 200 : 404, isList ? [] : {})(response, seen, socket);
  });
  const console = await consoleOf({ baseUrl: api.baseUrl, apiKey: "key" });
  const page = new TestPage(await signIn(console));
  await page.answered();
  page.watch("network", "keys");
  await until(() => page.shown.size === 2);
  const bare = { embedded: false, mayChange: false, model: { consortia: [] } };
  expect(page.shown.get("network")!.value).toMatchObject(bare);
  expect(page.shown.get("keys")!.problem).toMatch(/^keys does not exist on this page. \[not-found: /);
});
