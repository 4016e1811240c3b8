import { holdsLedger } from "../../../provider/constants";
import { definitions } from "../../../provider/resources";
import { type FaultRule } from "../../../service/index";
import { bases, type Collected, collected, routeOf } from "../../support/bases";
import { acts, lostAnswers, titled } from "../../support/faults";
import { failed } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { impatient, setEnvironment } from "../../support/service";

/* A create with a lost answer, in every way: exactly one object afterwards. */

const faults: FaultRule[] = [
  ...lostAnswers,
  { kind: "truncated", wellFormed: true },
  { kind: "html", status: 200, acted: true },
  { kind: "status", status: 429, retryAfter: 3 },
  { kind: "status", status: 502, acted: true },
  { kind: "status", status: 503, retryAfter: 3 },
  { kind: "status", status: 503, acted: true },
  { kind: "status", status: 504 },
  { kind: "resetAfter", times: 2 },
  { kind: "resetBefore", times: 3 },
];

/** Kinds that are found by name share one way; a credential loses its secret. */
const everyFault: Collected[] = ["node", "appCred"];
const fewFaults: FaultRule[] = [{ kind: "resetAfter" }, { kind: "status", status: 503, acted: true }];

describe.each(collected)("%s", (kind) => {
  test.each(titled(everyFault.includes(kind) ? faults : fewFaults))("%s", async (_title, fault) => {
    const { engine, service, net, count, calls, shown } = await world(kind);
    impatient(fault);
    const { hits } = service.faults.add({ ...fault, method: "POST", route: routeOf(kind) });
    expect(hits).toBe(0);
    calls();

    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });

    const made = calls();
    const posts = made.filter((call) => call.startsWith("POST")).length;
    const lost = fault.times ?? 1;
    // Named ones are found again; of a credential the password is lost, so the lost ones go and another is made.
    expect(posts).toBe(kind !== "appCred" && acts(fault) ? 1 : lost + 1);
    expect(made.filter((call) => call.startsWith("DELETE")).length).toBe(kind === "appCred" && acts(fault) ? lost : 0);
    service.faults.clear();
    expect(await count()).toBe(1);
    expect(await shown()).toBeDefined();
    expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
    if (kind === "appCred") expect(engine.outputs.password).toEqual(expect.any(String));
  });

  test("a service that never answers is an error; after CONSORTIUM_ADOPT, nothing is left over", async () => {
    const { engine, service, net, count } = await world(kind);
    service.faults.add({ kind: "status", status: 504, method: "POST", route: routeOf(kind), times: Infinity });
    expect(await engine.up(bases[kind](net))).toEqual(failed("HTTP 504"));
    service.faults.clear();
    setEnvironment({ CONSORTIUM_ADOPT: "true" });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    expect(await count()).toBe(1);
  });
});

test.each(collected)("%s: a connection that is refused for a while is retried", async (kind) => {
  const { engine, service, net, time, count } = await world(kind);
  time.pace = 0.05; // the service is really away, so the waiting takes a twentieth of its time
  service.faults.add({ kind: "refuse", ms: 40 });
  expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
  expect(await count()).toBe(1);
});

const requestTimeout = 0.25;
test.each<[Collected, number]>([
  ...collected.map((kind) => [kind, 2] as [Collected, number]),
  ["node", 1.5],
  ["node", 3],
])("%s: created once by a service that acts after %d times the client's time-out", async (kind, times) => {
  const { engine, service, net, time, count, said } = await world(kind);
  setEnvironment({ CONSORTIUM_REQUEST_TIMEOUT: String(requestTimeout) });
  time.pace = 0.3; // the service is slow in real time
  service.faults.add({ kind: "delay", ms: times * requestTimeout * 1000, method: "POST", route: routeOf(kind) });
  expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
  const seconds = holdsLedger(definitions[kind].type) ? 60 : 3;
  expect(said.join("\n")).toMatch(
    new RegExp(`no answer arrived within 0.25 s.* Looking for ${seconds} s for an object that it may`),
  );
  expect(await count()).toBe(1);
});

const lagging = collected.flatMap((kind) => [1_500, 8_000].map((listLag) => [kind, listLag] as const));
test.each(lagging)(
  "%s: created once with lists %i ms behind, whether it looks that long or not",
  async (kind, listLag) => {
    const { engine, service, net, time, count } = await world(kind);
    service.setTiming({ listLag });
    time.pass(9_000);
    service.faults.add({ kind: "resetAfter", method: "POST", route: routeOf(kind) });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    service.setTiming({ listLag: 0 });
    expect(await count()).toBe(1);
  },
);

const unique = collected.filter((kind) => !holdsLedger(definitions[kind].type) && kind !== "appCred");
test.each(unique)("%s: sent again, and the name is taken by the object of the first attempt", async (kind) => {
  const { engine, service, net, time, count } = await world(kind);
  service.setTiming({ listLag: 4_000 });
  time.pass(9_000);
  service.faults.add({ kind: "resetAfter", method: "POST", route: routeOf(kind) });
  const taken = { kind: "status", status: 409, errorMessage: "The name is already in use." } as const;
  service.faults.add({ ...taken, method: "POST", route: routeOf(kind), nth: 2, times: Infinity });
  expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
  service.setTiming({ listLag: 0 });
  expect(await count()).toBe(1);
});

test.each(collected)("%s: a verb has one deadline, throttled calls included", async (kind) => {
  const { engine, service, net, time } = await world(kind);
  service.faults.add({ kind: "status", status: 429, retryAfter: 8, times: Infinity });
  const began = time.now();
  const outcome = await engine.up({ ...bases[kind](net), customTimeouts: { create: 1 } });
  expect(time.now() - began).toBeLessThanOrEqual(1_100);
  expect(outcome).toEqual(
    failed(
      /HTTP 429: .*; no time is left to try again: the limit is 1 s \(customTimeouts\)|GET \S+ was not answered in time: the limit is 1 s/,
    ),
  );
});

const once = titled(faults.filter(({ times }) => times === undefined));

test.each(once)("the answer to a delete is lost (%s): sent again, and gone", async (_title, fault) => {
  const { engine, service, net, shown, count } = await world("membership");
  impatient(fault);
  await engine.up(bases.membership(net));
  service.faults.add({ ...fault, method: "DELETE" });
  await engine.destroy();
  expect(await shown()).toBeUndefined();
  expect(await count()).toBe(0);
});

test.each(once)("the answer to a change is lost (%s): sent again, with the same result", async (_title, fault) => {
  const { engine, service, net, shown } = await world("consortium");
  impatient(fault);
  await engine.up(bases.consortium(net));
  service.faults.add({ ...fault, method: "PATCH" });
  const args = { name: "renamed", description: "new" };
  expect(await engine.up(args)).toEqual({ then: "updated" });
  expect(await shown()).toMatchObject(args);
  expect(engine.outputs).toMatchObject(args);
});
