import { type Identified } from "../../../provider/api";
import { type Answer } from "../../../provider/api/http";
import { type Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { type Session } from "../../../provider/core/session";
import { type VirtualTime } from "../../support/virtual-time";
import { began, type Case, expectOutcome, lost, type Reply, sending, twin } from "./sending";

/* One create: which refusals pass, and what an answer tells. A lost one: reliability/oracle, and provider/resources/lost-others */

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
    ...(
      [
        { kind: "missing", status: 404 },
        { kind: "denied", status: 403 },
        { kind: "invalid", status: 400 },
        { kind: "invalid", status: 422 },
        { kind: "conflict", status: 409, errorMessage: "quota exceeded" },
        { kind: "limited", status: 429, errorMessage: "limit of 4 nodes reached" },
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
    ["shows none again", {}, {}, /without the password, which it shows only once.* x1 was deleted again\.$/],
    ["cannot", new Error("no"), {}, /x1 was deleted again\.$/],
    [
      "cannot, nor delete it",
      new Error("no"),
      { stuck: ["x1"] },
      /x1 was made; nobody has the password.*sweep --id x1$/,
    ],
    [
      "cannot, and another one appears",
      new Error("no"),
      { later: [[0, twin("y", "appCred")]] },
      /would make another one\. x1 was deleted again\.$/,
    ],
    [
      "may have made a job, and cannot",
      new Error("no"),
      { replies: [{ status: 202, body: { _id: "x1" } }] },
      /x1 was made; nobody has the password/,
    ],
    [
      "cannot delete it, and another one appears",
      new Error("no"),
      { stuck: ["x1"], later: [[0, twin("y", "appCred")]] },
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

test("an answer that is still to be carried out shows all that distinguishes the object, or not the object", async () => {
  const zone = (body: Props) =>
    sending({ kind: "environmentZone", replies: [{ status: 202, body: { _id: "y", ...body } }], limitMs: 10_000 });
  expect((await zone({ region: "r" })).outcome).toMatch(/accepted its creation \(HTTP 202\)/);
  expect((await zone({ region: "r", cloud: "aws" })).outcome).toBe("y");
});
