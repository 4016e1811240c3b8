import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { type Answer, Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { CreateLog, type Logs, readCreateLog } from "../../../provider/core/create-log";
import { type Definition, type Props } from "../../../provider/core/definition";
import { sendCreate } from "../../../provider/core/lifecycle/send-create";
import { newSession, type Session, within } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One create: when it is sent again, what counts as its object, and what becomes of objects that it made twice. */

type Kind = "environmentZone" | "node" | "appCred" | "environment" | "membership" | "destination";

const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
const base: Record<Kind, Props> = {
  environmentZone: { consortiumId: "c", environmentId: "e", name: "z", region: "r", cloud: "aws" },
  node: { ...owned, name: "n" },
  appCred: { ...owned, name: "a" },
  membership: { consortiumId: "c", orgName: "acme" },
  environment: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" },
  destination: { ...owned, serviceId: "s", serviceType: "documentstore", name: "inbox" },
};
/** The object as the service shows it. */
const own: Record<Kind, Props> = {
  environmentZone: { name: "z", region: "r", cloud: "aws" },
  node: { membership_id: "m", name: "n" },
  appCred: { membership_id: "m", name: "a" },
  membership: { org_name: "acme" },
  environment: { name: "e", provider: "quorum", consensus_type: "raft" },
  destination: { name: "inbox" },
};
const http = new Http(settingsFor("https://x/api/v1", { requestTimeout: 10 }));

const began = Date.UTC(2026, 0, 1);

/** A refusal has a kind, an answer does not. */
type Reply = Partial<ErrorFacts> | (Partial<Answer> & { kind?: undefined });

interface Case {
  kind?: Kind;
  inputs?: Props;
  /** What is there before. undefined: the service lists none. */
  before?: Identified[] | undefined;
  replies: Reply[];
  /** Objects that the list shows from a time on. */
  later?: [ms: number, item: Identified][];
  /** The state of what it is in. */
  parentState?: string;
  /** What asks for a new password answers. */
  password?: unknown;
  limitMs?: number;
  isFleets?: boolean;
  /** Gets what is logged. */
  logged?: unknown[];
  /** The name of the resource. */
  resource?: string;
  prepare?: (session: Session, collection: Collection, clock: VirtualTime) => void;
  /** Objects that cannot be deleted. */
  stuck?: string[];
}

const replyOf = (kind: Kind, reply: Reply): Promise<Answer> => {
  const { kind: why, ...more } = reply;
  if (why !== undefined) return Promise.reject(http.error({ call: "POST /x", errorMessage: "no", ...more, kind: why }));
  const secret = kind === "appCred" ? { password: "hush" } : {};
  return Promise.resolve({
    status: 201,
    body: { _id: "x1", ...own[kind], ...secret },
    headers: {},
    url: "https://x/api/v1/posted",
    ...(more as Partial<Answer>),
  });
};

async function sending(given: Case) {
  const { kind = "node", inputs = {}, later = [], parentState = "live", stuck = [] } = given;
  const replies = [...given.replies];
  const clock = new VirtualTime();
  const sent: Props[] = [];
  const at: number[] = [];
  const deleted: string[] = [];
  const said: string[] = [];
  const args = { ...base[kind], ...inputs };
  const definition: Definition = definitions[kind];
  const { collection: path } = definition.place(args);
  const send = (body: Props): Promise<Answer> => {
    sent.push(body);
    at.push(clock.now());
    return replyOf(kind, replies.shift() ?? {});
  };
  const before = "before" in given ? given.before : [];
  const listed = (): Identified[] =>
    [...(before ?? []), ...later.filter(([ms]) => ms <= clock.now()).map(([, item]) => item)].filter(
      ({ id }) => !deleted.includes(id),
    );
  const client = {
    create: (_: string, body: Props) => send(body),
    putObject: (_: string, body: Props) => send(body),
    list: (where: string) =>
      Promise.resolve(where === path ? listed() : [{ id: where.endsWith("s") ? "e" : "c", state: parentState }]),
    find: (where: string) =>
      Promise.resolve(listed().find(({ id }) => where === `${path}/${id}` && String(id).startsWith("hidden"))),
    delete: (where: string) => {
      const id = where.split("/").at(-1)!;
      if (stuck.includes(id))
        return Promise.reject(http.error({ kind: "conflict", call: "DELETE /x", errorMessage: "stays" }));
      deleted.push(id);
      return Promise.resolve({});
    },
    postAgain: () =>
      given.password instanceof Error ? Promise.reject(given.password) : Promise.resolve(given.password),
    until: () => client,
    http: { settings: http.settings, serviceTime: (ms: number) => (given.logged ? began + ms : undefined) },
  } as unknown as ConsortiumClient;
  const logs: Logs = {
    isFleets: true,
    before: readCreateLog(""),
    write: (line) => void given.logged?.push(line),
    others: () => [],
  };
  const whole = newSession(client, {
    clock,
    say: (line) => void said.push(line),
    ...((given.isFleets ?? given.logged) && { createLog: new CreateLog(logs) }),
    ...(given.resource !== undefined && { resource: { key: given.resource, name: given.resource } }),
  });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  const collection = Collection.of(session, definition, args);
  given.prepare?.(session, collection, clock);
  const outcome = await sendCreate(collection, before).then(
    ({ id }) => id,
    ({ message }: Error) => message,
  );
  return { outcome, sent, at, took: clock.now(), deleted, said: said.join("\n") };
}

/** A text is the whole outcome. */
const expectOutcome = (is: string, outcome: string | RegExp): void =>
  typeof outcome === "string" ? expect(is).toBe(outcome) : expect(is).toMatch(outcome);

const lost: Reply = { kind: "lost", errorMessage: "reset" };
const twin = (id: string, kind: Kind = "node", more: Props = {}): Identified => ({ id, ...own[kind], ...more });

describe("after an answer is lost", () => {
  test.each<[string, number, string | RegExp, number]>([
    ["five times, and then arrives", 5, "x1", 6],
    ["six times, that is the end", 6, /reset/, 6],
  ])("%s", async (_, times, outcome, posts) => {
    const { outcome: is, sent } = await sending({ replies: Array<Reply>(times).fill(lost) });
    expectOutcome(is, outcome);
    expect(sent).toHaveLength(posts);
  });

  test.each<[string, Reply, number, number | undefined]>([
    ["as long as the service asks for", { kind: "unavailable", retryAfterMs: 9_000 }, 9_000, undefined],
    ["up to ten minutes", { kind: "unavailable", retryAfterMs: 600_000 }, 600_000, undefined],
    ["as long as there is time", { kind: "unavailable", retryAfterMs: 9_000 }, 9_000, 10_501],
  ])("it is sent again after a pause, %s", async (_, reply, pause, limitMs) => {
    const { outcome, at } = await sending({ replies: [reply], limitMs });
    expect([outcome, at[1]! - at[0]!]).toEqual(["x1", 1_500 + pause]);
  });

  test.each<[string, Reply, number | undefined, RegExp]>([
    ["more than ten minutes", { kind: "unavailable", retryAfterMs: 600_001 }, undefined, /HTTP|no/],
    [
      "until the limit",
      { kind: "unavailable", retryAfterMs: 9_000 },
      10_500,
      /No time is left to send it again: the limit is 10\.5 s \(customTimeouts\)\. `CONSORTIUM_ADOPT=true pulumi up` adopts it/,
    ],
  ])("it is not if the pause is to take %s", async (_, reply, limitMs, why) => {
    const { outcome, sent } = await sending({ replies: [reply], limitMs });
    expect(outcome).toMatch(why);
    expect(sent).toHaveLength(1);
  });

  test.each<[string, Kind, boolean, boolean]>([
    ["a node is adopted by its name", "node", false, true],
    ["a fleet adopts nothing by name", "node", true, false],
    ["a credential has none to be adopted by", "appCred", false, false],
  ])("at the limit: %s", async (_, kind, isFleets, advised) => {
    const { outcome } = await sending({ kind, replies: [lost], limitMs: 1_000, isFleets });
    expect(outcome).toContain("No time is left to send it again");
    expect(outcome.includes("CONSORTIUM_ADOPT=true")).toBe(advised);
  });

  test.each<[string, Kind, Reply, number, string]>([
    ["briefly if the service was not there", "node", { kind: "unavailable" }, 1_500, "Looking for an object"],
    ["longer if it may have acted", "node", lost, 2_500, "Looking for an object"],
    ["for two time-outs more if it may still act", "node", { ...lost, late: true }, 22_500, "Looking for 23 s for"],
    ["as long as lists may lag for a ledger", "environment", lost, 60_000, "Looking for an object"],
    ["as long for a consortium's late ledger", "environment", { ...lost, late: true }, 60_000, "Looking for 60 s for"],
  ])("the object is looked for, %s", async (_, kind, reply, forMs, line) => {
    const there = await sending({ kind, replies: [reply], later: [[forMs, twin("y", kind)]] });
    expect([there.outcome, there.sent.length]).toEqual(["y", 1]);
    expect(there.said).toContain(line);
    const { outcome, at } = await sending({ kind, replies: [reply] });
    expect(outcome).toBe("x1");
    expect(at[1]).toBeGreaterThanOrEqual(forMs);
    expect(at[1]).toBeLessThan(forMs + 2_500);
  });

  test("it is looked for every half second at first, then every two", async () => {
    const seen = async (ms: number): Promise<number> =>
      (await sending({ replies: [{ ...lost, late: true }], later: [[ms, twin("y")]] })).took;
    expect([await seen(1), await seen(501), await seen(2_999), await seen(3_001), await seen(5_001)]).toEqual([
      500, 1_000, 3_000, 5_000, 7_000,
    ]);
  });

  test.each<[string, Reply[], Identified[], string | RegExp, number]>([
    ["one that appears is it", [lost], [twin("y")], "y", 1],
    [
      "of two, nobody knows which is",
      [lost],
      [twin("y"), twin("z")],
      /y, z appeared under this name, more than this run/,
      1,
    ],
    [
      "what another one has the name for is not",
      [lost],
      [twin("y", "node", { membership_id: "m2" })],
      /y has the name now/,
      1,
    ],
    [
      "a name that is taken after that is its own",
      [lost, { kind: "conflict", status: 409, errorMessage: "name already in use" }],
      [],
      "x1",
      3,
    ],
  ])("%s", async (_, replies, items, outcome, posts) => {
    const { outcome: is, sent } = await sending({ replies, later: items.map((item) => [100, item]) });
    expectOutcome(is, outcome);
    expect(sent).toHaveLength(posts);
  });

  test("an attempt that found the name taken made nothing: two are more than this run can have made", async () => {
    const taken: Reply = { kind: "conflict", status: 409, errorMessage: "name already in use" };
    const items = ["y", "z"].map((id): [number, Identified] => [2_600, twin(id)]);
    const { outcome } = await sending({ replies: [lost, taken], later: items });
    expect(outcome).toMatch(/y, z appeared under this name, more than this run can have made/);
    const both = await sending({ replies: [lost, lost], later: items });
    expect(both.outcome).toBe("y");
  });

  test("a name that is taken at once is somebody else's", async () => {
    const { outcome, sent } = await sending({
      replies: [{ kind: "conflict", status: 409, errorMessage: "name already in use" }],
    });
    expect([outcome, sent.length]).toEqual([expect.stringContaining("name already in use"), 1]);
  });

  test.each<[string, Reply]>([
    ["is certain", { kind: "invalid", status: 400 }],
    ["is certain, although the kind says nothing", { kind: "lost", unclear: false }],
    ["is about the key", { kind: "denied", status: 401 }],
  ])("a refusal that %s is an error at once", async (_, reply) => {
    const { outcome, sent, took } = await sending({ replies: [reply] });
    expect([outcome, sent.length, took]).toEqual([expect.stringContaining("POST /x"), 1, 0]);
  });
});

describe("a refusal may pass", () => {
  const initializing = "the environment is still initializing";
  const isNew = (session: Session): void => void session.run.createdAt.set("e", 0);
  const unsettled = (session: Session, { parentPath }: Collection): void =>
    void session.run.unsettled.set(parentPath, 1);
  const deleting = (session: Session, _: Collection, clock: VirtualTime): void => void session.run.deleting(clock);
  const deletedAgo =
    (ms: number) =>
    (session: Session, _: Collection, clock: VirtualTime): void => {
      session.run.deleting(clock)();
      clock.pass(ms);
    };

  test.each<[string, Partial<Case> & { reply: Reply }, boolean]>([
    ["if what it is in is new", { reply: { kind: "missing" }, prepare: isNew }, true],
    ["not if that is older", { reply: { kind: "missing" } }, false],
    ["if the service says so", { reply: { kind: "conflict", status: 409, errorMessage: initializing } }, true],
    [
      "not if it names another reason",
      { reply: { kind: "conflict", status: 409, errorMessage: "quota exceeded" }, parentState: "initializing" },
      false,
    ],
    ["not if it gives none", { reply: { kind: "conflict", status: 409 } }, false],
    [
      "if it gives none while that starts",
      { reply: { kind: "conflict", status: 409 }, parentState: "initializing" },
      true,
    ],
    [
      "if it gives none while something there does",
      { reply: { kind: "conflict", status: 409 }, prepare: unsettled },
      true,
    ],
    ["if it gives none while this run deletes", { reply: { kind: "conflict", status: 409 }, prepare: deleting }, true],
    [
      "if it gives none just after that",
      { reply: { kind: "conflict", status: 409 }, prepare: deletedAgo(9_999) },
      true,
    ],
    [
      "not if it gives none long after",
      { reply: { kind: "conflict", status: 409 }, prepare: deletedAgo(10_000) },
      false,
    ],
    [
      "if the name may be that of what this run has deleted",
      { reply: { kind: "conflict", status: 409, errorMessage: "name already in use" }, prepare: deleting },
      true,
    ],
    [
      "not if the name is still there",
      {
        reply: { kind: "conflict", status: 409, errorMessage: "name already in use" },
        prepare: deleting,
        before: [twin("y")],
      },
      false,
    ],
    [
      "not if a status says that it does not",
      { reply: { kind: "denied", status: 403, errorMessage: initializing } },
      false,
    ],
    [
      "if with such a status that starts, too",
      { reply: { kind: "denied", status: 403, errorMessage: initializing }, parentState: "initializing" },
      true,
    ],
    [
      "if with such a status something there does",
      { reply: { kind: "invalid", status: 422, errorMessage: initializing }, prepare: unsettled },
      true,
    ],
    ["not with such a status alone", { reply: { kind: "denied", status: 403 }, parentState: "initializing" }, false],
    [
      "not with such a status and another reason",
      { reply: { kind: "invalid", status: 400, errorMessage: "quota exceeded" }, parentState: "initializing" },
      false,
    ],
    [
      "not if the service has no such call",
      { reply: { kind: "unsupported", errorMessage: initializing }, parentState: "initializing" },
      false,
    ],
  ])("%s", async (_, { reply, ...given }, passes) => {
    const { outcome, sent } = await sending({ ...given, replies: [reply] });
    expect([outcome === "x1", sent.length]).toEqual([passes, passes ? 2 : 1]);
  });

  test("of what the specification does not list: it is sent without that, once", async () => {
    const invalid: Reply = { kind: "invalid", status: 400 };
    const again = await sending({ kind: "appCred", replies: [invalid] });
    expect([again.outcome, again.sent.map(({ name }) => name)]).toEqual(["x1", ["a", undefined]]);
    const twice = await sending({ kind: "appCred", replies: [invalid, invalid] });
    expect([twice.outcome, twice.sent.length]).toEqual([expect.stringContaining("POST /x"), 2]);
    const other = await sending({ kind: "appCred", replies: [{ kind: "conflict", status: 409 }] });
    expect(other.sent).toHaveLength(1);
    const node = await sending({ replies: [invalid] });
    expect(node.sent).toHaveLength(1);
  });
});

describe("an answer", () => {
  const at = (location: unknown): Reply => ({
    status: 202,
    body: undefined,
    headers: { location } as Answer["headers"],
  });
  const nodes = "/api/v1/consortia/c/environments/e/nodes";
  const other = (id: string): Identified => ({ id, name: "renamed", membership_id: "m" });

  test.each<[string, Reply, string | RegExp]>([
    ["with the object is believed", { body: { _id: "y", name: "n" } }, "y"],
    ["with a part of it, too", { body: { _id: "y" } }, "y"],
    ["with the object that is still to be made, too", { status: 202, body: { _id: "y", name: "n" } }, "y"],
    ["with the id of the work is not", { status: 202, body: { _id: "work" } }, /accepted its creation \(HTTP 202\)/],
    ["with nothing is waited for", { status: 202, body: {} }, "new"],
    ["with the id of the object leads to it", { status: 202, body: { _id: "z" } }, "z"],
    ["with its address leads to it", at(`https://x${nodes}/z`), "z"],
    ["with its path leads to it", at(`${nodes}/z`), "z"],
    ["with an encoded path leads to it", at(`${nodes}/a%20b`), "a b"],
    ["with an address elsewhere does not", at(`https://y${nodes}/z`), /has not shown it within 30 s/],
    ["with the path of something else does not", at(`${nodes}/z/status`), /has not shown it within 30 s/],
    ["with several addresses does not", at([`${nodes}/z`]), /has not shown it within 30 s/],
    ["with an address that is none does not", at("https://"), /has not shown it within 30 s/],
    ["with the path of what only an id shows leads to it", at(`${nodes}/hidden`), "hidden"],
  ])("%s", async (_, reply, outcome) => {
    const { outcome: is, sent } = await sending({
      replies: [reply],
      later: [...["z", "a b"].map(other), ...(outcome === "new" ? [twin("new")] : [])].map((one) => [1_000, one]),
      ...(String(outcome) === "hidden" && { later: [[1_000, other("hidden")]] }),
      limitMs: 30_000,
    });
    expectOutcome(is, outcome);
    expect(sent).toHaveLength(1);
  });

  test.each<[string, Partial<Case>, RegExp]>([
    [
      "what has the name is named",
      { later: [[0, twin("y", "node", { membership_id: "m2" })]] },
      /\. y has the name now .* It may still be made/,
    ],
    [
      "nothing has the name",
      {},
      /\(customTimeouts\)\. It may still be made.*`CONSORTIUM_ADOPT=true pulumi up` adopts it/,
    ],
    ["a fleet names no variable", { isFleets: true }, /adopt it by its id: adopt: "<id>"; until then/],
    [
      "there are more than it can have made",
      {
        later: [
          [0, twin("y")],
          [0, twin("z")],
        ],
      },
      /y, z appeared under this name/,
    ],
  ])("that accepts it and shows nothing, where %s", async (_, given, why) => {
    const { outcome, sent } = await sending({ replies: [{ status: 202, body: {} }], limitMs: 30_000, ...given });
    expect(outcome).toMatch(why);
    expect(sent).toHaveLength(1);
  });

  test.each<[string, unknown, Partial<Case>, string | RegExp]>([
    ["regenerates it", { password: "new" }, {}, "x1"],
    [
      "shows none again",
      {},
      {},
      /without the password, which it shows only once.* x1 was made; nobody has the password/,
    ],
    ["cannot", new Error("no"), {}, /x1 was made; nobody has the password.*sweep --id x1$/],
    [
      "cannot, and another one appears",
      new Error("no"),
      { later: [[0, twin("y", "appCred")]] },
      /x1 and y was made; nobody has the password.*sweep --id x1 y$/,
    ],
    ["is not told its id", { password: "new" }, { replies: [{ body: {} }] }, /HTTP 201 without the password[^;]*$/],
    [
      "is not told its id, but lists one",
      {},
      { replies: [{ body: {} }], later: [[0, twin("y", "appCred")]] },
      /y appeared meanwhile, and may be what it made; nobody has the password/,
    ],
  ])("without a password, where the service %s", async (_, password, given, outcome) => {
    const body = { _id: "x1", name: "a", membership_id: "m" };
    const { outcome: is } = await sending({ kind: "appCred", replies: [{ body }], password, ...given });
    expectOutcome(is, outcome);
  });
});

describe("an object that was made twice", () => {
  const second = (...items: Identified[]): Partial<Case> => ({
    replies: [lost],
    later: items.map((item): [number, Identified] => [2_600, item]),
  });

  test.each<[string, Partial<Case>, string[], RegExp]>([
    ["goes", second(twin("y"), twin("x1")), ["y"], /deletes y, a duplicate, created because a response was lost/],
    ["is none", second(twin("x1")), [], /^(?!.*(deletes|Warning))/s],
    [
      "stays if there are more of them",
      second(twin("y"), twin("z"), twin("x1")),
      [],
      /Warning: .*y, z appeared .*more than this run can have made\. Nothing was deleted/,
    ],
    [
      "stays if one of two differs",
      {
        replies: [lost, lost],
        later: [
          [6_000, twin("y", "node", { region: "r1" })],
          [6_000, twin("z", "node", { region: "r2" })],
          [6_000, twin("x1", "node", { region: "r1" })],
        ],
      },
      [],
      /Warning: .*y, z appeared .*differs from x1.* Nothing was deleted/,
    ],
    [
      "is none, where it would hold a ledger",
      { kind: "environment", replies: [lost], later: [[61_100, twin("x1", "environment")]] },
      [],
      /^(?!.*Warning)/s,
    ],
    [
      "stays if it differs",
      second(twin("y", "node", { region: "r2" }), twin("x1", "node", { region: "r1" })),
      [],
      /Warning: .*y appeared .*differs from x1.* Nothing was deleted/,
    ],
    [
      "stays if it holds a ledger",
      {
        ...second(twin("y", "environment"), twin("x1", "environment")),
        kind: "environment",
        later: [
          [61_100, twin("y", "environment")],
          [61_100, twin("x1", "environment")],
        ],
      },
      [],
      /An object with data is not deleted unasked/,
    ],
    [
      "is named if it cannot be deleted",
      { ...second(twin("y"), twin("x1")), stuck: ["y"] },
      [],
      /y, a duplicate, .* could not be deleted: .*stays.* Remove it with: .*sweep --id y/,
    ],
  ])("%s", async (_, given, deleted, line) => {
    const at = await sending({ replies: [], ...given });
    expect([at.outcome, at.deleted]).toEqual(["x1", deleted]);
    expect(at.said).toMatch(line);
  });

  test("is a credential without a password: it goes, and is called so", async () => {
    const { deleted, said } = await sending({
      kind: "appCred",
      replies: [lost],
      later: [
        [2_600, twin("y", "appCred")],
        [2_600, twin("x1", "appCred")],
      ],
    });
    expect(deleted).toEqual(["y"]);
    expect(said).toContain("deletes y, whose password was lost with the response");
  });

  test("is looked for until a list shows the newest one, or for a minute", async () => {
    const soon = await sending({ replies: [lost], later: [[4_000, twin("x1")]] });
    expect(soon.took).toBeLessThan(5_000);
    const never = await sending({ replies: [lost] });
    expect(never.took).toBeGreaterThan(60_000);
    expect(never.took).toBeLessThan(65_000);
    const other = await sending({ replies: [lost], later: [[5_000, twin("y")]] });
    expect([other.took < 6_000, other.deleted]).toEqual([true, ["y"]]);
    const short = await sending({ replies: [lost], limitMs: 20_000 });
    expect([short.outcome, short.took <= 20_500]).toEqual(["x1", true]);
  });

  test("is none if no answer was lost: nothing is looked for", async () => {
    const { took, deleted, said } = await sending({ replies: [{}], later: [[0, twin("y")]] });
    expect([took, deleted, said]).toEqual([0, [], ""]);
  });

  test("may be that of a sibling that has no answer yet: that is awaited, if there is one", async () => {
    const sibling = (_: Session, collection: Collection, clock: VirtualTime): void => {
      const answered = clock.sleep(20_000).then(() => collection.recordMade(twin("y")));
      void collection.creating(answered);
    };
    const awaited = await sending({ ...second(twin("y"), twin("x1")), replies: [lost], prepare: sibling });
    expect([awaited.deleted, awaited.took]).toEqual([[], 20_000]);
    const alone = await sending({ ...second(twin("x1")), replies: [lost], prepare: sibling });
    expect(alone.took).toBeLessThan(5_000);
  });
});

describe("where the service lists none", () => {
  const unlisted: Partial<Case> = { kind: "appCred", before: undefined };

  test("a lost answer is a warning, and it is sent again", async () => {
    const { outcome, said, sent } = await sending({ ...unlisted, replies: [lost] });
    expect([outcome, sent.length]).toEqual(["x1", 2]);
    expect(said).toContain("this service does not list credentials, so there may be one left");
  });

  test("but not where it does", async () => {
    const { said } = await sending({ kind: "appCred", replies: [lost] });
    expect(said).not.toContain("does not list");
  });
});

test("what has no id but its name is put under that", async () => {
  const { outcome, sent } = await sending({ kind: "destination", replies: [{ body: { name: "inbox" } }] });
  expect([outcome, sent.length]).toEqual(["inbox", 1]);
});

test("it is logged with its resource, if that is known, and the service's time of each attempt", async () => {
  const [named, unnamed]: unknown[][] = [[], []];
  await sending({ replies: [lost], logged: named, resource: "r" });
  expect(named).toMatchObject([
    { begun: { name: "n", resource: "r", before: [], serviceAt: began } },
    { again: expect.any(String) as string, serviceAt: expect.any(Number) as number },
    { id: "x1" },
  ]);
  expect((named![1] as { serviceAt: number }).serviceAt).toBeGreaterThan(began + 2_500);
  await sending({ replies: [], logged: unnamed, before: [twin("y", "node", { name: "o" })] });
  expect(unnamed![0]).toMatchObject({ begun: { before: ["y"] } });
  expect((unnamed![0] as { begun: Props }).begun).not.toHaveProperty("resource");
});

test("an object from before it was sent, by the service's time, is somebody else's", async () => {
  const at = (ms: number): [number, Identified][] => [
    [100, twin("y", "node", { created_at: new Date(began + ms).toISOString() })],
  ];
  const { outcome } = await sending({ replies: [lost], logged: [], later: at(-1) });
  expect(outcome).toMatch(/y has the name now \(it was created at .*, before this run asked for one\)/);
  expect((await sending({ replies: [lost], logged: [], later: at(0) })).outcome).toBe("y");
});

test("an answer that is still to be carried out shows all that distinguishes the object, or not the object", async () => {
  const zone = (body: Props) =>
    sending({ kind: "environmentZone", replies: [{ status: 202, body: { _id: "y", ...body } }], limitMs: 10_000 });
  expect((await zone({ region: "r" })).outcome).toMatch(/accepted its creation \(HTTP 202\)/);
  expect((await zone({ region: "r", cloud: "aws" })).outcome).toBe("y");
});
