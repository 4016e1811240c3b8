import { readFileSync } from "node:fs";
import { join } from "node:path";
import type * as Policy from "../../sdk/policy";
import { policies } from "../../sdk/policy";
import { policyDocs } from "../../tools/generate/markdown.mjs";

const root = join(__dirname, "../..");
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as { version: string };

/** Loads the policies afresh, with modules that must not be loaded. */
function load(forbidden: readonly string[]): typeof Policy {
  let loaded: typeof Policy | undefined;
  jest.isolateModules(() => {
    for (const name of forbidden) {
      jest.doMock(name, () => {
        throw new Error(`${name} was loaded`);
      });
    }
    loaded = jest.requireActual<typeof Policy>("../../sdk/policy");
  });
  return loaded!;
}

const heavy = ["undici", "p-limit", "@pulumi/policy"];
afterEach(() => heavy.forEach((name) => jest.dontMock(name)));

test("loading the policies and making a pack's arguments loads neither the client nor the policy host", () => {
  const { consortiumPolicies } = load(heavy);
  expect(consortiumPolicies({ naming: "mandatory" }).policies).toHaveLength(15);
});

test("loading has no side effects: no socket, no server, no timer", () => {
  const before = process.getActiveResourcesInfo();
  load([]).consortiumPolicies({ "nodes-per-environment": { live: true } });
  expect(process.getActiveResourcesInfo()).toEqual(before);
});

test("the ready pack has the version of the package", () => {
  expect(readJson("policy-pack/package.json").version).toBe(readJson("package.json").version);
});

const text = readFileSync(join(root, "docs/reference/policies.md"), "utf8");
const page = (given: string): string => policyDocs(policies, given)["docs/reference/policies.md"]!;

test("the table names every policy with its level and settings; the text around it stays", () => {
  const made = page(text.replace(/(-start -->)[^]*(<!-- prettier-ignore-end)/, "$1$2"));
  expect(made).toBe(text);
  for (const { name, enforcementLevel, configSchema } of policies) {
    const row = made.split("\n").find((line) => line.startsWith(`| \`${name}\` | ${enforcementLevel} |`));
    for (const setting of Object.keys(configSchema.properties)) expect(row).toContain(`\`${setting}\``);
  }
});

test("a page without a place for the table is an error", () => {
  expect(() => page("# Policies\n")).toThrow("docs/reference/policies.md has no place for the generated part");
});
