import { Stack } from "../support/stack";

const programs = {
  yaml: `
configuration:
  greeting: { type: string }
  word: { type: string, secret: true }
outputs:
  said: \${greeting} from YAML
  word: \${word}
`,
  python: `
import pulumi
config = pulumi.Config()
pulumi.export("said", config.require("greeting") + " from Python")
pulumi.export("word", config.require_secret("word"))
`,
  go: `
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		settings := config.New(ctx, "")
		ctx.Export("said", pulumi.String(settings.Require("greeting")+" from Go"))
		ctx.Export("word", settings.RequireSecret("word"))
		return nil
	})
}
`,
};

/** The hosts themselves: nothing but what every Pulumi program can do. */
test.each(Object.entries(programs))("a program in %s has config, secrets and outputs", async (name, program) => {
  const language = name as keyof typeof programs;
  const stack = await Stack.create({
    language,
    program,
    config: { "e2e:greeting": "hello" },
    secrets: { word: "hush" },
  });
  try {
    const preview = await stack.preview();
    expect(preview).toMatchObject({ code: 0, text: expect.stringMatching(/said *: "hello from/) as string });
    expect(preview.text).not.toContain("warning");
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.outputs()).toEqual({ said: expect.stringMatching(/^hello from /) as string, word: "hush" });
    expect(await stack.exported()).not.toContain("hush");
  } finally {
    stack.remove();
  }
});
