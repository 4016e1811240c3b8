import { type Identified } from "../../../provider/api";
import { type LoggedCreate } from "../../../provider/core/create-log";
import { type Deleting } from "../../../provider/core/lifecycle/delete";
import { type Session } from "../../../provider/core/session";
import { type VirtualTime } from "../../support/virtual-time";
import { type Case, deletedAgo, deletingOf, expectOutcome } from "./deleting";

/* A deletion of what something is in, or others use: when it is not made. */

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
      void clock.sleep(forMs).then(session.run.deleting(clock));

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
