import { type ErrorFacts } from "../../../provider/api/api-error";
import { type Props } from "../../../provider/core/definition";
import { type Change, sendChange } from "../../../provider/core/lifecycle/change";
import { isUnclear } from "../../../provider/errors";
import { base, type Kind } from "../../support/by-kind";
import { http, placed } from "./placed";

/* One change in place: what is sent, what its answer is worth, and what a refusal says. */

interface Case {
  /** The inputs that are sent. */
  keys: string[];
  inputs?: Props;
  before?: Partial<Change["before"]>;
  /** What PATCH answers, one after the other; an error if it has a kind. */
  answers?: (Props | ErrorFacts | undefined)[];
  /** What the service shows in the list, besides the id. */
  listed?: Props;
}

function changing(kind: Kind, { keys, inputs, before = {}, listed = {}, answers: given = [] }: Case) {
  const answers = [...given];
  const sent: Props[] = [];
  const asked: number[] = [];
  const patch = (_: string, body: Props) => {
    sent.push(body);
    const answer = answers.shift();
    return answer && "kind" in answer ? Promise.reject(http.error(answer as ErrorFacts)) : Promise.resolve(answer);
  };
  const { collection, clock } = placed({ kind, inputs, id: "x1" }, (clock) => ({
    patch,
    put: (path: string, body: Props) => patch(path, path.endsWith("/reset") ? { restart: true } : body),
    list: () => {
      asked.push(clock.now());
      return Promise.resolve([{ id: "x1", ...listed }]);
    },
  }));
  const one: Change = {
    collection,
    id: "x1",
    inputs: collection.inputs,
    keys,
    before: { asked: {}, shown: {}, ...before },
  };
  return { one, sent, asked, clock };
}

test("sends the whole object, as it is shown otherwise, where the service says that it has a PUT and no PATCH", async () => {
  const refusal = (allow?: string): ErrorFacts => ({
    kind: "unsupported",
    status: 405,
    call: "PATCH /x",
    errorMessage: "no",
    ...(allow !== undefined && { allow }),
  });
  const shown = { name: "old", size: "small", zoneId: "z", state: "started", revision: "1" };
  const asked = { keys: ["name"], inputs: { size: undefined }, before: { shown } };
  const { one, sent } = changing("node", { ...asked, answers: [refusal("GET, PUT"), { id: "x1", _revision: 2 }] });
  await sendChange(one);
  const whole = { membership_id: "m", name: "n", size: "small", zone_id: "z" };
  expect(sent).toEqual([{ name: "n" }, whole]);
  for (const allow of [undefined, "GET, DELETE"]) {
    const other = changing("node", { ...asked, answers: [refusal(allow)], listed: base.node });
    await expect(sendChange(other.one)).rejects.toThrow(/cannot change name in place/);
    expect(other.sent).toHaveLength(1);
  }
});

describe("an answer", () => {
  const old = { name: "old", _revision: 1 };
  test.each<[string, Props | undefined, Props, string, number]>([
    // One look then tells whether the change was ignored.
    ["of a newer revision is believed, whatever it shows", { id: "x1", name: "old", _revision: 2 }, old, "old", 1],
    ["without a revision is not", { id: "x1", name: "n" }, { name: "n", _revision: 2 }, "n", 1],
    ["that the list does not bear out is not, after three seconds", { id: "x1", ...old }, old, "old", 5],
  ])("%s", async (_, answer, listed, name, looks) => {
    const { one, asked, clock } = changing("node", {
      keys: ["name"],
      answers: [answer],
      listed,
      before: { shown: { name: "old", revision: "1" } },
    });
    expect(await sendChange(one)).toMatchObject({ shown: { name } });
    expect([asked.length, clock.now() <= 3_400]).toEqual([looks, true]);
  });
});

test("an answer of the same revision is believed only if it shows all that was sent, and can be shown", async () => {
  const part = changing("node", {
    keys: ["name", "size"],
    inputs: { size: "large" },
    answers: [{ id: "x1", name: "n", size: "small", _revision: 1 }],
    listed: { name: "n", size: "large", _revision: 2 },
    before: { shown: { revision: "1" } },
  });
  expect(await sendChange(part.one)).toMatchObject({ shown: { size: "large" } });
  expect(part.asked).toHaveLength(1);
  const secret = changing("configuration", {
    keys: ["details"],
    inputs: { details: { a: "1" } },
    answers: [{ id: "x1", _revision: 1 }],
    before: { shown: { revision: "1" } },
  });
  await sendChange(secret.one);
  expect(secret.asked).toEqual([]);
});

describe("a refusal", () => {
  const refusal = (kind: ErrorFacts["kind"], status: number): ErrorFacts => ({
    kind,
    status,
    call: "PATCH /x",
    errorMessage: "no",
  });
  test.each<[string, Kind, string[], ErrorFacts, RegExp]>([
    [
      "to change anything",
      "node",
      ["name", "size"],
      refusal("unsupported", 405),
      /node "n" \(x1\): set the old value again.*this service cannot change name and size in place \(PATCH \/x: HTTP 405: no\)\. Nothing was changed.*--replace/,
    ],
    [
      "to change a ledger",
      "environment",
      ["name"],
      refusal("unsupported", 405),
      /A replacement would destroy what is in it/,
    ],
    ["of a release", "environment", ["releaseId"], refusal("invalid", 400), /PATCH \/x: HTTP 400: no\./],
    ["of an object that is there", "node", ["name"], refusal("denied", 403), /PATCH \/x: HTTP 403/],
  ])("%s (%s)", async (_, kind, keys, error, message) => {
    const { one } = changing(kind, { keys, answers: [error], listed: base[kind] });
    await expect(sendChange(one)).rejects.toThrow(message);
    await sendChange(one).catch((thrown: unknown) => expect(isUnclear(thrown)).toBe(false));
  });
});

describe("what is accepted and ignored", () => {
  const sizes = { keys: ["size", "name"], inputs: { size: "large", name: "new" } };
  const was = { size: "small", name: "old" };

  test("is not a name that the service writes in its own way", async () => {
    const answers = [{ id: "x1", size: "x", name: "NEW", _revision: 2 }];
    const { one } = changing("node", { ...sizes, answers, before: { shown: { name: "NEW", revision: "1" } } });
    expect(await sendChange(one)).toMatchObject({ shown: { size: "x", name: "NEW" }, ignored: [] });
  });

  test("counts only if the list shows it, too", async () => {
    const answers = [0, 1].map(() => ({ id: "x1", ...was, _revision: 2 }));
    const before = { shown: { ...was, revision: "1" } };
    const { one } = changing("node", { ...sizes, answers, before, listed: { size: "large", name: "new" } });
    expect(await sendChange(one)).toMatchObject({ shown: { size: "large", name: "new" }, ignored: [] });
    const other = changing("node", { ...sizes, answers, before, listed: was });
    expect(await sendChange(other.one)).toMatchObject({ shown: was, ignored: ["size", "name"], open: [] });
  });
});
