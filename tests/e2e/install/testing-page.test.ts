import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { pages } from "../../docs/markdown";
import { npmInstall, packed } from "../support/packed";
import { failed } from "../support/stack";
import { type World, world } from "../support/world";

/* The examples of docs/testing.md, as they are printed there. */

const execute = promisify(execFile);
const { blocks } = pages.find(({ file }) => file === "docs/testing.md")!;
const example = (part: string): string => blocks.find(({ text }) => text.includes(part))!.text;

let w: World;
beforeAll(async () => {
  w = await world("");
});
beforeEach(() => {
  w.stack.write("Pulumi.yaml", "name: e2e\nruntime: nodejs\n");
  w.service.clearCalls();
});

test("unit tests pass, and call no service although there is a key", async () => {
  const program = pages
    .find(({ file }) => file === "README.md")!
    .blocks.find(({ language }) => language === "ts")!.text;
  w.stack.write("index.mjs", transformSync(program, { loader: "ts" }).code);
  const notSecret = `test("passwords are not secret under mocks", async () =>
    assert.equal(await pulumi.isSecret(program.endpoints[0].password), false));`;
  w.stack.write("unit.test.mjs", example("setMocks").replace("./index.ts", "./index.mjs") + notSecret); // .mjs for Node.js 20
  const env = { ...process.env, ...w.stack.env };
  const { stdout } = await execute(process.execPath, ["--test", "unit.test.mjs"], { cwd: w.stack.folder, env });
  expect(stdout).toMatch(/pass 3\n(.*\n)*.*fail 0/);
  expect(w.service.calls).toEqual([]);
});

test("an inline program runs from any folder with workDir and projectSettings, and not without", async () => {
  rmSync(join(w.stack.folder, "Pulumi.yaml"));
  const program = example("LocalWorkspace");
  w.stack.write("with.mjs", program);
  w.stack.write("without.mjs", program.replace(/workDir: .*? \}/, ""));
  const env = { ...process.env, ...w.stack.env };
  const run = (file: string) => execute(process.execPath, [join(w.stack.folder, file)], { cwd: tmpdir(), env });
  const refusal = expect.stringMatching(/cannot be found|Cannot find|could not/) as string;
  await expect(run("without.mjs")).rejects.toMatchObject({ code: 1, stderr: refusal });
  const { stdout } = await run("with.mjs");
  expect((await w.network()).consortia).toMatchObject([{ _id: stdout.trim() }]);
});

// As pnpm does: every package sees only what it lists itself.
test("with isolated packages, the project of a component lists this package, too", async () => {
  const { stack, network } = await world("");
  const { folder } = stack;
  const json = (value: object): string => JSON.stringify(value);
  const { devDependencies } = jest.requireActual<{ devDependencies: Record<string, string> }>("../../../package.json");
  const pulumi = { "@pulumi/pulumi": devDependencies["@pulumi/pulumi"] };

  const ours = { "pulumi-consortium": `file:${(await packed()).tarball}` };
  mkdirSync(join(folder, "network"));
  const component = { name: "@acme/network", version: "1.0.0", main: "index.js" };
  stack.write("network/package.json", json({ ...component, dependencies: ours, peerDependencies: pulumi }));
  stack.write(
    "network/index.js",
    `const { ComponentResource } = require("@pulumi/pulumi");
    const { Consortium } = require("pulumi-consortium");
    exports.Partners = class extends ComponentResource {
      constructor(name, opts) {
        super("acme:network:Partners", name, {}, opts);
        new Consortium(name, {}, { parent: this });
      }
    };`,
  );
  await execute("npm", ["pack", "--pack-destination", folder], { cwd: join(folder, "network") });
  const dependencies = { "@acme/network": `file:${join(folder, "acme-network-1.0.0.tgz")}`, ...pulumi, ...ours };
  stack.write("package.json", json({ name: "e2e", private: true, main: "index.js", dependencies }));
  rmSync(join(folder, "node_modules"), { recursive: true });
  await npmInstall(folder, "--install-strategy=linked", "--omit=optional");
  const linked = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(linked.sort()).toEqual(["@acme", "@pulumi", "pulumi-consortium"]); // what the project lists, and nothing else
  stack.program(`new (require("@acme/network").Partners)("apart");`);

  stack.rename("node_modules/pulumi-consortium", "not-listed");
  const alone = await failed(stack.up());
  expect(alone).toContain("Cannot find module 'pulumi-consortium/runtime'");
  stack.rename("not-listed", "node_modules/pulumi-consortium");
  await stack.ok(["up", "--yes", "--skip-preview"]);
  expect((await network()).consortia.map(({ name }) => name)).toContain("apart");
});
