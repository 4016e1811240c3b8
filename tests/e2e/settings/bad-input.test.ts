import { type World, world } from "../support/world";

const prelude = `const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");\n`;
const ids = `consortiumId: "c1", environmentId: "e1", membershipId: "m1"`;

/** Each program has one mistake; the first error of the preview names the resource, the property and what to do. */
const mistakes: [string, string, RegExp][] = [
  [
    "a consensus that the client does not run",
    `new Environment("x", { consortiumId: "c1", provider: "geth", consensusType: "raft" })`,
    /property consensusType.*geth runs poa, not raft: choose one of these, or provider: "quorum"/,
  ],
  [
    "an unknown client",
    `new Environment("x", { consortiumId: "c1", provider: "besu", consensusType: "ibft" })`,
    /property provider.*must be one of quorum, geth/,
  ],
  [
    "an interval below 1",
    `new TetherService("x", { tetherId: "0123456789", network: "rinkeby", intervalHours: 0 })`,
    /property intervalHours.*at least 1/,
  ],
  [
    "an interval that is not whole",
    `new TetherService("x", { tetherId: "0123456789", network: "rinkeby", intervalHours: 1.5 })`,
    /property intervalHours.*whole number of hours/,
  ],
  [
    "an unknown network",
    `new TetherService("x", { tetherId: "0123456789", network: "ropsten", intervalHours: 1 })`,
    /property network.*mainnet, rinkeby/,
  ],
  [
    "a tether id of the wrong length",
    `new TetherService("x", { tetherId: "short", network: "rinkeby", intervalHours: 1 })`,
    /property tetherId.*last 10 of the tether service's console address/,
  ],
  [
    "no tether at all",
    `new TetherService("x", { network: "rinkeby", intervalHours: 1 })`,
    /property tetherId.*give tetherId, or consoleUrl/,
  ],
  ["an empty name", `new Consortium("x", { name: " " })`, /property name.*not empty/],
  ["a missing parent", `new Membership("x", {})`, /property consortiumId.*give consortium: .* or consortiumId:/],
  [
    "a missing environment",
    `new Node("x", { membershipId: "m1" })`,
    /property environmentId.*give environment: .* or environmentId:/,
  ],
  [
    "an unknown argument",
    `new Node("x", { ${ids}, size: "large" })`,
    /property size.*Node has no argument "size".*extra/,
  ],
  [
    "a misspelt argument",
    `new Environment("x", { consortiumId: "c1", provider: "geth", consensus: "poa" })`,
    /Environment resource 'x': property consensus .*Environment has no argument "consensus"; did you mean "consensusType"\?/,
  ],
  [
    "a misspelt parent",
    `const one = new Consortium("one"); new Membership("x", { consortim: one })`,
    /Membership resource 'x': property consortim .*did you mean "consortium"\?/,
  ],
  [
    "a misspelt value",
    `new Environment("x", { consortiumId: "c1", provider: "quorom", consensusType: "ibft" })`,
    /Environment resource 'x': property provider .*must be one of quorum, geth, not "quorom"; did you mean "quorum"\?/,
  ],
  [
    "a name that is a number",
    `new Consortium("x", { name: 12 })`,
    /Consortium resource 'x': property name .*name must be text: write "12" instead of 12/,
  ],
  [
    "a parent that is a number",
    `new Membership("x", { consortiumId: 7 })`,
    /Membership resource 'x': property consortiumId .*consortiumId must be text: write "7" instead of 7/,
  ],
  [
    "a parent that is given twice",
    `const one = new Consortium("one"); new Membership("x", { consortium: one, consortiumId: "c1" })`,
    /error: Membership x: consortium and consortiumId are both given/,
  ],
  [
    "a tether that is given twice",
    `new TetherService("x", { tetherId: "0123456789", consoleUrl: "https://x/0123456789", network: "rinkeby", intervalHours: 1 })`,
    /error: TetherService x: tetherId and consoleUrl are both given/,
  ],
  [
    "a chain id that is not whole",
    `new Environment("x", { consortiumId: "c1", provider: "geth", consensusType: "poa", chainId: 0.5 })`,
    /property chainId.*whole number/,
  ],
  [
    "a time-out that is no duration",
    `new Consortium("x", {}, { customTimeouts: { create: "soon" } })`,
    /customTimeouts.create: "soon" is not a duration/,
  ],
];

let w: World;
beforeAll(async () => {
  w = await world("");
});
afterAll(() => w.close());

/** What a person reads first. */
const firstError = (text: string): string => /^.*\berror: .*$/m.exec(text)?.[0] ?? "";

test.each(mistakes)("%s is refused in the preview, before any call", async (_, program, message) => {
  w.stack.program(prelude + program);
  const { code, text } = await w.stack.preview();
  expect(firstError(text)).toMatch(message);
  expect(firstError(text)).toMatch(/\bx\b/);
  expect(code).not.toBe(0);
  expect(w.service.calls).toEqual([]);
});

test("a region that does not exist is refused in the preview, with where it comes from", async () => {
  w.stack.program(`${prelude}new Consortium("x")`);
  const { code, text } = await w.stack.preview({ CONSORTIUM_REGION: "de" });
  expect(firstError(text)).toContain(
    'The setting region from environment variable CONSORTIUM_REGION is not usable: "de" is not one of us, eu, ap, ko.',
  );
  expect(text).toMatch(/Consortium \(x\)|resource 'x'/);
  expect(code).not.toBe(0);
  expect(w.service.calls).toEqual([]);
});

test.each([
  ["a file", `Network.fromFile("network.yaml")`, /error: network\.yaml:1:10: members: .*/],
  ["a definition", `new Network("x", { members: {} , colour: 1 })`, /error: The definition of the network x: .*colour/],
])("a network with one mistake, in %s: the first line is the cause", async (_, program, message) => {
  w.stack.write("network.yaml", "members: 5\n");
  w.stack.program(`const { Network } = require("pulumi-consortium");\n${program}`);
  const { code, text } = await w.stack.preview();
  expect(firstError(text)).toMatch(message);
  expect(code).not.toBe(0);
});
