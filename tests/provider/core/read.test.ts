import { ApiError, type ConsortiumClient, type Identified } from "../../../provider/api";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { type Definition, type Props } from "../../../provider/core/definition";
import { read } from "../../../provider/core/lifecycle/read";
import { newSession } from "../../../provider/core/session";
import { fresh, type StateParts, stateOf, storedKey } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* A refresh of one object: what a look changes in the state, and what it leaves as it was. */

type Kind = "node" | "appCred" | "environment" | "environmentZone";
const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
const base: Record<Kind, Props> = {
  node: { ...owned, name: "N 1" },
  appCred: { ...owned, name: "a" },
  environment: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" },
  environmentZone: { consortiumId: "c", environmentId: "e", name: "ohio", region: "r", cloud: "aws", type: "kaleido" },
};
const http = new Http(settingsFor("https://x/api/v1"));
const refusal = (kind: "conflict" | "unsupported" | "denied", status?: number): ApiError =>
  new ApiError({ kind, status, call: "GET /x", errorMessage: "no" });

interface Case {
  kind?: Kind;
  /** The list, or why there is none. */
  list: Identified[] | ApiError;
  /** What was shown before. */
  shown?: Props;
  parts?: Partial<StateParts>;
  /** A state that no verb has made. */
  state?: Props;
  parentState?: string;
}

async function reading({ kind = "node", list, shown = {}, parentState = "live", ...given }: Case) {
  const definition: Definition = definitions[kind];
  const clock = new VirtualTime();
  const said: string[] = [];
  let asked = 0;
  const { collection: path } = definition.place(base[kind]);
  const client = {
    list: (where: string) => {
      if (where !== path) return Promise.resolve([{ id: "c" }, { id: "e", state: parentState }]);
      return list instanceof ApiError ? Promise.reject(list) : Promise.resolve(list);
    },
    find: () => Promise.resolve(undefined),
    getNodeStatus: () => {
      asked += 1;
      return Promise.resolve({ urls: { rpc: "new" } });
    },
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const before = { ...base[kind], state: "started", revision: "1", urls: { rpc: "old" }, nodeKey: "k", ...shown };
  const parts = { ...fresh(base[kind], before), ...given.parts };
  const state = given.state ?? stateOf(definition, parts);
  const session = newSession(client, { clock, say: (line) => void said.push(line) });
  const outcome: { now: Props | undefined; error: string } = await read(
    Collection.of(session, definition, state, "x"),
    "x",
    state,
  ).then(
    (now) => ({ now, error: "" }),
    ({ message }: Error) => ({ now: undefined, error: message }),
  );
  return { ...outcome, kept: (outcome.now?.[storedKey] ?? {}) as Props, state, asked, said: said.join() };
}

const node = (more: Props = {}): Identified => ({
  id: "x",
  name: "N 1",
  membership_id: "m",
  state: "started",
  _revision: "1",
  ...more,
});

describe("an object", () => {
  test.each<[string, Case, boolean]>([
    ["is there, if it is listed", { list: [node()] }, true],
    ["is gone, if it is not", { list: [node({ id: "z" })] }, false],
    ["is gone, if it is deleted", { list: [node({ state: "deleted" })] }, false],
    ["is gone, if it is on its way out", { list: [node({ state: "deleting" })] }, false],
  ])("%s", async (_, given, isThere) => {
    const { now, error } = await reading(given);
    expect([error, now !== undefined]).toEqual(["", isThere]);
  });

  test.each<[string, Case, string | undefined]>([
    ["credentials, as not every service does", { kind: "appCred", list: refusal("unsupported", 405) }, undefined],
    [
      "nodes, as every service does",
      { list: refusal("unsupported", 405) },
      "this service does not list /consortia/c/environments/e/nodes",
    ],
    ["anything to the key", { list: refusal("denied", 401) }, "GET /x: HTTP 401"],
    ["nodes, with a conflict", { list: refusal("conflict", 409) }, "GET /x: HTTP 409"],
  ])("stays as it was, or is an error, if the service does not list %s", async (_, given, why) => {
    const { now, error, state, said } = await reading(given);
    expect([error, said]).toEqual([why === undefined ? "" : expect.stringContaining(why), ""]);
    if (why === undefined) expect(now).toEqual(state);
  });

  test.each(["failed", "pending", "paused"])(
    "stays as it was, if what it is in does not work (%s), with a warning",
    async (parentState) => {
      const { now, state, said } = await reading({ list: refusal("conflict", 409), parentState });
      expect(now).toEqual(state);
      expect(said).toMatch(/Warning: .*is kept as it was, because it cannot be read: GET \/x: HTTP 409/);
    },
  );
});

describe("its details", () => {
  test.each<[string, Case, number, string]>([
    ["are asked for once for all in a place, if it has not changed", { list: [node()] }, 1, "new"],
    ["are not, if it does not work", { list: [node({ state: "stopped" })], shown: { state: "stopped" } }, 0, "old"],
    ["are, if it has", { list: [node({ _revision: "2" })] }, 1, "new"],
    ["are, if they are not known", { list: [node()], shown: { urls: undefined } }, 1, "new"],
  ])("%s", async (_, given, times, rpc) => {
    const { now, asked } = await reading(given);
    expect([asked, now?.urls]).toEqual([times, { rpc }]);
  });

  test("are none of what has none", async () => {
    const zone = { id: "x", name: "ohio", region: "r", cloud: "aws", type: "kaleido" };
    const { now, asked } = await reading({ kind: "environmentZone", list: [zone] });
    expect([asked, now?.name]).toEqual([0, "ohio"]);
  });
});

describe("a value", () => {
  test.each<[string, Case, Props, Props]>([
    [
      "that somebody has changed is drift",
      { list: [node({ size: "large" })], shown: { size: "small" }, parts: { asked: { ...base.node, size: "small" } } },
      { size: "large" },
      { answered: { size: "small" } },
    ],
    [
      "that the service shows for the first time is its answer",
      { list: [node({ size: "small" })] },
      { size: "small" },
      { answered: undefined },
    ],
    [
      "that it shows again is not",
      { list: [node({ size: "large" })], shown: { size: "small" } },
      { size: "large" },
      { answered: { size: "small" } },
    ],
    [
      "that is only spelled otherwise in what has not changed is its answer",
      { list: [node({ name: "n-1" })] },
      { name: "n-1" },
      { answered: undefined },
    ],
    [
      "that is spelled otherwise in what has changed is drift",
      { list: [node({ name: "n-1", _revision: "2" })] },
      { name: "n-1" },
      { asked: { name: "N 1" } },
    ],
    [
      "that is another one in what has not changed is drift",
      { list: [node({ name: "z" })] },
      { name: "z" },
      { asked: { name: "N 1" } },
    ],
    [
      "is drift without a revision",
      { list: [node({ name: "n-1", _revision: undefined })], shown: { revision: undefined } },
      { name: "n-1" },
      { asked: { name: "N 1" } },
    ],
  ])("%s", async (_, given, shows, stored) => {
    const { now, kept } = await reading(given);
    expect(now).toMatchObject(shows);
    for (const [part, values] of Object.entries(stored))
      if (values === undefined) expect(kept[part]).toBeUndefined();
      else expect(kept[part]).toMatchObject(values as Props);
  });
});

describe("a step that is open", () => {
  test.each<[string, Case, string[] | undefined]>([
    ["is done, once it is ready", { list: [node()], parts: { open: ["ready"] } }, undefined],
    ["is not, before", { list: [node({ state: "starting" })], parts: { open: ["ready"] } }, ["ready"]],
    ["that is another one stays", { list: [node()], parts: { open: ["restart", "ready"] } }, ["restart"]],
    ["is none of what no run has waited for", { list: [node({ state: "starting" })] }, undefined],
  ])("%s", async (_, given, open) => {
    expect((await reading(given)).kept.open).toEqual(open);
  });
});

describe("the first look at an object of others", () => {
  const place = { consortiumId: "c", environmentId: "e" };
  test("takes it as it is: what the service shows is what is asked for, but for what it chooses", async () => {
    const { now, kept } = await reading({ list: [node({ size: "small" })], state: { ...place, name: "N 1" } });
    expect(now).toMatchObject({ name: "N 1", membershipId: "m", size: "small", state: "started" });
    expect(kept).toMatchObject({ how: "adopted" });
    expect([kept.asked, kept.answered, kept.open]).toEqual([undefined, undefined, undefined]);
  });

  test("says whether others share it, and whether it is ready", async () => {
    const zone = { id: "x", name: "ohio", region: "r", cloud: "aws", type: "kaleido" };
    const shared = await reading({ kind: "environmentZone", list: [zone], state: { ...place, name: "ohio" } });
    expect([shared.kept.how, shared.kept.open]).toEqual(["shared", undefined]);
    const starting = await reading({ list: [node({ state: "starting" })], state: { ...place, name: "N 1" } });
    expect([starting.kept.how, starting.kept.open]).toEqual(["adopted", ["ready"]]);
  });
});
