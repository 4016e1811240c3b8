import { type World, world } from "../support/world";

/* How the CLI shows what is refused before any call (every mistake: tests/sdk/mistakes.test.ts). */

let w: World;
beforeAll(async () => {
  w = await world("", { plugin: true });
});
afterAll(() => w.close());

const misspelt: [string, string, RegExp] = [
  "a misspelt argument, by the check",
  `new Environment("x", { consortiumId: "c1", provider: "geth", consensus: "poa" })`,
  /Environment resource 'x': property consensus .*Environment has no argument "consensus"; did you mean "consensusType"\?/,
];
const region: [string, string, RegExp] = [
  "a region that does not exist, by its setting",
  `new Consortium("x")`,
  /The setting region from environment variable CONSORTIUM_REGION is not usable: "de" is not one of us, eu, ap, ko\./,
];

test.each<[string, string, RegExp, ("dynamic" | "plugin")?]>([
  misspelt,
  [...misspelt, "plugin"],
  region,
  [...region, "plugin"],
  [
    "Pulumi's option import, by the class",
    `new Membership("x", { consortiumId: "c1" }, { import: "m1" })`,
    /error: Membership x: Pulumi's option import does not work .* adopt: "m1" instead; .*`consortium export --adopt`/,
  ],
  [
    "a network with a mistake, by its definition",
    `new Network("x", { members: {} , colour: 1 })`,
    /error: The definition of the network x: .*colour/,
  ],
])("%s: the first error of the preview says it all (%#)", async (cause, program, message, adapter = "dynamic") => {
  w.stack.program(`const { Consortium, Environment, Membership, Network } = require("pulumi-consortium");\n${program}`);
  const { code, text } = await w.stack.preview({
    CONSORTIUM_REGION: cause.includes("region") ? "de" : undefined,
    CONSORTIUM_PLUGIN: String(adapter === "plugin"),
  });
  expect(/^.*\berror: .*$/m.exec(text)?.[0]).toMatch(message);
  expect(text).toMatch(/Consortium \(x\)|resource '(x|default_[0-9_]+)'|Membership x|network x/);
  expect(text).not.toContain("toJavaScript");
  expect(code).not.toBe(0);
  expect(w.service.calls).toEqual([]);
});
