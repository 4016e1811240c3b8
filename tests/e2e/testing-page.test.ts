import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pages } from "../docs/markdown";
import { pulumiPath } from "./support/fleet";
import { type World, world } from "./support/world";

/* The examples of docs/testing.md, as they are printed there. */

const execute = promisify(execFile);
const { blocks } = pages.find(({ file }) => file === "docs/testing.md")!;
const example = (part: string): string => blocks.find(({ text }) => text.includes(part))!.text;

let w: World;
beforeEach(async () => {
  w = await world("");
});
afterEach(() => w.close());

test("unit tests pass, and call no service although a key is at hand", async () => {
  w.stack.write("unit.test.mjs", example("setMocks"));
  const env = { ...process.env, ...w.stack.env };
  const { stdout } = await execute(process.execPath, ["--test", "unit.test.mjs"], { cwd: w.stack.folder, env });
  expect(stdout).toMatch(/pass 2\n(.*\n)*.*fail 0/);
  expect(w.service.calls).toEqual([]);
});

test("a component makes what is in it, with the provider that it was given", async () => {
  w.stack.write("package.json", '{ "name": "e2e", "main": "index.ts" }');
  w.stack.write(
    "tsconfig.json",
    '{ "compilerOptions": { "target": "ES2022", "module": "Node16", "skipLibCheck": true } }',
  );
  rmSync(join(w.stack.folder, "index.js"));
  const { apiKey } = w.service.addOrganization("partners");
  w.stack.write(
    "index.ts",
    `${example("ComponentResource")}
    import { Provider } from "pulumi-consortium";
    const provider = new Provider("partners", { apiKey: "${apiKey}" });
    export const id = new Partners("trade", { companies: ["a", "b"] }, { providers: [provider] }).consortiumId;`,
  );
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  const nodes = w.service.store.nodes.list();
  expect(nodes.map(({ fields }) => fields.name).sort()).toEqual(["a", "b"]);
  expect((await w.network()).consortia).toEqual([]);
  await w.stack.ok(["destroy", "--yes", "--skip-preview"]);
});

test("an inline program runs from any folder with workDir and projectSettings, and not without", async () => {
  rmSync(join(w.stack.folder, "Pulumi.yaml"));
  const program = example("LocalWorkspace");
  w.stack.write("with.mjs", program);
  w.stack.write("without.mjs", program.replace(/workDir: .*? \}/, ""));
  const env = { ...process.env, ...w.stack.env, PATH: pulumiPath() };
  const run = (file: string) => execute(process.execPath, [join(w.stack.folder, file)], { cwd: tmpdir(), env });
  expect((await run("without.mjs")).stderr).toMatch(/cannot be found|Cannot find|could not/); // it ends with 0 all the same
  const { stdout } = await run("with.mjs");
  expect((await w.network()).consortia).toMatchObject([{ _id: stdout.trim() }]);
});
