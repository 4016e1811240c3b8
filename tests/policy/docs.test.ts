import { readFileSync } from "node:fs";
import { join } from "node:path";
import { policies } from "../../sdk/policy";
import { policyDocs } from "../../tools/generate/markdown.mjs";

const root = join(__dirname, "../..");
const text = readFileSync(join(root, "docs/policies.md"), "utf8");
const page = (given: string): string => policyDocs(policies, given)["docs/policies.md"]!;

test("the table names every policy with its level and settings; the words around it stay", () => {
  const made = page(text.replace(/(-start -->)[^]*(<!-- prettier-ignore-end)/, "$1$2"));
  expect(made).toBe(text);
  for (const { name, enforcementLevel, configSchema } of policies) {
    const row = made.split("\n").find((line) => line.startsWith(`| \`${name}\` | ${enforcementLevel} |`));
    for (const setting of Object.keys(configSchema.properties)) expect(row).toContain(`\`${setting}\``);
  }
});

test("a page without a place for the table is an error", () => {
  expect(() => page("# Policies\n")).toThrow("docs/policies.md has no place for what is generated");
});
