import { type z } from "zod";
import { enoughFor } from "../../../plugin/schema/examples";
import { check } from "../../../provider/core/check";
import { diff } from "../../../provider/core/diff";
import { definitions } from "../../../provider/resources";
import { type Kind, type Props, unknown } from "../../support/engine";

/*
 * Previews without a call: values that are refused, by property, let through, or filled in; and differences between state and program.
 * (What each change then does: resources/changes.test.ts.)
 */

const run = (kind: Kind, news: Props) => check(definitions[kind], news);
const kinds = Object.keys(definitions) as Kind[];
const forEach = <Value>(valueOf: (kind: Kind) => Value) =>
  Object.fromEntries(kinds.map((kind) => [kind, valueOf(kind)])) as Record<Kind, Value>;

const given = {
  consortiumId: "c",
  environmentId: "e",
  membershipId: "m",
  serviceId: "s",
  tetherId: "tether0001",
  network: "rinkeby",
};
const whole = forEach((kind) => enoughFor(definitions[kind], given, "a"));
/** Defaults. */
const filled = forEach((kind): Props => {
  const defaults = Object.entries<z.ZodType>(definitions[kind].inputs.shape).map(([key, schema]) => [
    key,
    schema.safeParse(undefined).data,
  ]);
  return Object.fromEntries(defaults.filter(([, value]) => value !== undefined)) as Props;
});
/** Outputs of the service that a complete state needs, or that are more than text. */
const outputs: Partial<Record<Kind, Props>> = {
  consortium: { owner: "o", state: "setup", revision: "0", __kept: { version: 2 } },
  membership: { orgId: "o", state: "active", revision: "0" },
  environment: { state: "live", chainId: 7, revision: "0" },
  consortiumZone: { state: "active", revision: "0" },
  invitation: { state: "pending", revision: "0" },
  node: { state: "started", urls: { rpc: "https://x" }, revision: "3" },
  appCred: { username: "u", password: "p", revision: "0" },
  service: { state: "started", urls: { http: "https://x" }, serviceType: "member", revision: "0" },
  destination: { uri: "kld://x", setupComplete: true },
  tetherService: { state: "active", deployedNetworks: ["rinkeby"], account: "0x1" },
};

const none = { changes: false, changed: [], replaces: [], deleteBeforeReplace: false, warnings: [], plans: [] };
/** The state, with what is changed in it, compared with the program, with what is changed there. */
const compared = (kind: Kind, change: Props = {}, state: Props = {}) => {
  const inputs = { ...filled[kind], ...whole[kind] };
  return diff(
    definitions[kind],
    "an-id",
    { ...inputs, state: "active", revision: "0", ...outputs[kind], ...state },
    { ...inputs, ...change },
  );
};

describe.each(kinds)("%s", (kind) => {
  const defaults = filled[kind];

  test("whole inputs pass as they are, with defaults", () => {
    expect(run(kind, whole[kind])).toEqual({ inputs: { ...defaults, ...whole[kind] }, issues: [] });
  });

  test.each(Object.keys(whole[kind]))("%s: missing, null or of a wrong type is refused under its name", (key) => {
    for (const wrong of [undefined, null, {}, []]) {
      const { issues } = run(kind, { ...whole[kind], [key]: wrong });
      expect([...new Set(issues.map(({ property }) => property))]).toEqual([key]);
      expect(issues[0]!.reason).toMatch(key.replace(/Id$/, ""));
    }
  });

  test.each(Object.keys(whole[kind]))("%s: an unknown value is let through, alone or inside", (key) => {
    for (const value of [unknown, { inside: [unknown] }]) {
      expect(run(kind, { ...whole[kind], [key]: value })).toEqual({
        inputs: { ...defaults, ...whole[kind], [key]: value },
        issues: [],
      });
    }
  });

  test("an unknown argument is refused, with a list of the known ones", () => {
    const { issues } = run(kind, { ...whole[kind], flavour: "red" });
    const mayBeSecret = kind === "configuration"; // the engine would print its value
    expect(issues.map(({ property }) => property)).toEqual([mayBeSecret ? "" : "flavour"]);
    expect(issues[0]!.reason).toMatch(
      new RegExp(`${definitions[kind].type} has no argument "flavour".*${Object.keys(whole[kind])[0]}`),
    );
    expect(issues[0]!.reason).not.toContain("customTimeouts");
  });

  test("a kept value that is written differently is no change; another value is", () => {
    expect(compared(kind)).toEqual(none);
    for (const [key, value] of Object.entries({ ...defaults, ...whole[kind] })) {
      const other = typeof value === "string" ? `${value}-other` : typeof value === "number" ? value + 1 : !value;
      expect(compared(kind, { [key]: other }).changes).toBe(true);
      if (typeof value === "string") expect(compared(kind, { [key]: ` ${value} ` })).toEqual(none);
    }
  });
});

test("additions of the host and missing values are not arguments", () => {
  const added = { __provider: "x", __defaults: [], colour: undefined, size: null };
  expect(run("node", { ...whole.node, ...added }).issues).toEqual([]);
});

test("customTimeouts are seconds by verb, and a change in place", () => {
  const timed = (customTimeouts: Props) => run("node", { ...whole.node, customTimeouts });
  expect(timed({ create: 60, delete: 0.5 }).inputs.customTimeouts).toEqual({ create: 60, delete: 0.5 });
  expect(timed({ read: 1 }).issues[0]!.property).toBe("customTimeouts");
  expect(timed({ create: 0 }).issues[0]!.property).toBe("customTimeouts.create");
  const changed = { ...none, changes: true, changed: ["customTimeouts"] };
  expect(compared("node", { customTimeouts: { create: 5 } })).toEqual(changed);
});

test.each<[Kind, Props, [property: string, reason: string][]]>([
  [
    "environment",
    { ...whole.environment, consensusType: undefined, consensus: "raft" },
    [["consensus", 'Environment has no argument "consensus"; did you mean "consensusType"?']],
  ],
  [
    "node",
    { name: "a", membershipId: "m", enviroment: "e" },
    [["enviroment", 'Node has no argument "enviroment"; did you mean "environment"?']],
  ],
  ["consortium", { name: 12 }, [["name", 'name must be text: write "12" instead of 12']]],
  ["consortium", { name: true }, [["name", 'name must be text: write "true" instead of true']]],
  ["consortium", { name: ["a"] }, [["name", "name must be text, not a list"]]],
  [
    "environment",
    { ...whole.environment, consensusType: "" },
    [
      [
        "consensusType",
        'consensusType must be one of raft, ibft, poa, not "". If the service has it, and it is meant, write "other:".',
      ],
    ],
  ],
  [
    "node",
    { name: "a", membershipId: "m" },
    [
      [
        "environmentId",
        "the environment is missing: give environmentId: and consortiumId: (ids), or in TypeScript and JavaScript environment: (the resource)",
      ],
    ],
  ],
])("%s %j: the cause, once", (kind, news, expected) => {
  expect(run(kind, news).issues).toMatchObject(expected.map(([property, reason]) => ({ property, reason })));
});

const twice = { [`0x${"A".repeat(40)}`]: { balance: "5" }, ["a".repeat(40)]: { balance: "6" } };
test.each<[Kind, Props, reason: RegExp, property?: string]>([
  ["consortium", { adopt: 7 }, /true, false, or the id/],
  [
    "environment",
    { provider: "geth" },
    /geth runs poa, not raft: choose one of these, or provider: "quorum"/,
    "consensusType",
  ],
  ["environment", { testFeatures: "x" }, /object of features/],
  ["environment", { prefundedAccounts: twice }, /one address twice/],
  ["node", { plan: "gold" }, /go into extra/],
  ["appCred", { rotateWhenChanged: [] }, /object of/],
  ["appCred", { adopt: true }, /no argument "adopt"/],
  ["service", { zone: "z" }, /did you mean "zoneId"/],
  ["invitation", { email: "nobody" }, /must be an address/],
  ["invitation", { email: 7 }, /^email is required: give the address as text$/],
  ["tetherService", { active: "yes" }, /true or false/],
  ["tetherService", { minimumBalanceWei: true }, /of wei/],
  ["tetherService", { adopt: true }, /no argument "adopt"/],
  ["node", { extra: { name: "other" } }, /extra must not hold name: give it as name/],
])("%s with %j is refused", (kind, change, reason, property = Object.keys(change)[0]!) => {
  const { issues } = run(kind, { ...whole[kind], ...change });
  expect(issues).toMatchObject([{ property, reason: expect.stringMatching(reason) as string }]);
});

test("several faults are told at once", () => {
  const { issues } = run("environment", { name: " ", provider: 1, consensusType: [], chainId: -1 });
  const properties = ["consortiumId", "provider", "consensusType", "name", "chainId"];
  expect(issues.map(({ property }) => property)).toEqual(properties);
  const geth = run("environment", { ...whole.environment, provider: "geth", name: " " }); // what fits together is told after that
  expect(geth.issues.map(({ property }) => property)).toEqual(["name"]);
});

test.each([{ provider: unknown }, { consensusType: unknown }])(
  "consensus is not checked while unknown: %j",
  (change) => {
    const geth = { ...whole.environment, provider: "geth", consensusType: "raft" };
    expect(run("environment", { ...geth, ...change }).issues).toEqual([]);
  },
);

test.each<[string, Props, string]>([
  ["a description", { name: "a", description: "\udc1f" }, "description"],
  ["a field of extra, however deep", { name: "a", extra: { a: [{ b: "\ud83d\ud83d" }] } }, "extra.a.0.b"],
  ["a key of extra", { name: "a", extra: { "\ud83d": 1 } }, "extra"],
])("half of a character in %s is refused by property; whole ones are not", (_, props, property) => {
  expect(run("consortium", props).issues).toMatchObject([
    { property, reason: expect.stringContaining("surrogate") as string },
  ]);
  const whole = JSON.parse(JSON.stringify(props).replaceAll(/\\ud83d\\ud83d|\\ud83d|\\udc1f/g, "🐟")) as Props;
  expect(run("consortium", whole).issues).toEqual([]);
});

test.each<[Kind, Props, replaces: string[], first: boolean, warning: RegExp]>([
  ["consortium", { extra: { a: 1 } }, ["extra"], false, /consortium "a": REPLACING A CONSORTIUM DESTROYS EVERYTHING/],
  [
    "environment",
    { provider: "geth", consensusType: "poa" },
    ["provider", "consensusType"],
    false,
    /environment "a": REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER.*\(provider, consensusType\)/,
  ],
])("%s %j: replaces %j, old one first: %s, warning: %s", (kind, change, replaces, deleteBeforeReplace, warning) => {
  const { warnings, ...found } = compared(kind, change);
  expect(found).toMatchObject({ changes: true, replaces, deleteBeforeReplace });
  expect(warnings.join("\n")).toMatch(warning);
});

test.each<[Kind, Props, Props]>([
  ["environment", { chainId: 7 }, {}],
  ["consortium", { adopt: "an-id" }, { adopt: true }],
  ["consortium", { description: undefined }, { description: "" }],
  ["appCred", { keepers: { a: 1, b: { c: 2, d: null } } }, { keepers: { b: { c: 2 }, a: 1 } }],
  ["consortium", { extra: { note: null } }, {}],
])("no change: %s %j, with %j in the state", (kind, change, state) =>
  expect(compared(kind, change, state)).toEqual(none),
);
