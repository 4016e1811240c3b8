import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatedSdk } from "../support/languages/sdk";
import { Stack } from "../support/stack";

jest.setTimeout(900_000); // the first time, hosts and packages are built

/** A provider without a plugin: only its settings are used, which Python and Go read with the SDK made from this. */
const schema = {
  name: "greeter",
  version: "1.0.0",
  meta: { supportPack: true }, // with a go.mod
  config: {
    variables: {
      greeting: { type: "string" },
      word: { type: "string", secret: true, defaultInfo: { environment: ["W"] } },
    },
  },
  provider: {},
  language: {
    go: { importBasePath: "greeter/sdk/go/greeter", respectSchemaVersion: true },
    nodejs: { respectSchemaVersion: true },
    python: { respectSchemaVersion: true, pyproject: { enabled: true } },
  },
};
const folder = mkdtempSync(join(tmpdir(), "languages-"));
const schemaFile = join(folder, "schema.json");
beforeAll(() => writeFileSync(schemaFile, JSON.stringify(schema)));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const programs = {
  yaml: `
config:
  greeter:greeting: { type: string }
  greeter:word: { type: string, secret: true }
outputs:
  said: \${greeter:greeting} from YAML
  word: \${greeter:word}
`,
  python: `
import pulumi
import pulumi_greeter as greeter

pulumi.export("said", greeter.config.greeting + " from Python")
pulumi.export("word", pulumi.Output.secret(greeter.config.word))
`,
  go: `
package main

import (
	"greeter/sdk/go/greeter/config"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		ctx.Export("said", pulumi.String(config.GetGreeting(ctx)+" from Go"))
		ctx.Export("word", pulumi.ToSecret(pulumi.String(config.GetWord(ctx))))
		return nil
	})
}
`,
};

test.each(Object.entries(programs))("a program in %s has config, secrets and outputs", async (name, program) => {
  const language = name as keyof typeof programs;
  const config = { "greeter:greeting": "hello" };
  const stack = await Stack.create({
    language,
    program,
    schema: schemaFile,
    config,
    secrets: { "greeter:word": "hush" },
  });
  try {
    const up = await stack.up();
    expect(up).toMatchObject({ code: 0, text: expect.stringMatching(/said *: "hello from/) as string });
    expect(up.text).not.toMatch(/warning/i);
    expect(await stack.outputs()).toEqual({ said: expect.stringMatching(/^hello from /) as string, word: "hush" });
    expect(await stack.exported()).not.toContain("hush");

    stack.program(
      { yaml: "outputs: ${", python: "import nothing_at_all", go: "package main\nfunc main() {" }[language],
    );
    const broken = await stack.preview();
    expect(broken.code).not.toBe(0);
    expect(broken.text).toMatch(/Main.yaml|nothing_at_all|main.go/);
  } finally {
    stack.remove();
  }
});

test("the CLI generates an SDK for Node.js, and programs in each language", async () => {
  const vars = readFileSync(join(await generatedSdk("nodejs", schemaFile), "config", "vars.ts"), "utf8");
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
