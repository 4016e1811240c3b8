import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { plugins, root } from "../support/stack";
import { type World, world } from "../support/world";

/* Projects of `pulumi new`, in the languages that have a template. (The examples: tests/e2e/stories.) */

jest.setTimeout(900_000); // the first time, packages for Python are made

let w: World;

test.each([
  ["yaml", "Pulumi.yaml"],
  ["python", "__main__.py"],
  ["go", "main.go"],
] as const)("%s: the network has endpoints without visible secrets, and no further change", async (language, file) => {
  const schema = join(root, "schemas/schema.json");
  w = await world({ example: `examples/${language}` }, { language, plugin: true, schema });
  const project = `quickstart-${language}`;
  const text = readFileSync(join(root, "templates", language, file), "utf8");
  const filled = text.replaceAll("${PROJECT}", project).replace("${DESCRIPTION}", "A network");
  w.stack.write(file, language === "yaml" ? filled + stringify({ plugins }) : filled);
  const up = await w.stack.up();
  expect(up).toMatchObject({ code: 0 });
  const { consortia, memberships } = await w.network();
  expect([consortia[0]?.name, memberships.map(({ org_name }) => org_name).sort()]).toEqual([
    project,
    ["buyer", "seller"],
  ]);
  const { endpoints } = (await w.stack.outputs()) as { endpoints: Record<string, { url: string; password: string }> };
  expect(endpoints.buyer!.url).toMatch(/^http:/);
  expect(up.text + (await w.stack.exported())).not.toContain(endpoints.buyer!.password);
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
