import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { type Service, startService } from "../../../service/index";
import { temporary } from "../../fleet/made";
import { testTogether } from "../../support/together";
import { npmInstallSeeded, packed } from "../support/packed";
import { cliWithLanguages } from "../support/languages/sdk";
import { root } from "../support/stack";

const execute = promisify(execFile);
const folder = temporary();
const templates = readdirSync(join(root, "templates"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

interface PulumiFile {
  name: string;
  description: string;
  template?: { description: string; config: Record<string, { secret?: boolean; default?: string }> };
}
const pulumiFile = (path: string): PulumiFile => parse(readFileSync(join(path, "Pulumi.yaml"), "utf8")) as PulumiFile;

test("there is a template for each language", () => {
  expect(templates).toEqual(expect.arrayContaining(["go", "javascript", "python", "typescript", "yaml"]));
});

test.each(templates)("templates/%s describes itself, and asks for the region and a secret key", (template) => {
  const { description, config } = pulumiFile(join(root, "templates", template)).template!;
  expect(description.length).toBeGreaterThan(20);
  expect(config).toMatchObject({ "consortium:region": { default: "us" }, "consortium:apiKey": { secret: true } });
});

/** Makes a project with `pulumi new`, and answers how to run Pulumi in it. */
async function made(template: string, service: Service) {
  const project = `made-with-${template}`;
  const cwd = join(folder, project);
  const state = join(folder, "state", template);
  for (const path of [cwd, state]) mkdirSync(path, { recursive: true });
  const { command, env: own } = await cliWithLanguages();
  const env = {
    ...process.env,
    ...own,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "templates",
    CONSORTIUM_BASE_URL: service.baseUrl,
    CONSORTIUM_API_KEY: service.apiKey,
  };
  const pulumi = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    execute(command, [...args, "--non-interactive", "--color", "never"], { cwd, env: { ...env, ...more } });
  const source = join(root, "templates", template);
  const about = ["--name", project, "--description", "A network for this test"];
  await pulumi(["new", source, "--yes", "--generate-only", ...about]);
  expect(pulumiFile(cwd)).toMatchObject({ name: project, description: "A network for this test" });
  expect(pulumiFile(cwd).template).toBeUndefined();
  expect(existsSync(join(cwd, ".gitignore"))).toBe(existsSync(join(source, ".gitignore")));
  const left = readdirSync(cwd).filter((file) => readFileSync(join(cwd, file), "utf8").includes("${PROJECT}"));
  expect(left).toEqual([]);
  return { cwd, pulumi };
}

/** `npm run check` finds a wrong type, which previews do not. */
async function checksTypes(cwd: string): Promise<void> {
  const check = () => execute("npm", ["run", "check"], { cwd });
  await check();
  const program = join(cwd, "index.ts");
  const text = readFileSync(program, "utf8");
  writeFileSync(program, `${text}\nexport const wrong: number = "text";\n`);
  await expect(check()).rejects.toMatchObject({ stdout: expect.stringContaining("TS2322") as string });
  writeFileSync(program, text);
}

// Projects of other languages run in tests/e2e/plugin/templates.test.ts.
describe("pulumi new makes a project; in JavaScript, it installs, creates its network without further changes, and is destroyed", () => {
  testTogether(
    templates.map((template) => [template]),
    async (template) => {
      const service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
      try {
        const { cwd, pulumi } = await made(template, service);
        if (!existsSync(join(cwd, "package.json"))) return;
        // Until the package is on npm, it comes from a file. What else the template asks for comes from npm.
        const manifest = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as {
          dependencies: Record<string, string>;
        };
        expect(manifest.dependencies["pulumi-consortium"]).toMatch(/^\^\d/);
        manifest.dependencies["pulumi-consortium"] = `file:${(await packed()).tarball}`;
        writeFileSync(join(cwd, "package.json"), JSON.stringify(manifest));
        await npmInstallSeeded(cwd);
        if (existsSync(join(cwd, "tsconfig.json"))) await checksTypes(cwd);
        await pulumi(["stack", "init", "dev"]);
        await pulumi(["up", "--yes", "--skip-preview"]);
        const { stdout } = await pulumi(["stack", "output", "--json"]);
        expect(stdout).toContain(service.url);
        await pulumi(["preview", "--expect-no-changes"]);
        await pulumi(["destroy", "--yes", "--skip-preview"]);
        expect(service.store.consortia.list()).toEqual([]);
      } finally {
        await service.close();
      }
    },
  );
});
