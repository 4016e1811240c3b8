import { type Props } from "../../../provider/core/definition";
import { driftBetween } from "../../../inventory/drift";
import { unknown } from "../../../provider/core/values";
import { type Based, compared, definitionOf, type Last, shared, stateLike } from "./comparing";

/* What an update sends and completes, and what has drifted. */

describe("what is sent", () => {
  const features = { multi_region: true };
  test.each<[string, Based, Last, Props, string[]]>([
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
    ["not a release that is taken out", "environment", { asked: { releaseId: "r1" } }, { releaseId: undefined }, []],
    ["not a chain id that is taken out", "environment", { asked: { chainId: 7 } }, { chainId: undefined }, []],
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
  const state = stateLike(kind, last);
  const after = stateLike(kind, { ...last, ...now, asked: { ...last.asked, ...now.asked } });
  expect(driftBetween(definitionOf(kind), state, after)).toEqual(found);
});
