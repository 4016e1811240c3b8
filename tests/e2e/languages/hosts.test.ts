import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generatedSdk } from "../support/languages/sdk";
import { root, Stack } from "../support/stack";

/* What the hosts of the tests do besides running programs, which tests/e2e/stories/languages.test.ts has. */

jest.setTimeout(900_000); // the first time, hosts and packages are built

test("the CLI generates an SDK for Node.js, and programs in each language", async () => {
  const sdk = await generatedSdk("nodejs", join(root, "schemas/schema.json"));
  const vars = readFileSync(join(sdk, "config", "vars.ts"), "utf8");
  expect(vars).toContain('from "../utilities"'); // of the parent folder, whatever Go the hosts are built with
  const stack = await Stack.create({ language: "yaml", program: 'outputs:\n  said: "hello"\n' });
  try {
    for (const [language, file] of Object.entries({ typescript: "index.ts", python: "__main__.py", go: "main.go" })) {
      await stack.ok(["convert", "--from", "yaml", "--language", language, "--out", language, "--generate-only"]);
      expect(readFileSync(join(stack.folder, language, file), "utf8")).toContain('"hello"');
    }
  } finally {
    stack.remove();
  }
});
