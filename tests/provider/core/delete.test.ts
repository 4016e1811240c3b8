import { type Deleting } from "../../../provider/core/lifecycle/delete";
import { type Session } from "../../../provider/core/session";
import { type VirtualTime } from "../../support/virtual-time";
import { type Case, deletedAgo, deletingOf, expectOutcome, type Listing, type Refusal } from "./deleting";

/* One deletion: what its answer means, what it waits for, and what is an error. */

const conflict = (errorMessage = "no"): Refusal => ({ kind: "conflict", status: 409, errorMessage });
const goesWith: Deleting = { goesWith: "its environment" };
const founded: Deleting = { foundedWith: (item, parent) => item.org_id === parent.owner };
const founding: Partial<Case> = {
  kind: "membership",
  how: founded,
  parent: { owner: "o" },
  list: () => [{ id: "x", org_id: "o" }],
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
