import { codedMessage } from "../../../provider/errors";
import { ApiError, type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { type Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { create } from "../../../provider/core/lifecycle/create";
import { type Session } from "../../../provider/core/session";
import { type Listed, own } from "../../support/by-kind";
import { placed, type Prepare } from "./placed";

/* What the refusal of a create means, and who hears of what is beside it. */

const ready = { state: "started", created_at: "2026-01-01T00:00:00.000Z", owner: "o", chain_id: 1, _revision: 1 };
const shownOf = (kind: Listed): Props => ({ ...(kind !== "appCred" && ready), ...own[kind] });
const item = (id: string, kind: Listed = "node", more: Props = {}): Identified => ({ id, ...shownOf(kind), ...more });
type Refusal = Pick<ErrorFacts, "kind" | "errorMessage" | "status">;
const refusal = (facts: Partial<Refusal> & Pick<Refusal, "kind">): ApiError =>
  new ApiError({ call: "POST /x", errorMessage: "no", ...facts });

interface Case {
  kind?: Listed;
  inputs?: Props;
  there?: Identified[];
  /** Default: it is made. */
  refusal?: ApiError;
  /** What appears while a create is refused. */
  since?: Identified[];
  /** The limit of nodes that the service tells. */
  nodes?: number;
  prepare?: Prepare;
}

async function creating({ kind = "node", inputs, there = [], refusal, since = [], nodes, prepare }: Case) {
  let isSent = false;
  const { collection, said } = placed({ kind, inputs, prepare }, (clock) => ({
    create: () => {
      isSent = true;
      clock.pass(2);
      if (refusal) return Promise.reject(refusal);
      const body = { _id: "x", ...shownOf(kind), password: "hush" };
      return Promise.resolve({ status: 201, body, headers: {}, url: "https://x/api/v1" });
    },
    listed: () => (isSent ? [...there, ...(refusal ? since : [item("x", kind)])] : there),
    limits: () => Promise.resolve(nodes === undefined ? undefined : { nodes }),
    organizationOfKey: () => Promise.resolve(undefined),
  }));
  const outcome: { id: string; error: string } = await create(collection).then(
    ({ id }) => ({ id, error: "" }),
    (error: unknown) => ({ id: "", error: codedMessage(error) }),
  );
  return { ...outcome, said: said.join("\n") };
}

const givesUp =
  (id: string) =>
  (session: Session, collection: Collection): void =>
    session.run.leases.giveUp(collection.pathOf(id));
const ofStack = (session: Session, collection: Collection): void => void session.run.shown.add(collection.pathOf("y"));

const many = (count: number): Identified[] =>
  Array.from({ length: count }, (_, at) => item(`y${at}`, "node", { name: `z${at}` }));

describe("a name that the service refuses", () => {
  const name = refusal({ kind: "conflict", status: 409, errorMessage: "name already in use" });
  const unnamed = /^POST \/x: HTTP 409: name already in use\. \[conflict:/;
  const zone = { kind: "environmentZone", inputs: { region: "r2" } } as const;
  const zones = [item("y", "environmentZone")];

  test.each<[string, Case, RegExp]>([
    ["is the error", { refusal: name }, unnamed],
    [
      "may be that of the object that it replaces",
      { ...zone, refusal: name, there: zones, prepare: givesUp("y") },
      /To delete y first, .*deleteBeforeReplace: true.*It replaces y, which stays as it was/,
    ],
    [
      "may have appeared since",
      { refusal: name, since: [item("y")] },
      /Choose another name, or set adopt: true: y has the name .* name already in use\. \[name-taken:/,
    ],
    [
      "may have appeared since, and make as many as the plan allows",
      { refusal: name, there: many(3), since: [item("y")] },
      /Choose another name, or set adopt: true: y has the name .*\[name-taken:/,
    ],
    [
      "may have appeared since, where it is to be adopted",
      { refusal: name, inputs: { adopt: true }, since: [item("y")] },
      /Run the command again, which adopts it: y has the name since this run looked/,
    ],
    [
      "of a credential is another one's",
      { kind: "appCred", refusal: name, there: [item("y", "appCred")] },
      /Choose another name; or for `--replace`.*The same member and name already exist: y\. .*sweep --id y/,
    ],
  ])("%s", async (_, given, why) => {
    const { error } = await creating(given);
    expect(error).toMatch(why);
  });
});

describe("a limit that is reached", () => {
  const payment = refusal({ kind: "invalid", status: 402, errorMessage: "quota exceeded" });
  const conflict = refusal({ kind: "conflict", status: 409, errorMessage: "quota exceeded" });
  const other = [item("y", "node", { name: "z" })];
  const reached = /: The organization has reached its limit: delete one .* POST \/x: .*\[limit-reached:/;
  const reachedByOthers = (ids: string): RegExp =>
    new RegExp(`: Delete one, .*If this stack made one of ${ids} under.*quota exceeded\\. \\[limit-reached:`);

  test.each<[string, Case, RegExp]>([
    ["is told by its status", { refusal: payment }, reached],
    [
      "is shown by as many as the plan allows",
      { refusal: conflict, there: many(4) },
      reachedByOthers("y0, y1, y2, y3"),
    ],
    [
      "is the one that the service tells",
      { refusal: conflict, there: many(5), nodes: 5 },
      reachedByOthers("y0, y1, y2, y3, y4"),
    ],
    [
      "may be so because of what it replaces",
      { refusal: payment, there: other, prepare: givesUp("y") },
      /It replaces y.* quota exceeded\./,
    ],
  ])("%s", async (_, given, why) => {
    expect((await creating(given)).error).toMatch(why);
  });
});

describe("a credential beside another one like it", () => {
  test.each<[string, Partial<Case>, boolean]>([
    ["is made, and the other one is named", {}, true],
    ["is made without a word, if that is the stack's", { prepare: ofStack }, false],
  ])("%s", async (_, given, named) => {
    const { id, said } = await creating({ kind: "appCred", there: [item("y", "appCred")], ...given });
    expect(id).toBe("x");
    expect(said.includes("there is already y with the same member and name")).toBe(named);
  });
});
