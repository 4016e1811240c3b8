import { output } from "@pulumi/pulumi";
import { inData } from "../network/problems";

/** Definitions in a program have no lines: their errors name the path. */

const kind = { provider: "geth", consensusType: "poa" };
const cyclic: Record<string, unknown> = {};
cyclic.members = { acme: cyclic };

test("valid data", () => {
  expect(
    inData({ members: ["acme"], environments: { prod: { ...kind, name: undefined, nodes: { acme: 1 } } } }),
  ).toEqual([]);
});

test.each<[string, unknown, string[]]>([
  ["nothing", null, ["a network must be a mapping of settings"]],
  ["a list", [], ["a network must be a mapping of settings"]],
  ["an object of a class", new Map(), ["only plain objects, lists, text, numbers and booleans belong in a definition"]],
  ["an object in itself", cyclic, ["members.acme: it contains itself"]],
  ["a function", { members: [() => "acme"] }, ["members[0]: a function is not a plain value"]],
  [
    "a Promise",
    { members: Promise.resolve([]) },
    [expect.stringMatching(/^members: the value is known only later \(an Output or a Promise\)/) as string],
  ],
  [
    "an Output",
    { members: { acme: { orgName: output("Acme") } } },
    [expect.stringMatching(/^members.acme.orgName: the value is known only later/) as string],
  ],
  [
    "several at once",
    { members: ["acme"], environments: { prod: { ...kind, nodes: { akme: 1 }, consensusType: "raft" } }, size: 3 },
    [
      expect.stringMatching(/^size: a network has no "size"/) as string,
      'environments.prod.nodes.akme: there is no member "akme"; did you mean "acme"?',
      expect.stringMatching(/^environments.prod.consensusType: geth runs poa, not raft/) as string,
    ],
  ],
])("%s", (_, definition, problems) => expect(inData(definition)).toEqual(problems));

test("shared objects are not a cycle", () => {
  const shared = { ...kind };
  expect(inData({ members: [], environments: { a: shared, b: shared } })).toEqual([]);
});
