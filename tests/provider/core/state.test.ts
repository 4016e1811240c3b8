import { type Definition, type Props } from "../../../provider/core/definition";
import {
  fresh,
  fromWire,
  isStored,
  partsOf,
  type StateParts,
  stateOf,
  storedIn,
  toBody,
} from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";

/* What a state keeps: what was asked for, what the service answered, and what it shows now. */

const { node, configuration, environment, appCred } = definitions;
const asked = { consortiumId: "c", environmentId: "e", membershipId: "m", name: "n" };

test("a state of a newer version is refused; one of this version, or of none, is not", async () => {
  await expect(Promise.resolve({ __kept: { version: 3 } }).then(storedIn)).rejects.toMatchObject({
    code: "wrong-version",
    message: expect.stringMatching(/^Install a newer version/) as string,
  });
  expect([storedIn({ __kept: { version: 2, how: "adopted" } }), storedIn({}), storedIn({ __kept: ["x"] })]).toEqual([
    { version: 2, how: "adopted" },
    {},
    {},
  ]);
  expect([isStored({ name: "n" }), isStored({ __kept: { version: 2 } })]).toEqual([false, true]);
});

/** The state, and all that is kept of it. */
const kept = (definition: Definition, parts: StateParts, before?: Props) => {
  const { __kept, __hidden, ...shown } = stateOf(definition, parts, before);
  return { shown, kept: __kept as Props, hidden: __hidden };
};

describe("what is written down", () => {
  const shown = { ...asked, state: "started", size: "small" };

  test.each<[string, Partial<StateParts>, Props, Props]>([
    ["nothing where all is as asked", {}, {}, {}],
    [
      "a form of the name that the service writes",
      { shown: { ...shown, name: "N" }, answered: { ...shown, name: "N" } },
      { name: "N" },
      { asked: { name: "n" } },
    ],
    [
      "a name that somebody gave it",
      { shown: { ...shown, name: "x" } },
      { name: "x" },
      { asked: { name: "n" }, answered: { name: "n" } },
    ],
    [
      "what was asked for of what the service chooses",
      { asked: { ...asked, size: "small" } },
      {},
      { asked: { size: "small" } },
    ],
    [
      "what it shows of that",
      { asked: { ...asked, size: "small" }, shown: { ...shown, size: "large" } },
      { size: "large" },
      { asked: { size: "small" }, answered: { size: "small" } },
    ],
    ["not formatting", { asked: { ...asked, name: " n " } }, { name: " n " }, {}],
    [
      "no form of anything but a name",
      {
        asked: { ...asked, size: "Big One" },
        shown: { ...shown, size: "big-one" },
        answered: { ...shown, size: "big-one" },
      },
      { size: "big-one" },
      { asked: { size: "Big One" } },
    ],
    ["nothing of an empty text", { asked: { ...asked, role: "" } }, {}, {}],
    [
      "nothing of what it does not show",
      { shown: { ...shown, name: undefined }, answered: { ...shown, name: undefined } },
      {},
      {},
    ],
    [
      "steps that are open",
      { open: ["restart"], refused: ["name"], unclear: ["size"] },
      {},
      { open: ["restart"], refused: ["name"], unclear: ["size"] },
    ],
    ["how it came", { how: "adopted" }, {}, { how: "adopted" }],
    ["when it was made, where it does not show that", { at: 1e12 }, {}, { at: 1e12 }],
    [
      "not where it does",
      { at: Date.parse("2026-01-01T00:00:01Z"), shown: { ...shown, createdAt: "2026-01-01T00:00:05.999Z" } },
      { createdAt: "2026-01-01T00:00:05.999Z" },
      {},
    ],
    [
      "where it shows another time, before",
      { at: Date.parse("2026-01-01T00:00:06Z"), shown: { ...shown, createdAt: "2026-01-01T00:00:01Z" } },
      { createdAt: "2026-01-01T00:00:01Z" },
      { at: Date.parse("2026-01-01T00:00:06Z") },
    ],
    [
      "or after",
      { at: Date.parse("2026-01-01T00:00:01Z"), shown: { ...shown, createdAt: "2026-01-01T00:00:06Z" } },
      { createdAt: "2026-01-01T00:00:06Z" },
      { at: Date.parse("2026-01-01T00:00:01Z") },
    ],
  ])("%s", (_, parts, props, written) => {
    const all = { ...fresh(asked, shown), ...parts };
    const state = kept(node, all);
    expect(state).toStrictEqual({ shown: { ...shown, ...props }, kept: { version: 2, ...written }, hidden: undefined });
    // And read again, it is the same.
    const again = partsOf(node, stateOf(node, all));
    expect(Object.keys(again.shown).filter((key) => key.startsWith("__"))).toEqual([]);
    expect(stateOf(node, again)).toEqual(stateOf(node, all));
  });

  test("secrets are kept apart, by the definition or by the program", () => {
    const secret = { ...asked, type: "kms", details: { key: "hush" } };
    const left = { ...fresh(secret, { ...asked, type: "kms" }), shown: { ...asked, details: { key: "old" } } };
    expect(kept(configuration, left).hidden).toBeUndefined();
    const parts = { ...fresh({ ...asked, name: "hush" }, asked) };
    expect(kept(node, parts)).toMatchObject({ kept: { version: 2, asked: { name: "hush" } }, hidden: undefined });
    const state = stateOf(node, parts, { __secrets: [["name"]] });
    expect(state).toMatchObject({ __kept: { version: 2 }, __hidden: { asked: { name: "hush" } } });
    expect(state.__kept).not.toHaveProperty("asked");
    expect(partsOf(node, state)).toMatchObject({
      asked: { name: "hush" },
      answered: { name: "n" },
      shown: { name: "n" },
    });
  });

  test("what else the earlier state knew stays", () => {
    const before = {
      __kept: { version: 2, organizations: ["o"], keys: ["k"], takesItsOwn: true, open: ["x"] },
    };
    expect(kept(node, fresh(asked, asked), before).kept).toEqual({
      version: 2,
      organizations: ["o"],
      keys: ["k"],
      takesItsOwn: true,
    });
  });
});

test("what the service shows, under the names of the properties, and no secret", () => {
  const item = { id: "e1", consortium_id: "x", name: "e", chain_id: "7", state: "paused", unknown: 1 };
  expect(fromWire(environment, item)).toStrictEqual({ name: "e", chainId: 7, state: "paused", paused: true });
  expect(fromWire(appCred, { id: "u", username: "u", password: "p", name: "a" })).toEqual({ username: "u", name: "a" });
});

test("the body of a create: no parents of the path, nothing of the program alone, and extra as it is", () => {
  const inputs = { ...asked, size: "small", adopt: true, extra: { size: "x", a: 1 } };
  expect(toBody(node, inputs, { more: 2 })).toEqual({ membership_id: "m", name: "n", size: "x", a: 1, more: 2 });
  expect(toBody(node, { ...asked, size: undefined }, {}, ["name"])).toStrictEqual({ membership_id: "m" });
  expect(toBody(environment, { name: "e", paused: true })).toEqual({ name: "e" });
});
