import { type Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { type Session } from "../../../provider/core/session";
import { type VirtualTime } from "../../support/virtual-time";
import { began, type Case, lost, type Reply, sending, twin } from "./sending";

/* One create: which refusals pass. Lost answers, and what others tell: reliability/oracle, resources/lost-others, lost-credentials. */

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

  const madeAgo =
    (ms: number) =>
    (session: Session, _: Collection, clock: VirtualTime): void => {
      session.run.createdAt.set("e", clock.now());
      clock.pass(ms);
    };
  const removed = (_: Session, collection: Collection): void => collection.recordRemoved("z");
  type Early = Partial<Case> & { reply: Reply };

  test.each<[string, Early, boolean]>([
    ["if what it is in is new", { reply: { kind: "missing" }, prepare: isNew }, true],
    ["not if that is older", { reply: { kind: "missing" } }, false],
    [
      "not because the service says so",
      { reply: { kind: "conflict", status: 409, errorMessage: initializing } },
      false,
    ],
    ["not if it gives no reason", { reply: { kind: "conflict", status: 409 } }, false],
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
    ...([403, 400, 422] as const).map((status): [string, Early, boolean] => [
      `not with ${status}, whatever it says, while that starts`,
      {
        reply: { kind: status === 403 ? "denied" : "invalid", status, errorMessage: initializing },
        parentState: "initializing",
      },
      false,
    ]),
    ...(
      [
        { kind: "missing", status: 404 },
        { kind: "denied", status: 403 },
        { kind: "invalid", status: 400 },
        { kind: "invalid", status: 422 },
        { kind: "conflict", status: 409, errorMessage: "quota exceeded" },
      ] as Reply[]
    ).flatMap((reply): [string, Early, boolean][] => [
      [`if ${reply.status} comes just after this run made what it is in`, { reply, prepare: madeAgo(9_998) }, true],
      [`if ${reply.status} comes just after this run deleted something there`, { reply, prepare: removed }, true],
      [`not if ${reply.status} comes long after`, { reply, prepare: madeAgo(10_000) }, false],
    ]),
    ["not if the key is refused", { reply: { kind: "denied", status: 401 }, prepare: madeAgo(0) }, false],
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
    const early = await sending({ kind: "appCred", replies: [invalid, invalid], prepare: madeAgo(0) });
    expect([early.outcome, early.sent.map(({ name }) => name)]).toEqual(["x1", ["a", undefined, "a"]]);
    const node = await sending({ replies: [invalid] });
    expect(node.sent).toHaveLength(1);
  });
});

test.each<[string, Reply, number, number]>([
  [
    "as long as a service may act on a call that ran out of time, twice as long as that",
    { ...lost, late: true },
    22,
    1,
  ],
  ["for a moment after a reset", lost, 2, 1],
  ["no longer", lost, 4, 2],
])("the object of a lost answer is looked for %s", async (_, reply, seconds, times) => {
  const kind = "membership";
  const later = { ms: seconds * 1_000, items: [twin("y", kind)] };
  const { outcome, sent } = await sending({ kind, replies: [reply], later });
  expect([outcome, sent.length]).toEqual([times === 1 ? "y" : "x1", times]);
});

test.each([
  ["in the second in which it was sent, and cut to seconds", "2026-01-01T00:00:00Z", "y"],
  [
    "before it was sent",
    "2026-01-01T00:00:00.699Z",
    expect.stringMatching(/y has the name now \(it was created at/) as string,
  ],
])("after a lost answer, what was created %s", async (_, created_at, outcome) => {
  const later = { ms: 701, items: [twin("y", "node", { created_at })] };
  const prepare: Case["prepare"] = (_session, _collection, clock) => clock.pass(700);
  expect(await sending({ replies: [lost], later, prepare, logged: [] })).toMatchObject({ outcome, sent: [{}] });
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

test("an answer that is still to be carried out shows all that distinguishes the object, or not the object", async () => {
  const zone = (body: Props) =>
    sending({ kind: "environmentZone", replies: [{ status: 202, body: { _id: "y", ...body } }], limitMs: 10_000 });
  expect((await zone({ region: "r" })).outcome).toMatch(/accepted its creation \(HTTP 202\)/);
  expect((await zone({ region: "r", cloud: "aws" })).outcome).toBe("y");
});
