import { type DiffResult, diff, driftBetween } from "../../../provider/core/diff";
import { type Definition, type Props } from "../../../provider/core/definition";
import { fresh, type StateParts, stateOf } from "../../../provider/core/state";
import { unknown } from "../../../provider/core/values";
import { definitions } from "../../../provider/resources";

/* What a preview says of a state and new inputs: changes, replacements, and what to read before confirming. */

type Kind = keyof typeof definitions;

interface Base {
  asked: Props;
  /** What the service shows besides. */
  shown: Props;
}

const place = { consortiumId: "c", environmentId: "e" };
const owned = { ...place, membershipId: "m" };
const zone = { ...place, name: "z", region: "r1", cloud: "aws", type: "kaleido" };
const bases = {
  node: {
    asked: { ...owned, name: "n" },
    shown: { state: "started", role: "validator", size: "small", urls: { rpc: "r" } },
  },
  environment: {
    asked: { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" },
    shown: { state: "live", createdAt: "2024-01-01T00:00:00Z", chainId: 7, releaseId: "r1", paused: false },
  },
  service: { asked: { ...owned, name: "s", service: "ipfs" }, shown: { state: "started", urls: { http: "u" } } },
  configuration: { asked: { ...owned, name: "g", type: "kms", details: { a: "1" } }, shown: { state: "started" } },
  appCred: { asked: { ...owned, name: "a" }, shown: { password: "p", username: "u" } },
  environmentZone: { asked: zone, shown: { state: "started" } },
  invitation: { asked: { consortiumId: "c", orgName: "o", email: "a@b.example" }, shown: { state: "sent" } },
  destination: {
    asked: { ...owned, serviceId: "s", serviceType: "documentstore", name: "in", kaleidoManaged: true },
    shown: {},
  },
  tetherService: {
    asked: { tetherId: "tether0001", network: "local", intervalHours: 1, active: true },
    shown: { state: "active", deployedNetworks: ["local"] },
  },
} satisfies Partial<Record<Kind, Base>>;
type Based = keyof typeof bases;
const shared = { how: "shared" } as const;

interface Last {
  /** What the program asked for, besides the base. */
  asked?: Props;
  /** What the service answered then, and shows still if nothing else is said. */
  answered?: Props;
  shown?: Props;
  parts?: Partial<StateParts>;
}

const definitionOf = (kind: Based): Definition => definitions[kind];

/** The state of an object that the service shows as it was asked for. */
function stateLike(kind: Based, { asked = {}, answered = {}, shown = {}, parts = {} }: Last): Props {
  const base: Base = bases[kind];
  const all = { ...base.asked, ...asked };
  const first = { ...base.shown, ...all, ...answered };
  return stateOf(definitionOf(kind), { ...fresh(all, first), shown: { ...first, ...shown }, ...parts });
}

/** What differs where the last run was so, and the program now asks for this. */
const compared = (kind: Based, last: Last, change: Props): DiffResult => {
  const inputs: Props = { ...bases[kind].asked, ...last.asked, ...change };
  return diff(definitionOf(kind), "id1", stateLike(kind, last), inputs);
};

describe("what is sent", () => {
  const features = { multi_region: true };
  test.each<[string, Based, Last, Props, string[]]>([
    ["nothing, where all is as it was", "node", {}, {}, []],
    ["another name", "node", {}, { name: "n2" }, ["name"]],
    ["not what concerns new objects alone", "node", {}, { adopt: true }, []],
    ["what a preview does not know", "node", {}, { name: unknown }, ["name"]],
    [
      "what had no clear answer, although it is so",
      "node",
      { parts: { unclear: ["size", "name"] } },
      {},
      ["name", "size"],
    ],
    ["what somebody has changed", "node", { shown: { name: "x" } }, {}, ["name"]],
    ["not what is so already", "node", { shown: { name: "x" } }, { name: "x" }, []],
    [
      "but with another value on its way",
      "node",
      { shown: { name: "x" }, parts: { unseen: ["name"] } },
      { name: "x" },
      ["name"],
    ],
    ["but with a restart missing", "node", { shown: { size: "large" } }, { size: "large" }, ["size"]],
    ["not what the service chose", "node", {}, { size: "small" }, []],
    [
      "not a form of the same that came back",
      "node",
      { asked: { size: "small" }, answered: { size: "s" }, shown: { size: "small" } },
      {},
      [],
    ],
    [
      "nor while another value was on its way",
      "node",
      { answered: { name: "x" }, shown: { name: "n" }, parts: { unseen: ["name"] } },
      {},
      [],
    ],
    [
      "each character of an object",
      "service",
      { asked: { details: { a: "y" } }, shown: { details: { a: "x " } } },
      { details: { a: "x" } },
      ["details"],
    ],
    [
      "not formatting in a service",
      "service",
      { asked: { details: { a: "x" } }, answered: { details: { a: "z" } }, shown: { details: { a: "x " } } },
      {},
      [],
    ],
    [
      "not what a service adds to an object",
      "service",
      { asked: { details: { a: { b: 1 } } }, shown: { details: { a: { b: 1, c: 2 }, d: 3 } } },
      {},
      [],
    ],
    [
      "what somebody changed in it",
      "service",
      { asked: { details: { a: { b: 1 } } }, shown: { details: { a: { b: 2 } } } },
      {},
      ["details"],
    ],
    [
      "what somebody made something else of it",
      "service",
      { asked: { details: { a: { b: 1 } } }, shown: { details: { a: 1 } } },
      {},
      ["details"],
    ],
    ["not another release of the service's own", "environment", { shown: { releaseId: "r2" } }, {}, []],
    [
      "nor beside one that was asked for",
      "environment",
      { asked: { releaseId: "r1" }, shown: { releaseId: "r2" } },
      {},
      [],
    ],
    ["nor a release that is taken out", "environment", { asked: { releaseId: "r1" } }, { releaseId: undefined }, []],
    ["another release", "environment", { asked: { releaseId: "r1" } }, { releaseId: "r2" }, ["releaseId"]],
    ["not a chain id that is taken out", "environment", { asked: { chainId: 7 } }, { chainId: undefined }, []],
    ["another chain id", "environment", {}, { chainId: 8 }, ["chainId"]],
    ["a feature by its own name", "environment", {}, { testFeatures: features }, ["multiRegion"]],
    [
      "one that is both, no second time",
      "environment",
      { asked: { testFeatures: features } },
      { multiRegion: true, testFeatures: undefined },
      [],
    ],
    ["one beside unknown ones", "environment", {}, { testFeatures: unknown }, ["multiRegion", "testFeatures"]],
    ["not what the service chose and somebody changed", "node", { shown: { size: "large" } }, {}, []],
    ["but where it was asked for", "node", { asked: { size: "small" }, shown: { size: "large" } }, {}, ["size"]],
    ["what somebody added", "environment", { shown: { description: "d" } }, {}, ["description"]],
    ["not to what was adopted", "environment", { shown: { description: "d" }, parts: { how: "adopted" } }, {}, []],
    [
      "but to what was asked for with it",
      "environment",
      { asked: { description: "a" }, shown: { description: "d" }, parts: { how: "adopted" } },
      {},
      ["description"],
    ],
    [
      "nothing to what others share",
      "service",
      { asked: { size: "small" }, shown: { size: "large" }, parts: { how: "shared" } },
      {},
      [],
    ],
    [
      "a description that is taken out",
      "environment",
      { asked: { description: "d" } },
      { description: undefined },
      ["description"],
    ],
    [
      "an address that the state has lost",
      "invitation",
      { asked: { email: undefined } },
      { email: "b@b.example" },
      ["email"],
    ],
    [
      "to what others share, what it has as it was asked for",
      "service",
      { asked: { details: { a: 1 } }, parts: shared },
      { details: { a: 2 } },
      ["details"],
    ],
    [
      "and what is no object",
      "service",
      { asked: { size: "a" }, answered: { size: "b" }, parts: shared },
      { size: "c" },
      ["size"],
    ],
    [
      "and what only programs know",
      "service",
      { asked: { customTimeouts: { create: 5 } }, parts: shared },
      { customTimeouts: undefined },
      ["customTimeouts"],
    ],
    ["a role that nobody can set back", "node", { asked: { role: "validator" }, shown: { role: "x" } }, {}, []],
  ])("%s (%s)", (_, kind, last, change, changed) => {
    expect(compared(kind, last, change).changed.toSorted()).toEqual(changed);
  });
});

describe("what replaces", () => {
  const accounts = { "0x52908400098527886E0F7030069857D2E4169EE7": { balance: "1" } };
  const adopted = { how: "adopted" } as const;
  test.each<[string, Based, Last, Props, string[], RegExp | undefined]>([
    ["another role", "node", {}, { role: "x", name: "n2" }, ["role"], undefined],
    ["a role that is taken out", "node", { asked: { role: "validator" } }, { role: undefined }, ["role"], undefined],
    [
      "no name that the service changes in place",
      "appCred",
      { parts: { refused: ["extra"] } },
      { name: "b" },
      [],
      undefined,
    ],
    ["nor another one's", "node", { parts: { refused: ["name"] } }, { name: "n2" }, [], undefined],
    [
      "a name that it refused to change",
      "appCred",
      { parts: { refused: ["name"] } },
      { name: "b" },
      ["name"],
      undefined,
    ],
    ["another member's", "service", {}, { membershipId: "m2" }, ["membershipId"], undefined],
    [
      "no other member's of what others share",
      "service",
      { parts: shared },
      { membershipId: "m2" },
      [],
      /membershipId stays as it is, because others may share it/,
    ],
    ["another type of it", "service", { parts: shared }, { service: "x" }, ["service"], undefined],
    ["another environment", "service", { parts: shared }, { environmentId: "e2" }, ["environmentId"], undefined],
    [
      "no details that are taken out of it",
      "service",
      { asked: { details: { a: 1 } }, parts: shared },
      { details: undefined },
      [],
      /details stays .*others may share it/,
    ],
    [
      "nor others, where it shows more",
      "service",
      { asked: { details: { a: 1 } }, answered: { details: { a: 1, b: 2 } }, parts: shared },
      { details: { a: 2 } },
      [],
      /details stays .*others may share it/,
    ],
    [
      "no lost member",
      "node",
      { asked: { membershipId: undefined } },
      { membershipId: "m2" },
      [],
      /membershipId stays .*the state has lost its value: run `pulumi refresh`/,
    ],
    ["keepers that come", "appCred", {}, { keepers: { a: 1 } }, ["keepers"], undefined],
    ["another chain id", "environment", { asked: { chainId: 7 } }, { chainId: 8 }, ["chainId"], undefined],
    ["another chain id of what was adopted", "environment", { parts: adopted }, { chainId: 8 }, ["chainId"], undefined],
    [
      "no accounts that are taken out",
      "environment",
      { asked: { prefundedAccounts: accounts } },
      { prefundedAccounts: undefined },
      [],
      /prefundedAccounts stays .*no longer sets it/,
    ],
    ["accounts that come", "environment", {}, { prefundedAccounts: accounts }, ["prefundedAccounts"], undefined],
    [
      "no accounts that it may have",
      "environment",
      { parts: adopted },
      { prefundedAccounts: accounts },
      [],
      /it was adopted, and the service does not show whether it has this/,
    ],
    [
      "other accounts than it got",
      "environment",
      { asked: { prefundedAccounts: accounts }, parts: adopted },
      { prefundedAccounts: { ...accounts, "0x0000000000000000000000000000000000000001": { balance: "1" } } },
      ["prefundedAccounts"],
      undefined,
    ],
    [
      "no features without any",
      "environment",
      { asked: { testFeatures: { quick: true } } },
      { testFeatures: {} },
      [],
      /testFeatures stays .*no longer sets it/,
    ],
    [
      "no regions that are taken out",
      "environment",
      { asked: { multiRegion: true } },
      { multiRegion: undefined },
      [],
      /multiRegion stays .*no longer sets it/,
    ],
    [
      "regions that are set to false",
      "environment",
      { asked: { multiRegion: true } },
      { multiRegion: false },
      ["multiRegion"],
      undefined,
    ],
  ])("%s (%s)", (_, kind, last, change, replaces, plan) => {
    const found = compared(kind, last, change);
    expect([found.replaces, found.plans]).toEqual([
      replaces,
      plan === undefined ? [] : [expect.stringMatching(plan) as string],
    ]);
  });

  test.each<[string, Based, Last, Props, boolean, RegExp[]]>([
    ["in the same place under the same name: the old one goes first", "node", {}, { role: "x" }, true, []],
    ["under another name", "node", {}, { role: "x", name: "n2" }, false, []],
    ["in another place", "node", {}, { environmentId: "e2", role: "x" }, false, []],
    ["under the name that somebody gave it", "node", { shown: { name: "x" } }, { role: "x", name: "x" }, true, []],
    ["under the name that the program gave it", "node", { shown: { name: "x" } }, { role: "x" }, true, []],
    [
      "beside what others name by its id",
      "configuration",
      {},
      { type: "x" },
      false,
      [/the new one is created before the old one is deleted/],
    ],
    ["of that, under another name", "configuration", {}, { type: "x", name: "g2" }, false, []],
    ["of that, in another place", "configuration", {}, { environmentId: "e2" }, false, []],
    ["of a zone, in another region of its cloud", "environmentZone", {}, { region: "r2" }, false, []],
    ["of a zone, there", "environmentZone", {}, { type: "x" }, false, [/before the old one is deleted/]],
    [
      "of a service that is the only one",
      "service",
      { shown: { serviceType: "utility" } },
      { membershipId: "m2", name: "s2" },
      true,
      [],
    ],
    ["of that, in another place", "service", { shown: { serviceType: "utility" } }, { environmentId: "e2" }, false, []],
    [
      "of a ledger",
      "environment",
      {},
      { chainId: 8 },
      true,
      [/REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER.* \(chainId\)$/],
    ],
  ])("%s (%s)", (_, kind, last, change, first, warnings) => {
    const found = compared(kind, last, change);
    expect(found).toMatchObject({ changes: true, deleteBeforeReplace: first, plans: [] });
    expect(found.warnings).toEqual(warnings.map((one) => expect.stringMatching(one) as string));
  });

  test("what adopts itself is not replaced; what is named by its name, or adopts another one, is", () => {
    expect(() => compared("node", {}, { role: "x", adopt: "id1" })).toThrow(
      /a change of role replaces id1, and adopt: "id1"/,
    );
    expect(compared("node", {}, { role: "x", adopt: "id2" }).replaces).toEqual(["role"]);
    expect(compared("node", {}, { name: "n2", adopt: "id1" }).replaces).toEqual([]);
    expect(compared("destination", {}, { name: "id1", adopt: "id1" }).replaces).toEqual(["name"]);
  });
});

describe("an update completes what the last run left", () => {
  test.each<[string, Based, Last, boolean]>([
    ["nothing", "node", {}, false],
    ["a step", "node", { parts: { open: ["ready"] } }, true],
    ["one that has failed", "node", { shown: { state: "failed" } }, true],
    ["a node without addresses", "node", { shown: { urls: {} } }, true],
    [
      "an environment whose chain id is not shown while it is empty",
      "environment",
      { shown: { state: "initializing", chainId: undefined } },
      true,
    ],
    ["not one whose chain id is", "environment", { shown: { state: "initializing" } }, false],
    ["nor one at work", "environment", { answered: { chainId: undefined } }, false],
    ["a tether that does not pin", "tetherService", { shown: { state: "deployed" } }, true],
    [
      "one whose state nobody knows",
      "tetherService",
      { asked: { active: false }, answered: { state: undefined } },
      true,
    ],
    ["one that is not deployed here", "tetherService", { shown: { deployedNetworks: ["mainnet"] } }, true],
    ["not one that is to pin, and does", "tetherService", {}, false],
    [
      "nor one that is to rest, and does",
      "tetherService",
      { asked: { active: false }, shown: { state: "inactive" } },
      false,
    ],
  ])("%s (%s)", (_, kind, last, changes) => {
    expect(compared(kind, last, {})).toMatchObject({ changes, changed: [] });
  });
});

describe("what a preview says of an update", () => {
  const password = /^credential "a": gets a new password, because rotateWhenChanged changes/;
  const declined = { shown: { state: "Declined" } };
  const rotating = (to: unknown): Props => ({ rotateWhenChanged: to });
  test.each<[string, Based, Last, Props, RegExp[]]>([
    ["another size restarts", "node", {}, { size: "large" }, [/^node "n": restarts, to change size$/]],
    ["two restart", "node", {}, { size: "large", kmsId: "k" }, [/restarts, to change size and kmsId$/]],
    ["a chain id that is taken out", "environment", { asked: { chainId: 7 } }, { chainId: undefined }, []],
    ["another name does not", "node", {}, { name: "n2" }, []],
    [
      "a restart that is open",
      "node",
      { parts: { open: ["restart"] } },
      {},
      [/restarts, to change what the last run changed$/],
    ],
    ["another open step is none", "node", { parts: { open: ["ready"] } }, {}, []],
    [
      "what is sent again",
      "configuration",
      { parts: { unclear: ["details", "name"] } },
      {},
      [/sends details and name again, because the last change of that had no clear answer$/],
    ],
    ["a password that is asked for", "appCred", {}, rotating({ a: 1 }), [password]],
    [
      "or was, without a clear answer",
      "appCred",
      { asked: rotating({ a: 1 }), parts: { unclear: ["rotateWhenChanged"] } },
      {},
      [password],
    ],
    ["none where nothing changes", "appCred", { asked: rotating({ a: 1 }) }, {}, []],
    ["nor where it is taken out", "appCred", { asked: rotating({ a: 1 }) }, rotating(undefined), []],
    ["nor the first one, after an import", "appCred", { shown: { password: undefined } }, rotating({ a: 1 }), []],
    [
      "an invitation that is over",
      "invitation",
      declined,
      {},
      [/is Declined: nobody can accept it any more\. To replace it on purpose, run/],
    ],
    [
      "one that was adopted",
      "invitation",
      declined,
      { adopt: "id1" },
      [/To replace it on purpose, remove adopt, and run/],
    ],
    ["not one that is not", "invitation", {}, {}, []],
    [
      "what nobody can set back",
      "node",
      { asked: { role: "validator" }, shown: { role: "x" } },
      {},
      [/somebody changed role .* could have the old value again\. Nothing is replaced/],
    ],
    [
      "or back to nothing",
      "node",
      { asked: { zoneId: "z" }, shown: { zoneId: "y" }, parts: { asked: { ...bases.node.asked } } },
      {},
      [],
    ],
    [
      "and was not asked for",
      "environmentZone",
      { shown: { bridgeId: "b" } },
      {},
      [/somebody changed bridgeId .* could have the old value\. Nothing is replaced/],
    ],
  ])("%s (%s)", (_, kind, last, change, said) => {
    const { warnings, plans } = compared(kind, last, change);
    expect([...warnings, ...plans]).toEqual(said.map((one) => expect.stringMatching(one) as string));
  });
});

test.each<[string, Based, Last, Last, unknown[]]>([
  ["nothing", "node", {}, {}, []],
  [
    "another name, and what the program did not ask for",
    "environment",
    {},
    { shown: { name: "x", description: "d" } },
    [
      { key: "name", was: "e", is: "x", isSecret: false },
      { key: "description", was: undefined, is: "d", isSecret: false },
    ],
  ],
  [
    "what the service had put there",
    "environment",
    {},
    { answered: { description: "auto" }, shown: { description: "d" } },
    [{ key: "description", was: "auto", is: "d", isSecret: false }],
  ],
  [
    "a value that is secret in the program",
    "environment",
    { asked: { description: "hush" } },
    { shown: { description: "d" } },
    [{ key: "description", was: "hush", is: "d", isSecret: true }],
  ],
  [
    "a value that is always secret, by another run",
    "configuration",
    {},
    { asked: { details: { a: "2" } } },
    [{ key: "details", was: { a: "1" }, is: { a: "2" }, isSecret: true }],
  ],
  [
    "what nobody can set back",
    "node",
    { asked: { role: "validator" } },
    { shown: { role: "x" } },
    [{ key: "role", was: "validator", is: "x", isSecret: false }],
  ],
  ["not what the service chose", "node", {}, { shown: { size: "large" } }, []],
  ["not what the state has lost", "node", { asked: { membershipId: undefined } }, { shown: { membershipId: "m" } }, []],
  ["not a change without a clear answer", "environment", {}, { parts: { unclear: ["name"] } }, []],
])("drift since the last run: %s", (_, kind, last, now, found) => {
  const hidden = { __secrets: [["description"]] };
  const state = { ...stateLike(kind, last), ...(last.asked?.description === "hush" && hidden) };
  const after = stateLike(kind, { ...last, ...now, asked: { ...last.asked, ...now.asked } });
  expect(driftBetween(definitionOf(kind), state, after)).toEqual(found);
});
