import { type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { type Answer } from "../../../provider/api/http";
import { type Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { sendCreate } from "../../../provider/core/lifecycle/send-create";
import { type Session } from "../../../provider/core/session";
import { CreateLog } from "../../../provider/pulumi/stack-log";
import { type Listed, own } from "../../support/by-kind";
import { type VirtualTime } from "../../support/virtual-time";
import { http, placed, type Prepare } from "./placed";

/* One create: which refusals pass. Lost answers, and what others tell: reliability/oracle, resources/lost-others, lost-credentials. */

const began = Date.UTC(2026, 0, 1);

/** A refusal has a kind, an answer does not. */
type Reply = Partial<ErrorFacts> | (Partial<Answer> & { kind?: undefined });

interface Case {
  kind?: Listed;
  /** What is there before. */
  before?: Identified[];
  replies: Reply[];
  /** What is listed from that time on, in ms. */
  later?: { ms: number; items: Identified[] };
  /** The state of what it is in. */
  parentState?: string;
  limitMs?: number;
  /** Gets what is logged. */
  logged?: unknown[];
  /** The name of the resource. */
  resource?: string;
  prepare?: Prepare;
}

const replyOf = (kind: Listed, reply: Reply): Promise<Answer> => {
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

async function sending({ kind = "node", parentState = "live", before = [], later, logged, resource, ...given }: Case) {
  const replies = [...given.replies];
  const sent: Props[] = [];
  const logs = {
    before: { interrupted: [], isContinued: false },
    write: (line: unknown) => void logged?.push(line),
    others: () => [],
  };
  const { collection } = placed(
    { kind, ...given },
    (clock) => ({
      create: (_: string, body: Props) => {
        sent.push(body);
        return replyOf(kind, replies.shift() ?? {});
      },
      listed: () => (later && clock.now() >= later.ms ? [...before, ...later.items] : before),
      elsewhere: () => ["c", "e"].map((id) => ({ id, state: parentState })),
      serviceTime: (ms) => (logged ? began + ms : undefined),
    }),
    {
      ...(logged && { createLog: new CreateLog(logs, http.settings) }),
      resource: resource === undefined ? undefined : { key: resource, name: resource },
    },
  );
  const outcome = await sendCreate(collection, before).then(
    ({ id }) => id,
    ({ message }: Error) => message,
  );
  return { outcome, sent };
}

const lost: Reply = { kind: "lost", errorMessage: "reset" };
const twin = (id: string, kind: Listed = "node", more: Props = {}): Identified => ({ id, ...own[kind], ...more });

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
      "not if it gives none long after",
      { reply: { kind: "conflict", status: 409 }, prepare: deletedAgo(10_000) },
      false,
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
