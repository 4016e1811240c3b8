import { failed, Stack } from "../support/stack";
import { type World, world } from "../support/world";

/*
 * How the CLI shows errors before any call. (Every mistake: tests/sdk/provider.test.ts; a network's: tests/e2e/network; a key that is
 * missing or refused, and a service that cannot be reached, in every verb: tests/provider/stacks/told-once.test.ts.)
 */

let w: World;
beforeAll(async () => {
  w = await world("", { inline: true, plugin: true });
});

const misspelt: [string, string, RegExp] = [
  "a misspelt argument, by the check",
  `new Environment("x", { consortiumId: "c1", provider: "geth", consensus: "poa" })`,
  /Environment resource 'x': property consensus .*Environment has no argument "consensus"; did you mean "consensusType"\?/,
];
/** A program that throws is one in a process of its own. */
test.each<[string, string, RegExp, ("dynamic" | "plugin" | "process")?]>([
  misspelt,
  [...misspelt, "plugin"],
  [
    "a region that does not exist, by its setting",
    `new Consortium("x")`,
    /The setting region from environment variable CONSORTIUM_REGION must be one of us, eu, ap, ko, us1, eu1, not "de"\./,
  ],
  [
    "Pulumi's option import, by the class",
    `new Membership("x", { consortiumId: "c1" }, { import: "m1" })`,
    /error: Membership x: Pulumi's option import does not work .* adopt: "m1" instead; .*`consortium export --adopt`/,
    "process",
  ],
])("%s: the first error of the preview is complete (%#)", async (cause, program, message, adapter = "dynamic") => {
  const stack =
    adapter === "process"
      ? await Stack.create({ program: "", env: { CONSORTIUM_BASE_URL: w.service.baseUrl } })
      : w.stack;
  stack.program(`const { Consortium, Environment, Membership } = require("pulumi-consortium");\n${program}`);
  const env = {
    CONSORTIUM_REGION: cause.includes("region") ? "de" : undefined,
    CONSORTIUM_PLUGIN: String(adapter === "plugin"),
  };
  const text = await failed(stack.preview(env));
  expect(/^.*\berror: .*$/m.exec(text)?.[0]).toMatch(message);
  expect(text).toMatch(/Consortium \(x\)|resource '(x|default_[0-9_]+)'|Membership x/);
  expect(text).not.toContain("toJavaScript");
  expect(w.service.calls).toEqual([]);
});
