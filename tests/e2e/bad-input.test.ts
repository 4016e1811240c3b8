import { type World, world } from "./support/world";

const prelude = `const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");\n`;
const ids = `consortiumId: "c1", environmentId: "e1", membershipId: "m1"`;

/** Each program has one mistake; the preview names the property and says what to do. */
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

test.each(mistakes)("%s is refused in the preview, before any call", async (_, program, message) => {
  w.stack.program(prelude + program);
  const { code, text } = await w.stack.preview();
  expect(text).toMatch(message);
  expect(code).not.toBe(0);
  expect(w.service.calls).toEqual([]);
});
