import { ApiError, type ConsortiumClient } from "../../../provider/api";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { type Definition, type Props } from "../../../provider/core/definition";
import { settle } from "../../../provider/core/lifecycle/settle";
import { newSession, type Session, within } from "../../../provider/core/session";
import { fresh, type StateParts, storedKey } from "../../../provider/core/state";
import { Incomplete } from "../../../provider/core/user-error";
import { definitions } from "../../../provider/resources";
import { base, type Kind } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* Until an object is ready and fully known: what is looked at, for how long, and what ends the wait. */

const http = new Http(settingsFor("https://x/api/v1"));
const made = "2026-01-01T00:00:00.000Z";
/** When the wait begins. */
const began = 100_000;
const urls = { rpc: "https://rpc" };

interface Case {
  kind?: Kind;
  inputs?: Props;
  /** What the last answer showed. */
  shown?: Props;
  parts?: Partial<StateParts>;
  /** The object in its list; undefined: it is not there; an error: there is no list. */
  list?: (ms: number) => Props | Error | undefined;
  /** The object by its id. */
  byId?: (ms: number) => Props | undefined;
  status?: (ms: number) => Props | ApiError;
  how?: Parameters<typeof settle>[3];
  isMade?: boolean;
  limitMs?: number;
  prepare?: (session: Session) => void;
}

const missing = new ApiError({ kind: "missing", call: "GET /x", errorMessage: "no" });

async function settling(given: Case) {
  const { kind = "membership", inputs = {}, shown = {}, limitMs = 300_000 } = given;
  const clock = new VirtualTime();
  clock.pass(began);
  const now = (): number => clock.now() - began;
  const definition: Definition = definitions[kind];
  const args = { ...base[kind], ...inputs };
  const { collection: path } = definition.place(args);
  const looks: number[] = [];
  const settled = <T>(value: T | Error): Promise<T> =>
    value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  const client = {
    list: (where: string) => {
      if (where !== path) return Promise.resolve([{ id: "c" }, { id: "e" }]);
      looks.push(now());
      const item = given.list?.(now());
      return settled(item instanceof Error ? item : [{ id: "z" }, ...(item ? [{ id: "x", ...item }] : [])]);
    },
    find: () => Promise.resolve(given.byId?.(now()) && { id: "x", ...given.byId(now()) }),
    getNodeStatus: () => settled(given.status?.(now()) ?? { urls }),
    getNode: () => Promise.reject(missing),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const session = within(newSession(client, { clock }), limitMs);
  given.prepare?.(session);
  const collection = Collection.of(session, definition, args);
  if (given.isMade === true) collection.recordMade({ id: "x" });
  const known = { ...fresh(args, shown), ...given.parts };
  const outcome = await settle(collection, "x", known, given.how).then(
    (state) => ({ state, error: "" }),
    (error: unknown) => {
      if (!(error instanceof Incomplete)) throw error;
      expect(error.id).toBe("x");
      return { state: error.state, error: error.message };
    },
  );
  return { ...outcome, took: now(), looks, kept: (outcome.state[storedKey] ?? {}) as Props };
}

const live = { state: "live", createdAt: made };
const listedLive = { org_name: "acme", state: "live", created_at: made };

describe("the first look", () => {
  test.each<[string, Case, number]>([
    ["is the answer, if that shows everything", { shown: live }, 0],
    ["is the list, if it shows no state", { shown: {}, list: () => listedLive }, 1],
    [
      "is the list, if it shows the failure of an earlier run",
      { shown: { ...live, state: "failed" }, list: () => listedLive },
      1,
    ],
    ["is the answer of a kind without a state", { kind: "appCred" }, 0],
    ["is followed by the list, if it lacks an output", { shown: { state: "live" }, list: () => listedLive }, 1],
  ])("%s", async (_, given, times) => {
    const { error, looks, state } = await settling(given);
    expect([error, looks.length]).toEqual(["", times]);
    if (given.kind !== "appCred") expect(state).toMatchObject(live);
  });

  test("is followed by two more, where the output is never shown", async () => {
    const { error, looks } = await settling({ shown: { state: "live" }, list: () => ({ state: "live" }) });
    expect([error, looks.length]).toEqual(["", 2]);
  });
});

describe("a state", () => {
  const then =
    (before: string, ms: number, after: string) =>
    (now: number): Props => ({
      ...listedLive,
      state: now < ms ? before : after,
    });

  test.each<[string, Case, RegExp | "", [number, number]]>([
    [
      "that passes is waited for",
      { shown: { ...live, state: "pending" }, list: then("pending", 30_000, "live") },
      "",
      [30_000, 34_000],
    ],
    [
      "that has failed ends the wait",
      { shown: {}, list: then("pending", 10_000, "failed") },
      /^membership "acme" \(x\) went to the state "failed"\. Look at it/,
      [10_000, 14_000],
    ],
    [
      "of a failed answer ends the wait after a look",
      { shown: { state: "failed" }, list: () => ({ state: "failed" }) },
      /went to the state "failed"/,
      [0, 0],
    ],
    ...["create_failed", "FAILED_TO_START", "crashed"].map((state): [string, Case, RegExp, [number, number]] => [
      `that has failed in other words ends the wait (${state})`,
      { kind: "environment", shown: {}, list: then("initializing", 3_000, state) },
      new RegExp(`went to the state "${state}"\\. Look at it`),
      [3_000, 4_000],
    ]),
    [
      "that is not known ends the wait with a warning",
      { shown: {}, list: then("pending", 10_000, "purring") },
      "",
      [10_000, 14_000],
    ],
    [
      "on its way out ends the wait",
      { shown: {}, list: () => ({ state: "deleting" }) },
      /is being deleted by somebody else\. Once it is gone/,
      [0, 0],
    ],
    [
      "of something that is gone ends the wait",
      { shown: {}, list: () => ({ state: "deleted" }) },
      /was deleted by somebody else while this run waited/,
      [0, 0],
    ],
    [
      "that does not pass is an error at the limit",
      { shown: { ...live, state: "pending" }, list: () => ({ state: "pending" }), limitMs: 40_000 },
      /exists, but is not ready: still "pending" after 40 s.*run `pulumi up` again to continue/,
      [40_000, 40_000],
    ],
    [
      "that is left until something is in it is waited for briefly",
      {
        kind: "environment",
        shown: { ...live, chainId: 1, state: "initializing" },
        list: () => ({ state: "initializing" }),
      },
      "",
      [20_000, 24_000],
    ],
    [
      "that is left so may pass by itself before",
      {
        kind: "environment",
        shown: { ...live, chainId: 1, state: "initializing" },
        list: then("initializing", 3_000, "live"),
      },
      "",
      [3_000, 4_000],
    ],
  ])("%s", async (_, given, why, [from, to]) => {
    const { error, took, kept } = await settling(given);
    expect(error).toMatch(why);
    expect(took).toBeGreaterThanOrEqual(from);
    expect(took).toBeLessThanOrEqual(to);
    const open = (kept.open ?? []) as string[];
    expect(open.includes("ready")).toBe(why !== "");
  });

  test("a step of an earlier run is done once it is ready, and others stay open", async () => {
    const parts = { open: ["ready", "restart"] };
    expect((await settling({ shown: live, parts })).kept.open).toEqual(["restart"]);
    const again = await settling({ shown: {}, parts, list: () => ({ state: "failed" }) });
    expect(again.kept.open).toEqual(["restart", "ready"]);
  });
});

describe("an object that is not listed", () => {
  test.each<[string, Case, RegExp | "", [number, number]]>([
    ["is waited for", { list: (ms) => (ms < 30_000 ? undefined : listedLive) }, "", [30_000, 34_000]],
    ["is asked for by its id, too", { byId: (ms) => (ms < 10_000 ? undefined : listedLive) }, "", [10_000, 40_000]],
    ["is gone after a minute", {}, /was deleted by somebody else while this run waited for it/, [60_000, 80_000]],
    [
      "is not gone if this run has made it",
      { isMade: true, limitMs: 90_000 },
      /still not listed yet after 90 s/,
      [90_000, 90_000],
    ],
    [
      "is gone after a minute, if this run has made and seen it",
      { isMade: true, list: (ms) => (ms < 4_000 ? { state: "pending" } : undefined) },
      /was deleted by somebody else/,
      [62_000, 84_000],
    ],
  ])("%s", async (_, given, why, [from, to]) => {
    const { error, took } = await settling(given);
    expect(error).toMatch(why);
    expect(took).toBeGreaterThanOrEqual(from);
    expect(took).toBeLessThanOrEqual(to);
  });
});

describe("a list that is behind", () => {
  const pending = { ...live, state: "pending", revision: "2" };

  test.each<[string, Case, number, object]>([
    [
      "is not believed",
      { shown: pending, list: (ms) => ({ ...listedLive, _revision: ms < 20_000 ? 1 : 2 }) },
      20_000,
      { revision: "2" },
    ],
    [
      "is believed after a minute",
      { shown: pending, list: () => ({ ...listedLive, _revision: 1 }) },
      60_000,
      { revision: "1" },
    ],
    [
      "is none if the revision is the same",
      { shown: pending, list: () => ({ ...listedLive, _revision: 2 }) },
      0,
      { state: "live" },
    ],
    ["is none if it shows no revision", { shown: pending, list: () => listedLive }, 0, { state: "live" }],
  ])("%s", async (_, given, from, shows) => {
    const { error, took, state } = await settling(given);
    expect([error, state]).toEqual(["", expect.objectContaining(shows)]);
    expect(took).toBeGreaterThanOrEqual(from);
    expect(took).toBeLessThan(from + 8_000);
  });
});

describe("what was sent is looked at once more", () => {
  const ready = { ...live, chainId: 1, revision: "2" };
  const listed = {
    name: "e",
    provider: "quorum",
    consensus_type: "raft",
    state: "live",
    created_at: made,
    chain_id: 1,
  };
  const described: Case = {
    kind: "environment",
    inputs: { description: "d" },
    shown: { ...ready, description: "d" },
    list: () => ({ ...listed, description: "D", _revision: 2 }),
  };

  test.each<[string, Case, number, string]>([
    ["if the service may show it otherwise", described, 1, "D"],
    ["not if a list has shown it", { ...described, how: { isListed: true } }, 0, "d"],
    ["not if it was not sent", { ...described, how: { sent: ["name", "consortiumId"] } }, 0, "d"],
    ["if something was taken out", { ...described, how: { sent: [], isRemoval: true } }, 1, "D"],
    [
      "but is not believed if it is older",
      { ...described, list: () => ({ ...listed, description: "D", _revision: 1 }) },
      1,
      "d",
    ],
    ["but may be missing", { ...described, list: () => undefined }, 1, "d"],
    ["but may be refused", { ...described, list: () => missing }, 1, "d"],
    [
      "unless the wait has done that",
      { ...described, shown: { ...ready, description: "d", state: "pending" } },
      1,
      "D",
    ],
  ])("%s", async (_, given, times, description) => {
    const { error, looks, state } = await settling(given);
    expect([error, looks.length, state.description]).toEqual(["", times, description]);
  });

  test("not if it has no forms: a name, a parent, a value that is not set", async () => {
    expect((await settling({ shown: live, inputs: { orgName: "Acme" } })).looks).toEqual([]);
    const sent = ["description", "name", "consortiumId", "paused"];
    expect((await settling({ ...described, inputs: {}, how: { sent } })).looks).toEqual([]);
  });

  test("a value that is shown counts as the answer to what was sent", async () => {
    const { kept } = await settling(described);
    expect(kept).toMatchObject({ asked: { description: "d" } });
    expect(kept.answered).toBeUndefined();
    const other = await settling({ ...described, how: { sent: ["provider"] } });
    expect(other.kept.answered).toMatchObject({ description: "d" });
  });

  test("each look is told", async () => {
    const saw: Props[] = [];
    await settling({ ...described, how: { saw: (shown) => void saw.push(shown) } });
    expect(saw).toMatchObject([{ description: "D" }]);
  });
});

describe("a node", () => {
  const forbidden = new ApiError({ kind: "denied", status: 403, call: "GET /x", errorMessage: "no" });
  const started = { ...live, state: "started" };
  test.each<[string, Case, RegExp | "", number]>([
    ["is ready with its endpoints", { shown: started }, "", 0],
    ["is ready with them in a state that nobody knows", { shown: { ...live, state: "purring" } }, "", 0],
    [
      "is not ready in such a state without them",
      {
        shown: { ...live, state: "purring" },
        list: () => ({ state: "purring" }),
        status: (ms) => (ms < 10_000 ? {} : { urls }),
      },
      "",
      10_000,
    ],
    [
      "is not before the service lets the key see them",
      {
        shown: started,
        list: () => ({ state: "started" }),
        status: (ms) => (ms < 4_000 ? forbidden : { urls }),
        prepare: (session) => session.run.createdAt.set("x", began),
      },
      "",
      4_000,
    ],
    [
      "is not before",
      { shown: started, list: () => ({ state: "started" }), status: (ms) => (ms < 10_000 ? {} : { urls }) },
      "",
      10_000,
    ],
    [
      "is not where it is not known",
      { shown: started, list: () => ({ state: "started" }), status: (ms) => (ms < 10_000 ? missing : { urls }) },
      "",
      10_000,
    ],
    [
      "is never ready without them",
      { shown: started, list: () => ({ state: "started" }), status: () => ({}), limitMs: 20_000 },
      /still "started", starting its endpoints after 20 s/,
      20_000,
    ],
  ])("%s", async (_, given, why, from) => {
    const { error, took, state } = await settling({ kind: "node", ...given });
    expect(error).toMatch(why);
    expect(took).toBeGreaterThanOrEqual(from);
    if (error === "") expect(state.urls).toEqual(urls);
  });
});

test("an object is one of those that are waited for, by what it is in", async () => {
  let during: number | undefined;
  let session: Session | undefined;
  const list = (): Props => {
    during = session!.run.unsettled.get("/consortia/c");
    return listedLive;
  };
  await settling({ list, prepare: (one) => void (session = one) });
  expect([during, session!.run.unsettled.get("/consortia/c")]).toEqual([1, 0]);
});
