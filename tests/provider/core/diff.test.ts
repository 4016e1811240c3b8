import { diff } from "../../../provider/core/diff";
import { definitions } from "../../../provider/resources";
import { type Kind, type Props, unknown } from "../../support/engine";

/* A comparison of what is kept with what is wanted; no calls. (What each change then does: resources/changes.test.ts.) */

const news: Record<Kind, Props> = {
  consortium: { name: "a", description: "d" },
  membership: { consortiumId: "c", orgName: "a" },
  environment: { consortiumId: "c", name: "a", provider: "quorum", consensusType: "raft" },
  node: { consortiumId: "c", environmentId: "e", membershipId: "m", name: "a" },
  appCred: { consortiumId: "c", environmentId: "e", membershipId: "m", name: "a" },
  consortiumZone: { consortiumId: "c", name: "a", type: "kaleido", region: "r", cloud: "aws" },
  invitation: { consortiumId: "c", orgName: "a", email: "a@b.example" },
  environmentZone: { consortiumId: "c", environmentId: "e", name: "a", type: "kaleido", region: "r", cloud: "aws" },
  configuration: { consortiumId: "c", environmentId: "e", membershipId: "m", type: "node_config", name: "a" },
  service: { consortiumId: "c", environmentId: "e", membershipId: "m", service: "ipfs", name: "a" },
  destination: {
    consortiumId: "c",
    environmentId: "e",
    serviceId: "s",
    serviceType: "documentstore",
    name: "a",
    kaleidoManaged: true,
  },
  tetherService: { tetherId: "tether0001", network: "rinkeby", intervalHours: 1, active: true },
};
const outputs: Record<Kind, Props> = {
  consortium: { owner: "o", state: "setup", revision: "0", __kept: { version: 2 } },
  membership: { orgId: "o", state: "active", revision: "0" },
  environment: { state: "live", chainId: 7, revision: "0" },
  node: { state: "started", urls: { rpc: "https://x" }, revision: "3" },
  appCred: { username: "u", password: "p", revision: "0" },
  consortiumZone: { state: "active", revision: "0" },
  invitation: { state: "pending", revision: "0" },
  environmentZone: { revision: "0" },
  configuration: { revision: "0" },
  service: { state: "started", urls: { http: "https://x" }, serviceType: "member", revision: "0" },
  destination: { uri: "kld://x", setupComplete: true },
  tetherService: { state: "active", deployedNetworks: ["rinkeby"], account: "0x1" },
};
const kinds = Object.keys(news) as Kind[];

const run = (kind: Kind, change: Props = {}, state: Props = {}) =>
  diff(definitions[kind], "an-id", { ...news[kind], ...outputs[kind], ...state }, { ...news[kind], ...change });
const none = { changes: false, changed: [], replaces: [], deleteBeforeReplace: false, warnings: [], plans: [] };

describe.each(kinds)("%s", (kind) => {
  test("nothing changed: says no", () => expect(run(kind)).toEqual(none));

  test.each(["__provider", "revision", "createdAt"])("another %s in the state is no change", (key) => {
    expect(run(kind, {}, { [key]: "other" })).toEqual(none);
  });

  test.each(Object.keys(news[kind]))("%s: another value is a change; written differently it is none", (key) => {
    const value = news[kind][key];
    const other = typeof value === "string" ? `${value}-other` : typeof value === "number" ? value + 1 : !value;
    expect(run(kind, { [key]: other }).changes).toBe(true);
    if (typeof value === "string") expect(run(kind, { [key]: ` ${value} ` })).toEqual(none);
  });

  test("customTimeouts are a change in place", () => {
    expect(run(kind, { customTimeouts: { create: 5 } })).toEqual({
      ...none,
      changes: true,
      changed: ["customTimeouts"],
    });
  });
});

describe("replace or in place", () => {
  test.each<[Kind, Props, string[], boolean]>([
    ["consortium", { name: "b" }, [], false],
    ["consortium", { description: undefined }, [], false],
    ["consortium", { extra: { a: 1 } }, ["extra"], true],
    ["consortium", { extra: { a: 1 }, name: "b" }, ["extra"], false],
    ["membership", { orgName: "b" }, [], false],
    ["membership", { consortiumId: "d" }, ["consortiumId"], false],
    ["environment", { consensusType: "ibft" }, ["consensusType"], true],
    ["environment", { provider: "geth", consensusType: "poa" }, ["provider", "consensusType"], true],
    ["environment", { provider: "geth", consensusType: "poa", name: "b" }, ["provider", "consensusType"], false],
    ["environment", { chainId: 8 }, ["chainId"], true],
    ["environment", { consortiumId: "d" }, ["consortiumId"], false],
    ["node", { membershipId: "n" }, ["membershipId"], true],
    ["node", { environmentId: "f" }, ["environmentId"], false],
    ["node", { environmentId: "f", membershipId: "n" }, ["environmentId", "membershipId"], false],
    ["appCred", { name: "b" }, [], false],
    ["appCred", { keepers: { month: 5 } }, ["keepers"], false],
    ["tetherService", { tetherId: "tether0002" }, ["tetherId"], false],
    ["tetherService", { network: "mainnet" }, [], false],
  ])("%s %j: %j, old one first: %s", (kind, change, replaces, deleteBeforeReplace) => {
    expect(run(kind, change)).toMatchObject({ changes: true, replaces, deleteBeforeReplace });
  });
});

describe("what does not count", () => {
  test.each<[Kind, Props, Props]>([
    ["environment", { chainId: undefined }, {}],
    ["environment", { chainId: 7 }, {}],
    ["environment", { adopt: true }, {}],
    ["consortium", { adopt: "an-id" }, { adopt: true }],
    ["consortium", { description: undefined }, { description: "" }],
    ["consortium", { description: "e\u0301" }, { description: "\u00e9" }],
    ["appCred", { keepers: { a: 1, b: { c: 2, d: null } } }, { keepers: { b: { c: 2 }, a: 1 } }],
    ["consortium", { extra: {} }, {}],
    ["tetherService", { extra: { gas: 1 } }, {}],
  ])("%s %j, with %j in the state", (kind, change, state) => expect(run(kind, change, state)).toEqual(none));
});

describe("unknown values, as in a preview", () => {
  test.each<[Kind, string, string[]]>([
    ["node", "name", []],
    ["node", "environmentId", ["environmentId"]],
    ["membership", "consortiumId", ["consortiumId"]],
    ["appCred", "keepers", ["keepers"]],
    ["consortium", "description", []],
  ])("%s %s may change", (kind, key, replaces) => {
    expect(run(kind, { [key]: unknown })).toMatchObject({ changes: true, replaces, deleteBeforeReplace: false });
  });
});

describe("what an earlier run left unfinished is a change", () => {
  test.each<[Kind, Props]>([
    ["environment", { state: "initializing" }],
    ["environment", { state: "failed" }],
    ["membership", { state: "pending" }],
    ["node", { state: "initializing" }],
    ["node", { state: "failed" }],
    ["node", { urls: undefined }],
    ["tetherService", { state: "deployed" }],
    ["tetherService", { deployedNetworks: [] }],
  ])("%s %j", (kind, state) => expect(run(kind, {}, state)).toEqual({ ...none, changes: true }));

  test.each<[Kind, Props]>([
    ["environment", { state: "setup" }],
    ["environment", { state: "live" }],
    ["environment", { state: "paused" }],
    ["consortium", { state: undefined }],
    ["node", { state: "running" }],
    ["node", { state: undefined }],
    ["tetherService", { state: "inactive", active: false }],
  ])("but %s %j is finished", (kind, state) => {
    const wanted = kind === "tetherService" ? { active: false } : {};
    expect(run(kind, wanted, state)).toEqual(none);
  });
});

test.each<[Kind, Props, RegExp | undefined]>([
  [
    "environment",
    { consensusType: "ibft" },
    /environment "a": REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER.*\(consensusType\)/,
  ],
  ["consortium", { extra: { a: 1 } }, /consortium "a": REPLACING A CONSORTIUM DESTROYS EVERYTHING/],
  ["environment", { name: "b" }, undefined],
  ["node", { membershipId: "n" }, undefined],
])("%s %j warns: %s", (kind, change, warning) => {
  const { warnings } = run(kind, change);
  expect(warnings).toHaveLength(warning ? 1 : 0);
  if (warning) expect(warnings[0]).toMatch(warning);
});
