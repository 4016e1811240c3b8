import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { CreateLog, type Line, type LoggedCreate, readCreateLog } from "../../../provider/core/create-log";
import { type Definition, type Props } from "../../../provider/core/definition";
import { type Deleting, deleting, InUse } from "../../../provider/core/lifecycle/delete";
import { newSession, type Session, within } from "../../../provider/core/session";
import { storedKey } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One deletion: what it waits for, when the object stays, and what is an error. */

type Kind = "node" | "membership" | "consortium" | "environmentZone" | "invitation";

const inEnvironment = { consortiumId: "c", environmentId: "e" };
const states: Record<Kind, Props> = {
  node: { ...inEnvironment, membershipId: "m", name: "n" },
  membership: { consortiumId: "c", orgName: "acme" },
  consortium: { name: "trade" },
  environmentZone: { ...inEnvironment, name: "ohio", region: "r", cloud: "aws" },
  invitation: { consortiumId: "c", orgName: "acme", email: "a@b" },
};
const http = new Http(settingsFor("https://x/api/v1"));
type Refusal = Partial<ErrorFacts> & { kind: ErrorFacts["kind"] };
const error = (facts: Refusal): Error => http.error({ call: "DELETE /x", errorMessage: "no", ...facts });

/** What a list shows at a time, or how it is refused. */
type Listing = (ms: number) => Identified[] | Refusal;

interface Case {
  kind?: Kind;
  how?: Deleting;
  /** More of the state. */
  state?: Props;
  kept?: Props;
  /** What DELETE answers, one after the other; the last of them from then on. */
  answers?: unknown[];
  /** The object in its list. Default: gone with the first answer that is no refusal. */
  list?: Listing;
  /** The parent, as listed. */
  parent?: Props;
  members?: Identified[];
  limitMs?: number;
  interrupted?: LoggedCreate[];
  prepare?: (session: Session, clock: VirtualTime) => void;
}

const isRefusal = (answer: unknown): answer is Refusal =>
  typeof answer === "object" && answer !== null && "kind" in answer;

async function deletingOf(given: Case) {
  const { kind = "node", how = {}, state = {}, kept = {}, parent = {}, members = [] } = given;
  const answers = [...(given.answers ?? [{}])];
  const clock = new VirtualTime();
  const definition: Definition = definitions[kind];
  const props: Props = { ...states[kind], ...state, ...(Object.keys(kept).length > 0 && { [storedKey]: kept }) };
  const place = definition.place(props);
  const at: number[] = [];
  const said: string[] = [];
  const written: Line[] = [];
  let isGone = false;
  const listed: Listing = (ms) => given.list?.(ms) ?? (isGone ? [{ id: "z" }] : [{ id: "x" }]);
  const shown = (where: string): Identified[] | Refusal => {
    if (where === place.collection) return listed(clock.now());
    if (where === place.parent?.place.collection) return [{ id: place.parent.id, ...parent }];
    return where.endsWith("/memberships") ? members : [];
  };
  const client = {
    delete: () => {
      at.push(clock.now());
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (isRefusal(answer)) return Promise.reject(error(answer));
      isGone = true;
      return Promise.resolve(answer);
    },
    list: (where: string) => {
      const items = shown(where);
      return isRefusal(items) ? Promise.reject(error(items)) : Promise.resolve(items);
    },
    find: () => Promise.resolve(undefined),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const before = { ...readCreateLog(""), interrupted: given.interrupted ?? [] };
  const createLog = new CreateLog({
    isFleets: false,
    before,
    write: (line) => void written.push(line),
    others: () => [],
  });
  const whole = newSession(client, { clock, say: (line) => void said.push(line), createLog });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  given.prepare?.(session, clock);
  const verb = deleting(() => definition, how)(session, "x", props);
  const outcome = await verb.then(
    (why) => why ?? "gone",
    (failure: Error) => `${failure instanceof InUse ? "in use: " : ""}${failure.message}`,
  );
  const known = session.run.at(place.collection);
  return { outcome, took: clock.now(), at, said: said.join("\n"), written, session, isRemoved: known.removed.has("x") };
}

/** A text is the whole outcome. */
const expectOutcome = (is: string, outcome: string | RegExp): void =>
  typeof outcome === "string" ? expect(is).toBe(outcome) : expect(is).toMatch(outcome);

const conflict = (errorMessage = "no"): Refusal => ({ kind: "conflict", status: 409, errorMessage });
const goesWith: Deleting = { goesWith: "its environment" };
const founded: Deleting = { foundedWith: (item, parent) => item.org_id === parent.owner };
const founding: Partial<Case> = {
  kind: "membership",
  how: founded,
  parent: { owner: "o" },
  list: () => [{ id: "x", org_id: "o" }],
};
/** As if this process had deleted something a moment ago. */
const deletedAgo =
  (ms: number) =>
  (session: Session, clock: VirtualTime): void => {
    session.run.deleting(clock)();
    clock.pass(ms);
  };

const deletedAfter =
  (ms: number) =>
  (session: Session, clock: VirtualTime): void => {
    const over = session.run.deleting(clock);
    clock.pass(ms);
    over();
  };

describe("the answer to a DELETE", () => {
  test.each<[string, Partial<Case>, string | RegExp, number]>([
    ["that shows it deleted is believed", { answers: [{ state: "deleted" }], list: () => [{ id: "x" }] }, "gone", 1],
    [
      "that shows it deleting is not",
      { answers: [{ state: "deleting" }], list: (ms) => (ms < 9_000 ? [{ id: "x" }] : []) },
      "gone",
      1,
    ],
    ["that is empty is not", { answers: [undefined], list: (ms) => (ms < 9_000 ? [{ id: "x" }] : []) }, "gone", 1],
    ["that is null is not", { answers: [null] }, "gone", 1],
    [
      "that is a list says nothing",
      { answers: [[], {}], list: (ms) => (ms < 3_000 ? [{ id: "x" }] : [{ id: "z" }]) },
      "gone",
      2,
    ],
    ["that refuses the key is an error", { answers: [{ kind: "denied", status: 401 }] }, /^DELETE \/x: HTTP 401/, 1],
    ["that is unclear is an error", { answers: [{ kind: "server", status: 500 }] }, /DELETE \/x: HTTP 500/, 1],
  ])("%s", async (_, given, outcome, sent) => {
    const { outcome: is, at, isRemoved } = await deletingOf(given);
    expectOutcome(is, outcome);
    expect([at.length, isRemoved]).toEqual([sent, outcome === "gone"]);
  });

  test.each<[string, Listing, number]>([
    ["as deleted", () => [{ id: "x", state: "deleted" }], 1_000],
    ["no more", () => [{ id: "z" }], 1_000],
    ["for some time", (ms) => (ms < 20_000 ? [{ id: "x", state: "deleting" }] : []), 25_000],
    ["no more, or no list", (ms) => (ms < 9_000 ? [{ id: "x" }] : { kind: "missing" }), 40_000],
  ])("is followed by looks, while it is listed %s", async (_, list, atMost) => {
    const { outcome, took } = await deletingOf({ list });
    expect(outcome).toBe("gone");
    expect(took).toBeLessThanOrEqual(atMost);
  });

  test("is followed by looks until the limit", async () => {
    const { outcome } = await deletingOf({ list: () => [{ id: "x" }], limitMs: 30_000 });
    expect(outcome).toBe('node "n" (x): still being deleted after 30 s, which is the limit (customTimeouts).');
  });

  test("an invitation that is listed as declined is gone, whatever the refusal says", async () => {
    const declined: Partial<Case> = { kind: "invitation", list: () => [{ id: "x", state: "declined" }] };
    for (const answers of [[conflict()], [{}], [{ kind: "unsupported" }]])
      expect((await deletingOf({ ...declined, answers })).outcome).toBe("gone");
    const open = await deletingOf({
      ...declined,
      list: () => [{ id: "x", state: "sent" }],
      answers: [{ kind: "invalid" }],
    });
    expect(open.outcome).toContain("could not be deleted");
    const unlisted = await deletingOf({
      ...declined,
      list: () => ({ kind: "denied", status: 401 }),
      answers: [{ kind: "invalid" }],
    });
    expect(unlisted.outcome).toContain("could not be deleted");
  });
});

describe("an object that the service does not know", () => {
  const missing: Refusal = { kind: "missing", status: 404 };

  test.each<[string, Partial<Case>, string | RegExp, number]>([
    ["is gone if no list has it", { list: () => [{ id: "z" }] }, "gone", 1],
    ["is deleted if it was too new", { answers: [missing, {}] }, "gone", 2],
    [
      "stays if it is listed, and goes with another one",
      { how: goesWith, kind: "environmentZone" },
      /it reports it missing, but still lists it/,
      1,
    ],
  ])("%s", async (_, given, outcome, sent) => {
    const { outcome: is, at } = await deletingOf({ answers: [missing], ...given });
    expectOutcome(is, outcome);
    expect(at).toHaveLength(sent);
  });

  test("is an error if it stays listed for twenty seconds", async () => {
    const { outcome, took } = await deletingOf({ answers: [missing], prepare: (_, clock) => clock.pass(8_000) });
    expect(outcome).toMatch(/could not be deleted: the service reports it missing, but still lists it\. Delete it/);
    expect(took).toBe(28_000);
  });
});

describe("a service that cannot delete it", () => {
  const unsupported: Refusal = { kind: "unsupported", status: 405 };
  const denied: Refusal = { kind: "denied", status: 403 };

  test.each<[string, Partial<Case>, string | RegExp]>([
    ["says so", { answers: [unsupported] }, /cannot be deleted through this service .* Delete it in the console/],
    [
      "keeps it until another one goes",
      { answers: [unsupported], kind: "environmentZone", how: goesWith },
      "the service does not delete it alone (no)",
    ],
    [
      "keeps it until its consortium goes",
      { ...founding, answers: [unsupported] },
      "the service does not delete it alone (no)",
    ],
    [
      "keeps no other member",
      { ...founding, answers: [unsupported], parent: { owner: "p" } },
      /cannot be deleted through/,
    ],
    [
      "keeps none that is not listed",
      { ...founding, answers: [unsupported], list: () => [] },
      /cannot be deleted through/,
    ],
    [
      "may only forbid it",
      { answers: [denied] },
      /this API key may read it, but not delete it \(DELETE \/x: HTTP 403: no\)/,
    ],
    ["may forbid what is gone", { answers: [denied], list: () => [{ id: "z" }] }, "gone"],
    [
      "may forbid what goes with its consortium",
      { ...founding, answers: [denied] },
      "the service does not delete it alone (no)",
    ],
    [
      "may forbid it, and lack the list",
      { answers: [denied], list: () => ({ kind: "missing" }) },
      /^DELETE \/x: HTTP 403/,
    ],
    ["may forbid everything", { answers: [denied], list: () => denied }, /DELETE \/x: HTTP 403/],
  ])("%s", async (_, given, outcome) => {
    const { outcome: is, at } = await deletingOf(given);
    expectOutcome(is, outcome);
    expect(at).toHaveLength(1);
  });

  test("what stays is logged for the resource that asks for it again, and the user hears with what it goes", async () => {
    const { said, written } = await deletingOf({ answers: [unsupported], kind: "environmentZone", how: goesWith });
    expect(said).toBe(
      'Warning: zone "ohio" (x): stays for now, and is deleted its environment: the service does not delete it alone (no)'.replace(
        "deleted its",
        "deleted with its",
      ),
    );
    expect(written).toMatchObject([{ left: { id: "x", name: "r aws", path: "/consortia/c/environments/e/zones" } }]);
    const { written: none } = await deletingOf({});
    expect(none).toEqual([]);
  });
});

describe("a refusal that may pass", () => {
  const atMost = (ms: number): [number, number] => [ms, ms + 6_000];

  test.each<[string, Partial<Case>, [number, number]]>([
    ["for two minutes", { answers: [conflict()] }, [120_000, 120_000]],
    ["for less if it is no conflict", { answers: [{ kind: "invalid", status: 400 }] }, [20_000, 20_000]],
    [
      "briefly if something is in it",
      { answers: [conflict("the environment still has nodes")], prepare: (_, clock) => clock.pass(2_000) },
      [12_000, 12_000],
    ],
    [
      "from the last deletion if something is in it",
      { answers: [conflict("not empty")], how: { emptiedMs: 60_000 }, prepare: deletedAgo(0) },
      [60_000, 60_000],
    ],
    [
      "no longer than usual if the deletion was long ago",
      { answers: [conflict("not empty")], how: { emptiedMs: 60_000 }, prepare: deletedAgo(60_000) },
      [70_000, 76_000],
    ],
    ["not at all if it goes with its consortium", { ...founding, answers: [conflict()] }, [0, 0]],
    [
      "but a moment after a deletion it does",
      { ...founding, answers: [conflict()], prepare: deletedAfter(2_000) },
      [12_000, 12_000],
    ],
    ["as long if the service says why", { ...founding, answers: [conflict("please wait")] }, atMost(120_000)],
  ])("is waited for, %s", async (_, given, [from, to]) => {
    const { outcome, took, at } = await deletingOf(given);
    expect(outcome).not.toBe("gone");
    expect(took).toBeGreaterThanOrEqual(from);
    expect(took).toBeLessThanOrEqual(to);
    expect(at.length > 1).toBe(to > 0);
  });

  test.each<[string, Partial<Case>, string]>([
    [
      "is an error in the end",
      {},
      "Something that this stack does not manage, or leaves to another deletion (deletedWith), may still be in it",
    ],
    [
      "is believed of what others share",
      { how: { users: () => Promise.resolve([]) } },
      "others may share it: DELETE /x",
    ],
    [
      "is an error if it is only too early",
      { how: { users: () => Promise.resolve([]) }, answers: [conflict("please wait")] },
      "could not be deleted",
    ],
    ["leaves what was founded with its consortium", founding, "the service does not delete it alone (no)"],
    [
      "leaves what goes with a failed environment",
      { kind: "environmentZone", how: goesWith, parent: { state: "failed" } },
      "the service does not delete it alone (no)",
    ],
    [
      "leaves nothing in one that is live",
      { kind: "environmentZone", how: goesWith, parent: { state: "live" } },
      "could not be deleted",
    ],
    ["leaves no node in one that is failed", { parent: { state: "failed" } }, "could not be deleted"],
  ])("%s", async (_, given, outcome) => {
    expect((await deletingOf({ answers: [conflict()], ...given })).outcome).toContain(outcome);
  });

  test("passes", async () => {
    const { outcome, at } = await deletingOf({ answers: [conflict(), conflict(), {}] });
    expect([outcome, at.length]).toEqual(["gone", 3]);
  });

  test("counts as a deletion only once it is accepted, until the object is gone", async () => {
    const refused = await deletingOf({ answers: [conflict()] });
    expect(refused.session.run.sinceDeletionMs(refused.session.clock)).toBe(Infinity);
    const { session } = await deletingOf({});
    expect(session.run.sinceDeletionMs(session.clock)).toBe(0);
    session.clock.now = () => 50_000;
    expect(session.run.sinceDeletionMs(session.clock)).toBeGreaterThan(40_000);
  });
});

describe("what is in it", () => {
  const inside = (...ids: string[]) =>
    ids.map((id) => ({
      path: `/p/${id}`,
      collection: "/p",
      name: `n-${id}`,
      id,
      what: `node ${id}`,
      membershipIds: [undefined, `m-${id}`],
    }));
  const withNode: Deleting = {
    inside: () => Promise.resolve(inside("a", "b")),
    warning: (all) => `loses ${all.length}`,
  };
  const created = (change: Partial<LoggedCreate>): LoggedCreate => ({
    attempt: "1",
    path: "/p",
    name: "n-a",
    before: [],
    key: "k",
    at: 1,
    ...change,
  });
  const shown =
    (...paths: string[]) =>
    ({ run }: Session): void =>
      paths.forEach((path) => run.shown.add(path));

  const itsOwn = { version: 2, takesItsOwn: true, organizations: ["o"] } as const;
  const foreign: Partial<Case> = { kept: itsOwn, members: [{ id: "m-b", org_id: "z" }] };
  test.each<[string, Partial<Case>, string | RegExp]>([
    [
      "holds it, if the stack does not manage it",
      {},
      /is not deleted, because it contains objects .*: node a, node b\. .*CONSORTIUM_CONFIRM_DELETED=x/,
    ],
    ["does not if states have all of it", { prepare: shown("/p/a", "/p/b") }, "gone"],
    ["does if states have a part of it", { prepare: shown("/p/a") }, /: node b\. /],
    ["is the stack's if a killed run made it", { prepare: shown("/p/b"), interrupted: [created({ id: "a" })] }, "gone"],
    ["is if a killed run may have made it", { prepare: shown("/p/b"), interrupted: [created({})] }, "gone"],
    ["is not if that made another one", { prepare: shown("/p/b"), interrupted: [created({ id: "z" })] }, /: node a\. /],
    [
      "is not if that was called otherwise",
      { prepare: shown("/p/b"), interrupted: [created({ name: "z" })] },
      /: node a\. /,
    ],
    ["may go if the user is asked", { prepare: (session) => void (session.isAsked = true) }, "gone"],
    ["may not if the user is not", { prepare: (session) => void (session.isAsked = false) }, /: node a, node b\. /],
    ["may go if the program says so", { kept: { version: 2, takesItsOwn: true } }, "gone"],
    ["may even if its organization is unknown", { kept: itsOwn, members: [{ id: "m-a" }] }, "gone"],
    ["may not if that is another one", foreign, /: node b\. /],
    ["may then only if the user is asked", { ...foreign, prepare: (session) => void (session.isAsked = true) }, "gone"],
  ])("%s", async (_, given, outcome) => {
    const { outcome: is, at } = await deletingOf({ how: withNode, ...given });
    expectOutcome(is, outcome);
    expect(at).toHaveLength(outcome === "gone" ? 1 : 0);
  });

  test("is listed for a moment after it was deleted: it is looked at again, unless it may go", async () => {
    const how: Deleting = { inside: ({ clock }) => Promise.resolve(clock.now() < 3_000 ? inside("a") : []) };
    const { outcome, at } = await deletingOf({ how });
    expect([outcome, at]).toEqual(["gone", [3_000]]);
    const asked = await deletingOf({ how, prepare: (session) => void (session.isAsked = true) });
    expect(asked.at).toEqual([0]);
    const { took } = await deletingOf({ how: withNode });
    expect(took).toBe(5_000);
    const short = await deletingOf({ how: withNode, limitMs: 2_000 });
    expect(short.took).toBe(2_000);
  });

  test("is told before it is lost", async () => {
    const { said } = await deletingOf({ how: withNode, prepare: (session) => void (session.isAsked = true) });
    expect(said).toBe('WARNING: node "n" (x): loses 2');
    expect((await deletingOf({ how: { inside: () => Promise.resolve([]), warning: () => undefined } })).said).toBe("");
  });
});

describe("an object that several may use", () => {
  const user = { what: "the node y runs there", membershipId: "m" };
  const used = (until = Infinity, one: typeof user | { what: string } = user): Deleting => ({
    users: ({ clock }) => Promise.resolve(clock.now() < until ? [one] : []),
  });
  const ours: Partial<Case> = { kind: "environmentZone", kept: { version: 2, organizations: ["o", "p"] } };
  const member = (org_id?: string): Identified[] => [
    { id: "m0", org_id: "z" },
    { id: "m", org_id },
  ];

  test.each<[string, Partial<Case>, string | RegExp]>([
    ["is deleted if nobody does", { how: used(0) }, "gone"],
    [
      "stays if others do",
      { how: used(), members: member("z") },
      /^the node y runs there, and it belongs to another organization$/,
    ],
    [
      "is in use if the stack's own does",
      { how: used(), members: member("p") },
      /^in use: .*is not deleted: the node y runs there\. If that is this stack's/,
    ],
    ["is in use if the member shows no organization", { how: used(), members: member() }, /^in use/],
    ["is in use if the member is not listed", { how: used() }, /^in use/],
    [
      "is in use if nobody knows the member",
      { how: used(Infinity, { what: "it" }), members: member("z") },
      /^in use: .*it\. If/,
    ],
    ["is in use if nobody knows the stack's organization", { how: used(), members: member("z"), kept: {} }, /^in use/],
    [
      "stays if it was adopted, whoever uses it",
      { how: used(), kept: { version: 2, how: "shared" } },
      "it was adopted, and others may share it",
    ],
  ])("%s", async (_, given, outcome) => {
    const { outcome: is, at, said } = await deletingOf({ ...ours, ...given });
    expectOutcome(is, outcome);
    expect(at).toHaveLength(outcome === "gone" ? 1 : 0);
    expect(said.includes("is left as it is, because")).toBe(/^(the|it) /.test(is));
  });

  const deletes =
    (forMs: number) =>
    (session: Session, clock: VirtualTime): void =>
      clock.after(forMs, session.run.deleting(clock));

  test.each<[string, Partial<Case>, string, number]>([
    ["because it may be on its way out", { how: used(7_000) }, "gone", 7_000],
    ["for ten seconds", { how: used() }, "in use", 10_000],
    [
      "for ten seconds, though this run deleted something before",
      { how: used(), prepare: deletedAgo(10_000) },
      "in use",
      20_000,
    ],
    ["as long as this run deletes, and ten seconds more", { how: used(), prepare: deletes(8_000) }, "in use", 18_000],
    ["as long as that takes", { how: used(30_000), prepare: deletes(25_000) }, "gone", 30_000],
    ["no longer than the verb may take", { how: used(), prepare: deletes(8_000), limitMs: 3_000 }, "in use", 3_000],
  ])("is waited for, %s", async (_, given, outcome, ms) => {
    const { outcome: is, took, at } = await deletingOf({ ...ours, ...given });
    expect(is).toContain(outcome);
    expect(at[0] ?? took).toBe(ms);
  });
});
