import { ApiError, type Identified } from "../../../provider/api";
import { type Collection } from "../../../provider/core/collection";
import { type LoggedCreate } from "../../../provider/core/create-log";
import { type Props } from "../../../provider/core/definition";
import { findExisting } from "../../../provider/core/lifecycle/adopt";
import { discardKilled, interruptedFor } from "../../../provider/core/lifecycle/recognize";
import { withKey } from "../../../provider/core/organization";
import { type Session } from "../../../provider/core/session";
import { CreateLog, type Line } from "../../../provider/pulumi/stack-log";
import { settingsFor } from "../../support/peer";
import { temporary, writeIn } from "../../fleet/made";
import { placed, type Prepare } from "./placed";

/* What a killed run may have created: whose it is, and when it is looked for. */

const places = { node: "/consortia/c/environments/e/nodes", appCred: "/consortia/c/environments/e/appcreds" };

const here = settingsFor("https://x/api/v1", { requestTimeout: 30 });
const keyOf = (settings: typeof here): string => withKey({ keys: [] }, settings).keys[0]!;
const at = (ms: number): string => new Date(ms).toISOString();
const began = Date.UTC(2026, 0, 1);
const now = Date.now();
beforeEach(() => void jest.spyOn(Date, "now").mockReturnValue(now));
afterEach(() => jest.restoreAllMocks());

const create = (attempt: string, change: Partial<LoggedCreate> = {}): LoggedCreate => ({
  attempt,
  path: places.node,
  name: "n",
  before: [],
  key: keyOf(here),
  at: now,
  serviceAt: began,
  ...change,
});
const node = (id: string, change: Props = {}): Identified => ({
  id,
  name: "n",
  membership_id: "m",
  created_at: at(began + 1_000),
  ...change,
});

interface Case {
  kind?: "node" | "appCred";
  inputs?: Props;
  interrupted: LoggedCreate[];
  items?: [item: Identified, fromMs?: number][];
  /** Lines of the logs of other stacks. */
  others?: Record<string, Line[]>;
  adoptAll?: boolean;
  limitMs?: number;
  stuck?: boolean;
  prepare?: Prepare;
}

function killed({ kind = "node", inputs, interrupted, items = [], others = {}, ...given }: Case) {
  const written: Line[] = [];
  const deleted: string[] = [];
  const folder = temporary();
  const logs = {
    before: { interrupted, isContinued: true },
    write: (line: Line) => void written.push(line),
    others: () =>
      Object.entries(others).map(([stack, lines]) => ({
        stack,
        file: writeIn(folder, stack, lines.map((line) => JSON.stringify(line)).join("\n")),
      })),
  };
  const placing = placed(
    { kind, inputs, limitMs: given.limitMs, prepare: given.prepare },
    (clock) => ({
      listed: () => items.filter(([, from = 0]) => from <= clock.now()).map(([item]) => item),
      delete: (where: string) => {
        if (given.stuck === true)
          return Promise.reject(new ApiError({ kind: "conflict", call: "DELETE /x", errorMessage: "no" }));
        deleted.push(where.split("/").at(-1)!);
        return Promise.resolve({});
      },
      http: { settings: here, serviceTime: () => undefined },
    }),
    {
      createLog: new CreateLog(logs, here),
      adoptAll: given.adoptAll ?? false,
      resource: { key: "r", name: "r" },
    },
  );
  return { ...placing, written, deleted };
}

async function continuing(given: Case) {
  const { collection, clock, said, written } = killed(given);
  const is = await findExisting(collection, [], interruptedFor(collection)).then(
    (found) => found?.item.id ?? "none",
    ({ message }: Error) => message,
  );
  return { is, took: clock.now(), said, written };
}

/** A text is the id, or none. */
const expectFound = (found: string, is: string | RegExp): void =>
  typeof is === "string" ? expect(found).toBe(is) : expect(found).toMatch(is);

const ofStack = (session: Session, collection: Collection): void => void session.run.shown.add(collection.pathOf("x"));
const made = (_: Session, collection: Collection): void => collection.recordMade(node("x"));
const elsewhere = keyOf(settingsFor("https://y/api/v1"));
const another = keyOf(settingsFor("https://x/api/v1", { apiKey: "another-key" }));

describe("an object whose id a killed run has logged", () => {
  const logged = [create("1", { id: "x" })];
  const there: Case = { interrupted: logged, items: [[node("x", { name: "renamed", created_at: undefined })]] };

  test.each<[string, Case, string]>([
    [
      "is not if that run was at another service",
      { ...there, interrupted: [create("1", { id: "x", key: elsewhere })] },
      "none",
    ],
    ["is not if it is to be adopted", { ...there, inputs: { adopt: true } }, "none"],
    ["is not if all is", { ...there, adoptAll: true }, "none"],
    ["is not if it is gone", { ...there, items: [[node("z")]] }, "none"],
    ["is not if it is deleted", { ...there, items: [[node("x", { state: "deleted" })]] }, "none"],
    ["is not if this run has made it", { ...there, prepare: made }, "none"],
    [
      "is that of an earlier run if the last one's is gone",
      { interrupted: [create("1", { id: "x" }), create("2", { id: "y" })], items: [[node("x")]] },
      "x",
    ],
    [
      "is not for what has no name",
      { ...there, kind: "appCred", interrupted: [create("1", { id: "x", path: places.appCred, name: undefined })] },
      "none",
    ],
  ])("%s", async (_, given, is) => {
    expect((await continuing(given)).is).toBe(is);
  });

  test("is logged as this run's", async () => {
    const { written } = await continuing(there);
    expect(written).toMatchObject([{ begun: { path: places.node, id: "x" } }, { id: "x" }]);
  });
});

describe("a create without an answer", () => {
  const hourAgo = now - 3_600_000;

  test.each<[string, Partial<LoggedCreate>, Props, string | RegExp]>([
    [
      "after that",
      {},
      { created_at: at(began + 40_001) },
      /x was created at .*, after the killed run can have asked for it/,
    ],
    [
      "within that of the last time that it was sent",
      { last: { at: now, serviceAt: began + 60_000 } },
      { created_at: at(began + 100_000) },
      "x",
    ],
    ["before it was sent", {}, { created_at: at(began - 1) }, /before this run asked for one/],
    [
      "at a time that nobody tells, long ago",
      { at: hourAgo },
      { created_at: undefined },
      /does not tell when x was created/,
    ],
    ["by a clock that nobody told, a moment ago", { serviceAt: undefined }, {}, "x"],
  ])("is what was made %s (%j)", async (_, logged, shown, is) => {
    const { is: found } = await continuing({
      interrupted: [create("1", logged)],
      items: [[node("x", shown)]],
    });
    expectFound(found, is);
  });

  test.each<[string, Case, string, [number, number]]>([
    [
      "as long as the last of several may take",
      { interrupted: [create("1"), create("2", { at: hourAgo })] },
      "none",
      [29_000, 32_000],
    ],
    ["not at all after that", { interrupted: [create("1", { at: hourAgo })] }, "none", [0, 0]],
    ["until it appears", { interrupted: [create("1")], items: [[node("x"), 9_000]] }, "x", [10_000, 10_000]],
    ["no longer than the verb may", { interrupted: [create("1")], limitMs: 10_000 }, "none", [8_000, 8_000]],
  ])("is looked for, %s", async (_, given, is, [from, to]) => {
    const { is: found, took, said } = await continuing(given);
    expect(found).toBe(is);
    expect(took).toBeGreaterThanOrEqual(from);
    expect(took).toBeLessThanOrEqual(to);
    expect(said).toHaveLength(to > 0 ? 1 : 0);
  });
});

describe("what may be a killed run's", () => {
  const rival = (change: Partial<LoggedCreate>): Case["others"] => ({ prod: [{ begun: create("9", change) }] });
  test.each<[string, Partial<Case>, string | RegExp]>([
    ["is left, if that run can have made fewer", { items: [[node("x")], [node("y")]] }, /there are more than that run/],
    [
      "is left, if another stack made it",
      { others: rival({ id: "x" }) },
      /the stack prod created one of this name, too/,
    ],
    ["is left, if another stack was making one", { others: rival({}) }, /the stack prod created one of this name, too/],
    ["is taken, if that was of another name", { others: rival({ name: "m" }) }, "x"],
    ["is taken, if that was of another organization", { others: rival({ key: elsewhere }) }, "x"],
    [
      "is left, if it differs",
      { items: [[node("x", { zone_id: "z" })]], inputs: { zoneId: "y" } },
      /of x, its zoneId is/,
    ],
  ])("%s", async (_, given, is) => {
    expectFound((await continuing({ interrupted: [create("1")], items: [[node("x")]], ...given })).is, is);
  });
});

describe("a credential of a killed run, whose password was lost with it", () => {
  const logged = (attempt: string, change: Partial<LoggedCreate> = {}): LoggedCreate =>
    create(attempt, { path: places.appCred, name: undefined, resource: "r", ...change });
  const credential = (id: string, change: Props = {}): Identified => node(id, { name: "a", ...change });
  async function discarding(given: Partial<Case>, siblings: Identified[] = []) {
    const { collection, deleted, said } = killed({ kind: "appCred", interrupted: [], ...given });
    await discardKilled(collection, interruptedFor(collection), siblings);
    return { deleted, said: said.join("\n") };
  }

  test.each<[string, Partial<Case>, Identified[], string[]]>([
    ["is deleted by its id", { interrupted: [logged("1", { id: "x" })] }, [credential("y"), credential("x")], ["x"]],
    ["is not if a state has it", { interrupted: [logged("1", { id: "x" })], prepare: ofStack }, [credential("x")], []],
    [
      "is by what it shows, if nobody saw the answer",
      { interrupted: [logged("1")], items: [[credential("x")]] },
      [],
      ["x"],
    ],
    [
      "is, and so is that of the run before, which the second one saw",
      { interrupted: [logged("1"), logged("2", { before: ["x"] })], items: [[credential("x")], [credential("y")]] },
      [],
      ["x", "y"],
    ],
    [
      "is, and so are those of the runs before and after one that saw its answer",
      {
        interrupted: [logged("1"), logged("2", { id: "y", before: ["x"] }), logged("3", { before: ["x", "y"] })],
        items: [[credential("x")], [credential("y")], [credential("z")]],
      },
      [credential("x"), credential("y"), credential("z")],
      ["y", "x", "z"],
    ],
    [
      "is not if one was there before the first run, nor if it came too long after that for the first, and before the second",
      {
        interrupted: [
          logged("1", { before: ["w"] }),
          logged("2", { before: ["w", "x"], serviceAt: began + 3_600_000, at: now + 3_600_000 }),
        ],
        items: [[credential("w")], [credential("x", { created_at: at(began + 1_800_000) })]],
      },
      [],
      [],
    ],
    [
      "is not if it may be another's",
      { interrupted: [logged("1")], items: [[credential("x")], [credential("y")]] },
      [],
      [],
    ],
    [
      "is not if another key sent it",
      { interrupted: [logged("1", { key: another })], items: [[credential("x")]] },
      [],
      [],
    ],
    ["is not if it is no credential", { kind: "node", interrupted: [create("1", { id: "x" })] }, [node("x")], []],
    [
      "is not if it differs",
      { interrupted: [logged("1")], items: [[credential("x", { membership_id: "m2" })]] },
      [],
      [],
    ],
  ])("%s", async (_, given, siblings, deleted) => {
    expect((await discarding(given, siblings)).deleted).toEqual(deleted);
  });

  test("is named if it cannot be deleted", async () => {
    const { said } = await discarding({ interrupted: [logged("1", { id: "x" })], stuck: true }, [credential("x")]);
    expect(said).toMatch(
      /deletes x, which a killed run .*\nWarning: .*x, which a killed run .* could not be deleted: .*sweep --id x/,
    );
  });
});
