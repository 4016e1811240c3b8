import { check } from "../../../provider/core/check";
import { definitions } from "../../../provider/resources";
import { type Kind, type Props, unknown } from "../../support/engine";

/* What is refused before any call, by property; what is let through; what is filled in. (More by resource: changes.test.ts.) */

const run = (kind: Kind, news: Props) => check(definitions[kind], news);
const whole: Record<Kind, Props> = {
  consortium: { name: "a" },
  membership: { consortiumId: "c", orgName: "a" },
  environment: { consortiumId: "c", name: "a", provider: "quorum", consensusType: "raft" },
  node: { consortiumId: "c", environmentId: "e", membershipId: "m", name: "a" },
  appCred: { consortiumId: "c", environmentId: "e", membershipId: "m", name: "a" },
  consortiumZone: { consortiumId: "c", name: "a", region: "r", cloud: "aws" },
  invitation: { consortiumId: "c", orgName: "a", email: "a@b.example" },
  environmentZone: { consortiumId: "c", environmentId: "e", name: "a", region: "r", cloud: "aws" },
  configuration: { consortiumId: "c", environmentId: "e", membershipId: "m", type: "node_config", name: "a" },
  service: { consortiumId: "c", environmentId: "e", membershipId: "m", service: "ipfs", name: "a" },
  destination: { consortiumId: "c", environmentId: "e", serviceId: "s", serviceType: "documentstore", name: "a" },
  tetherService: { tetherId: "tether0001", network: "rinkeby", intervalHours: 1 },
};
const kinds = Object.keys(whole) as Kind[];

describe.each(kinds)("%s", (kind) => {
  const filled: Partial<Record<Kind, Props>> = {
    consortiumZone: { type: "kaleido" },
    environmentZone: { type: "kaleido" },
    destination: { kaleidoManaged: true },
    tetherService: { active: true },
  };
  const defaults = filled[kind] ?? {};

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

  test("an argument that does not exist is refused, with those that do", () => {
    const { issues } = run(kind, { ...whole[kind], flavour: "red" });
    expect(issues.map(({ property }) => property)).toEqual(["flavour"]);
    expect(issues[0]!.reason).toMatch(
      new RegExp(`${definitions[kind].type} has no argument "flavour".*${Object.keys(whole[kind])[0]}`),
    );
    expect(issues[0]!.reason).not.toContain("customTimeouts");
  });

  test("what the host adds, and what is not given, is no argument", () => {
    expect(
      run(kind, { ...whole[kind], __provider: "x", __defaults: [], colour: undefined, size: null }).issues,
    ).toEqual([]);
  });

  test("customTimeouts are seconds by verb", () => {
    const customTimeouts = { create: 60, delete: 0.5 };
    expect(run(kind, { ...whole[kind], customTimeouts }).inputs.customTimeouts).toEqual(customTimeouts);
    expect(run(kind, { ...whole[kind], customTimeouts: { read: 1 } }).issues[0]!.property).toBe("customTimeouts");
    expect(run(kind, { ...whole[kind], customTimeouts: { create: 0 } }).issues[0]!.property).toBe(
      "customTimeouts.create",
    );
  });
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
  ["consortium", { name: "a", adopt: "" }, [["adopt", "adopt must be true, false, or the id to adopt"]]],
  [
    "environment",
    { ...whole.environment, provider: 7 },
    [["provider", "provider must be text, such as quorum, geth, pantheon"]],
  ],
  ["environment", { ...whole.environment, consensusType: "" }, [["consensusType", "consensusType must not be empty"]]],
  [
    "node",
    { name: "a", membershipId: "m" },
    [
      [
        "environmentId",
        "the environment is missing: give environment: (the resource), or environmentId: and consortiumId: (ids)",
      ],
    ],
  ],
])("%s %j: the cause, once", (kind, news, expected) => {
  expect(run(kind, news).issues).toEqual(expected.map(([property, reason]) => ({ property, reason })));
});

test("several faults are told at once", () => {
  const { issues } = run("environment", { name: " ", provider: 1, consensusType: [], chainId: -1 });
  expect(issues.map(({ property }) => property)).toEqual([
    "consortiumId",
    "provider",
    "consensusType",
    "name",
    "chainId",
  ]);
});

describe("which consensus a client runs", () => {
  const pairs = ["quorum", "geth"].flatMap((provider) =>
    ["raft", "ibft", "poa"].map((type) => [provider, type] as const),
  );
  test.each(pairs)("%s with %s", (provider, consensusType) => {
    const { issues } = run("environment", { ...whole.environment, provider, consensusType });
    const fits = (provider === "geth") === (consensusType === "poa");
    expect(issues.map(({ property }) => property)).toEqual(fits ? [] : ["consensusType"]);
  });
  test.each([{ provider: unknown }, { consensusType: unknown }])("is not judged while one is unknown: %j", (change) => {
    const geth = { ...whole.environment, provider: "geth", consensusType: "raft" };
    expect(run("environment", { ...geth, ...change }).issues).toEqual([]);
  });
});

test.each([
  [5, "5"],
  ["5", "5"],
])("minimumBalanceWei %j is kept as text", (minimumBalanceWei, kept) => {
  expect(run("tetherService", { ...whole.tetherService, minimumBalanceWei }).inputs.minimumBalanceWei).toBe(kept);
});

test.each<[string, Props, string]>([
  ["a name", { name: "half \ud83d" }, "name"],
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
