import * as objectsOf from "../../../provider/api/generated";
import * as wire from "../../../provider/api/wire";

/* Answers are read tolerantly: absent, null, new or mistyped fields never break a run. */

const objects = {
  ConsortiumObject: { name: "a", description: "b", owner: "o" },
  MembershipObject: { org_name: "a", org_id: "o", minimum_nodes: 0, maximum_nodes: 4 },
  EnvironmentObject: {
    name: "a",
    description: "b",
    provider: "quorum",
    consensus_type: "raft",
    chain_id: 7,
    initial_delay: 0,
    idle_hours: 0,
    enable_tether: false,
    block_period: 5,
    region: "r",
    release_id: "1",
  },
  NodeObject: { membership_id: "m", name: "a", role: "validator", provider: "quorum", consensus_type: "raft" },
  AppCredObject: { membership_id: "m", name: "a", auth_type: "basic_auth", username: "u" },
};
type Name = keyof typeof objects;
const names = Object.keys(objects) as Name[];
const common = { state: "setup", _revision: "3", created_at: "2026-01-01T00:00:00.000Z" };

describe.each(names)("%s", (name) => {
  const whole = { ...objects[name], ...common };
  const read = (value: object): Record<string, unknown> => objectsOf[name].parse(value);

  test("everything, with _id or id", () => {
    expect(read({ _id: "x1", ...whole })).toEqual({ id: "x1", ...whole });
    expect(read({ id: "x1", ...whole })).toEqual({ id: "x1", ...whole });
    expect(read({ _id: "x1", id: "other", ...whole }).id).toBe("x1");
  });

  test("ids that are numbers are text", () => {
    expect(read({ _id: 7, membership_id: 8, x_id: 9 })).toMatchObject({ id: "7", membership_id: "8", x_id: "9" });
    expect(wire.Anything.parse({ id: 7, zone_id: 8 })).toEqual({ id: "7", zone_id: "8" });
  });

  test("nothing but an id", () => expect(read({ _id: "x1" })).toEqual({ id: "x1" }));

  test("without a valid id, it is not an object", () => {
    for (const value of [{}, { _id: "" }, { _id: null }, { _id: 7.5 }, { _id: 2 ** 53 }, null, "x", [], 7]) {
      expect(objectsOf[name].safeParse(value).success).toBe(false);
    }
  });

  test("unknown fields are kept as they are", () => {
    const more = { x_plan: { tier: 2, renews: null }, x_labels: [] };
    expect(read({ _id: "x1", ...whole, ...more })).toEqual({ id: "x1", ...whole, ...more });
  });

  test.each(Object.keys(whole))("%s: null or of another type counts as absent", (field) => {
    const without = { id: "x1", ...whole, [field]: undefined };
    for (const odd of [{}, [], { a: 1 }, ["a"]]) expect(read({ _id: "x1", ...whole, [field]: odd })).toEqual(without);
    const rest = Object.fromEntries(Object.entries(without).filter(([key]) => key !== field));
    const emptied = field === "description" ? { description: "" } : {};
    expect(read({ _id: "x1", ...whole, [field]: null })).toEqual({ ...rest, ...emptied });
  });
});

describe("numbers", () => {
  test.each([
    [7, 7],
    ["7", 7],
    [0, 0],
    ["0", 0],
    ["", undefined],
    [" ", undefined],
    [true, undefined],
    [false, undefined],
    [1.5, undefined],
    ["1.5", undefined],
    ["many", undefined],
    [[7], undefined],
  ])("chain_id %j is %s", (chain_id, value) => {
    expect(objectsOf.EnvironmentObject.parse({ _id: "e", chain_id }).chain_id).toBe(value);
  });

  test.each([
    ["3", "3"],
    [3, "3"],
    [true, undefined],
  ])("_revision %j is %s", (_revision, value) => {
    expect(objectsOf.ConsortiumObject.parse({ _id: "c", _revision })._revision).toBe(value);
  });
});

test("the answer to a new credential needs a password, and nothing else does", () => {
  expect(objectsOf.CreatedAppCredObject.safeParse({ id: "u1" }).success).toBe(false);
  expect(objectsOf.CreatedAppCredObject.safeParse({ id: "u1", password: "" }).success).toBe(false);
  expect(objectsOf.CreatedAppCredObject.parse({ id: "u1", password: "p" })).toEqual({ id: "u1", password: "p" });
});

describe("node status", () => {
  const whole = {
    id: "0xab",
    geth: { public_address: "0x1", validators: ["0x1"] },
    user_accounts: ["0x2"],
    block_height: 3,
    urls: { rpc: "https://a", wss: "wss://a" },
  };
  test("everything", () => expect(wire.NodeStatusObject.parse(whole)).toEqual(whole));
  test.each(Object.keys(whole))("%s: absent, null or of another type", (field) => {
    const without = { ...whole, [field]: undefined };
    for (const odd of [undefined, null, true, 7.5]) {
      expect(wire.NodeStatusObject.parse({ ...whole, [field]: odd })).toEqual(without);
    }
  });
  test("nothing at all", () => expect(wire.NodeStatusObject.parse({})).toEqual({}));
});
