import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { CreateLog, readCreateLog } from "../../../provider/core/create-log";
import { type Definition, type Props } from "../../../provider/core/definition";
import { adopt, findExisting } from "../../../provider/core/lifecycle/adopt";
import { newSession, type Session, within } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* What a new resource finds in its place: what is taken, adopted, shared, waited for or refused, and what then changes. */

type Kind = "node" | "consortium" | "environment" | "environmentZone" | "service" | "membership" | "appCred";

const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
const base: Record<Kind, Props> = {
  node: { ...owned, name: "n" },
  appCred: { ...owned, name: "a" },
  membership: { consortiumId: "c", orgName: "acme" },
  consortium: { name: "trade" },
  environment: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" },
  environmentZone: { consortiumId: "c", environmentId: "e", name: "ohio", region: "r", cloud: "aws", type: "kaleido" },
  service: { ...owned, service: "ipfs", name: "files" },
};
/** The object as the service shows it. */
const own: Record<Kind, Props> = {
  node: { membership_id: "m", name: "n" },
  appCred: { membership_id: "m", name: "a" },
  membership: { org_name: "acme" },
  consortium: { name: "trade" },
  environment: { name: "e", provider: "quorum", consensus_type: "raft" },
  environmentZone: { name: "ohio", region: "r", cloud: "aws", type: "kaleido" },
  service: { membership_id: "m", name: "files", service: "ipfs", service_type: "member" },
};
const http = new Http(settingsFor("https://x/api/v1"));
const me = { key: "me", name: "me" };
const other = { key: "other", name: "other" };

interface Case {
  kind?: Kind;
  inputs?: Props;
  /** What is there from a time on, and until when. */
  items?: [item: Identified, fromMs?: number, untilMs?: number][];
  /** Objects that are found by their id alone. */
  byId?: Identified[];
  /** undefined: the service lists none. */
  isListed?: boolean;
  adoptAll?: boolean;
  isFleets?: boolean;
  limitMs?: number;
  owner?: string;
  /** The organization of the key. */
  organization?: string;
  members?: Identified[];
  /** What PATCH answers. */
  answer?: Props;
  prepare?: (session: Session, collection: Collection) => void;
}

const item = (id: string, kind: Kind = "node", more: Props = {}): Identified => ({ id, ...own[kind], ...more });

function place(given: Case) {
  const { kind = "node", inputs = {}, items = [], byId = [], members = [], isListed = true } = given;
  const clock = new VirtualTime();
  const said: string[] = [];
  const sent: Props[] = [];
  const definition: Definition = definitions[kind];
  const args = { ...base[kind], ...inputs };
  const at = definition.place(args);
  const listed = (): Identified[] =>
    items.filter(([, from = 0, until = Infinity]) => from <= clock.now() && clock.now() < until).map(([one]) => one);
  const client = {
    list: (where: string) => {
      if (where === at.collection) return Promise.resolve(listed());
      if (where.endsWith("/memberships")) return Promise.resolve(members);
      return Promise.resolve([where === "/consortia" ? { id: "c", owner: given.owner } : { id: "e" }]);
    },
    find: (where: string) => Promise.resolve(byId.find(({ id }) => where.endsWith(`/${id}`))),
    patch: (_: string, body: Props) => {
      sent.push(body);
      return Promise.resolve(given.answer ?? { id: items[0]![0].id, _revision: 2, ...body });
    },
    organizationOfKey: () => Promise.resolve(given.organization),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const logs = { isFleets: true, before: readCreateLog(""), write: () => undefined, others: () => [] };
  const whole = newSession(client, {
    clock,
    say: (line) => void said.push(line),
    resource: me,
    adoptAll: given.adoptAll ?? false,
    ...(given.isFleets && { createLog: new CreateLog(logs) }),
  });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  const collection = Collection.of(session, definition, args);
  given.prepare?.(session, collection);
  return { collection, clock, said, sent, siblings: isListed ? listed() : undefined };
}

/** The id of what is found and how it comes to the stack; "new"; or an error. */
async function found(given: Case): Promise<{ is: string; took: number }> {
  const { collection, siblings, clock } = place(given);
  const is = await findExisting(collection, siblings).then(
    (one) => (one ? `${one.item.id} ${one.how ?? "own"}` : "new"),
    ({ message }: Error) => message,
  );
  return { is, took: clock.now() };
}

/** Another resource of the program has the object, and asks for these inputs. */
const holds =
  (id: string, inputs: Props, replaced = false) =>
  ({ run }: Session, collection: Collection): void => {
    const { definition, inputs: mine } = collection;
    const all = { ...mine, ...inputs };
    run.leases.hold(other, definition, { path: collection.pathOf(id), id }, { ...mine }, all, replaced);
    if (replaced) run.leases.giveUp(collection.pathOf(id));
  };
const ofStack =
  (id: string) =>
  ({ run }: Session, collection: Collection): void =>
    void run.shown.add(collection.pathOf(id));
const released =
  (id: string) =>
  ({ run }: Session, collection: Collection): void =>
    run.leases.release(collection.pathOf(id), {});
const all =
  (...some: NonNullable<Case["prepare"]>[]): NonNullable<Case["prepare"]> =>
  (session, collection) =>
    some.forEach((one) => one(session, collection));
const rewrites = ({ run }: Session): void => void (run.rewritesNames = true);
const newParent = ({ run }: Session, { place: { parent } }: Collection): void => void run.createdAt.set(parent!.id, 0);

describe("a name", () => {
  test.each<[string, Case, string | RegExp, number]>([
    ["that nothing has is free", { items: [[item("x", "node", { name: "o" })]] }, "new", 0],
    ["is free where siblings have none", { kind: "appCred", items: [[item("x", "appCred")]] }, "new", 0],
    ["is free where the service lists none", { isListed: false, items: [[item("x")]], adoptAll: true }, "new", 0],
    [
      "that one has is taken, after another look",
      { items: [[item("x")]] },
      /^node "n": the name is already taken by x\. Set adopt: true \(or adopt: "x"\)/,
      1_000,
    ],
    ["is free if that was deleted just now", { items: [[item("x"), 0, 500]] }, "new", 1_000],
    [
      "that is being deleted is waited for",
      { items: [[item("x", "node", { state: "deleting" }), 0, 30_000]] },
      "new",
      30_000,
    ],
    [
      "is not waited for longer than a minute",
      { items: [[item("x", "node", { state: "deleting" })]] },
      /x has this name and is still being deleted\. Run the command again/,
      60_000,
    ],
    [
      "nor than the verb may take",
      { items: [[item("x", "node", { state: "deleting" })]], limitMs: 5_000 },
      /x has this name and is still being deleted/,
      5_000,
    ],
    [
      "that another resource gives up is waited for",
      { items: [[item("x"), 0, 20_000]], prepare: holds("x", { name: "o" }) },
      "new",
      20_000,
    ],
    [
      "that it does not give up in time is an error",
      { items: [[item("x")]], prepare: holds("x", { name: "o" }) },
      /x still has this name\. "other" of this program gives it up in this run, but only after/,
      60_000,
    ],
    [
      "that another resource keeps is taken",
      { items: [[item("x")]], prepare: holds("x", {}) },
      /the name is already taken: the node x is "other" of this program already/,
      1_000,
    ],
    [
      "of the stack's own is taken",
      { items: [[item("x")]], prepare: ofStack("x") },
      /taken by x, which is this stack's own\./,
      1_000,
    ],
    [
      "that one of the stack's own has is, too",
      { items: [[item("x")], [item("y")]], prepare: ofStack("y") },
      /taken by x, y, which is this stack's own\./,
      1_000,
    ],
    [
      "in a new place is of what the service made with that",
      { items: [[item("x")]], prepare: newParent },
      /taken by x, which the service created together with its parent\./,
      1_000,
    ],
    [
      "in a new place is not of what this run made there",
      { items: [[item("x")]], prepare: all(newParent, (_, collection) => collection.recordMade(item("x"))) },
      /taken by x\. Set adopt: true/,
      1_000,
    ],
    [
      "of something shared is, whoever made it",
      { kind: "environmentZone", items: [[item("x", "environmentZone")]] },
      /there is one already, which others may share: x\. To use it as it is, set adopt: true/,
      1_000,
    ],
    [
      "is taken in a fleet, too, where no run adopts all",
      { items: [[item("x")]], isFleets: true },
      /^(?!.*CONSORTIUM_ADOPT).*taken by x/,
      1_000,
    ],
    [
      "is taken, and a run may adopt all after an interrupted one",
      { items: [[item("x")]] },
      /After an interrupted run: `CONSORTIUM_ADOPT=true pulumi up`/,
      1_000,
    ],
  ])("%s", async (_, given, outcome, ms) => {
    const { is, took } = await found(given);
    expect(is).toMatch(outcome);
    expect(took).toBe(ms);
  });

  test.each<[string, Case, string | RegExp]>([
    [
      "true takes the one that has it",
      { inputs: { adopt: true }, items: [[item("z", "node", { name: "z" })], [item("x")]] },
      "x adopted",
    ],
    ["so does a run that adopts all", { adoptAll: true, items: [[item("x")]] }, "x adopted"],
    ["so does one whose object was released", { items: [[item("x")]], prepare: released("x") }, "x adopted"],
    [
      "several are too many",
      { inputs: { adopt: true }, items: [[item("x")], [item("y")]] },
      /several have this name \(x, y\)\. Specify which one to adopt: adopt: "x"/,
    ],
    [
      "several are too many, though one of them was released",
      { items: [[item("x")], [item("y")]], prepare: released("x") },
      /several have this name \(x, y\)/,
    ],
    [
      "what another resource has is not taken",
      { inputs: { adopt: true }, items: [[item("x")]], prepare: holds("x", {}) },
      /the node x is "other" of this program already/,
    ],
  ])("with adopt: %s", async (_, given, outcome) => {
    expect((await found(given)).is).toMatch(outcome);
  });

  test("that is to be adopted is waited for where a second ledger would stay, and not in what is new", async () => {
    const late: Case = { kind: "environment", inputs: { adopt: true }, items: [[item("x", "environment"), 3_000]] };
    expect(await found(late)).toEqual({ is: "x adopted", took: 3_000 });
    expect(await found({ ...late, prepare: newParent })).toEqual({ is: "new", took: 0 });
    expect(await found({ ...late, inputs: {} })).toEqual({ is: "new", took: 0 });
    expect(await found({ ...late, kind: "node", items: [[item("x"), 3_000]] })).toEqual({ is: "new", took: 0 });
    expect(await found({ ...late, items: [[item("y", "environment", { name: "z" })]] })).toEqual({
      is: "new",
      took: 0,
    });
    const top: Case = { kind: "consortium", inputs: { adopt: true }, items: [[item("x", "consortium"), 3_000]] };
    expect(await found(top)).toEqual({ is: "x adopted", took: 3_000 });
    expect(await found({ ...top, isListed: false })).toEqual({ is: "new", took: 0 });
  });
});

describe("an id", () => {
  const adopted = { inputs: { adopt: "x" } };
  test.each<[string, Case, string | RegExp]>([
    [
      "of what is listed is adopted",
      { ...adopted, items: [[item("y")], [item("x", "node", { name: "z" })]] },
      "x adopted",
    ],
    ["of what is only found by it is, too", { ...adopted, items: [[item("y")]], byId: [item("x")] }, "x adopted"],
    [
      "of nothing is an error",
      { ...adopted, items: [[item("y")]] },
      /there is no node x under \/consortia\/c\/environments\/e\/nodes to adopt\. Check the id, or use adopt: true/,
    ],
    [
      "of what is deleted is an error",
      { ...adopted, byId: [item("x", "node", { state: "deleted" })] },
      /there is no node x under/,
    ],
    [
      "of what is being deleted is an error",
      { ...adopted, items: [[item("x", "node", { state: "deleting" })]] },
      /x is being deleted\. Wait/,
    ],
  ])("%s", async (_, given, outcome) => {
    expect((await found(given)).is).toMatch(outcome);
  });
});

describe("a similar name", () => {
  const names = (inputs: string, shown: string): Partial<Case> => ({
    inputs: { name: inputs },
    items: [[item("x", "node", { name: shown })]],
  });
  const long = "a".repeat(30);

  test.each<[string, Case, string | RegExp, number]>([
    ["is another one where all services write it so", names("n-1", "N 1"), "new", 0],
    [
      "may be the one that is meant where a service may write it so",
      names("N 1", "n-1"),
      /no exact match, but x is called "n-1", which is similar/,
      1_000,
    ],
    [
      "may be it where one is to be adopted",
      { ...names("n-1", "N1"), adoptAll: true },
      /set adopt: "x"; otherwise choose/,
      1_000,
    ],
    [
      "is it where the service is known to do that",
      { ...names("n-1", "N1"), prepare: rewrites },
      /already taken by x/,
      3_000,
    ],
    ["is it, and adopted", { ...names("n-1", "N1"), adoptAll: true, prepare: rewrites }, "x adopted", 1_000],
    ["is not if it differs more", { ...names("N 1", "n-2"), prepare: rewrites }, "new", 0],
    [
      "is not that of what this run made",
      { ...names("N 1", "n-1"), prepare: (_, collection) => collection.recordMade(item("x")) },
      "new",
      1_000,
    ],
    [
      "is not that of another resource's object",
      { ...names("N 1", "n-1"), prepare: holds("x", { name: "n-1" }) },
      "new",
      1_000,
    ],
    ["may be its beginning if that is long", names(`${long}B`, long), /no exact match, but x is called/, 1_000],
    ["is not its beginning if that is short", names(`${long.slice(1)}B`, long.slice(1)), "new", 0],
    [
      "cut off is none where the service is only known to write it otherwise",
      { ...names(`${long}b`, long), prepare: rewrites },
      /no exact match/,
      1_000,
    ],
    [
      "counts for nothing beside the exact one",
      { inputs: { name: "N 1" }, items: [[item("x", "node", { name: "n-1" })], [item("y", "node", { name: "N 1" })]] },
      /already taken by y\./,
      1_000,
    ],
  ])("%s", async (_, given, outcome, ms) => {
    const { is, took } = await found(given);
    expect(is).toMatch(outcome);
    expect(took).toBe(ms);
  });

  test("of what its resource replaces is free if others name it by its id, unless that was released", async () => {
    const zone: Case = { kind: "environmentZone", items: [[item("x", "environmentZone")]] };
    expect((await found({ ...zone, prepare: holds("x", {}, true) })).is).toBe("new");
    expect((await found({ ...zone, prepare: all(holds("x", {}, true), released("x")) })).is).toBe("x shared");
    const node = await found({ items: [[item("x")]], prepare: holds("x", {}, true) });
    expect(node.is).toContain("already taken by x");
    const rewritten: Case = {
      kind: "service",
      inputs: { name: "F 1" },
      items: [[item("x", "service", { name: "f-1" })]],
    };
    expect((await found({ ...rewritten, prepare: holds("x", {}, true) })).is).toBe("new");
  });
});

describe("how it comes to the stack", () => {
  const theirs: Case = { kind: "membership", owner: "p", organization: "o" };
  const members = (...organizations: (string | undefined)[]): Identified[] =>
    organizations.map((org_id, at) => ({ id: `m${at}`, org_id }));
  const utility = { service: "idregistry", adopt: true };
  const registry = (more: Props = {}): Case => ({
    kind: "service",
    inputs: { ...utility, name: "ids" },
    items: [[item("x", "service", { name: "ids", service: "idregistry", service_type: "utility", ...more })]],
  });

  test.each<[string, Case, string]>([
    ["again, if it has it already", { inputs: { adopt: "x" }, items: [[item("x")]], prepare: ofStack("x") }, "x own"],
    [
      "adopted, if the key's organization owns the consortium",
      { inputs: { adopt: true }, items: [[item("x")]], owner: "o", organization: "o" },
      "x adopted",
    ],
    [
      "adopted, if nobody knows the organization",
      { inputs: { adopt: true }, items: [[item("x")]], owner: "p" },
      "x adopted",
    ],
    [
      "adopted, if nobody knows the owner",
      { inputs: { adopt: true }, items: [[item("x")]], organization: "o" },
      "x adopted",
    ],
    [
      "shared, if it is another member's",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true },
        items: [[item("x", "node", { membership_id: "m0" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is the own member's",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true, membershipId: "m1" },
        items: [[item("x", "node", { membership_id: "m1" })]],
        members: members("p", "o"),
      },
      "x adopted",
    ],
    [
      "shared, if it is the consortium of others",
      {
        kind: "consortium",
        inputs: { adopt: true },
        items: [[item("x", "consortium", { owner: "p" })]],
        organization: "o",
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is an own consortium",
      {
        kind: "consortium",
        inputs: { adopt: true },
        items: [[item("x", "consortium", { owner: "o" })]],
        organization: "o",
      },
      "x adopted",
    ],
    [
      "shared, if it is another member's, though a run recovers, and all agrees",
      {
        ...theirs,
        kind: "node",
        adoptAll: true,
        inputs: { membershipId: "m0" },
        items: [[item("x", "node", { membership_id: "m0" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "shared, if nobody knows whose it is",
      {
        ...theirs,
        kind: "node",
        inputs: { adopt: true },
        items: [[item("x", "node", { membership_id: "m9" })]],
        members: members("p", "o"),
      },
      "x shared",
    ],
    [
      "adopted, if it is the own membership",
      {
        ...theirs,
        inputs: { adopt: true },
        items: [[item("x", "membership", { org_id: "o" })]],
        members: members("p", "o"),
      },
      "x adopted",
    ],
    ["shared, if all members may use it", registry(), "x shared"],
    [
      "its own, if a run recovers it, and all agrees",
      { ...registry(), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x own",
    ],
    [
      "shared, if a run recovers, and something differs",
      { ...registry({ membership_id: "m2" }), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x shared",
    ],
    [
      "shared, if a run recovers what shows no name",
      { ...registry({ name: undefined }), adoptAll: true, inputs: { service: "idregistry", name: "ids" } },
      "x shared",
    ],
    ["shared, if the program adopts it in such a run", { ...registry(), adoptAll: true }, "x shared"],
  ])("%s", async (_, given, is) => {
    expect((await found(given)).is).toBe(is);
  });
});

describe("what changes with it", () => {
  async function adopting(given: Case, how?: "adopted" | "shared", isContinued?: true) {
    const { collection, said, sent } = place(given);
    const [one] = given.items![0]!;
    const outcome = await adopt(collection, { item: one, how, isContinued }).catch(({ message }: Error) => message);
    return { outcome, said: said.join("\n"), sent };
  }
  const nothing = { shown: {}, open: [] };

  test.each<[string, Case, Props, string]>([
    ["nothing that is as it should be", { items: [[item("x")]] }, {}, "adopts x (exists already; nothing is created)"],
    ["the name", { items: [[item("x", "node", { name: "z" })]] }, { name: "n" }, "; changes name)"],
    [
      "a description that is not shown",
      { kind: "consortium", inputs: { description: "d" }, items: [[item("x", "consortium")]] },
      { description: "d" },
      "; changes description)",
    ],
    [
      "no description that is not given",
      { kind: "consortium", items: [[item("x", "consortium", { description: "d" })]] },
      {},
      "nothing is created)",
    ],
    [
      "no empty one either",
      { kind: "consortium", inputs: { description: "" }, items: [[item("x", "consortium")]] },
      {},
      "nothing is created)",
    ],
    [
      "no size that the service is to choose",
      { inputs: { size: "" }, items: [[item("x", "node", { size: "large" })]] },
      {},
      "nothing is created)",
    ],
    [
      "no role that it does not show",
      { inputs: { role: "validator" }, items: [[item("x")]] },
      {},
      "nothing is created)",
    ],
    [
      "no name that the service writes so",
      { inputs: { name: "N 1" }, items: [[item("x", "node", { name: "n-1" })]], prepare: rewrites },
      {},
      "nothing is created)",
    ],
    [
      "a name that no service writes so",
      { inputs: { name: "N 1" }, items: [[item("x", "node", { name: "n-1" })]] },
      { name: "N 1" },
      "; changes name)",
    ],
    [
      "no zone in another spelling",
      { kind: "environmentZone", inputs: { cloud: "AWS" }, items: [[item("x", "environmentZone")]] },
      {},
      "nothing is created)",
    ],
    [
      "no role in another spelling",
      { inputs: { role: "Validator" }, items: [[item("x", "node", { role: "validator" })]] },
      {},
      "nothing is created)",
    ],
    [
      "a description in another spelling, whatever the service does with names",
      {
        kind: "consortium",
        inputs: { description: "Mine" },
        items: [[item("x", "consortium", { description: "mine" })]],
        prepare: rewrites,
      },
      { description: "Mine" },
      "; changes description)",
    ],
    [
      "no time-outs",
      { inputs: { customTimeouts: { create: 1 }, adopt: true }, items: [[item("x")]] },
      {},
      "nothing is created)",
    ],
  ])("%s", async (_, given, change, line) => {
    const { outcome, sent, said } = await adopting(given, "adopted");
    expect(sent).toEqual(Object.keys(change).length > 0 ? [change] : []);
    if (sent.length === 0) expect(outcome).toEqual(nothing);
    expect(said).toContain(line);
  });

  test.each<[string, Case, "adopted" | "shared", RegExp]>([
    [
      "another member",
      { items: [[item("x", "node", { membership_id: "m2" })]] },
      "adopted",
      /x cannot be adopted, because membershipId is m2, not m\. Change the program/,
    ],
    [
      "another region",
      { kind: "environmentZone", items: [[item("x", "environmentZone", { region: "r2" })]] },
      "shared",
      /because region is r2, not r/,
    ],
    [
      "another type, unless others share it",
      { kind: "environmentZone", items: [[item("x", "environmentZone", { type: "other" })]] },
      "adopted",
      /because type is other, not kaleido/,
    ],
  ])("it is refused for %s", async (_, given, how, why) => {
    const { outcome, sent } = await adopting(given, how);
    expect(outcome).toMatch(why);
    expect(sent).toEqual([]);
  });

  test("what others share stays as it is, and what differs is named", async () => {
    const zone = item("x", "environmentZone", { name: "theirs", type: "other" });
    const { outcome, said, sent } = await adopting({ kind: "environmentZone", items: [[zone]] }, "shared");
    expect([outcome, sent]).toEqual([nothing, []]);
    expect(said).toContain('others share it, so it stays as it is: name is "theirs", type is "other")');
    const same = await adopting({ kind: "environmentZone", items: [[item("x", "environmentZone")]] }, "shared");
    expect(same.said).toContain("nothing is created; others share it)");
    const bridged: Case = {
      kind: "environmentZone",
      inputs: { bridgeId: "b" },
      items: [[item("x", "environmentZone")]],
    };
    expect((await adopting(bridged, "shared")).said).toBe(same.said);
    const owned = await adopting({ items: [[item("x", "node", { name: "z" })]] }, "adopted");
    expect(owned.said).not.toContain("stays as it is");
  });

  test("what a killed run made is continued with", async () => {
    const { said } = await adopting({ items: [[item("x", "node", { name: "z" })]] }, undefined, true);
    expect(said).toContain("goes on with x, which an earlier run of this stack created; changes name");
  });

  test("what takes effect after a restart is to be restarted, if the service has changed it", async () => {
    const larger = (answer: Props): Case => ({
      inputs: { size: "large" },
      items: [[item("x", "node", { size: "small" })]],
      answer: { id: "x", _revision: 2, name: "n", membership_id: "m", ...answer },
    });
    const made = await adopting(larger({ size: "large" }), "adopted");
    expect(made.outcome).toMatchObject({ shown: { size: "large" }, open: ["restart"] });
    const ignored = await adopting(larger({ size: "small" }), "adopted");
    expect(ignored.outcome).toMatchObject({ open: [] });
    expect(ignored.said).toContain("accepted another size, but still shows the old one");
    const renamed = await adopting({ items: [[item("x", "node", { name: "z" })]] }, "adopted");
    expect(renamed.outcome).toMatchObject({ shown: { name: "n" }, open: [] });
  });
});
